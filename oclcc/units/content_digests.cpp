#include "units/content_digests.hpp"

#include "base/system/files.hpp"
#include "format/binary/elf_object.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>

namespace oclcc {

using base::ByteReader;
using base::ByteSource;
using base::Digest;
using base::Hasher;

namespace {

constexpr std::string_view k_content_stamp_label = "oclcc-content-stamp-1";
constexpr std::string_view k_content_name_label = "oclcc-content-name-2";
constexpr std::size_t k_content_part_bytes = 1U << 20U;
// A file that changed this recently may change again within the resolution of its times.
constexpr std::int64_t k_settled_seconds = 2;

void add_content_time(Hasher& hasher, const base::FileTime& time) {
  hasher.add_u64(static_cast<std::uint64_t>(time.seconds));
  hasher.add_u64(static_cast<std::uint64_t>(time.nanoseconds));
}

Digest content_stamp_of(const base::FileStatus& status) {
  Hasher hasher;
  hasher.add_field(k_content_stamp_label);
  hasher.add_u64(status.device);
  hasher.add_u64(status.inode);
  hasher.add_u64(status.size_bytes);
  add_content_time(hasher, status.modified);
  add_content_time(hasher, status.changed);
  return hasher.finish();
}

// Of what is remembered of a file: its stamp, and the digest of its contents.
Digest remembered_key_of(const std::filesystem::path& path) {
  return Hasher().add_field(k_content_name_label).add_field(path.string()).finish();
}

std::optional<Digest> content_hash(int file) {
  Hasher hasher;
  std::vector<std::byte> part(k_content_part_bytes);
  while (true) {
    const auto count = base::read_some(file, part);
    if (!count) {
      return std::nullopt;
    }
    if (*count == 0) {
      return hasher.finish();
    }
    hasher.add(ByteView(part).first(*count));
  }
}

struct OpenContentFile {
  base::FileDescriptor file;
  base::FileStatus status;
};

std::optional<OpenContentFile> open_content_file(const std::filesystem::path& path) {
  // Does not wait for the other end of a pipe, which is rejected next.
  auto file = base::open_to_read(path, base::MissingWriter::is_the_end);
  const auto status = file ? base::status_of(file->number()) : tl::unexpected(file.error());
  if (!status || status->kind != base::FileKind::regular) {
    return std::nullopt;
  }
  return OpenContentFile{*std::move(file), *status};
}

bool is_settled(const base::FileStatus& status, std::chrono::system_clock::time_point now) {
  const std::int64_t seconds = std::chrono::system_clock::to_time_t(now);
  return std::max(status.changed.seconds, status.modified.seconds) + k_settled_seconds < seconds;
}

// Of ELF files (System V ABI), which machines without <elf.h> read, too.
constexpr std::string_view k_elf_magic = "\x7f"
                                         "ELF";
constexpr std::size_t k_ident_bytes = 16;
constexpr std::size_t k_class_byte = 4;
constexpr std::size_t k_data_byte = 5;
constexpr std::byte k_class_64{2};
constexpr std::byte k_little_endian{1};
constexpr std::size_t k_header_bytes = 64;
constexpr std::size_t k_program_header_bytes = 56;
constexpr std::size_t k_dynamic_entry_bytes = 16;
enum : std::uint32_t { segment_load = 1, segment_dynamic = 2, segment_note = 4 };
enum : std::uint64_t {
  dynamic_end = 0,
  dynamic_needed = 1,
  dynamic_strings = 5,
  dynamic_name = 14
};
constexpr std::uint32_t k_note_gnu_build_id = 3;

constexpr std::size_t k_max_program_headers = 256;
constexpr std::size_t k_max_table_bytes = 64U << 10U; // of notes, and of dynamic entries
constexpr std::size_t k_max_function_name_bytes = 256;
constexpr std::size_t k_max_build_id_bytes = 64;
constexpr std::string_view k_gnu("GNU\0", 4);

struct Segment {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
};

Result<std::vector<Segment>> read_segments(const ByteSource& file) {
  CLBIN_TRY_ASSIGN(const auto header, file.read(0, k_header_bytes, "ELF header"));
  ByteReader reader(header.view(), "ELF header");
  CLBIN_TRY_ASSIGN(const ByteView ident, reader.read_bytes(k_ident_bytes, "e_ident"));
  if (base::as_text(ident.first(k_elf_magic.size())) != k_elf_magic ||
      ident[k_class_byte] != k_class_64 || ident[k_data_byte] != k_little_endian) {
    return fail(ErrorCode::damaged, "not a 64-bit little-endian ELF file");
  }
  CLBIN_TRY(reader.read_bytes(16, "e_type, e_machine, e_version, e_entry"));
  CLBIN_TRY_ASSIGN(const std::uint64_t table, reader.read_u64("e_phoff"));
  CLBIN_TRY(reader.read_bytes(14, "e_shoff, e_flags, e_ehsize"));
  CLBIN_TRY_ASSIGN(const std::uint16_t entry_bytes, reader.read_u16("e_phentsize"));
  CLBIN_TRY_ASSIGN(const std::uint16_t count, reader.read_u16("e_phnum"));
  if (entry_bytes != k_program_header_bytes || count > k_max_program_headers) {
    return fail(ErrorCode::damaged, "unexpected program headers");
  }
  CLBIN_TRY_ASSIGN(const auto bytes,
                   file.read(table, k_program_header_bytes * count, "program headers"));
  ByteReader headers(bytes.view(), "program headers");
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < count; ++i) {
    Segment& segment = segments.emplace_back();
    CLBIN_TRY_ASSIGN(segment.type, headers.read_u32("p_type"));
    CLBIN_TRY(headers.read_u32("p_flags"));
    CLBIN_TRY_ASSIGN(segment.offset, headers.read_u64("p_offset"));
    CLBIN_TRY_ASSIGN(segment.address, headers.read_u64("p_vaddr"));
    CLBIN_TRY(headers.read_u64("p_paddr"));
    CLBIN_TRY_ASSIGN(segment.file_bytes, headers.read_u64("p_filesz"));
    CLBIN_TRY(headers.read_bytes(16, "p_memsz, p_align"));
  }
  return segments;
}

Result<base::ByteRegion> read_table(const ByteSource& file, const Segment& segment,
                                    std::string_view field) {
  if (segment.file_bytes > k_max_table_bytes) {
    return fail(ErrorCode::damaged, "{} has {} bytes", field, segment.file_bytes);
  }
  return file.read(segment.offset, segment.file_bytes, field);
}

// Returns an empty string if the notes contain no build ID.
Result<std::string> build_id_in(ByteView notes) {
  ByteReader reader(notes, "notes");
  while (reader.remaining() > 0) {
    CLBIN_TRY_ASSIGN(const format::ElfNote note, format::read_elf_note(reader));
    if (note.type == k_note_gnu_build_id && note.owner == k_gnu && !note.value.empty() &&
        note.value.size() <= k_max_build_id_bytes) {
      return base::to_hex(note.value);
    }
  }
  return std::string();
}

// The entries of PT_DYNAMIC that this file reads.
struct DynamicEntries {
  std::vector<std::uint64_t> needed; // offsets in the string table
  std::optional<std::uint64_t> name;
  std::uint64_t strings = 0; // address of the string table
};

Result<DynamicEntries> read_dynamic(ByteView bytes) {
  ByteReader reader(bytes, "dynamic section");
  DynamicEntries entries;
  while (reader.remaining() >= k_dynamic_entry_bytes) {
    CLBIN_TRY_ASSIGN(const std::uint64_t tag, reader.read_u64("d_tag"));
    CLBIN_TRY_ASSIGN(const std::uint64_t value, reader.read_u64("d_val"));
    switch (tag) {
    case dynamic_end:
      return entries;
    case dynamic_needed:
      entries.needed.push_back(value);
      break;
    case dynamic_name:
      entries.name = value;
      break;
    case dynamic_strings:
      entries.strings = value;
      break;
    default:
      break;
    }
  }
  return entries;
}

Result<std::uint64_t> offset_of(std::uint64_t address, const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.type == segment_load && address >= segment.address &&
        address - segment.address < segment.file_bytes) {
      return segment.offset + (address - segment.address);
    }
  }
  return fail(ErrorCode::damaged, "the string table is in no segment");
}

Result<std::string> read_name(const ByteSource& file, std::uint64_t strings, std::uint64_t offset) {
  const std::uint64_t begin = strings + offset;
  if (begin < strings || begin >= file.size_bytes()) {
    return fail(ErrorCode::truncated, "a name is not inside the file");
  }
  const std::uint64_t most =
      std::min<std::uint64_t>(k_max_function_name_bytes, file.size_bytes() - begin);
  CLBIN_TRY_ASSIGN(const auto bytes, file.read(begin, most, "name of a library"));
  const std::string_view text = base::as_text(bytes.view());
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) {
    return fail(ErrorCode::damaged, "a name is too long");
  }
  return std::string(text.substr(0, end));
}

Result<void> read_names(const ByteSource& file, const std::vector<Segment>& segments,
                        const Segment& dynamic, SharedObject& object) {
  CLBIN_TRY_ASSIGN(const auto table, read_table(file, dynamic, "dynamic section"));
  CLBIN_TRY_ASSIGN(const DynamicEntries entries, read_dynamic(table.view()));
  CLBIN_TRY_ASSIGN(const std::uint64_t strings, offset_of(entries.strings, segments));
  for (const std::uint64_t offset : entries.needed) {
    CLBIN_TRY_ASSIGN(std::string name, read_name(file, strings, offset));
    object.needed.push_back(std::move(name));
  }
  if (entries.name) {
    CLBIN_TRY_ASSIGN(object.name, read_name(file, strings, *entries.name));
  }
  return {};
}

} // namespace

Result<SharedObject> read_shared_object(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(const std::shared_ptr<const ByteSource> file, base::open_file_source(path));
  CLBIN_TRY_ASSIGN(const auto segments, read_segments(*file));
  const auto dynamic = std::ranges::find(segments, std::uint32_t{segment_dynamic}, &Segment::type);
  if (dynamic == segments.end()) {
    return fail(ErrorCode::damaged, "no dynamic section");
  }
  SharedObject object;
  object.size_bytes = file->size_bytes();
  CLBIN_TRY(read_names(*file, segments, *dynamic, object));
  for (const Segment& segment : segments) {
    if (segment.type == segment_note && object.build_id.empty()) {
      CLBIN_TRY_ASSIGN(const auto notes, read_table(*file, segment, "notes"));
      CLBIN_TRY_ASSIGN(object.build_id, build_id_in(notes.view()));
    }
  }
  return object;
}

std::optional<std::string> ContentDigests::of(const std::filesystem::path& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) {
    return std::nullopt;
  }
  if (const auto known = m_known.find(real); known != m_known.end()) {
    return known->second;
  }
  auto digest = std::filesystem::is_directory(real, error) ? of_folder(real) : of_file(real);
  if (digest) {
    m_known.emplace(real, *digest);
  }
  return digest;
}

std::optional<std::string> ContentDigests::of_file(const std::filesystem::path& path) {
  const auto opened = open_content_file(path);
  if (!opened) {
    return std::nullopt;
  }
  const Digest stamp = content_stamp_of(opened->status);
  const Digest key = remembered_key_of(path);
  const auto known = m_files.look_up(key).bytes.value_or(base::Bytes());
  if (known.size() == 2 * stamp.bytes.size() &&
      std::ranges::equal(ByteView(known).first(stamp.bytes.size()), stamp.bytes)) {
    return base::to_hex(ByteView(known).subspan(stamp.bytes.size()));
  }
  const auto contents = content_hash(opened->file.number());
  const auto after = base::status_of(opened->file.number());
  if (!contents || !after || content_stamp_of(*after) != stamp) {
    return std::nullopt;
  }
  if (m_now && is_settled(*after, m_now())) {
    base::ByteWriter kept;
    kept.write_bytes(stamp.bytes);
    kept.write_bytes(contents->bytes);
    // If it fails, the next run reads the file again. The look-ups report problems of the
    // directory.
    (void)m_files.store(key, kept.view());
  }
  return base::to_hex(*contents);
}

std::optional<std::string> ContentDigests::of_folder(const std::filesystem::path& path) {
  std::map<std::string, std::string> files; // directories list their files in any order
  std::error_code error;
  for (std::filesystem::directory_iterator file(path, error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    if (!file->is_regular_file(error)) {
      continue;
    }
    auto digest = of(file->path());
    if (!digest) {
      return std::nullopt;
    }
    files.emplace(file->path().filename().string(), *std::move(digest));
  }
  if (error) {
    return std::nullopt;
  }
  Hasher hasher;
  for (const auto& [name, digest] : files) {
    hasher.add_field(name);
    hasher.add_field(digest);
  }
  return base::to_hex(hasher.finish());
}

std::optional<std::string> library_identity(const std::filesystem::path& path,
                                            ContentDigests& digests) {
  const auto object = read_shared_object(path);
  if (!object || object->build_id.empty()) {
    return digests.of(path);
  }
  return fmt::format("{} {} {}", object->name, object->size_bytes, object->build_id);
}

} // namespace oclcc
