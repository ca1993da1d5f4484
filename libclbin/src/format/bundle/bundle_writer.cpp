#include "format/bundle/bundle_writer.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_draft.hpp"
#include "format/bundle/reference_choice.hpp"
#include "format/bundle/source_package.hpp"

#include <algorithm>
#include <set>

namespace clbin::format {

using base::ByteRegion;
using base::Bytes;
using base::ByteView;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view k_kernel_separator = ";";

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, "{} has a name that is empty or contains a zero byte",
                what);
  }
  return {};
}

Result<std::vector<KernelReflection>> sorted_kernels(const std::string& program,
                                                     std::vector<KernelReflection> kernels) {
  std::sort(kernels.begin(), kernels.end(),
            [](const KernelReflection& a, const KernelReflection& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    CLBIN_TRY(check_name(fmt::format("program '{}': a kernel", program), kernels[i].name));
    if (kernels[i].name.find(k_kernel_separator) != std::string::npos) {
      return fail(ErrorCode::invalid_argument,
                  "program '{}': the name of kernel '{}' contains a semicolon", program,
                  kernels[i].name);
    }
    if (i > 0 && kernels[i].name == kernels[i - 1].name) {
      return fail(ErrorCode::invalid_argument, "program '{}': an entry has kernel '{}' twice",
                  program, kernels[i].name);
    }
  }
  return kernels;
}

class Writer {
public:
  Writer(const BundleInput& input, const WriteOptions& options)
      : m_input(input), m_level(options.compression_level),
        m_max_stored_bytes(options.max_stored_bytes), m_spill(options.spill),
        m_sources(options.sources ? options.sources() : nullptr) {}

  Result<BundleDraft> run() {
    for (const ProgramInput& program : m_input.programs) {
      CLBIN_TRY(add_program(program));
    }
    CLBIN_TRY(compress_payloads());
    return std::move(m_draft);
  }

private:
  Result<void> add_program(const ProgramInput& program);
  Result<void> add_variants(const ProgramInput& program, ProgramDraft& draft);
  static Result<void> add_recorded(const ProgramInput& program, ProgramDraft& draft);
  Result<void> add_input_entry(const std::string& program, const EntryInput& entry);
  Result<FrameDraft> source_frame(ByteView source, const Digest& raw_digest) const;
  Result<void> compress_payloads();
  Result<FrameDraft> compress(const ReferencePayload& payload, const ReferenceChoice& choice,
                              std::span<const Digest> digests,
                              std::span<const ReferencePayload> payloads) const;
  Result<void> add_written_frame(const Digest& raw_digest, FrameDraft frame);

  const BundleInput& m_input;
  int m_level;
  std::uint64_t m_max_stored_bytes;
  std::shared_ptr<base::SpillFile> m_spill;
  std::shared_ptr<const SourceFrames> m_sources;
  BundleDraft m_draft;
  std::map<Digest, ReferencePayload> m_payloads;
};

Result<void> Writer::add_program(const ProgramInput& program) {
  CLBIN_TRY(check_name("a program", program.name));
  if (m_draft.programs.contains(program.name)) {
    return fail(ErrorCode::invalid_argument, "there are two programs '{}'", program.name);
  }
  ProgramDraft& draft = m_draft.programs[program.name];
  draft.producer = m_input.producer;
  CLBIN_TRY(add_variants(program, draft));
  if (program.source) {
    const Bytes source = encode_source_package(*program.source);
    if (const auto decoded = decode_source_package(source); !decoded) {
      return fail(ErrorCode::invalid_argument, "program '{}': {}", program.name,
                  decoded.error().message);
    }
    draft.source = base::digest_of(source);
    CLBIN_TRY_ASSIGN(FrameDraft frame, source_frame(source, *draft.source));
    CLBIN_TRY(add_written_frame(*draft.source, std::move(frame)));
  }
  for (const EntryInput& entry : program.entries) {
    if (!draft.variants.contains(entry.variant)) {
      return fail(ErrorCode::invalid_argument,
                  "program '{}' has an entry of variant '{}', which it does not list", program.name,
                  entry.variant);
    }
    CLBIN_TRY(add_input_entry(program.name, entry));
  }
  return add_recorded(program, draft);
}

Result<void> Writer::add_recorded(const ProgramInput& program, ProgramDraft& draft) {
  for (const RecordedLaunch& launch : program.launches) {
    const bool is_whole = !launch.kernel.empty() && launch.dimensions >= 1 &&
                          launch.dimensions <= launch.local_size.size();
    if (!is_whole || !draft.variants.contains(launch.variant)) {
      return fail(ErrorCode::invalid_argument,
                  "program '{}' has a launch of kernel '{}' in {} dimensions, variant '{}', which "
                  "cannot be",
                  program.name, launch.kernel, launch.dimensions, launch.variant);
    }
    draft.launches.insert(launch);
  }
  for (const RecordedBuild& build : program.builds) {
    if (!draft.variants.contains(build.variant)) {
      return fail(ErrorCode::invalid_argument,
                  "program '{}' has a build of variant '{}', which it does not list", program.name,
                  build.variant);
    }
    add_build(draft, build);
  }
  return {};
}

Result<void> Writer::add_variants(const ProgramInput& program, ProgramDraft& draft) {
  if (program.variants.empty()) {
    return fail(ErrorCode::invalid_argument, "program '{}' has no variant", program.name);
  }
  for (const VariantInput& variant : program.variants) {
    CLBIN_TRY(check_name(fmt::format("program '{}': a variant", program.name), variant.name));
    if (!draft.variants.emplace(variant.name, variant.options).second) {
      return fail(ErrorCode::invalid_argument, "program '{}' has two variants '{}'", program.name,
                  variant.name);
    }
  }
  return {};
}

Result<void> Writer::add_input_entry(const std::string& program, const EntryInput& entry) {
  if (entry.payload.empty()) {
    return fail(ErrorCode::invalid_argument, "program '{}', variant '{}': an entry has no payload",
                program, entry.variant);
  }
  CLBIN_TRY_ASSIGN(const ByteRegion payload, entry.payload.read());
  const BinaryInfo info = classify_binary(payload.view());
  EntryDraft draft;
  CLBIN_TRY_ASSIGN(draft.row.kernels, sorted_kernels(program, entry.kernels));
  draft.row.variant = entry.variant;
  draft.row.target = entry.target;
  draft.row.options = entry.options;
  draft.row.build_log = entry.build_log;
  draft.row.tools = entry.tools;
  draft.row.spec_constants = entry.spec_constants;
  draft.raw_digest = base::digest_of(payload.view());
  draft.match_key = match_key(info, target_digest(entry.target));
  draft.address_bits = info.address_bits != 0
                           ? info.address_bits
                           : static_cast<std::uint8_t>(entry.target.identity.address_bits);
  m_payloads.try_emplace(draft.raw_digest, ReferencePayload{entry.payload, info.kind});
  auto added = add_entry(m_draft, program, std::move(draft));
  if (!added) {
    return fail(ErrorCode::invalid_argument, "{}", added.error().message);
  }
  return {};
}

Result<void> Writer::add_written_frame(const Digest& raw_digest, FrameDraft frame) {
  if (m_spill) {
    CLBIN_TRY_ASSIGN(const ByteRegion stored, frame.stored.read());
    CLBIN_TRY_ASSIGN(frame.stored, base::KeptBytes::spill(m_spill, stored.view()));
  }
  add_frame(m_draft, raw_digest, std::move(frame));
  return {};
}

Result<FrameDraft> Writer::source_frame(ByteView source, const Digest& raw_digest) const {
  if (m_sources && m_sources->compression_level == m_level) {
    const auto found = m_sources->frames.find(raw_digest);
    if (found != m_sources->frames.end()) {
      return found->second;
    }
  }
  return compress_alone(source, m_level);
}

// Skips a payload that is also the source of a program, because it is already compressed alone.
Result<void> Writer::compress_payloads() {
  std::vector<Digest> digests;
  std::vector<ReferencePayload> payloads;
  for (const auto& [digest, payload] : m_payloads) {
    if (!m_draft.frames.contains(digest)) {
      digests.push_back(digest);
      payloads.push_back(payload);
    }
  }
  CLBIN_TRY_ASSIGN(const std::vector<ReferenceChoice> choices, choose_references(payloads));
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    CLBIN_TRY_ASSIGN(FrameDraft frame, compress(payloads[i], choices[i], digests, payloads));
    CLBIN_TRY(add_written_frame(digests[i], std::move(frame)));
  }
  return {};
}

Result<FrameDraft> Writer::compress(const ReferencePayload& payload, const ReferenceChoice& choice,
                                    std::span<const Digest> digests,
                                    std::span<const ReferencePayload> payloads) const {
  CLBIN_TRY_ASSIGN(const ByteRegion raw, payload.raw.read());
  if (raw.view().size() <= m_max_stored_bytes) {
    return store_alone(raw.view());
  }
  if (!choice.reference) {
    return compress_alone(raw.view(), m_level);
  }
  CLBIN_TRY_ASSIGN(const ByteRegion reference, payloads[*choice.reference].raw.read());
  CLBIN_TRY_ASSIGN(Bytes stored, base::zstd_compress(raw.view(), reference.view(), m_level));
  if (choice.saving == Saving::doubtful || stored.size() >= raw.view().size()) {
    CLBIN_TRY_ASSIGN(FrameDraft alone, compress_alone(raw.view(), m_level));
    if (alone.stored.size_bytes() <= stored.size()) {
      return alone;
    }
  }
  FrameDraft frame;
  frame.raw_bytes = raw.view().size();
  frame.codec = BlobCodec::zstd;
  frame.reference = digests[*choice.reference];
  frame.stored_digest = base::digest_of(stored);
  frame.stored = std::move(stored);
  return frame;
}

AssemblyOptions assembly_options(const WriteOptions& options) {
  return {options.encryption ? &*options.encryption : nullptr, options.spill};
}

} // namespace

Result<void> compress_source(const SourcePackage& source, SourceFrames& frames) {
  const Bytes bytes = encode_source_package(source);
  CLBIN_TRY_ASSIGN(FrameDraft frame, compress_alone(bytes, frames.compression_level));
  frames.frames.insert_or_assign(base::digest_of(bytes), std::move(frame));
  return {};
}

Result<Bytes> write_bundle(const BundleInput& input, const WriteOptions& options) {
  CLBIN_TRY_ASSIGN(BundleDraft draft, Writer(input, options).run());
  return assemble_bundle(std::move(draft), assembly_options(options));
}

Result<void> write_bundle(const BundleInput& input, const WriteOptions& options,
                          const std::function<Result<void>(ByteView)>& sink) {
  CLBIN_TRY_ASSIGN(BundleDraft draft, Writer(input, options).run());
  return assemble_bundle(std::move(draft), assembly_options(options), sink);
}

} // namespace clbin::format
