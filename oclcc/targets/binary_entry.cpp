#include "targets/binary_entry.hpp"

#include "format/binary/binary_kernels.hpp"
#include "matching/vendor_rules.hpp"
#include "targets/clang_front_end.hpp"

namespace oclcc::offline {

using format::BinaryInfo;
using format::BinaryKind;
using format::EntryInput;

namespace {

// Of 22.43's zebins, most contain the number of a product only.
std::optional<OfflineTarget> intel_target_of(const BinaryInfo& info) {
  const auto known = known_targets();
  const auto runs_on = [&](const OfflineTarget& target) {
    return target.family == OfflineFamily::intel &&
           clbin::matching::judge_intel(info, recorded_target(target).identity).fit ==
               clbin::matching::Fit::yes;
  };
  const auto found = std::ranges::find_if(known, runs_on);
  return found == known.end() ? std::nullopt : std::optional(*found);
}

std::optional<OfflineTarget> offline_target_of(const BinaryInfo& info) {
  switch (info.kind) {
  case BinaryKind::ptx:
    return OfflineTarget{OfflineFamily::nvptx, sm_name(info), info.address_bits};
  case BinaryKind::cubin:
    return OfflineTarget{OfflineFamily::cubin, sm_name(info), info.address_bits};
  case BinaryKind::amd_code_object:
    return OfflineTarget{OfflineFamily::amdgcn, amd_target_name(info), info.address_bits};
  case BinaryKind::spirv:
    return OfflineTarget{OfflineFamily::spirv,
                         fmt::format("{}.{}", info.arch_major, info.arch_minor), info.address_bits};
  default:
    return std::nullopt;
  }
}

Result<void> read_spirv(base::ByteView bytes, EntryInput& entry) {
  CLBIN_TRY_ASSIGN(format::SpirvModule module, format::read_spirv_module(bytes));
  if (module.kernels.empty()) {
    return fail(ErrorCode::damaged, "the SPIR-V module has no OpenCL kernel");
  }
  CLBIN_TRY(require_resolved(module.imports));
  entry.kernels = std::move(module.kernels);
  entry.spec_constants = std::move(module.spec_constants);
  return {};
}

Result<std::vector<format::KernelReflection>> kernels_of_ptx(base::ByteView bytes) {
  CLBIN_TRY_ASSIGN(auto read, format::read_ptx_kernels(base::as_text(bytes)));
  std::vector<format::KernelReflection> kernels;
  for (format::PtxKernel& kernel : read) {
    kernels.push_back(std::move(kernel.reflection));
  }
  return kernels;
}

using ReadKernels = Result<std::vector<format::KernelReflection>>(base::ByteView bytes);

// Returns null for a kind without a reader.
ReadKernels* reader_of(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::ptx:
    return kernels_of_ptx;
  case BinaryKind::amd_code_object:
    return format::read_amd_kernels;
  case BinaryKind::intel_zebin:
    return format::read_zebin_kernels;
  default:
    return nullptr;
  }
}

Result<void> read_kernels(base::ByteView bytes, EntryInput& entry) {
  const BinaryKind kind = format::classify_binary(bytes).kind;
  if (kind == BinaryKind::spirv) {
    return read_spirv(bytes, entry);
  }
  if (kind == BinaryKind::cubin) { // NVIDIA does not document it: another layout is no error
    entry.kernels = format::read_cubin_kernels(bytes).value_or(decltype(entry.kernels)());
    return {};
  }
  if (ReadKernels* const read = reader_of(kind)) {
    CLBIN_TRY_ASSIGN(entry.kernels, read(bytes));
    return entry.kernels.empty() ? Result<void>(fail(ErrorCode::damaged, "it has no kernel"))
                                 : Result<void>();
  }
  return {};
}

} // namespace

std::optional<format::Target> target_of_binary(const BinaryInfo& info) {
  if (info.kind == BinaryKind::intel_zebin) {
    const auto target = intel_target_of(info);
    return target ? std::optional(recorded_target(*target)) : std::nullopt;
  }
  const auto target = info.has_architecture() ? offline_target_of(info) : std::nullopt;
  return target ? std::optional(recorded_target(*target)) : std::nullopt;
}

Result<EntryInput> entry_of_binary(base::KeptBytes payload) {
  EntryInput entry;
  CLBIN_TRY_ASSIGN(const base::ByteRegion bytes, payload.read());
  CLBIN_TRY(read_kernels(bytes.view(), entry));
  entry.variant = format::k_default_variant;
  entry.payload = std::move(payload);
  entry.tools = {{"oclcc", OCLCC_VERSION}};
  return entry;
}

void remove_final_nul(format::BinaryKind kind, base::Bytes& bytes) {
  while (kind == format::BinaryKind::ptx && !bytes.empty() && bytes.back() == std::byte{0}) {
    bytes.pop_back();
  }
}

} // namespace oclcc::offline
