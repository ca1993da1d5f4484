#include "format/bundle_surgery.hpp"

#include "format/bundle_draft.hpp"
#include "format/bundle_verify.hpp"

#include <algorithm>
#include <set>

namespace clbin::format {

using base::ByteRegion;
using base::Bytes;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Groups by program; of one program by variant.
using Programs = std::map<std::string, std::map<std::string, GroupView>>;

Result<Programs> programs_of(const BundleReader& reader) {
  Programs programs;
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(GroupView group, reader.group(i));
    auto& variants = programs[group.program];
    std::string variant = group.variant;
    variants.emplace(std::move(variant), std::move(group));
  }
  return programs;
}

Result<std::optional<Digest>> source_digest(const BundleReader& reader, const GroupView& group) {
  if (group.source_blob == k_no_index) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(group.source_blob));
  return blob.raw_digest;
}

Result<EntryDraft> draft_of(const BundleReader& reader, const EntryView& entry,
                            const Manifest& manifest) {
  CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(entry.blob));
  EntryDraft draft;
  draft.row = manifest.entries[entry.manifest_row]; // read_manifest has checked it
  draft.raw_digest = blob.raw_digest;
  draft.match_key = entry.match_key;
  draft.type = entry.type;
  draft.address_bits = entry.address_bits;
  return draft;
}

// Blobs that only serve as manifests: a new manifest takes their place.
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

Result<void> copy_frame(BundleDraft& draft, const BundleReader& reader, std::uint32_t index) {
  CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(index));
  FrameDraft frame;
  if (blob.reference != k_no_index) {
    CLBIN_TRY_ASSIGN(const BlobView reference, reader.blob(blob.reference));
    if (reference.reference != k_no_index) {
      return fail(ErrorCode::damaged, "blob {}: its reference {} has a reference itself", index,
                  blob.reference);
    }
    frame.reference = reference.raw_digest;
  }
  CLBIN_TRY_ASSIGN(frame.stored, reader.read_frame(index));
  frame.stored_digest = blob.stored_digest;
  frame.raw_bytes = blob.raw_bytes;
  frame.codec = static_cast<BlobCodec>(blob.codec);
  add_frame(draft, blob.raw_digest, std::move(frame));
  return {};
}

class Merger {
public:
  Result<Bytes> run(std::span<const BundleReader* const> inputs) {
    for (const BundleReader* input : inputs) {
      auto added = add_input(*input);
      if (!added) {
        return base::add_context(std::move(added.error()), fmt::format("'{}'", input->name()));
      }
    }
    return assemble_bundle(std::move(m_draft));
  }

private:
  Result<void> add_input(const BundleReader& input);
  Result<void> add_group(const BundleReader& input, const GroupView& group);
  Result<void> add_entries(const BundleReader& input, const GroupView& group,
                           const Manifest& manifest);

  BundleDraft m_draft;
  // For messages: which input brought it first.
  std::map<std::string, std::string> m_source_from;
  std::map<std::pair<std::string, std::string>, std::string> m_variant_from;
  std::map<std::string, std::vector<const BundleReader*>> m_inputs_of;
};

Result<void> Merger::add_input(const BundleReader& input) {
  CLBIN_TRY_ASSIGN(const Programs programs, programs_of(input));
  for (const auto& [program, variants] : programs) {
    CLBIN_TRY_ASSIGN(const Manifest manifest, input.read_manifest(variants.begin()->second));
    ProgramDraft& draft = m_draft.programs[program];
    draft.producer = std::max(draft.producer, manifest.producer);
    for (const auto& [variant, group] : variants) {
      CLBIN_TRY(add_group(input, group));
      CLBIN_TRY(add_entries(input, group, manifest));
    }
    m_inputs_of[program].push_back(&input);
  }
  CLBIN_TRY_ASSIGN(const std::set<std::uint32_t> replaced, manifest_only_blobs(input));
  for (std::uint32_t i = 0; i < input.blob_count(); ++i) {
    if (!replaced.contains(i)) {
      CLBIN_TRY(copy_frame(m_draft, input, i));
    }
  }
  return {};
}

Result<void> Merger::add_group(const BundleReader& input, const GroupView& group) {
  ProgramDraft& draft = m_draft.programs[group.program];
  CLBIN_TRY_ASSIGN(const std::optional<Digest> source, source_digest(input, group));
  if (source && draft.source && *source != *draft.source) {
    return fail(ErrorCode::conflict, "program '{}' has another source here than in '{}'",
                group.program, m_source_from[group.program]);
  }
  if (source && !draft.source) {
    draft.source = source;
    m_source_from[group.program] = input.name();
  }
  const auto [there, added] = draft.variants.emplace(group.variant, group.options);
  const std::pair key(group.program, group.variant);
  if (added) {
    m_variant_from[key] = input.name();
  } else if (there->second != group.options) {
    return fail(ErrorCode::conflict,
                "program '{}', variant '{}' has options '{}' here and '{}' in '{}'", group.program,
                group.variant, group.options, there->second, m_variant_from[key]);
  }
  return {};
}

// Names of the inputs that have an entry of this group for this target and kind.
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

Result<void> Merger::add_entries(const BundleReader& input, const GroupView& group,
                                 const Manifest& manifest) {
  CLBIN_TRY(check_manifest(input, group, manifest));
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    CLBIN_TRY_ASSIGN(const EntryView entry, input.entry(group.first_entry + i, group));
    CLBIN_TRY_ASSIGN(EntryDraft draft, draft_of(input, entry, manifest));
    const auto added = add_entry(m_draft, group.program, std::move(draft));
    if (!added) {
      return fail(added.error().code, "{} (the other one is in {})", added.error().message,
                  holders_of(m_inputs_of[group.program], group, entry));
    }
  }
  return {};
}

std::vector<KernelReflection> names_only(const std::vector<KernelReflection>& kernels) {
  std::vector<KernelReflection> names(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    names[i].name = kernels[i].name;
  }
  return names;
}

class Stripper {
public:
  Stripper(const BundleReader& input, const std::function<bool(const EntryView&)>& keep,
           KeepSource keep_source, KeepReflection keep_reflection)
      : m_input(input), m_keep(keep), m_keep_source(keep_source),
        m_keep_reflection(keep_reflection) {}

  Result<StripResult> run();

private:
  Result<void> add_program(const std::string& program,
                           const std::map<std::string, GroupView>& variants);
  // How many were kept.
  Result<std::uint64_t> add_entries(const GroupView& group, const Manifest& manifest);
  Result<void> copy_frames();

  const BundleReader& m_input;
  const std::function<bool(const EntryView&)>& m_keep;
  KeepSource m_keep_source;
  KeepReflection m_keep_reflection;
  BundleDraft m_draft;
  std::set<std::uint32_t> m_named; // blobs that a kept entry or group names
  StripResult m_result;
};

Result<void> Stripper::add_program(const std::string& program,
                                   const std::map<std::string, GroupView>& variants) {
  const GroupView& first = variants.begin()->second;
  CLBIN_TRY_ASSIGN(const Manifest manifest, m_input.read_manifest(first));
  ProgramDraft& draft = m_draft.programs[program];
  draft.producer = manifest.producer;
  if (m_keep_source == KeepSource::yes && first.source_blob != k_no_index) {
    CLBIN_TRY_ASSIGN(draft.source, source_digest(m_input, first));
    m_named.insert(first.source_blob);
  }
  std::vector<std::string> dropped;
  for (const auto& [variant, group] : variants) {
    CLBIN_TRY_ASSIGN(const std::uint64_t kept, add_entries(group, manifest));
    m_result.dropped_entries += group.entry_count - kept;
    if (kept != 0 || draft.source) {
      draft.variants.emplace(variant, group.options);
    } else {
      dropped.push_back(fmt::format("program '{}', variant '{}'", program, variant));
    }
  }
  if (draft.variants.empty()) {
    m_draft.programs.erase(program);
    dropped = {fmt::format("program '{}'", program)};
  }
  m_result.dropped_names.insert(m_result.dropped_names.end(), dropped.begin(), dropped.end());
  return {};
}

Result<std::uint64_t> Stripper::add_entries(const GroupView& group, const Manifest& manifest) {
  CLBIN_TRY(check_manifest(m_input, group, manifest));
  std::uint64_t kept = 0;
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(group.first_entry + i, group));
    if (!m_keep(entry)) {
      continue;
    }
    CLBIN_TRY_ASSIGN(EntryDraft draft, draft_of(m_input, entry, manifest));
    if (m_keep_reflection == KeepReflection::names_only) {
      draft.row.kernels = names_only(draft.row.kernels);
    }
    CLBIN_TRY(add_entry(m_draft, group.program, std::move(draft)));
    m_named.insert(entry.blob);
    ++kept;
  }
  return kept;
}

Result<void> Stripper::copy_frames() {
  std::map<std::uint32_t, std::uint64_t> dependents; // of hidden blobs
  for (const std::uint32_t index : m_named) {
    CLBIN_TRY_ASSIGN(const BlobView blob, m_input.blob(index));
    if (blob.reference != k_no_index && !m_named.contains(blob.reference)) {
      ++dependents[blob.reference];
    }
    CLBIN_TRY(copy_frame(m_draft, m_input, index));
  }
  for (const auto& [index, count] : dependents) {
    CLBIN_TRY_ASSIGN(const BlobView blob, m_input.blob(index));
    CLBIN_TRY(copy_frame(m_draft, m_input, index));
    ++m_result.hidden_count;
    m_result.hidden_stored_bytes += blob.stored_bytes;
    m_result.hidden_dependents += count;
  }
  return {};
}

Result<StripResult> Stripper::run() {
  CLBIN_TRY_ASSIGN(const Programs programs, programs_of(m_input));
  for (const auto& [program, variants] : programs) {
    CLBIN_TRY(add_program(program, variants));
  }
  if (m_draft.programs.empty() && !programs.empty()) {
    return fail(ErrorCode::invalid_argument,
                "nothing would be left of it: no program keeps its source or an entry");
  }
  CLBIN_TRY(copy_frames());
  CLBIN_TRY_ASSIGN(m_result.bytes, assemble_bundle(std::move(m_draft)));
  return std::move(m_result);
}

Result<void> unpack_entries(const BundleReader& input, const GroupView& group, Manifest& manifest,
                            ProgramInput& program) {
  CLBIN_TRY(check_manifest(input, group, manifest));
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    CLBIN_TRY_ASSIGN(const EntryView entry, input.entry(group.first_entry + i, group));
    ManifestEntry& row = manifest.entries[entry.manifest_row];
    EntryInput unpacked;
    unpacked.variant = group.variant;
    unpacked.target = std::move(row.target);
    unpacked.options = std::move(row.options);
    CLBIN_TRY_ASSIGN(unpacked.payload, input.read_blob(entry.blob));
    unpacked.kernels = std::move(row.kernels);
    unpacked.build_log = std::move(row.build_log);
    unpacked.tools = std::move(row.tools);
    program.entries.push_back(std::move(unpacked));
  }
  return {};
}

} // namespace

Result<Bytes> merge_bundles(std::span<const BundleReader* const> inputs) {
  return Merger().run(inputs);
}

Result<StripResult> strip_bundle(const BundleReader& input,
                                 const std::function<bool(const EntryView&)>& keep,
                                 KeepSource keep_source, KeepReflection keep_reflection) {
  return Stripper(input, keep, keep_source, keep_reflection).run();
}

Result<BundleInput> unpack_bundle(const BundleReader& input) {
  CLBIN_TRY_ASSIGN(const Programs programs, programs_of(input));
  BundleInput contents;
  for (const auto& [name, variants] : programs) {
    const GroupView& first = variants.begin()->second;
    CLBIN_TRY_ASSIGN(Manifest manifest, input.read_manifest(first));
    contents.producer = std::max(contents.producer, manifest.producer);
    ProgramInput program;
    program.name = name;
    if (first.source_blob != k_no_index) {
      CLBIN_TRY_ASSIGN(program.source, input.read_source(first));
    }
    for (const auto& [variant, group] : variants) {
      program.variants.push_back({variant, group.options});
      CLBIN_TRY(unpack_entries(input, group, manifest, program));
    }
    contents.programs.push_back(std::move(program));
  }
  return contents;
}

Result<Bytes> repack_bundle(const BundleReader& input, const WriteOptions& options) {
  CLBIN_TRY_ASSIGN(const BundleInput contents, unpack_bundle(input));
  return write_bundle(contents, options);
}

} // namespace clbin::format
