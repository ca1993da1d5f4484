#include "format/bundle/bundle_surgery.hpp"

#include <fmt/format.h>

namespace clbin::format {

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

VariantInput variant_of(const GroupView& group) {
  return {group.variant, group.options, {group.required.begin(), group.required.end()}};
}

// Adds the recorded launches and builds, and the measurements and known answers, which it moves, of
// the variants that `draft` has. Errors: those of add_answer.
Result<void> add_recorded(ProgramDraft& draft, const std::string& program, Manifest& manifest) {
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
  for (Measurement& measurement : manifest.measurements) {
    if (draft.variants.contains(measurement.variant)) {
      add_measurement(draft, std::move(measurement));
    }
  }
  manifest.measurements = {};
  for (KnownAnswer& answer : manifest.answers) {
    if (draft.variants.contains(answer.variant)) {
      CLBIN_TRY(add_answer(draft, program, std::move(answer)));
    }
  }
  manifest.answers = {};
  return {};
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

  [[nodiscard]] bool has(std::uint32_t blob) const { return m_digests.contains(blob); }
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
    CLBIN_TRY_ASSIGN(const auto reference,
                     m_reader.reference_of(blob, origin_of(SectionKind::blob, index)));
    CLBIN_TRY_ASSIGN(ByteRegion plain, m_reader.read_frame(index));
    FrameDraft frame;
    frame.raw_bytes = blob.raw_bytes;
    frame.codec = content_codec(blob);
    frame.stored_digest =
        m_reader.is_encrypted() ? base::digest_of(plain.view()) : blob.stored_digest;
    if (reference && !m_reader.is_encrypted()) {
      frame.reference = reference->raw_digest;
    }
    // The table of an encrypted bundle has digests of another kind, which prove nothing here.
    const auto there =
        m_reader.is_encrypted() ? m_draft.frames.end() : m_draft.frames.find(blob.raw_digest);
    if (there != m_draft.frames.end() && is_same_frame(there->second, frame)) {
      m_digests[index] = blob.raw_digest; // proved, of another bundle
    } else {
      CLBIN_TRY_ASSIGN(m_digests[index], m_proved.check(index, plain.view()));
    }
    if (reference && m_reader.is_encrypted()) { // known only when the raw bytes are
      frame.reference = m_proved.digest(blob.reference);
    }
    frame.stored = std::move(plain);
    add_frame(m_draft, m_digests.at(index), std::move(frame));
    return {};
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

// Returns the names of the inputs that contain an entry of this group for this target and kind.
std::string holders_of(const std::vector<const BundleReader*>& inputs, const GroupView& group,
                       const EntryView& entry) {
  std::string names;
  for (const BundleReader* input : inputs) {
    const auto there = input->find_group(group.program, group.variant);
    const auto found =
        there ? input->find_exact(*there, entry.target.digest) : Result<std::vector<EntryView>>();
    if (found && std::ranges::find(*found, entry.kind, &EntryView::kind) != found->end()) {
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

// Returns the measurements of each class of the kernels that have several, of which an application
// that knows the size of its problem prefers one. Leaves out what a device refused.
auto by_class(std::span<const Measurement> measured) {
  using Class = std::pair<std::uint32_t, GroupSize>;
  std::map<std::string_view, std::set<Class>> classes_of; // by kernel
  std::set<std::tuple<const std::string&, const MeasuredDevice&>> refused;
  for (const Measurement& one : measured) {
    classes_of[one.kernel].insert({one.dimensions, one.global_size});
    if (one.outcome != MeasurementOutcome::measured && one.outcome != MeasurementOutcome::failed) {
      refused.insert(std::tie(one.variant, one.device));
    }
  }
  std::map<Class, std::vector<Measurement>> classes;
  for (const Measurement& one : measured) {
    if (classes_of[one.kernel].size() > 1 && !refused.contains(std::tie(one.variant, one.device))) {
      classes[{one.dimensions, one.global_size}].push_back(one);
    }
  }
  return classes;
}

// Returns the variants that were measured, without those that a ranking begins with, of all
// launches or of one class; none if all of them were refused everywhere, because then there is no
// better one.
std::set<std::string> losers_of(std::string_view program, std::span<const Measurement> measured) {
  std::set<std::string> losers;
  for (const Measurement& one : measured) {
    losers.insert(one.variant);
  }
  bool has_winner = false;
  const auto keep_winners = [&](std::span<const Measurement> launches) {
    for (const auto& [key, variants] : rank_variants(program, launches)) {
      if (!variants.empty()) {
        losers.erase(variants.front());
        has_winner = true;
      }
    }
  };
  keep_winners(measured);
  for (const auto& [launch_class, launches] : by_class(measured)) {
    keep_winners(launches);
  }
  losers.erase(std::string(k_default_variant));
  return has_winner ? losers : std::set<std::string>();
}

// Copies bundles, or a part of one, into a draft.
class Editor {
public:
  // Without a selection, as for a merge, everything is kept.
  explicit Editor(ReadBudget budget, const StripSelection* selection = nullptr)
      : m_budget(budget), m_selection(selection) {}

  Result<void> add(const BundleReader& bundle) {
    CLBIN_TRY_ASSIGN(Programs programs, programs_of(bundle));
    CLBIN_TRY(drop_losers(bundle, programs));
    Input input{bundle, {m_draft, bundle}, std::vector<bool>(bundle.entry_count())};
    CLBIN_TRY_ASSIGN(std::vector<std::uint32_t> blobs, needed_blobs(input, programs));
    CLBIN_TRY(input.frames.copy(std::move(blobs)));
    for (const auto& [program, variants] : programs) {
      CLBIN_TRY(add_program(input, program, variants));
      m_inputs_of[program].push_back(&bundle);
    }
    CLBIN_TRY(add_packs(bundle));
    if (m_draft.programs.empty() && !programs.empty()) {
      return fail(ErrorCode::invalid_argument, "{}",
                  keeps_only_measurements()
                      ? "it contains no measurements"
                      : "nothing would remain: no program would have source or an entry");
    }
    return {};
  }

  Result<StripResult> finish(const Encryption* encryption) {
    WriteOptions options;
    if (encryption != nullptr) {
      options.encryption = *encryption;
    }
    for (auto& [place, pack] : m_packs) {
      if (!m_roots.contains(pack.root)) {
        options.packs.push_back(std::move(pack));
      }
    }
    CLBIN_TRY_ASSIGN(m_result.bytes, assemble_bundle(std::move(m_draft), options));
    return std::move(m_result);
  }

private:
  // The bundle that is being added.
  struct Input {
    const BundleReader& bundle;
    FrameCopier frames;
    std::vector<bool> is_kept; // by entry
  };

  [[nodiscard]] bool keeps_source() const noexcept {
    return m_selection == nullptr ||
           (m_selection->source == KeepSource::yes && !keeps_only_measurements());
  }
  [[nodiscard]] bool keeps_only_measurements() const noexcept {
    return m_selection != nullptr && m_selection->measurements == KeepMeasurements::only;
  }

  // A program keeps at least one variant, also if its manifest, which is compared with the tables
  // later, names others.
  Result<void> drop_losers(const BundleReader& bundle, Programs& programs) {
    if (m_selection == nullptr || m_selection->losers == KeepLosers::yes) {
      return {};
    }
    ReadBudget budget = bundle.budget(); // each manifest is decoded again
    for (auto& [program, variants] : programs) {
      CLBIN_TRY_ASSIGN(const Manifest manifest,
                       bundle.decode_manifest_of(variants.begin()->second, budget));
      for (const std::string& loser : losers_of(program, manifest.measurements)) {
        const auto found = variants.find(loser);
        if (found != variants.end() && variants.size() > 1) {
          m_result.dropped_entries += found->second.entry_count;
          m_result.removed_losers.push_back(
              fmt::format("program '{}', variant '{}'", program, loser));
          variants.erase(found);
        }
      }
    }
    return {};
  }

  // Decides which entries are kept. Returns the blobs that they and their sources need; if all are
  // kept, every blob that is not only a manifest, which a new one replaces.
  Result<std::vector<std::uint32_t>> needed_blobs(Input& input, const Programs& programs) {
    std::set<std::uint32_t> named;
    std::set<std::uint32_t> manifests;
    for (const auto& [program, variants] : programs) {
      for (const auto& [variant, group] : variants) {
        manifests.insert(group.manifest_blob);
        const GroupView& with_source = source_group(group, variants);
        if (keeps_source() && with_source.source_blob != k_no_index) {
          named.insert(with_source.source_blob);
        }
        CLBIN_TRY(select_entries(input, group, named));
      }
    }
    for (std::uint32_t i = 0; m_selection == nullptr && i < input.bundle.blob_count(); ++i) {
      if (!manifests.contains(i)) {
        named.insert(i);
      }
    }
    for (std::uint32_t i = 0; m_selection == nullptr && i < input.bundle.entry_count(); ++i) {
      if (!input.is_kept[i]) {
        return damaged(origin_of(SectionKind::entry, i), "no group contains it");
      }
    }
    return with_references(input.bundle, named);
  }

  // Packs that are inputs are left out at the end.
  Result<void> add_packs(const BundleReader& bundle) {
    m_roots.insert(bundle.root_digest());
    CLBIN_TRY_ASSIGN(auto packs, bundle.packs());
    for (PackRecord& pack : packs) {
      const auto there = m_packs.lower_bound({pack.name.str(), 0, 0}); // the first of its name
      if (there != m_packs.end() && there->second.name == pack.name &&
          there->second.root != pack.root) {
        return fail(ErrorCode::conflict, "it has another pack '{}'", pack.name);
      }
      const std::tuple place(pack.name.str(), pack.target_key, pack.match_key);
      m_packs.try_emplace(place, std::move(pack));
    }
    return {};
  }

  // Removes the known answers that are not kept.
  void remove_answers(Manifest& manifest) const {
    const KeepAnswers kept = keeps_only_measurements() ? KeepAnswers::no
                             : m_selection != nullptr  ? m_selection->answers
                                                       : KeepAnswers::yes;
    std::erase_if(manifest.answers, [kept](const KnownAnswer& answer) {
      return kept == KeepAnswers::no ||
             (kept != KeepAnswers::yes &&
              is_recorded(answer) != (kept == KeepAnswers::only_recorded));
    });
  }

  // Copies the data of the known answers that are kept, which only manifests name. A merge copies
  // every blob.
  Result<void> copy_data(Input& input, const ProgramDraft& draft) {
    std::set<std::uint32_t> named;
    for (const KnownAnswer& answer : draft.answers) {
      for (const NamedData& data : data_of(answer)) {
        CLBIN_TRY_ASSIGN(const std::uint32_t blob, input.bundle.find_data(answer, data));
        named.insert(blob);
      }
    }
    const auto is_copied = [&](std::uint32_t blob) { return input.frames.has(blob); };
    std::erase_if(named, is_copied);
    CLBIN_TRY_ASSIGN(std::vector<std::uint32_t> blobs, with_references(input.bundle, named));
    std::erase_if(blobs, is_copied);
    return input.frames.copy(std::move(blobs));
  }

  // Returns the group whose source is that of the program. Merging compares those of all groups.
  const GroupView& source_group(const GroupView& group,
                                const std::map<std::string, GroupView>& variants) const {
    return m_selection == nullptr ? group : variants.begin()->second;
  }

  Result<void> select_entries(Input& input, const GroupView& group,
                              std::set<std::uint32_t>& named) const {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, input.bundle.entry(group.first_entry + i, group));
      if (m_selection == nullptr ||
          (!keeps_only_measurements() && (!m_selection->keep || m_selection->keep(entry)))) {
        input.is_kept[entry.index] = true;
        named.insert(entry.blob);
      }
    }
    return {};
  }

  Result<std::vector<std::uint32_t>> with_references(const BundleReader& bundle,
                                                     const std::set<std::uint32_t>& named) {
    std::map<std::uint32_t, std::uint64_t> dependents; // for each hidden blob
    for (const std::uint32_t index : named) {
      CLBIN_TRY_ASSIGN(const BlobView blob, bundle.blob(index));
      if (blob.has_reference() && !named.contains(blob.reference)) {
        ++dependents[blob.reference];
      }
    }
    std::vector<std::uint32_t> blobs(named.begin(), named.end());
    for (const auto& [index, count] : dependents) {
      CLBIN_TRY_ASSIGN(const BlobView blob, bundle.blob(index));
      blobs.push_back(index);
      ++m_result.hidden_count;
      m_result.hidden_stored_bytes += blob.stored_bytes;
      m_result.hidden_dependents += count;
    }
    return blobs;
  }

  Result<void> add_program(Input& input, const std::string& program,
                           const std::map<std::string, GroupView>& variants) {
    const GroupView& first = variants.begin()->second;
    CLBIN_TRY_ASSIGN(Manifest manifest, input.bundle.decode_manifest_of(first, m_budget));
    ManifestCheck check(input.bundle, manifest);
    if (m_selection != nullptr && m_selection->measurements == KeepMeasurements::no) {
      manifest.measurements.clear();
    }
    std::set<std::string_view> measured; // variants that are kept for their measurements
    for (std::size_t i = 0; keeps_only_measurements() && i < manifest.measurements.size(); ++i) {
      measured.insert(manifest.measurements[i].variant);
    }
    ProgramDraft& draft = m_draft.programs[program];
    draft.producer = std::max(draft.producer, manifest.producer);
    std::vector<std::string> dropped;
    for (const auto& [variant, group] : variants) {
      CLBIN_TRY(check.check(group));
      CLBIN_TRY(add_source(input, source_group(group, variants), draft));
      CLBIN_TRY(add_variant(input, group, draft));
      CLBIN_TRY_ASSIGN(const std::uint32_t kept, add_entries(input, group, manifest));
      m_result.dropped_entries += group.entry_count - kept;
      const bool is_left = kept != 0 || draft.source || measured.contains(variant) ||
                           (input.bundle.has_packs() && !keeps_only_measurements());
      if (m_selection != nullptr && !is_left) {
        draft.variants.erase(variant);
        dropped.push_back(fmt::format("program '{}', variant '{}'", program, variant));
      }
    }
    CLBIN_TRY(check_measured_source(input, program, manifest.measurements));
    if (keeps_only_measurements()) {
      manifest.launches.clear();
      manifest.builds.clear();
    }
    remove_answers(manifest);
    CLBIN_TRY(add_recorded(draft, program, manifest));
    if (m_selection != nullptr) {
      CLBIN_TRY(copy_data(input, draft));
    }
    if (draft.variants.empty()) {
      m_draft.programs.erase(program);
      dropped = {fmt::format("program '{}'", program)};
    }
    m_result.dropped_names.insert(m_result.dropped_names.end(), dropped.begin(), dropped.end());
    return {};
  }

  Result<void> add_source(const Input& input, const GroupView& group, ProgramDraft& draft) {
    if (!keeps_source() || group.source_blob == k_no_index) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const Digest source, input.frames.raw_digest(group.source_blob));
    if (draft.source && source != *draft.source) {
      return fail(ErrorCode::conflict, "program '{}' has different source in '{}'", group.program,
                  m_source_from[group.program]);
    }
    if (!draft.source) {
      draft.source = source;
      m_source_from[group.program] = input.bundle.name();
    }
    return {};
  }

  // Measurements of another source say nothing about this one.
  Result<void> check_measured_source(const Input& input, const std::string& program,
                                     std::span<const Measurement> measurements) {
    const std::string& here = input.bundle.name();
    for (const Measurement& measurement : measurements) {
      const auto [first, is_first] = m_measured.try_emplace(program, measurement.source, here);
      if (!is_first && first->second.first != measurement.source) {
        return fail(ErrorCode::conflict,
                    "program '{}' has measurements of another source than those in '{}'", program,
                    first->second.second);
      }
    }
    const std::optional<Digest>& source = m_draft.programs.at(program).source;
    const auto measured = m_measured.find(program);
    if (source && measured != m_measured.end() && measured->second.first != base::to_hex(*source)) {
      return fail(ErrorCode::conflict,
                  "program '{}' has measurements in '{}' of another source than the one in '{}'",
                  program, measured->second.second, m_source_from[program]);
    }
    return {};
  }

  Result<void> add_variant(const Input& input, const GroupView& group, ProgramDraft& draft) {
    const auto [there, added] = draft.variants.emplace(group.variant.str(), variant_of(group));
    const std::pair key(group.program, group.variant);
    if (added) {
      m_variant_from[key] = input.bundle.name();
    } else if (const VariantInput& other = there->second; other.options != group.options.str()) {
      return fail(ErrorCode::conflict,
                  "program '{}', variant '{}' has options '{}' here and '{}' in '{}'",
                  group.program, group.variant, group.options, other.options, m_variant_from[key]);
    } else if (const VariantInput own = variant_of(group); other.required != own.required) {
      return fail(ErrorCode::conflict,
                  "program '{}', variant '{}' requires '{}' here and '{}' in '{}'", group.program,
                  group.variant, fmt::join(own.required, ","), fmt::join(other.required, ","),
                  m_variant_from[key]);
    }
    return {};
  }

  // Returns the number of entries that were kept.
  Result<std::uint32_t> add_entries(const Input& input, const GroupView& group,
                                    Manifest& manifest) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, input.bundle.entry(group.first_entry + i, group));
      if (!input.is_kept[entry.index]) {
        continue;
      }
      CLBIN_TRY_ASSIGN(EntryDraft draft, draft_of(input.frames, entry, manifest));
      if (m_selection != nullptr && m_selection->reflection == KeepReflection::names_only) {
        draft.row.kernels = names_only(draft.row.kernels);
      }
      auto added = add_entry(m_draft, group.program, std::move(draft));
      if (!added && m_selection == nullptr) {
        added.error().message += fmt::format(" (the other one is in {})",
                                             holders_of(m_inputs_of[group.program], group, entry));
      }
      CLBIN_TRY(std::move(added));
      ++kept;
    }
    return kept;
  }

  BundleDraft m_draft;
  ReadBudget m_budget; // for all manifests
  const StripSelection* m_selection;
  StripResult m_result;
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, PackRecord> m_packs;
  std::set<Digest> m_roots; // of the inputs
  // For messages: the input that contained it first.
  std::map<std::string, std::string> m_source_from;
  std::map<std::string, std::pair<std::string, std::string>> m_measured; // source, and the input
  std::map<std::pair<std::string, std::string>, std::string> m_variant_from;
  std::map<std::string, std::vector<const BundleReader*>> m_inputs_of;
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
        program.variants.push_back(variant_of(group));
        CLBIN_TRY(add_entries(group, manifest, program));
      }
      const auto is_kept = [&kept = variants](const auto& recorded) {
        return kept.contains(recorded.variant);
      };
      std::ranges::copy_if(manifest.launches, std::back_inserter(program.launches), is_kept);
      std::ranges::copy_if(manifest.builds, std::back_inserter(program.builds), is_kept);
      std::ranges::copy_if(manifest.measurements, std::back_inserter(program.measurements),
                           is_kept);
      std::ranges::copy_if(manifest.answers, std::back_inserter(program.answers), is_kept);
      CLBIN_TRY(add_data(program));
    }
    return contents;
  }

private:
  // Reads what a known answer names, unless another one did.
  Result<base::KeptBytes> read_once(const KnownAnswer& answer, const NamedData& data) {
    base::KeptBytes& kept = m_data[data.digest];
    if (kept.empty()) {
      CLBIN_TRY_ASSIGN(const std::uint32_t blob, m_input.find_data(answer, data));
      CLBIN_TRY_ASSIGN(Bytes raw, m_proved.read(blob));
      CLBIN_TRY_ASSIGN(kept, keep(std::move(raw)));
    }
    return kept;
  }

  Result<void> add_data(ProgramInput& program) {
    for (const KnownAnswer& answer : program.answers) {
      for (const NamedData& data : data_of(answer)) {
        CLBIN_TRY_ASSIGN(base::KeptBytes kept, read_once(answer, data));
        program.data.emplace(base::to_hex(data.digest), std::move(kept));
      }
    }
    return {};
  }

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
    return base::in_context(decode_source_package(raw),
                            fmt::format("source of program '{}'", group.program));
  }

  // Moves the rows of the entries, which were compared with the table.
  Result<void> add_entries(const GroupView& group, Manifest& manifest, ProgramInput& program) {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const EntryView entry, m_input.entry(group.first_entry + i, group));
      program.entries.push_back(
          {std::move(manifest.entries[entry.manifest_row]), m_payloads.at(entry.blob)});
    }
    return {};
  }

  const BundleReader& m_input;
  std::shared_ptr<base::SpillFile> m_spill;
  ProvedBlobs m_proved;
  ReadBudget m_budget = m_input.budget(); // for all manifests
  std::map<std::uint32_t, base::KeptBytes> m_payloads;
  std::map<Digest, base::KeptBytes> m_data; // by the digest of the raw bytes
  std::uint64_t m_source_bytes = 0;
};

} // namespace

Result<Bytes> merge_bundles(std::span<const BundleReader* const> inputs,
                            const Encryption* encryption) {
  std::uint64_t total_bytes = 0;
  for (const BundleReader* input : inputs) {
    total_bytes += input->total_bytes();
  }
  Editor editor(ReadBudget::for_bundle(total_bytes));
  for (const BundleReader* input : inputs) {
    CLBIN_TRY(base::in_context(editor.add(*input), fmt::format("'{}'", input->name())));
  }
  CLBIN_TRY_ASSIGN(StripResult result, editor.finish(encryption));
  return std::move(result.bytes);
}

Result<StripResult> strip_bundle(const BundleReader& input, const StripSelection& selection,
                                 const Encryption* encryption) {
  Editor editor(input.budget(), &selection);
  CLBIN_TRY(editor.add(input));
  return editor.finish(encryption);
}

Result<BundleInput> unpack_bundle(const BundleReader& input,
                                  const std::shared_ptr<base::SpillFile>& spill) {
  return Unpacker(input, spill).run();
}

Result<Bytes> repack_bundle(const BundleReader& input, const WriteOptions& options) {
  CLBIN_TRY_ASSIGN(const BundleInput contents, unpack_bundle(input, options.spill));
  WriteOptions with_packs = options;
  CLBIN_TRY_ASSIGN(with_packs.packs, input.packs());
  return write_bundle(contents, with_packs);
}

} // namespace clbin::format
