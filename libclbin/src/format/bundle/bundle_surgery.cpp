#include "format/bundle/bundle_surgery.hpp"

#include "format/bundle/proved_blobs.hpp"

namespace clbin::format {

using base::ByteRegion;

namespace {

// Groups by program, and within a program by variant.
using Programs = std::map<std::string, std::map<std::string, GroupView>>;

Result<Programs> programs_of(const BundleReader& reader) {
  Programs programs;
  TextBudget budget(reader.total_bytes());
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(GroupView group, reader.group(i));
    CLBIN_TRY(budget.take(group));
    auto& variants = programs[group.program];
    std::string variant = group.variant;
    if (!variants.emplace(std::move(variant), std::move(group)).second) {
      return fail(ErrorCode::damaged, "group {}: a group before it has the same names", i);
    }
  }
  return programs;
}

// Adds the recorded launches and builds of the variants that `draft` has.
void add_recorded(ProgramDraft& draft, const Manifest& manifest) {
  for (const RecordedLaunch& launch : manifest.launches) {
    if (draft.variants.contains(launch.variant)) {
      draft.launches.insert(launch);
    }
  }
  for (const RecordedBuild& build : manifest.builds) {
    if (draft.variants.contains(build.variant)) {
      add_build(draft, build);
    }
  }
}

// Returns the blobs that are only manifests. A new manifest replaces them.
Result<std::set<std::uint32_t>> manifest_only_blobs(const BundleReader& reader) {
  std::set<std::uint32_t> manifests;
  std::set<std::uint32_t> others;
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const GroupView group, reader.group(i));
    manifests.insert(group.manifest_blob);
    others.insert(group.source_blob);
  }
  for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
    CLBIN_TRY_ASSIGN(const EntryView entry, reader.entry(i));
    others.insert(entry.blob);
  }
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(i));
    others.insert(blob.reference);
  }
  std::set<std::uint32_t> only;
  std::set_difference(manifests.begin(), manifests.end(), others.begin(), others.end(),
                      std::inserter(only, only.end()));
  return only;
}

// Copies frames of one bundle into a draft. The draft identifies a frame by its raw digest, which
// is therefore proved first: with a wrong one, bytes of this bundle would replace those of another.
class FrameCopier {
public:
  FrameCopier(BundleDraft& draft, const BundleReader& reader)
      : m_draft(draft), m_reader(reader), m_proved(reader) {}

  // Requires distinct blobs.
  Result<void> copy(std::vector<std::uint32_t> blobs) {
    CLBIN_TRY(ProvedBlobs::sort_by_reference(m_reader, blobs));
    for (const std::uint32_t index : blobs) {
      CLBIN_TRY(copy_one(index));
    }
    return {};
  }

  // Returns the digest of the raw bytes, by which the draft identifies a blob. The blob must have
  // been copied if it exists. Errors: as BundleReader::blob.
  [[nodiscard]] Result<Digest> raw_digest(std::uint32_t blob) const {
    CLBIN_TRY(m_reader.blob(blob));
    return m_digests.at(blob);
  }

private:
  Result<void> copy_one(std::uint32_t index) {
    CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
    CLBIN_TRY(charge(blob, index));
    CLBIN_TRY_ASSIGN(FrameDraft frame,
                     m_reader.is_encrypted() ? decrypted(blob, index) : proved(blob, index));
    add_frame(m_draft, m_digests.at(index), std::move(frame));
    return {};
  }

  // The raw digest, and that of the reference, are known only when the raw bytes are.
  Result<FrameDraft> decrypted(const BlobView& blob, std::uint32_t index) {
    FrameDraft frame;
    CLBIN_TRY_ASSIGN(ByteRegion plain, m_reader.read_frame(index));
    CLBIN_TRY_ASSIGN(m_digests[index], m_proved.check(index, plain.view()));
    if (blob.has_reference()) {
      frame.reference = m_proved.digest(blob.reference);
    }
    frame.stored_digest = base::digest_of(plain.view());
    frame.stored = std::move(plain);
    frame.raw_bytes = blob.raw_bytes;
    frame.codec = content_codec(blob);
    return frame;
  }

  Result<FrameDraft> proved(const BlobView& blob, std::uint32_t index) {
    FrameDraft frame;
    CLBIN_TRY_ASSIGN(frame.reference, reference_of(blob, index));
    CLBIN_TRY_ASSIGN(frame.stored, m_reader.read_frame(index));
    frame.stored_digest = blob.stored_digest;
    frame.raw_bytes = blob.raw_bytes;
    frame.codec = static_cast<BlobCodec>(blob.codec);
    const auto there = m_draft.frames.find(blob.raw_digest);
    if (there == m_draft.frames.end() || !is_same_frame(there->second, frame)) {
      CLBIN_TRY_ASSIGN(const ByteRegion stored, frame.stored.read());
      CLBIN_TRY(m_proved.check(index, stored.view()));
    }
    m_digests[index] = blob.raw_digest;
    return frame;
  }

  Result<std::optional<Digest>> reference_of(const BlobView& blob, std::uint32_t index) {
    if (!blob.has_reference()) {
      return std::nullopt;
    }
    CLBIN_TRY_ASSIGN(const BlobView reference, m_reader.blob(blob.reference));
    if (reference.has_reference()) {
      return fail(ErrorCode::damaged, "blob {}: its reference {} has a reference itself", index,
                  blob.reference);
    }
    return reference.raw_digest;
  }

  // Rejects overlapping frames, which would require more memory than the size of the file.
  Result<void> charge(const BlobView& blob, std::uint32_t index) {
    m_stored_bytes += blob.stored_bytes; // each is at most total_bytes: the sum cannot overflow
    if (m_stored_bytes > m_reader.total_bytes()) {
      return fail(ErrorCode::damaged, "blob {}: its stored bytes are those of other blobs too",
                  index);
    }
    return {};
  }

  BundleDraft& m_draft;
  const BundleReader& m_reader;
  ProvedBlobs m_proved;
  std::map<std::uint32_t, Digest> m_digests;
  std::uint64_t m_stored_bytes = 0;
};

// Moves the row of an entry, which was compared with the table.
Result<EntryDraft> draft_of(const FrameCopier& frames, const EntryView& entry, Manifest& manifest) {
  EntryDraft draft;
  draft.row = std::move(manifest.entries[entry.manifest_row]);
  CLBIN_TRY_ASSIGN(draft.raw_digest, frames.raw_digest(entry.blob));
  draft.match_key = entry.match_key;
  draft.type = entry.type;
  draft.address_bits = entry.address_bits;
  return draft;
}

Result<std::optional<Digest>> source_digest(const FrameCopier& frames, const GroupView& group) {
  if (group.source_blob == k_no_index) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(const Digest digest, frames.raw_digest(group.source_blob));
  return digest;
}

// Returns the names of the inputs that contain an entry of this group for this target and kind.
std::string holders_of(const std::vector<const BundleReader*>& inputs, const GroupView& group,
                       const EntryView& entry) {
  std::string names;
  for (const BundleReader* input : inputs) {
    const auto there = input->find_group(group.program, group.variant);
    const auto found =
        there ? input->find_exact(*there, entry.target.digest) : Result<std::vector<EntryView>>();
    const bool holds =
        found && std::any_of(found->begin(), found->end(),
                             [&entry](const EntryView& other) { return other.kind == entry.kind; });
    if (holds) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", input->name());
    }
  }
  return names;
}

std::vector<KernelReflection> names_only(const std::vector<KernelReflection>& kernels) {
  std::vector<KernelReflection> names(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    names[i].name = kernels[i].name;
  }
  return names;
}

class Merger {
public:
  Result<Bytes> run(std::span<const BundleReader* const> inputs, const Encryption* encryption) {
    std::uint64_t total_bytes = 0;
    for (const BundleReader* input : inputs) {
      total_bytes += input->total_bytes();
    }
    m_budget = ReadBudget::for_bundle(total_bytes);
    for (const BundleReader* input : inputs) {
      if (auto added = add_input(*input); !added) {
        return base::add_context(std::move(added.error()), fmt::format("'{}'", input->name()));
      }
    }
    return assemble_bundle(std::move(m_draft), {encryption});
  }

private:
  // The input that is being added.
  struct Input {
    const BundleReader& bundle;
    const FrameCopier& frames;
  };
  Result<void> add_input(const BundleReader& input) {
    CLBIN_TRY_ASSIGN(const Programs programs, programs_of(input));
    CLBIN_TRY_ASSIGN(const std::set<std::uint32_t> replaced, manifest_only_blobs(input));
    std::vector<std::uint32_t> copied;
    for (std::uint32_t i = 0; i < input.blob_count(); ++i) {
      if (!replaced.contains(i)) {
        copied.push_back(i);
      }
    }
    FrameCopier frames(m_draft, input);
    CLBIN_TRY(frames.copy(std::move(copied)));
    for (const auto& [program, variants] : programs) {
      CLBIN_TRY_ASSIGN(Manifest manifest,
                       input.decode_manifest_of(variants.begin()->second, m_budget));
      ManifestCheck check(input, manifest);
      ProgramDraft& draft = m_draft.programs[program];
      draft.producer = std::max(draft.producer, manifest.producer);
      for (const auto& [variant, group] : variants) {
        CLBIN_TRY(check.check(group));
        CLBIN_TRY(add_group({input, frames}, group));
        CLBIN_TRY(add_entries({input, frames}, group, manifest));
      }
      add_recorded(draft, manifest);
      m_inputs_of[program].push_back(&input);
    }
    return {};
  }

  Result<void> add_group(const Input& input, const GroupView& group) {
    ProgramDraft& draft = m_draft.programs[group.program];
    CLBIN_TRY_ASSIGN(const std::optional<Digest> source, source_digest(input.frames, group));
    if (source && draft.source && *source != *draft.source) {
      return fail(ErrorCode::conflict, "program '{}' has different source in '{}'", group.program,
                  m_source_from[group.program]);
    }
    if (source && !draft.source) {
      draft.source = source;
      m_source_from[group.program] = input.bundle.name();
    }
    const auto [there, added] = draft.variants.emplace(group.variant.str(), group.options.str());
    const std::pair key(group.program, group.variant);
    if (added) {
      m_variant_from[key] = input.bundle.name();
    } else if (there->second != group.options) {
      return fail(ErrorCode::conflict,
                  "program '{}', variant '{}' has options '{}' here and '{}' in '{}'",
                  group.program, group.variant, group.options, there->second, m_variant_from[key]);
    }
    return {};
  }

  Result<void> add_entries(const Input& input, const GroupView& group, Manifest& manifest) {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, input.bundle.entry(group.first_entry + i, group));
      CLBIN_TRY_ASSIGN(EntryDraft draft, draft_of(input.frames, entry, manifest));
      const auto added = add_entry(m_draft, group.program, std::move(draft));
      if (!added) {
        return fail(added.error().code, "{} (the other one is in {})", added.error().message,
                    holders_of(m_inputs_of[group.program], group, entry));
      }
    }
    return {};
  }

  BundleDraft m_draft;
  ReadBudget m_budget{0, 0}; // for all manifests
  // For messages: the input that contained it first.
  std::map<std::string, std::string> m_source_from;
  std::map<std::pair<std::string, std::string>, std::string> m_variant_from;
  std::map<std::string, std::vector<const BundleReader*>> m_inputs_of;
};

class Stripper {
public:
  Stripper(const BundleReader& input, const std::function<bool(const EntryView&)>& keep,
           KeepSource keep_source, KeepReflection keep_reflection)
      : m_input(input), m_keep(keep), m_keep_source(keep_source),
        m_keep_reflection(keep_reflection), m_is_kept(input.entry_count()) {}

  Result<StripResult> run(const Encryption* encryption) {
    CLBIN_TRY_ASSIGN(const Programs programs, programs_of(m_input));
    CLBIN_TRY(choose(programs));
    CLBIN_TRY(copy_frames());
    for (const auto& [program, variants] : programs) {
      CLBIN_TRY(add_program(program, variants));
    }
    if (m_draft.programs.empty() && !programs.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "nothing would remain: no program would have source or an entry");
    }
    CLBIN_TRY_ASSIGN(m_result.bytes, assemble_bundle(std::move(m_draft), {encryption}));
    return std::move(m_result);
  }

private:
  // Decides which entries are kept, and names the blobs that they and their sources need.
  Result<void> choose(const Programs& programs) {
    for (const auto& [program, variants] : programs) {
      const GroupView& first = variants.begin()->second;
      if (m_keep_source == KeepSource::yes && first.source_blob != k_no_index) {
        m_named.insert(first.source_blob);
      }
      for (const auto& [variant, group] : variants) {
        CLBIN_TRY(choose_entries(group));
      }
    }
    return {};
  }

  Result<void> choose_entries(const GroupView& group) {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(group.first_entry + i, group));
      if (m_keep(entry)) {
        m_is_kept[entry.index] = true;
        m_named.insert(entry.blob);
      }
    }
    return {};
  }

  Result<void> add_program(const std::string& program,
                           const std::map<std::string, GroupView>& variants) {
    const GroupView& first = variants.begin()->second;
    CLBIN_TRY_ASSIGN(Manifest manifest, m_input.decode_manifest_of(first, m_budget));
    ManifestCheck check(m_input, manifest);
    ProgramDraft& draft = m_draft.programs[program];
    draft.producer = manifest.producer;
    if (m_keep_source == KeepSource::yes && first.source_blob != k_no_index) {
      CLBIN_TRY_ASSIGN(draft.source, source_digest(m_frames, first));
    }
    std::vector<std::string> dropped;
    for (const auto& [variant, group] : variants) {
      CLBIN_TRY(check.check(group));
      CLBIN_TRY_ASSIGN(const std::uint64_t kept, add_entries(group, manifest));
      m_result.dropped_entries += group.entry_count - kept;
      if (kept != 0 || draft.source) {
        draft.variants.emplace(variant, group.options);
      } else {
        dropped.push_back(fmt::format("program '{}', variant '{}'", program, variant));
      }
    }
    add_recorded(draft, manifest);
    if (draft.variants.empty()) {
      m_draft.programs.erase(program);
      dropped = {fmt::format("program '{}'", program)};
    }
    m_result.dropped_names.insert(m_result.dropped_names.end(), dropped.begin(), dropped.end());
    return {};
  }

  // Returns the number of entries that were kept.
  Result<std::uint64_t> add_entries(const GroupView& group, Manifest& manifest) {
    std::uint64_t kept = 0;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(group.first_entry + i, group));
      if (!m_is_kept[entry.index]) {
        continue;
      }
      CLBIN_TRY_ASSIGN(EntryDraft draft, draft_of(m_frames, entry, manifest));
      if (m_keep_reflection == KeepReflection::names_only) {
        draft.row.kernels = names_only(draft.row.kernels);
      }
      CLBIN_TRY(add_entry(m_draft, group.program, std::move(draft)));
      ++kept;
    }
    return kept;
  }

  Result<void> copy_frames() {
    std::map<std::uint32_t, std::uint64_t> dependents; // for each hidden blob
    std::vector<std::uint32_t> copied(m_named.begin(), m_named.end());
    for (const std::uint32_t index : m_named) {
      CLBIN_TRY_ASSIGN(const BlobView blob, m_input.blob(index));
      if (blob.has_reference() && !m_named.contains(blob.reference)) {
        ++dependents[blob.reference];
      }
    }
    for (const auto& [index, count] : dependents) {
      CLBIN_TRY_ASSIGN(const BlobView blob, m_input.blob(index));
      copied.push_back(index);
      ++m_result.hidden_count;
      m_result.hidden_stored_bytes += blob.stored_bytes;
      m_result.hidden_dependents += count;
    }
    return m_frames.copy(std::move(copied));
  }

  const BundleReader& m_input;
  const std::function<bool(const EntryView&)>& m_keep;
  KeepSource m_keep_source;
  KeepReflection m_keep_reflection;
  BundleDraft m_draft;
  FrameCopier m_frames{m_draft, m_input};
  ReadBudget m_budget = m_input.budget(); // for all manifests
  std::vector<bool> m_is_kept;            // by entry
  std::set<std::uint32_t> m_named;        // blobs that a kept entry or group names
  StripResult m_result;
};

// Proved payloads and sources of a bundle. Entries that share a blob share its bytes.
class Unpacker {
public:
  Unpacker(const BundleReader& input, std::shared_ptr<base::SpillFile> spill)
      : m_input(input), m_spill(std::move(spill)), m_proved(input) {}

  Result<BundleInput> run() {
    CLBIN_TRY_ASSIGN(const Programs programs, programs_of(m_input));
    CLBIN_TRY(read_payloads());
    BundleInput contents;
    for (const auto& [name, variants] : programs) {
      const GroupView& first = variants.begin()->second;
      CLBIN_TRY_ASSIGN(Manifest manifest, m_input.decode_manifest_of(first, m_budget));
      ManifestCheck check(m_input, manifest);
      contents.producer = std::max(contents.producer, manifest.producer);
      ProgramInput& program = contents.programs.emplace_back();
      program.name = name;
      CLBIN_TRY_ASSIGN(program.source, source_of(first));
      for (const auto& [variant, group] : variants) {
        CLBIN_TRY(check.check(group));
        program.variants.push_back({variant, group.options});
        CLBIN_TRY(add_entries(group, manifest, program));
      }
      const auto is_kept = [&kept = variants](const auto& recorded) {
        return kept.contains(recorded.variant);
      };
      std::ranges::copy_if(manifest.launches, std::back_inserter(program.launches), is_kept);
      std::ranges::copy_if(manifest.builds, std::back_inserter(program.builds), is_kept);
    }
    return contents;
  }

private:
  Result<void> read_payloads() {
    std::set<std::uint32_t> named;
    for (std::uint32_t i = 0; i < m_input.entry_count(); ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(i));
      named.insert(entry.blob);
    }
    std::vector<std::uint32_t> blobs(named.begin(), named.end());
    CLBIN_TRY(ProvedBlobs::sort_by_reference(m_input, blobs));
    for (const std::uint32_t index : blobs) {
      CLBIN_TRY_ASSIGN(Bytes raw, m_proved.read(index));
      CLBIN_TRY_ASSIGN(m_payloads[index], keep(std::move(raw)));
    }
    return {};
  }

  Result<base::KeptBytes> keep(Bytes raw) const {
    return m_spill ? base::KeptBytes::spill(m_spill, raw) : base::KeptBytes(std::move(raw));
  }

  Result<std::optional<SourcePackage>> source_of(const GroupView& group) {
    if (group.source_blob == k_no_index) {
      return std::nullopt;
    }
    CLBIN_TRY_ASSIGN(const Bytes raw, m_proved.read(group.source_blob));
    m_source_bytes += raw.size(); // each at most 1 GiB; all are in memory at the same time
    if (const auto limit = held_bytes_limit(m_input.total_bytes()); m_source_bytes > limit) {
      return fail(ErrorCode::limit_exceeded, "its sources have more than {} bytes", limit);
    }
    auto source = decode_source_package(raw);
    if (!source) {
      return base::add_context(std::move(source.error()),
                               fmt::format("source of program '{}'", group.program));
    }
    return std::move(*source);
  }

  // Moves the rows of the entries, which were compared with the table.
  Result<void> add_entries(const GroupView& group, Manifest& manifest, ProgramInput& program) {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(group.first_entry + i, group));
      ManifestEntry& row = manifest.entries[entry.manifest_row];
      program.entries.push_back({group.variant, std::move(row.target), std::move(row.options),
                                 m_payloads.at(entry.blob), std::move(row.kernels),
                                 std::move(row.build_log), std::move(row.tools),
                                 std::move(row.spec_constants)});
    }
    return {};
  }

  const BundleReader& m_input;
  std::shared_ptr<base::SpillFile> m_spill;
  ProvedBlobs m_proved;
  ReadBudget m_budget = m_input.budget(); // for all manifests
  std::map<std::uint32_t, base::KeptBytes> m_payloads;
  std::uint64_t m_source_bytes = 0;
};

} // namespace

Result<Bytes> merge_bundles(std::span<const BundleReader* const> inputs,
                            const Encryption* encryption) {
  return Merger().run(inputs, encryption);
}

Result<StripResult> strip_bundle(const BundleReader& input,
                                 const std::function<bool(const EntryView&)>& keep,
                                 KeepSource keep_source, KeepReflection keep_reflection,
                                 const Encryption* encryption) {
  return Stripper(input, keep, keep_source, keep_reflection).run(encryption);
}

Result<BundleInput> unpack_bundle(const BundleReader& input,
                                  const std::shared_ptr<base::SpillFile>& spill) {
  return Unpacker(input, spill).run();
}

Result<Bytes> repack_bundle(const BundleReader& input, const WriteOptions& options) {
  CLBIN_TRY_ASSIGN(const BundleInput contents, unpack_bundle(input, options.spill));
  return write_bundle(contents, options);
}

} // namespace clbin::format
