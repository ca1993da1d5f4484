#include "format/bundle/bundle_writer.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/known_answers.hpp"

#include <tuple>

namespace clbin::format {

using base::ByteRegion;

namespace {

// Drafts. -----------------------------------------------------------------------------------------

auto order_of(const EntryDraft& entry) {
  return std::tuple(encode_manifest({{}, {}, {entry.row}}), entry.match_key, entry.type,
                    entry.address_bits);
}

auto order_of(const FrameDraft& frame) {
  return std::tuple(frame.reference.has_value(), frame.stored.size_bytes(), frame.stored_digest,
                    frame.reference);
}

BinaryKind kind_of(const EntryDraft& entry) {
  constexpr unsigned k_bits_below_kind = 56;
  return static_cast<BinaryKind>(entry.match_key >> k_bits_below_kind);
}

std::string target_name(const Target& target) {
  return target.origin == TargetOrigin::offline ? target.spec : target.identity.device_name;
}

// References. -------------------------------------------------------------------------------------

// Measured on 42 to 57 real binaries: with level 6, the choices cost 0.0 to 0.5 % more than the
// best ones. With level 3 they cost up to 0.9 % more. Level 9 is not better and takes three times
// as long.
constexpr int k_estimate_level = 6;
constexpr std::size_t k_max_hub_candidates = 16;
// Limit of raw bytes compressed for the estimates of one kind: about two seconds.
constexpr std::uint64_t k_max_estimate_bytes = 512ULL << 20U;
// A reference slows down loading. It must therefore save at least 1/16 of the size of the payload
// when compressed alone; below 1/8, the actual sizes decide.
constexpr std::uint64_t k_least_saving = 16;
constexpr std::uint64_t k_doubtful_saving = 8;
// Of recorded data, which level 19 compresses at 2 MB/s.
constexpr int k_data_level = 9;

using Members = std::vector<std::size_t>;

// Chooses references among the payloads of one kind. Sizes are estimates.
class HubSearch {
public:
  HubSearch(std::span<const ReferencePayload> payloads, Members members)
      : m_payloads(payloads), m_members(std::move(members)) {}

  // Greedy: opens the hub that saves most, until no hub saves anything.
  Result<void> run(std::vector<ReferenceChoice>& choices) {
    CLBIN_TRY_ASSIGN(m_alone, sizes_against({}, std::nullopt));
    CLBIN_TRY(estimate_columns());
    m_size = m_alone;
    m_hub_of.resize(m_members.size());
    m_is_hub.resize(m_members.size(), false);
    while (true) {
      const Column* best = nullptr;
      std::int64_t best_gain = 0;
      for (const Column& column : m_columns) {
        const std::int64_t gain = m_is_hub[column.hub] ? 0 : gain_of(column);
        if (gain > best_gain) {
          best = &column;
          best_gain = gain;
        }
      }
      if (best == nullptr) {
        break;
      }
      open_hub(*best);
    }
    store(choices);
    return {};
  }

private:
  struct Column {
    std::size_t hub;                    // index in m_members
    std::vector<std::uint64_t> against; // size of every member when compressed against it
  };

  // Returns the size of every member except `hub` when compressed against `reference`.
  Result<std::vector<std::uint64_t>> sizes_against(ByteView reference,
                                                   std::optional<std::size_t> hub) {
    std::vector<std::uint64_t> sizes(m_members.size());
    for (std::size_t i = 0; i < m_members.size(); ++i) {
      if (i != hub) {
        CLBIN_TRY_ASSIGN(const ByteRegion raw, m_payloads[m_members[i]].raw.read());
        CLBIN_TRY_ASSIGN(const Bytes frame,
                         base::zstd_compress(raw.view(), reference, k_estimate_level));
        sizes[i] = std::min<std::uint64_t>(frame.size(), raw.view().size());
      }
    }
    return sizes;
  }

  // The hub itself is compressed alone.
  Result<Column> estimate_column(std::size_t hub) {
    Column column{hub, {}};
    CLBIN_TRY_ASSIGN(const ByteRegion hub_raw, m_payloads[m_members[hub]].raw.read());
    CLBIN_TRY_ASSIGN(column.against, sizes_against(hub_raw.view(), hub));
    column.against[hub] = m_alone[hub];
    return column;
  }

  // Spreads the candidates: the next one is always the member that the previous ones compress
  // worst.
  Result<void> estimate_columns() {
    std::uint64_t kind_bytes = 1;
    for (const std::size_t member : m_members) {
      kind_bytes += m_payloads[member].raw.size_bytes();
    }
    const std::size_t candidates = static_cast<std::size_t>(std::min<std::uint64_t>(
        {m_members.size(), k_max_hub_candidates, k_max_estimate_bytes / kind_bytes}));
    std::vector<std::uint64_t> served = m_alone;
    std::vector<bool> taken(m_members.size(), false);
    while (m_columns.size() < candidates) {
      std::size_t hub = m_members.size();
      for (std::size_t i = 0; i < m_members.size(); ++i) {
        if (!taken[i] && (hub == m_members.size() || served[i] > served[hub])) {
          hub = i;
        }
      }
      taken[hub] = true;
      CLBIN_TRY_ASSIGN(Column column, estimate_column(hub));
      for (std::size_t i = 0; i < m_members.size(); ++i) {
        served[i] = std::min(served[i], column.against[i]);
      }
      m_columns.push_back(std::move(column));
    }
    return {};
  }

  std::int64_t gain_of(const Column& column) const {
    std::int64_t gain = static_cast<std::int64_t>(m_size[column.hub]) -
                        static_cast<std::int64_t>(m_alone[column.hub]);
    for (std::size_t i = 0; i < m_members.size(); ++i) {
      if (i != column.hub && !m_is_hub[i] && column.against[i] < m_size[i]) {
        gain += static_cast<std::int64_t>(m_size[i] - column.against[i]);
      }
    }
    return gain;
  }

  void open_hub(const Column& column) {
    m_is_hub[column.hub] = true;
    m_size[column.hub] = m_alone[column.hub];
    m_hub_of[column.hub].reset();
    for (std::size_t i = 0; i < m_members.size(); ++i) {
      if (!m_is_hub[i] && column.against[i] < m_size[i]) {
        m_size[i] = column.against[i];
        m_hub_of[i] = column.hub;
      }
    }
  }

  void store(std::vector<ReferenceChoice>& choices) const {
    for (std::size_t i = 0; i < m_members.size(); ++i) {
      const std::uint64_t saving = m_alone[i] - m_size[i];
      if (m_hub_of[i] && saving > m_alone[i] / k_least_saving) {
        choices[m_members[i]] = {m_members[*m_hub_of[i]], saving > m_alone[i] / k_doubtful_saving
                                                              ? Saving::clear
                                                              : Saving::doubtful};
      }
    }
  }

  std::span<const ReferencePayload> m_payloads;
  Members m_members;

  std::vector<std::uint64_t> m_alone;
  std::vector<Column> m_columns;
  std::vector<std::uint64_t> m_size;                // with the current hubs
  std::vector<std::optional<std::size_t>> m_hub_of; // index in m_members
  std::vector<bool> m_is_hub;
};

// The writer. ---------------------------------------------------------------------------------

constexpr std::string_view k_name_separator = ";";

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, "{} has a name that is empty or contains a zero byte",
                what);
  }
  return {};
}

Result<std::vector<KernelReflection>> sorted_kernels(const std::string& program,
                                                     std::vector<KernelReflection> kernels) {
  std::ranges::sort(kernels, {}, &KernelReflection::name);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    CLBIN_TRY(check_name(fmt::format("program '{}': a kernel", program), kernels[i].name));
    if (kernels[i].name.find(k_name_separator) != std::string::npos) {
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
      : m_input(input), m_level(options.compression_level), m_spill(options.spill),
        m_sources(options.sources ? options.sources() : nullptr) {}

  Result<BundleDraft> run() {
    for (const ProgramInput& program : m_input.programs) {
      CLBIN_TRY(add_program(program));
    }
    CLBIN_TRY(compress_payloads());
    return std::move(m_draft);
  }

private:
  Result<void> add_program(const ProgramInput& program) {
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
                    "program '{}' has an entry of variant '{}', which it does not list",
                    program.name, entry.variant);
      }
      CLBIN_TRY_ASSIGN(EntryDraft row, draft_of(program.name, entry));
      m_payloads.try_emplace(row.raw_digest, ReferencePayload{entry.payload, kind_of(row)});
      if (const auto added = add_entry(m_draft, program.name, std::move(row)); !added) {
        return fail(ErrorCode::invalid_argument, "{}", added.error().message);
      }
    }
    CLBIN_TRY(add_measurements(program, draft));
    CLBIN_TRY(add_answers(program, draft));
    CLBIN_TRY(add_data(program, draft));
    return add_recorded(program, draft);
  }

  Result<void> add_variants(const ProgramInput& program, ProgramDraft& draft) {
    if (program.variants.empty()) {
      return fail(ErrorCode::invalid_argument, "program '{}' has no variant", program.name);
    }
    for (const VariantInput& variant : program.variants) {
      CLBIN_TRY(check_name(fmt::format("program '{}': a variant", program.name), variant.name));
      if (!draft.variants.emplace(variant.name, variant).second) {
        return fail(ErrorCode::invalid_argument, "program '{}' has two variants '{}'", program.name,
                    variant.name);
      }
      for (const std::string& extension : variant.required) {
        CLBIN_TRY(check_name(fmt::format("variant '{}': an extension", variant.name), extension));
        if (extension.find(k_name_separator) != std::string::npos) {
          return fail(ErrorCode::invalid_argument, "variant '{}': extension '{}' has a semicolon",
                      variant.name, extension);
        }
      }
    }
    return {};
  }

  static Result<void> add_recorded(const ProgramInput& program, ProgramDraft& draft) {
    for (const RecordedLaunch& launch : program.launches) {
      const bool is_whole = !launch.kernel.empty() && launch.dimensions >= 1 &&
                            launch.dimensions <= launch.local_size.size();
      if (!is_whole || !draft.variants.contains(launch.variant)) {
        return fail(
            ErrorCode::invalid_argument,
            "program '{}' has a launch of kernel '{}' in {} dimensions, variant '{}', which "
            "cannot be",
            program.name, launch.kernel, launch.dimensions, launch.variant);
      }
      draft.launches.insert(launch);
    }
    for (const RecordedBuild& build : program.builds) {
      if (!draft.variants.contains(build.variant)) {
        return fail(ErrorCode::invalid_argument,
                    "program '{}' has a build of variant '{}', which it does not list",
                    program.name, build.variant);
      }
      add_build(draft, build);
    }
    return {};
  }

  static Result<void> add_measurements(const ProgramInput& program, ProgramDraft& draft) {
    const auto refused = [&program](const Measurement& measurement, std::string_view why) {
      return fail(ErrorCode::invalid_argument,
                  "program '{}' has a measurement of kernel '{}', variant '{}', which cannot be: "
                  "{}",
                  program.name, measurement.kernel, measurement.variant, why);
    };
    for (const Measurement& measurement : program.measurements) {
      if (const std::string_view why = broken_rule(measurement); !why.empty()) {
        return refused(measurement, why);
      }
      if (!draft.variants.contains(measurement.variant)) {
        return refused(measurement, "the program does not list the variant");
      }
      if (draft.source && measurement.source != base::to_hex(*draft.source)) {
        return refused(measurement, "it is of another source");
      }
      add_measurement(draft, measurement);
    }
    return {};
  }

  static Result<void> add_answers(const ProgramInput& program, ProgramDraft& draft) {
    for (const KnownAnswer& answer : program.answers) {
      const std::string_view broken = broken_rule(answer);
      if (!broken.empty() || !draft.variants.contains(answer.variant)) {
        return fail(ErrorCode::invalid_argument,
                    "program '{}' has a known answer of kernel '{}', variant '{}', which cannot "
                    "be: {}",
                    program.name, answer.kernel, answer.variant,
                    broken.empty() ? "the program does not list the variant" : broken);
      }
      CLBIN_TRY(add_answer(draft, program.name, answer));
    }
    return {};
  }

  // Compresses each alone, as a source.
  Result<void> add_data(const ProgramInput& program, const ProgramDraft& draft) {
    for (const KnownAnswer& answer : draft.answers) {
      for (const NamedData& named : data_of(answer)) {
        const auto found = program.data.find(base::to_hex(named.digest));
        if (found == program.data.end() || m_draft.frames.contains(named.digest)) {
          continue;
        }
        CLBIN_TRY_ASSIGN(const ByteRegion raw, found->second.read());
        CLBIN_TRY_ASSIGN(FrameDraft frame,
                         compress_alone(raw.view(), std::min(m_level, k_data_level)));
        CLBIN_TRY(add_written_frame(named.digest, std::move(frame)));
      }
    }
    return {};
  }

  Result<FrameDraft> source_frame(ByteView source, const Digest& raw_digest) const {
    if (m_sources && m_sources->compression_level == m_level) {
      if (const auto found = m_sources->frames.find(raw_digest); found != m_sources->frames.end()) {
        return found->second;
      }
    }
    return compress_alone(source, m_level);
  }

  // Skips a payload that is also the source of a program, because it is already compressed alone.
  Result<void> compress_payloads() {
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

  Result<FrameDraft> compress(const ReferencePayload& payload, const ReferenceChoice& choice,
                              std::span<const Digest> digests,
                              std::span<const ReferencePayload> payloads) const {
    CLBIN_TRY_ASSIGN(const ByteRegion raw, payload.raw.read());
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
    FrameDraft frame = frame_of(BlobCodec::zstd, std::move(stored), raw.view().size());
    frame.reference = digests[*choice.reference];
    return frame;
  }

  Result<void> add_written_frame(const Digest& raw_digest, FrameDraft frame) {
    if (m_spill) {
      CLBIN_TRY_ASSIGN(const ByteRegion stored, frame.stored.read());
      CLBIN_TRY_ASSIGN(frame.stored, base::KeptBytes::spill(m_spill, stored.view()));
    }
    add_frame(m_draft, raw_digest, std::move(frame));
    return {};
  }

  const BundleInput& m_input;
  int m_level;
  std::shared_ptr<base::SpillFile> m_spill;
  std::shared_ptr<const SourceFrames> m_sources;
  BundleDraft m_draft;
  std::map<Digest, ReferencePayload> m_payloads;
};

} // namespace

Result<std::vector<ReferenceChoice>> choose_references(std::span<const ReferencePayload> payloads) {
  std::map<BinaryKind, Members> kinds;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (payloads[i].raw.size_bytes() <= k_max_window_bytes / 2) {
      kinds[payloads[i].kind].push_back(i);
    }
  }
  std::vector<ReferenceChoice> choices(payloads.size());
  for (auto& [kind, members] : kinds) {
    if (members.size() > 1) {
      CLBIN_TRY(HubSearch(payloads, std::move(members)).run(choices));
    }
  }
  return choices;
}

Result<EntryDraft> draft_of(const std::string& program, const EntryInput& entry) {
  CLBIN_TRY(check_name("a program", program));
  if (entry.payload.empty()) {
    return fail(ErrorCode::invalid_argument, "program '{}', variant '{}': an entry has no payload",
                program, entry.variant);
  }
  CLBIN_TRY_ASSIGN(const ByteRegion payload, entry.payload.read());
  const BinaryInfo info = classify_binary(payload.view());
  EntryDraft draft;
  draft.row = static_cast<const ManifestEntry&>(entry); // without the payload
  CLBIN_TRY_ASSIGN(draft.row.kernels, sorted_kernels(program, std::move(draft.row.kernels)));
  draft.raw_digest = base::digest_of(payload.view());
  draft.match_key = match_key(info, target_digest(entry.target));
  draft.address_bits = info.address_bits != 0
                           ? info.address_bits
                           : static_cast<std::uint8_t>(entry.target.identity.address_bits);
  return draft;
}

Result<void> add_entry(BundleDraft& draft, const std::string& program, EntryDraft entry) {
  entry.row.raw_digest = row_digest(entry.raw_digest);
  EntryIdentity identity{entry.row.variant, target_digest(entry.row.target),
                         static_cast<std::uint64_t>(kind_of(entry))};
  auto& entries = draft.programs[program].entries;
  const auto there = entries.find(identity);
  if (there == entries.end()) {
    entries.emplace(std::move(identity), std::move(entry));
    return {};
  }
  if (there->second.raw_digest != entry.raw_digest) {
    return fail(ErrorCode::conflict,
                "program '{}', variant '{}' has two different binaries of kind {} for '{}'",
                program, entry.row.variant, to_string(static_cast<BinaryKind>(identity.kind)),
                target_name(entry.row.target));
  }
  if (order_of(entry) < order_of(there->second)) {
    there->second = std::move(entry);
  }
  return {};
}

void add_build(ProgramDraft& draft, RecordedBuild build) {
  const std::pair place(build.variant, target_digest(build.target));
  const auto [there, added] = draft.builds.try_emplace(place, std::move(build));
  std::vector<std::string>& kernels = there->second.kernels;
  if (!added) {
    kernels.insert(kernels.end(), build.kernels.begin(), build.kernels.end());
  }
  std::ranges::sort(kernels);
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
}

void add_measurement(ProgramDraft& draft, Measurement measurement) {
  const auto there = draft.measurements.find(measurement);
  if (there == draft.measurements.end()) {
    draft.measurements.insert(std::move(measurement));
  } else if (replaces(measurement, *there)) {
    draft.measurements.insert(draft.measurements.erase(there), std::move(measurement));
  }
}

Result<void> add_answer(ProgramDraft& draft, const std::string& program, KnownAnswer answer) {
  const auto [there, is_new] = draft.answers.insert(answer);
  if (is_new || *there == answer) {
    return {};
  }
  if (is_recorded(answer)) { // two devices differ in what they compute
    if (answer < *there) {
      draft.answers.insert(draft.answers.erase(there), std::move(answer));
    }
    return {};
  }
  if (there->results != answer.results || there->tolerance != answer.tolerance) {
    return fail(
        ErrorCode::conflict,
        "program '{}', variant '{}' has two different known answers of one launch of kernel "
        "'{}', by '{}' and '{}'",
        program, answer.variant, answer.kernel, there->device, answer.device);
  }
  if (answer.device < there->device) {
    draft.answers.insert(draft.answers.erase(there), std::move(answer));
  }
  return {};
}

void add_frame(BundleDraft& draft, const Digest& raw_digest, FrameDraft frame) {
  const auto there = draft.frames.find(raw_digest);
  if (there == draft.frames.end()) {
    draft.frames.emplace(raw_digest, std::move(frame));
  } else if (order_of(frame) < order_of(there->second)) {
    there->second = std::move(frame);
  }
}

bool is_same_frame(const FrameDraft& a, const FrameDraft& b) {
  return a.stored_digest == b.stored_digest && a.codec == b.codec && a.raw_bytes == b.raw_bytes &&
         a.reference == b.reference;
}

FrameDraft frame_of(BlobCodec codec, Bytes stored, std::uint64_t raw_bytes) {
  FrameDraft frame;
  frame.stored_digest = base::digest_of(stored);
  frame.stored = std::move(stored);
  frame.raw_bytes = raw_bytes;
  frame.codec = codec;
  return frame;
}

FrameDraft store_alone(ByteView raw) {
  return frame_of(BlobCodec::stored, Bytes(raw.begin(), raw.end()), raw.size());
}

Result<FrameDraft> compress_alone(ByteView raw, int level) {
  CLBIN_TRY_ASSIGN(Bytes stored, base::zstd_compress(raw, {}, level));
  return stored.size() >= raw.size() ? store_alone(raw)
                                     : frame_of(BlobCodec::zstd, std::move(stored), raw.size());
}

Result<void> compress_source(const SourcePackage& source, SourceFrames& frames) {
  const Bytes bytes = encode_source_package(source);
  CLBIN_TRY_ASSIGN(FrameDraft frame, compress_alone(bytes, frames.compression_level));
  frames.frames.insert_or_assign(base::digest_of(bytes), std::move(frame));
  return {};
}

Result<Bytes> write_bundle(const BundleInput& input, const WriteOptions& options) {
  CLBIN_TRY_ASSIGN(BundleDraft draft, Writer(input, options).run());
  return assemble_bundle(std::move(draft), options);
}

Result<void> write_bundle(const BundleInput& input, const WriteOptions& options,
                          const ByteSink& sink) {
  CLBIN_TRY_ASSIGN(BundleDraft draft, Writer(input, options).run());
  return assemble_bundle(std::move(draft), options, sink);
}

} // namespace clbin::format
