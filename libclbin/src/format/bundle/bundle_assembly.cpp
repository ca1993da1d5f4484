// Implements assemble_bundle, which encodes a draft. The maps of the draft are ordered; this file
// sorts only groups, the entries of a group, and strings.
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/shared_text.hpp"

#include <tuple>

namespace clbin::format {

namespace {

// The level depends only on the manifest, so that merge, strip and the writer agree. Level 19 takes
// half a second for a megabyte.
constexpr std::size_t k_large_manifest_bytes = 1U << 20U;
constexpr int k_manifest_level = 19;
constexpr int k_large_manifest_level = 6;

constexpr std::uint64_t k_max_count = 0xfffffffeU;

std::string join_kernels(const std::vector<KernelReflection>& kernels) {
  std::string joined;
  for (const KernelReflection& kernel : kernels) {
    joined += joined.empty() ? "" : ";";
    joined += kernel.name;
  }
  return joined;
}

struct SectionBytes {
  SectionKind kind;
  std::uint32_t count;
  Bytes bytes;

  SectionBytes(SectionKind of_kind, std::size_t record_count, ByteWriter&& writer)
      : kind(of_kind), count(static_cast<std::uint32_t>(record_count)),
        bytes(std::move(writer).take()) {}
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

  Result<SectionBytes> encode() {
    ByteWriter writer;
    for (auto& [text, offset] : m_offsets) {
      if (writer.size() > k_max_count) {
        return fail(ErrorCode::invalid_argument, "the strings have more than 4 GiB");
      }
      offset = static_cast<std::uint32_t>(writer.size());
      writer.write_text(text);
    }
    return SectionBytes(SectionKind::strings, m_offsets.size(), std::move(writer));
  }

  [[nodiscard]] std::uint32_t offset_of(const std::string& text) const {
    return m_offsets.at(text);
  }

private:
  std::map<std::string, std::uint32_t> m_offsets{{"", 0}};
};

struct EntryPlan {
  const EntryDraft* draft;
  Digest target;
  std::uint32_t manifest_row;
};

struct GroupPlan {
  std::uint64_t name_hash;
  std::string program;
  std::string variant;
  std::string options;
  std::optional<Digest> source;
  Digest manifest;
  std::vector<EntryPlan> entries;
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
  Assembly(BundleDraft draft, const WriteOptions& options)
      : m_draft(std::move(draft)), m_options(options) {}
  Result<void> run(const ByteSink& sink) {
    for (const auto& [name, program] : m_draft.programs) {
      CLBIN_TRY(plan_program(name, program));
    }
    std::ranges::sort(m_groups, {}, [](const GroupPlan& group) {
      return std::tie(group.name_hash, group.program, group.variant);
    });
    CLBIN_TRY(collect_strings_and_targets());
    CLBIN_TRY(number_blobs());
    CLBIN_TRY_ASSIGN(const std::optional<SectionBytes> keys, encode_keys());
    CLBIN_TRY(encrypt_blobs());
    CLBIN_TRY_ASSIGN(SectionBytes strings, m_strings.encode()); // sets the offsets
    const std::array<SectionBytes, 6> sections{encode_groups(), encode_entries(),
                                               encode_exact(),  encode_targets(),
                                               encode_blobs(),  std::move(strings)};
    return write_bundle(sections, keys, sink);
  }

private:
  Result<void> plan_program(const std::string& name, const ProgramDraft& program) {
    std::vector<GroupPlan> groups; // by variant
    for (const auto& [variant, options] : program.variants) {
      GroupPlan group{name_hash(name, variant), name, variant, options, program.source, {}, {}};
      const auto start = program.entries.lower_bound(EntryIdentity{variant, {}, 0});
      for (auto at = start; at != program.entries.end() && at->first.variant == variant; ++at) {
        group.entries.push_back({&at->second, at->first.target, 0});
      }
      std::ranges::sort(group.entries, {}, [](const EntryPlan& entry) {
        return std::tie(entry.draft->match_key, entry.target, entry.draft->raw_digest);
      });
      groups.push_back(std::move(group));
    }
    CLBIN_TRY(plan_manifest(name, program, groups));
    std::move(groups.begin(), groups.end(), std::back_inserter(m_groups));
    return {};
  }

  Result<void> plan_manifest(const std::string& name, const ProgramDraft& program,
                             std::vector<GroupPlan>& groups) {
    Manifest manifest;
    manifest.producer = program.producer;
    manifest.program = name;
    for (GroupPlan& group : groups) {
      for (EntryPlan& entry : group.entries) {
        entry.manifest_row = static_cast<std::uint32_t>(manifest.entries.size());
        manifest.entries.push_back(entry.draft->row);
        manifest.entries.back().raw_digest = row_digest(table_digest(entry.draft->raw_digest));
      }
    }
    manifest.launches.assign(program.launches.begin(), program.launches.end());
    for (const auto& [place, build] : program.builds) {
      manifest.builds.push_back(build);
    }
    const Bytes json = encode_manifest(manifest);
    const Digest digest = base::digest_of(json);
    CLBIN_TRY_ASSIGN(FrameDraft frame, compress_alone(json, json.size() > k_large_manifest_bytes
                                                                ? k_large_manifest_level
                                                                : k_manifest_level));
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

  Result<void> collect_strings_of(const GroupPlan& group) {
    CLBIN_TRY(m_strings.add(group.program));
    CLBIN_TRY(m_strings.add(group.variant));
    CLBIN_TRY(m_strings.add(group.options));
    for (const EntryPlan& entry : group.entries) {
      const ManifestEntry& row = entry.draft->row;
      CLBIN_TRY(m_strings.add(join_kernels(row.kernels)));
      CLBIN_TRY(m_strings.add(row.options));
      m_targets.try_emplace(entry.target, &row.target, 0);
    }
    return {};
  }

  Result<void> collect_strings_and_targets() {
    for (const GroupPlan& group : m_groups) {
      CLBIN_TRY(collect_strings_of(group));
    }
    std::uint32_t next = 0;
    for (auto& [digest, numbered] : m_targets) {
      auto& [target, number] = numbered;
      number = next++;
      for (const std::string& text : {target->identity.platform_name, target->identity.device_name,
                                      target->identity.driver_version, target->spec}) {
        CLBIN_TRY(m_strings.add(text));
      }
    }
    return {};
  }

  Result<void> number_blobs() {
    if (m_draft.frames.size() > k_max_count) {
      return fail(ErrorCode::invalid_argument, "{} blobs are too many", m_draft.frames.size());
    }
    std::vector<std::pair<Digest, Digest>> order; // in BLOB, of the raw bytes
    for (const auto& [digest, frame] : m_draft.frames) {
      order.emplace_back(table_digest(digest), digest);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [in_table, raw_digest] : order) {
      m_blob_index.emplace(raw_digest, static_cast<std::uint32_t>(m_blobs.size()));
      m_blobs.push_back({in_table, std::move(m_draft.frames.extract(raw_digest).mapped())});
    }
    return {};
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

  Digest table_digest(const Digest& raw_digest) const {
    return m_options.encryption ? m_options.encryption->key->keyed(raw_digest) : raw_digest;
  }

  SectionBytes encode_groups() const {
    ByteWriter writer;
    std::uint32_t first_entry = 0;
    for (const GroupPlan& group : m_groups) {
      const auto entry_count = static_cast<std::uint32_t>(group.entries.size());
      write_record(writer,
                   GroupRecord{
                       .name_hash = group.name_hash,
                       .program = m_strings.offset_of(group.program),
                       .variant = m_strings.offset_of(group.variant),
                       .options = m_strings.offset_of(group.options),
                       .first_entry = first_entry,
                       .entry_count = entry_count,
                       .source_blob = group.source ? m_blob_index.at(*group.source) : k_no_index,
                       .manifest_blob = m_blob_index.at(group.manifest),
                   });
      first_entry += entry_count;
    }
    return {SectionKind::group, m_groups.size(), std::move(writer)};
  }

  SectionBytes encode_entries() const {
    constexpr unsigned k_shift_of_kind = 56;
    ByteWriter writer;
    std::size_t count = 0;
    for (const GroupPlan& group : m_groups) {
      for (const EntryPlan& entry : group.entries) {
        const EntryDraft& draft = *entry.draft;
        write_record(writer,
                     EntryRecord{
                         .match_key = draft.match_key,
                         .target = m_targets.at(entry.target).second,
                         .blob = m_blob_index.at(draft.raw_digest),
                         .kernels = m_strings.offset_of(join_kernels(draft.row.kernels)),
                         .options = m_strings.offset_of(draft.row.options),
                         .kind = static_cast<std::uint16_t>(draft.match_key >> k_shift_of_kind),
                         .type = static_cast<std::uint8_t>(draft.type),
                         .address_bits = draft.address_bits,
                         .manifest_row = entry.manifest_row,
                     });
      }
      count += group.entries.size();
    }
    return {SectionKind::entry, count, std::move(writer)};
  }

  SectionBytes encode_exact() const {
    ByteWriter writer;
    std::uint32_t first_entry = 0;
    for (const GroupPlan& group : m_groups) {
      std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
      for (const EntryPlan& entry : group.entries) {
        keys.emplace_back(base::leading_u64(entry.target),
                          first_entry + static_cast<std::uint32_t>(keys.size()));
      }
      std::sort(keys.begin(), keys.end());
      for (const auto& [key, entry] : keys) {
        write_record(writer, ExactRecord{key, entry});
      }
      first_entry += static_cast<std::uint32_t>(keys.size());
    }
    return {SectionKind::exact, first_entry, std::move(writer)};
  }

  SectionBytes encode_targets() const {
    ByteWriter writer;
    for (const auto& [digest, numbered] : m_targets) {
      const Target& target = *numbered.first;
      const TargetFacts facts = target_facts(target);
      const bool is_offline = target.origin == TargetOrigin::offline;
      write_record(writer,
                   TargetRecord{
                       .family = static_cast<std::uint16_t>(facts.family),
                       .flags = is_offline ? k_target_offline : std::uint16_t{0},
                       .architecture = facts.architecture,
                       .address_bits = target.identity.address_bits,
                       .features = facts.features,
                       .digest = digest,
                       .platform_name = m_strings.offset_of(target.identity.platform_name),
                       .device_name = m_strings.offset_of(target.identity.device_name),
                       .driver_version = m_strings.offset_of(target.identity.driver_version),
                       .spec = m_strings.offset_of(target.spec),
                   });
    }
    return {SectionKind::target, m_targets.size(), std::move(writer)};
  }

  SectionBytes encode_blobs() const {
    ByteWriter writer;
    std::uint64_t offset = 0;
    for (const auto& [raw_digest, frame] : m_blobs) {
      const std::uint64_t stored_bytes = frame.stored.size_bytes();
      write_record(
          writer, BlobView{
                      .raw_digest = raw_digest,
                      .stored_digest = frame.stored_digest,
                      .offset = offset,
                      .stored_bytes = stored_bytes,
                      .raw_bytes = frame.raw_bytes,
                      .reference = frame.reference ? m_blob_index.at(*frame.reference) : k_no_index,
                      .codec = static_cast<std::uint8_t>(frame.codec),
                      .flags = 0,
                  });
      offset += align_up(stored_bytes);
    }
    return {SectionKind::blob, m_blobs.size(), std::move(writer)};
  }

  Result<std::optional<SectionBytes>> encode_keys() const {
    if (!m_options.encryption) {
      return std::nullopt;
    }
    CLBIN_TRY_ASSIGN(const std::vector<KeySlot> slots, sorted_slots(*m_options.encryption));
    ByteWriter writer;
    for (const KeySlot& slot : slots) {
      write_record(writer, slot);
    }
    return SectionBytes(SectionKind::keys, slots.size(), std::move(writer));
  }

  std::uint64_t payload_bytes() const {
    std::uint64_t bytes = 0;
    for (const BlobPlan& blob : m_blobs) {
      bytes += align_up(blob.frame.stored.size_bytes());
    }
    return bytes;
  }

  // Ensures that a reader with the default limits accepts the bundle.
  Result<void> check_limits(std::uint64_t total_bytes) const {
    constexpr std::uint64_t k_listed_bytes = 1024; // maximum for a group or an entry
    ReadBudget budget = ReadBudget::for_bundle(total_bytes);
    for (const BlobPlan& blob : m_blobs) {
      CLBIN_TRY(budget.take_raw(std::max(blob.frame.raw_bytes, blob.frame.stored.size_bytes()),
                                "the bundle"));
    }
    std::set<std::string_view> programs; // the variants of a program share a manifest and a source
    for (const GroupPlan& group : m_groups) {
      const std::uint64_t listed = k_listed_bytes * (1 + group.entries.size());
      CLBIN_TRY(budget.take_memory(listed, "the bundle"));
      if (!programs.insert(group.program).second) {
        continue;
      }
      CLBIN_TRY(base::in_context(check_program_limits(group, budget),
                                 fmt::format("program '{}'", told(group.program))));
    }
    return {};
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
                                 const std::optional<SectionBytes>& keys, Prefix& prefix) const {
    ByteWriter pages;
    for (const SectionBytes& table : tables) {
      write_pages(pages, table);
    }
    if (keys) {
      write_pages(pages, *keys);
    }
    const std::size_t section_count = k_required_sections + (keys ? 1 : 0);
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
    for (const SectionBytes& table : tables) {
      place({table.kind, k_section_required | k_section_paged, 0, table.bytes.size(),
             traits_of(table.kind)->record_bytes, table.count});
    }
    place({SectionKind::payload, k_section_required, 0, payload_bytes(), 0, 0});
    if (keys) { // not required, so that older readers list the bundle
      place({keys->kind, k_section_paged, 0, keys->bytes.size(),
             traits_of(keys->kind)->record_bytes, keys->count});
    }
    directory.write_bytes(pages.view());
    prefix.directory_bytes = static_cast<std::uint32_t>(directory_bytes);
    prefix.body_bytes = offset;
    prefix.total_bytes = offset;
    return std::move(directory).take();
  }

  Result<void> write_bundle(std::span<const SectionBytes> tables,
                            const std::optional<SectionBytes>& keys, const ByteSink& sink) const {
    Prefix prefix;
    CLBIN_TRY_ASSIGN(const Bytes directory, encode_directory(tables, keys, prefix));
    CLBIN_TRY(check_limits(prefix.total_bytes));
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
    return keys ? sink(keys->bytes) : Result<void>(); // records of 152 bytes need no padding
  }

  BundleDraft m_draft; // its frames move to m_blobs
  const WriteOptions& m_options;
  std::vector<GroupPlan> m_groups;
  StringTable m_strings;
  std::vector<BlobPlan> m_blobs;
  // The maps have the digest of the raw bytes as key, whether or not the bundle is encrypted.
  std::map<Digest, std::uint32_t> m_blob_index;
  std::map<Digest, FrameDraft> m_contents; // manifests and sources, never encrypted
  std::map<Digest, std::pair<const Target*, std::uint32_t>> m_targets;
};

} // namespace

Result<void> assemble_bundle(BundleDraft draft, const WriteOptions& options, const ByteSink& sink) {
  return Assembly(std::move(draft), options).run(sink);
}

Result<Bytes> assemble_bundle(BundleDraft draft, const WriteOptions& options) {
  Bytes bytes;
  CLBIN_TRY(assemble_bundle(std::move(draft), options, [&bytes](ByteView part) -> Result<void> {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return {};
  }));
  return bytes;
}

} // namespace clbin::format
