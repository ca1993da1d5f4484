#include "matching/vendor_rules.hpp"

namespace clbin::matching {
namespace {

using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceFamily;
using format::DeviceIdentity;

struct TakenKind {
  DeviceFamily family;
  BinaryKind kind;
  // The vendor's rule for other devices; null: only the device it was made for accepts it.
  Verdict (*judge)(const BinaryInfo&, const DeviceIdentity&) = nullptr;
};

// The kinds that clCreateProgramWithBinary of each family accepts, and that its CL_PROGRAM_BINARIES
// or its offline compiler produces (doc/drivers.md).
constexpr std::array k_taken{
    TakenKind{DeviceFamily::nvidia, BinaryKind::ptx, judge_nvidia},
    TakenKind{DeviceFamily::nvidia, BinaryKind::cubin, judge_nvidia},
    TakenKind{DeviceFamily::nvidia, BinaryKind::nvidia_fatbin},
    TakenKind{DeviceFamily::amd, BinaryKind::amd_code_object, judge_amd},
    TakenKind{DeviceFamily::intel, BinaryKind::intel_zebin, judge_intel},
    TakenKind{DeviceFamily::intel, BinaryKind::ar_archive},
    TakenKind{DeviceFamily::pocl, BinaryKind::poclbin},
    TakenKind{DeviceFamily::rusticl, BinaryKind::rusticl},
    TakenKind{DeviceFamily::oclgrind, BinaryKind::llvm_bitcode},
    TakenKind{DeviceFamily::clvk, BinaryKind::clvk},
    TakenKind{DeviceFamily::clvk, BinaryKind::llvm_bitcode},
};

// Null if the family does not take the kind.
const TakenKind* find_taken(DeviceFamily family, BinaryKind kind) {
  const auto* const found =
      std::find_if(k_taken.begin(), k_taken.end(), [&](const TakenKind& taken) {
        return taken.family == family && taken.kind == kind;
      });
  return found == k_taken.end() ? nullptr : found;
}

// Returns the reason why no device of `family` made or accepts such a binary. An unknown kind can
// be the format of a newer driver (as that of rusticl 22.3 once was), and an unknown family can
// accept any kind. But a kind that is known to belong to other drivers was not made by this device,
// whatever the table contains.
std::optional<Verdict> refusal_of_kind(const BinaryInfo& info, DeviceFamily family) {
  if (info.kind == BinaryKind::spirv) {
    return refuse("{} is an intermediate language, not a binary of this device",
                  format::describe(info));
  }
  const bool may_be_own = info.kind == BinaryKind::unknown || family == DeviceFamily::unknown;
  if (!may_be_own && find_taken(family, info.kind) == nullptr) {
    return refuse("{} is not a format of this device's family, {}", format::describe(info),
                  format::to_string(family));
  }
  return std::nullopt;
}

} // namespace

BinaryInfo bound(BinaryKind kind, std::uint16_t arch_major, std::uint16_t arch_minor,
                 std::uint16_t arch_stepping) {
  BinaryInfo info;
  info.kind = kind;
  info.arch_major = arch_major;
  info.arch_minor = arch_minor;
  info.arch_stepping = arch_stepping;
  return info;
}

KeyRange architecture_range(const BinaryInfo& first, const BinaryInfo& last) {
  constexpr std::uint64_t below_architecture = (std::uint64_t{1} << 32U) - 1;
  return {format::match_key(first, {}) & ~below_architecture,
          format::match_key(last, {}) | below_architecture};
}

Verdict judge_own(const BinaryInfo& info, const DeviceIdentity& device) {
  if (info.kind == BinaryKind::ptx && info.ptx_flavour != format::PtxFlavour::nvcl) {
    return judge_nvidia(info, device);
  }
  if (auto refusal = refusal_of_kind(info, format::device_family(device))) {
    return std::move(*refusal);
  }
  return accept(info.kind == BinaryKind::cubin ? 1 : 0, "made for this device");
}

Verdict judge_foreign(const BinaryInfo& info, const DeviceIdentity& device) {
  const DeviceFamily family = format::device_family(device);
  if (auto refusal = refusal_of_kind(info, family)) {
    return std::move(*refusal);
  }
  const TakenKind* const taken = find_taken(family, info.kind);
  if (taken != nullptr && taken->judge != nullptr) {
    return taken->judge(info, device);
  }
  // Of an unknown kind, the platform at the end of the reason tells more than a description.
  const std::string subject = info.kind == BinaryKind::unknown ? "" : format::describe(info) + " ";
  Verdict verdict = refuse("{}matches only the device and driver that it was made for", subject);
  verdict.cause = Cause::other_device;
  return verdict;
}

std::vector<KeyRange> compatible_key_ranges(const DeviceIdentity& device) {
  switch (format::device_family(device)) {
  case DeviceFamily::nvidia:
    return nvidia_key_ranges(device);
  case DeviceFamily::amd:
    return amd_key_ranges(device);
  case DeviceFamily::intel:
    return intel_key_ranges(device);
  default:
    return {};
  }
}

} // namespace clbin::matching
