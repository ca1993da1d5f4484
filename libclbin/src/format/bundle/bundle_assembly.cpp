// Implements assemble_bundle, which encodes a draft. The maps of the draft are ordered; this file
// sorts only groups, the entries of a group, and strings.
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <fmt/format.h>
#include <tuple>

namespace clbin::format {

namespace {

// The level depends only on the manifest, so that merge, strip and the writer agree. Level 19 takes
// half a second for a megabyte.
constexpr std::size_t k_large_manifest_bytes = 1U << 20U;
constexpr int k_manifest_level = 19;
constexpr int k_large_manifest_level = 6;

constexpr std::uint64_t k_max_count = 0xfffffffeU;

// Returns the text of STRINGS.
const std::string& stored_text(const SharedText& text) {
  return text.str();
}
std::string stored_text(const SharedNames& names) {
  return fmt::format("{}", fmt::join(names, ";"));
}

struct SectionBytes {
  SectionKind kind;
  std::uint32_t count;
  Bytes bytes;
};

// The strings of a bundle and their offsets in STRINGS.
class StringTable {
public:
  Result<void> add(std::string_view text) {
    if (text.size() > k_max_string_bytes) {
      return fail(ErrorCode::invalid_argument, "'{}…' has {} bytes, at most {} are allowed",
                  text.substr(0, 32), text.size(), k_max_string_bytes);
    }
    m_offsets.try_emplace(std::string(text), 0);
    return {};
  }

  // Sets the offsets.
  Result<SectionBytes> encode() {
    ByteWriter writer;
    for (auto& [text, offset] : m_offsets) {
      if (writer.size() > k_max_count) {
        return fail(ErrorCode::invalid_argument, "the strings have more than 4 GiB");
      }
      offset = static_cast<std::uint32_t>(writer.size());
      writer.write_text(text);
    }
    return SectionBytes{SectionKind::strings, static_cast<std::uint32_t>(m_offsets.size()),
                        std::move(writer).take()};
  }

  [[nodiscard]] std::uint32_t offset_of(const std::string& text) const {
    return m_offsets.at(text);
  }

private:
  std::map<std::string, std::uint32_t> m_offsets{{"", 0}};
};

// Records of ENTRY and GROUP, whose numbers of blobs and entries are set last.
struct EntryPlan {
  const EntryDraft* draft;
  EntryRecord record;
};

struct GroupPlan {
  GroupRecord record;
  std::optional<Digest> source;
  Digest manifest;
  std::vector<EntryPlan> entries;
  SharedNames required;
  std::vector<RankingRecord> rankings{}; // without the number of the group, and what it needs
};

// A row of BLOB.
struct BlobPlan {
  Digest raw_digest; // keyed if the bundle is encrypted
  FrameDraft frame;
};

// Returns the raw bytes of a frame without a reference.
Result<Bytes> raw_bytes_of(const FrameDraft& frame) {
  CLBIN_TRY_ASSIGN(const base::ByteRegion stored, frame.stored.read());
  if (frame.codec == BlobCodec::stored) {
    return Bytes(stored.view().begin(), stored.view().end());
  }
  return base::ZstdDecompressor().decompress(stored.view(), {}, frame.raw_bytes);
}

void write_pages(ByteWriter& writer, const SectionBytes& section) {
  const SectionTraits& traits = *traits_of(section.kind);
  const std::uint32_t record_bytes = std::max(traits.record_bytes, 1U);
  const std::size_t page_bytes = k_page_bytes / record_bytes * std::size_t{record_bytes};
  const ByteView bytes = section.bytes;
  for (std::size_t start = 0; start < bytes.size(); start += page_bytes) {
    const ByteView page = bytes.subspan(start, std::min(page_bytes, bytes.size() - start));
    if (traits.key_offset) {
      writer.write_bytes(page.subspan(*traits.key_offset, sizeof(std::uint64_t)));
    } else {
      writer.write_u64(0);
    }
    writer.write_bytes(base::digest_of(page).bytes);
  }
}

class Assembly {
public:
  // Steps that an entry of a cache does not need. They are called through pointers, so that a
  // program that only loads bundles does not contain them.
  struct Steps {
    void (Assembly::*rank)(const Manifest& manifest, std::vector<GroupPlan>& groups);
    Result<FrameDraft> (*compress)(ByteView raw, int level);
    Result<void> (Assembly::*encrypt)();
    Result<void> (Assembly::*add_optional)(std::vector<SectionBytes>& sections);
    Result<void> (Assembly::*check)(std::uint64_t total_bytes) const;
  };

  Assembly(BundleDraft draft, const WriteOptions& options, const Steps* steps)
      : m_draft(std::move(draft)), m_options(options), m_steps(steps) {}
  Result<void> run(const ByteSink& sink) {
    for (auto& [name, program] : m_draft.programs) {
      CLBIN_TRY(plan_program(name, program));
    }
    std::ranges::sort(m_groups, {}, [](const GroupPlan& group) {
      return std::tie(group.record.name_hash, group.record.program, group.record.variant);
    });
    CLBIN_TRY(number_blobs());
    if (m_steps != nullptr) {
      CLBIN_TRY((this->*m_steps->encrypt)());
    }
    std::vector<GroupRecord> groups;
    std::vector<EntryRecord> entries;
    std::vector<ExactRecord> exacts;
    for (GroupPlan& group : m_groups) {
      place_group(group, groups, entries, exacts);
    }
    for (auto& [digest, target] : m_target_of) {
      m_targets.push_back(std::move(target));
    }
    CLBIN_TRY(add_strings(groups));
    CLBIN_TRY(add_strings(entries));
    CLBIN_TRY(add_strings(m_targets));
    CLBIN_TRY(add_strings(m_requirements));
    const std::vector<PackRecord> packs = sorted_packs();
    CLBIN_TRY(add_strings(packs));
    CLBIN_TRY_ASSIGN(SectionBytes strings, m_strings.encode());
    const std::array<SectionBytes, 6> sections{encode(groups),  encode(entries),
                                               encode(exacts),  encode(m_targets),
                                               encode(blobs()), std::move(strings)};
    std::vector<SectionBytes> optional; // their records need no padding
    if (m_steps != nullptr) {
      CLBIN_TRY((this->*m_steps->add_optional)(optional));
    }
    for (const PackRecord& pack : packs) {
      if (!is_pack_name(pack.name)) {
        return fail(ErrorCode::invalid_argument, "'{}' is not the name of a pack", pack.name);
      }
    }
    if (!packs.empty()) {
      optional.push_back(encode(packs));
    }
    return write_bundle(sections, optional, sink);
  }

  // `groups` are sorted by variant, and contain all that were measured.
  void rank_groups(const Manifest& manifest, std::vector<GroupPlan>& groups) {
    const auto variant_of = [](const GroupPlan& group) -> const std::string& {
      return group.record.variant.str();
    };
    for (const auto& [key, variants] : rank_variants(manifest.program, manifest.measurements)) {
      if (variants.empty()) {
        m_rankings.push_back({.key = key, .group = k_no_index});
      }
      for (std::size_t rank = 0; rank < variants.size(); ++rank) {
        const auto group = std::ranges::lower_bound(groups, variants[rank], {}, variant_of);
        group->rankings.push_back({.key = key, .rank = static_cast<std::uint32_t>(rank)});
      }
    }
  }

  // The last step before the tables are encoded, so that equal frames have equal stored bytes.
  Result<void> encrypt_blobs() {
    if (!m_options.encryption) {
      return {};
    }
    for (BlobPlan& blob : m_blobs) {
      FrameDraft& frame = blob.frame;
      std::optional<Digest> reference;
      if (frame.reference) {
        reference = table_digest(*frame.reference);
      }
      CLBIN_TRY_ASSIGN(const base::ByteRegion plain, frame.stored.read());
      Bytes sealed = m_options.encryption->key->encrypt(
          binding_of(blob.raw_digest, frame.raw_bytes, reference), plain.view());
      frame.codec = BlobCodec::zstd_encrypted;
      frame.stored_digest = base::digest_of(sealed);
      if (m_options.spill) {
        CLBIN_TRY_ASSIGN(frame.stored, base::KeptBytes::spill(m_options.spill, sealed));
      } else {
        frame.stored = std::move(sealed);
      }
    }
    return {};
  }

  // Adds the sections that only some bundles have.
  Result<void> add_optional(std::vector<SectionBytes>& sections) {
    if (m_options.encryption) {
      CLBIN_TRY_ASSIGN(const auto slots, sorted_slots(*m_options.encryption));
      sections.push_back(encode(slots));
    }
    if (!m_requirements.empty()) {
      sections.push_back(encode(m_requirements));
    }
    std::ranges::sort(m_rankings, {}, [](const RankingRecord& ranking) {
      return std::tie(ranking.key, ranking.rank);
    });
    if (!m_rankings.empty()) {
      sections.push_back(encode(m_rankings));
    }
    return {};
  }

  // Ensures that a reader with the default limits accepts the bundle.
  Result<void> check_limits(std::uint64_t total_bytes) const {
    constexpr std::uint64_t k_listed_bytes = 1024; // maximum for a group or an entry
    ReadBudget budget = ReadBudget::for_bundle(total_bytes);
    for (const BlobPlan& blob : m_blobs) {
      CLBIN_TRY(budget.take_raw(std::max(blob.frame.raw_bytes, blob.frame.stored.size_bytes()),
                                "the bundle"));
    }
    std::set<SharedText> programs; // the variants of a program share a manifest and a source
    for (const GroupPlan& group : m_groups) {
      const std::uint64_t listed = k_listed_bytes * (1 + group.entries.size());
      CLBIN_TRY(budget.take_memory(listed, "the bundle"));
      if (!programs.insert(group.record.program).second) {
        continue;
      }
      CLBIN_TRY(base::in_context(check_program_limits(group, budget),
                                 fmt::format("program '{}'", told(group.record.program))));
    }
    return {};
  }

private:
  Result<void> plan_program(const std::string& name, ProgramDraft& program) {
    std::vector<GroupPlan> groups; // by variant
    for (const auto& [variant, input] : program.variants) {
      GroupPlan group{{.name_hash = name_hash(name, variant),
                       .program = name,
                       .variant = variant,
                       .options = input.options},
                      program.source,
                      {},
                      {},
                      std::vector(input.required.begin(), input.required.end())};
      const auto start = program.entries.lower_bound(EntryIdentity{variant, {}, 0});
      for (auto at = start; at != program.entries.end() && at->first.variant == variant; ++at) {
        group.entries.push_back({&at->second, record_of(at->first.target, at->second)});
      }
      std::ranges::sort(group.entries, {}, [](const EntryPlan& entry) {
        return std::tie(entry.record.match_key, entry.record.target.digest,
                        entry.draft->raw_digest);
      });
      groups.push_back(std::move(group));
    }
    CLBIN_TRY(plan_manifest(name, program, groups));
    std::move(groups.begin(), groups.end(), std::back_inserter(m_groups));
    return {};
  }

  std::vector<PackRecord> sorted_packs() const {
    std::vector<PackRecord> packs = m_options.packs;
    std::ranges::sort(packs, {}, [](const PackRecord& pack) {
      return std::tie(pack.name, pack.target_key, pack.match_key);
    });
    return packs;
  }

  EntryRecord record_of(const Digest& target, const EntryDraft& draft) {
    constexpr unsigned k_shift_of_kind = 56;
    const auto [there, is_new] = m_target_of.try_emplace(target);
    if (is_new) {
      there->second = view_of(draft.row.target);
    }
    std::vector<std::string> kernels;
    std::ranges::transform(draft.row.kernels, std::back_inserter(kernels), &KernelReflection::name);
    return {.match_key = draft.match_key,
            .target = there->second,
            .kernels = std::move(kernels),
            .options = draft.row.options,
            .kind = static_cast<BinaryKind>(draft.match_key >> k_shift_of_kind),
            .type = draft.type,
            .address_bits = draft.address_bits};
  }

  // Moves the measurements and known answers, which can be large.
  Result<void> plan_manifest(const std::string& name, ProgramDraft& program,
                             std::vector<GroupPlan>& groups) {
    Manifest manifest;
    manifest.producer = program.producer;
    manifest.program = name;
    for (GroupPlan& group : groups) {
      for (EntryPlan& entry : group.entries) {
        entry.record.manifest_row = static_cast<std::uint32_t>(manifest.entries.size());
        manifest.entries.push_back(entry.draft->row);
        manifest.entries.back().raw_digest = row_digest(table_digest(entry.draft->raw_digest));
      }
    }
    manifest.launches.assign(program.launches.begin(), program.launches.end());
    for (const auto& [place, build] : program.builds) {
      manifest.builds.push_back(build);
    }
    manifest.measurements.reserve(program.measurements.size());
    while (!program.measurements.empty()) {
      manifest.measurements.push_back(
          std::move(program.measurements.extract(program.measurements.begin()).value()));
    }
    while (!program.answers.empty()) {
      manifest.answers.push_back(
          std::move(program.answers.extract(program.answers.begin()).value()));
    }
    if (m_steps != nullptr) {
      (this->*m_steps->rank)(manifest, groups);
    }
    const Bytes json = encode_manifest(manifest);
    const Digest digest = base::digest_of(json);
    const int level =
        json.size() > k_large_manifest_bytes ? k_large_manifest_level : k_manifest_level;
    CLBIN_TRY_ASSIGN(FrameDraft frame,
                     m_steps != nullptr ? m_steps->compress(json, level) : store_alone(json));
    add_frame(m_draft, digest, std::move(frame));
    m_contents[digest] = m_draft.frames.at(digest);
    if (program.source) {
      m_contents[*program.source] = m_draft.frames.at(*program.source);
    }
    for (GroupPlan& group : groups) {
      group.manifest = digest;
    }
    return {};
  }

  // Adds the records of a group and its entries, and the keys of these.
  void place_group(GroupPlan& group, std::vector<GroupRecord>& groups,
                   std::vector<EntryRecord>& entries, std::vector<ExactRecord>& exacts) {
    const std::size_t first = entries.size();
    if (!group.required.empty()) {
      m_requirements.push_back({static_cast<std::uint32_t>(groups.size()), group.required});
    }
    std::vector<const std::vector<KernelReflection>*> kernels;
    for (const EntryPlan& entry : group.entries) {
      kernels.push_back(&entry.draft->row.kernels);
    }
    const auto needs = least_needs(kernels);
    for (RankingRecord& ranking : group.rankings) {
      ranking.group = static_cast<std::uint32_t>(groups.size());
      std::tie(ranking.work_items, ranking.local_bytes) = needs;
      m_rankings.push_back(ranking);
    }
    for (EntryPlan& entry : group.entries) {
      entry.record.blob = m_blob_index.at(entry.draft->raw_digest);
      exacts.push_back({base::leading_u64(entry.record.target.digest),
                        static_cast<std::uint32_t>(entries.size())});
      entries.push_back(std::move(entry.record));
    }
    std::ranges::sort(std::span(exacts).subspan(first), {}, [](const ExactRecord& exact) {
      return std::pair(exact.target_key, exact.entry);
    });
    group.record.first_entry = static_cast<std::uint32_t>(first);
    group.record.entry_count = static_cast<std::uint32_t>(group.entries.size());
    group.record.source_blob = group.source ? m_blob_index.at(*group.source) : k_no_index;
    group.record.manifest_blob = m_blob_index.at(group.manifest);
    groups.push_back(group.record);
  }

  template <Record T>
  Result<void> add_strings(const std::vector<T>& records) {
    Result<void> added;
    for (const T& record : records) {
      visit(record, [&](std::string_view /*name*/, const auto& field) {
        if constexpr (requires { stored_text(field); }) {
          added = added ? m_strings.add(stored_text(field)) : added;
        }
      });
    }
    return added;
  }

  // Returns a table. The strings have their offsets, and the targets their numbers.
  template <Record T>
  SectionBytes encode(const std::vector<T>& records) const {
    ByteWriter writer;
    for (const T& record : records) {
      write_record(writer, record, [&](const auto& field) {
        if constexpr (requires { stored_text(field); }) {
          return m_strings.offset_of(stored_text(field));
        } else {
          const auto at =
              std::ranges::lower_bound(m_targets, field.digest, {}, &TargetView::digest);
          return static_cast<std::uint32_t>(at - m_targets.begin());
        }
      });
    }
    return {T::k_section, static_cast<std::uint32_t>(records.size()), std::move(writer).take()};
  }

  Result<void> number_blobs() {
    if (m_draft.frames.size() > k_max_count) {
      return fail(ErrorCode::invalid_argument, "{} blobs are too many", m_draft.frames.size());
    }
    std::vector<std::pair<Digest, Digest>> order; // in BLOB, of the raw bytes
    for (const auto& [digest, frame] : m_draft.frames) {
      order.emplace_back(table_digest(digest), digest);
    }
    std::ranges::sort(order);
    for (const auto& [in_table, raw_digest] : order) {
      m_blob_index.emplace(raw_digest, static_cast<std::uint32_t>(m_blobs.size()));
      m_blobs.push_back({in_table, std::move(m_draft.frames.extract(raw_digest).mapped())});
    }
    return {};
  }

  Digest table_digest(const Digest& raw_digest) const {
    return m_options.encryption ? m_options.encryption->key->keyed(raw_digest) : raw_digest;
  }

  std::vector<BlobView> blobs() const {
    std::vector<BlobView> records;
    std::uint64_t offset = 0;
    for (const auto& [raw_digest, frame] : m_blobs) {
      const std::uint64_t stored_bytes = frame.stored.size_bytes();
      records.push_back(
          {.raw_digest = raw_digest,
           .stored_digest = frame.stored_digest,
           .offset = offset,
           .stored_bytes = stored_bytes,
           .raw_bytes = frame.raw_bytes,
           .reference = frame.reference ? m_blob_index.at(*frame.reference) : k_no_index,
           .codec = static_cast<std::uint8_t>(frame.codec)});
      offset += align_up(stored_bytes);
    }
    return records;
  }

  std::uint64_t payload_bytes() const {
    std::uint64_t bytes = 0;
    for (const BlobPlan& blob : m_blobs) {
      bytes += align_up(blob.frame.stored.size_bytes());
    }
    return bytes;
  }

  // A listing reads all manifests in one call, but a call reads only one source.
  Result<void> check_program_limits(const GroupPlan& group, ReadBudget& of_listing) const {
    CLBIN_TRY_ASSIGN(const Bytes json, raw_bytes_of(m_contents.at(group.manifest)));
    CLBIN_TRY(of_listing.take_memory(json.size(), "manifest"));
    CLBIN_TRY(decode_manifest(json, &of_listing));
    of_listing.return_memory(json.size());
    if (!group.source) {
      return {};
    }
    const FrameDraft& source = m_contents.at(*group.source);
    if (source.reference) {
      return {}; // not made by this writer, and read before
    }
    ReadBudget of_source(of_listing.memory_limit(), of_listing.raw_limit());
    CLBIN_TRY(of_source.take_memory(source.raw_bytes, "source"));
    CLBIN_TRY_ASSIGN(const Bytes package, raw_bytes_of(source));
    CLBIN_TRY(decode_source_package(package, &of_source));
    return {};
  }

  Result<void> write_payload(const ByteSink& sink) const {
    for (const BlobPlan& blob : m_blobs) {
      CLBIN_TRY_ASSIGN(const base::ByteRegion stored, blob.frame.stored.read());
      CLBIN_TRY(sink(stored.view()));
      const Bytes padding(
          static_cast<std::size_t>(align_up(stored.view().size()) - stored.view().size()));
      CLBIN_TRY(sink(padding));
    }
    return {};
  }

  // Returns the directory, and sets the sizes in `prefix`.
  Result<Bytes> encode_directory(std::span<const SectionBytes> tables,
                                 std::span<const SectionBytes> optional, Prefix& prefix) const {
    ByteWriter pages;
    for (const auto& sections : {tables, optional}) {
      for (const SectionBytes& section : sections) {
        write_pages(pages, section);
      }
    }
    const std::size_t section_count = k_required_sections + optional.size();
    const std::uint64_t directory_bytes =
        k_directory_head_bytes + section_count * k_section_record_bytes + pages.size();
    if (directory_bytes > k_max_count) {
      return fail(ErrorCode::invalid_argument, "the tables of the bundle are too large");
    }

    ByteWriter directory;
    directory.write_u32(static_cast<std::uint32_t>(section_count));
    directory.write_zeros(4);
    std::uint64_t offset = k_prefix_bytes + directory_bytes;
    const auto place = [&directory, &offset](SectionRecord record) {
      record.offset = offset;
      write_record(directory, record);
      offset = align_up(offset + record.bytes);
    };
    const auto place_table = [&place](const SectionBytes& table, std::uint32_t flags) {
      place({table.kind, flags | k_section_paged, 0, table.bytes.size(),
             traits_of(table.kind)->record_bytes, table.count});
    };
    for (const SectionBytes& table : tables) {
      place_table(table, k_section_required);
    }
    place({SectionKind::payload, k_section_required, 0, payload_bytes(), 0, 0});
    for (const SectionBytes& table : optional) { // so that older readers list the bundle
      place_table(table, 0);
    }
    directory.write_bytes(pages.view());
    prefix.directory_bytes = static_cast<std::uint32_t>(directory_bytes);
    prefix.body_bytes = offset;
    prefix.total_bytes = offset;
    return std::move(directory).take();
  }

  Result<void> write_bundle(std::span<const SectionBytes> tables,
                            std::span<const SectionBytes> optional, const ByteSink& sink) const {
    Prefix prefix;
    prefix.minor = !m_options.packs.empty()  ? k_minor_of_packs
                   : !m_rankings.empty()     ? k_minor_of_rankings
                   : !m_requirements.empty() ? k_minor_of_requirements
                                             : k_format_minor;
    CLBIN_TRY_ASSIGN(const Bytes directory, encode_directory(tables, optional, prefix));
    if (m_steps != nullptr) {
      CLBIN_TRY((this->*m_steps->check)(prefix.total_bytes));
    }
    ByteWriter rooted;
    write_prefix(rooted, prefix);
    prefix.root = root_of(rooted.view().first(k_rooted_prefix_bytes), directory);

    ByteWriter bundle;
    write_prefix(bundle, prefix);
    bundle.write_bytes(directory);
    for (const SectionBytes& table : tables) {
      bundle.write_bytes(table.bytes);
      bundle.align(k_alignment);
    }
    CLBIN_TRY(sink(bundle.view()));
    CLBIN_TRY(write_payload(sink));
    for (const SectionBytes& table : optional) {
      CLBIN_TRY(sink(table.bytes));
    }
    return {};
  }

  BundleDraft m_draft; // its frames move to m_blobs
  const WriteOptions& m_options;
  const Steps* m_steps; // may be null
  std::vector<GroupPlan> m_groups;
  StringTable m_strings;
  std::vector<BlobPlan> m_blobs;
  // The maps have the digest of the raw bytes as key, whether or not the bundle is encrypted.
  std::map<Digest, std::uint32_t> m_blob_index;
  std::map<Digest, FrameDraft> m_contents; // manifests and sources, never encrypted
  std::map<Digest, TargetView> m_target_of;
  std::vector<TargetView> m_targets; // those of m_target_of, in order
  std::vector<RequirementRecord> m_requirements;
  std::vector<RankingRecord> m_rankings;
};

ByteSink append_to(Bytes& bytes) {
  return [&bytes](ByteView part) -> Result<void> {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return {};
  };
}

} // namespace

Result<void> assemble_bundle(BundleDraft draft, const WriteOptions& options, const ByteSink& sink) {
  // Static, or g++ -Os puts the pointers into a section that a program that only loads keeps, too.
  static constexpr Assembly::Steps k_steps{&Assembly::rank_groups, compress_alone,
                                           &Assembly::encrypt_blobs, &Assembly::add_optional,
                                           &Assembly::check_limits};
  return Assembly(std::move(draft), options, &k_steps).run(sink);
}

Result<Bytes> assemble_bundle(BundleDraft draft, const WriteOptions& options) {
  Bytes bytes;
  CLBIN_TRY(assemble_bundle(std::move(draft), options, append_to(bytes)));
  return bytes;
}

Result<Bytes> assemble_entry(BundleDraft draft) {
  Bytes bytes;
  CLBIN_TRY(Assembly(std::move(draft), {}, nullptr).run(append_to(bytes)));
  return bytes;
}

} // namespace clbin::format
