#include "modes/containers.hpp"

#include "base/json_document.hpp"
#include "base/text.hpp"
#include "format/binary/elf_object.hpp"
#include "source/recorded_names.hpp"

#include <lz4.h>
#include <zlib.h>

namespace oclcc {

using clbin::base::ByteReader;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::BinaryKind;

namespace {

constexpr std::size_t k_max_binaries = 4096;

enum class Compression : std::uint8_t { lz4, zlib, zstd };

// What a container leaves to its members, and the members that were found.
class ContainerReader {
public:
  explicit ContainerReader(Container& container)
      : m_container(container),
        m_binaries_budget(0, clbin::format::held_bytes_limit(container.storage.front().size())),
        m_decompression_budget(m_binaries_budget) {}

  Result<void> read();

private:
  Result<void> add(std::string place, ByteView bytes);
  // Returns `raw_bytes` bytes, which the container owns.
  Result<ByteView> decompress(Compression compression, ByteView stored, std::uint64_t raw_bytes);

  Result<void> read_fatbins(ByteView bytes);
  Result<void> read_fatbin_member(ByteReader& reader);
  Result<ByteView> fatbin_payload(ByteView stored, std::uint64_t flags,
                                  std::uint64_t compressed_bytes, std::uint64_t raw_bytes);
  Result<void> read_host_object(ByteView bytes);
  Result<void> read_offload_bundle(ByteView bytes);
  Result<void> read_compressed_bundle(ByteView bytes);
  Result<void> read_offload_binaries(ByteView bytes);
  Result<void> read_archive(ByteView bytes);

  Container& m_container;
  clbin::format::ReadBudget m_binaries_budget;
  clbin::format::ReadBudget m_decompression_budget;
};

Result<ByteView> part_of(ByteView bytes, std::uint64_t offset, std::uint64_t size_bytes,
                         std::string_view what) {
  if (offset > bytes.size() || size_bytes > bytes.size() - offset) {
    return fail(ErrorCode::truncated,
                "{}: {} bytes at {} are not inside the {} bytes that contain it", what, size_bytes,
                offset, bytes.size());
  }
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes));
}

// Containers may follow one another, each at a multiple of 8 bytes or at the alignment of a linker.
void skip_padding(ByteView& bytes) {
  const auto end = std::ranges::find_if(bytes, [](std::byte one) { return one != std::byte{0}; });
  bytes = bytes.subspan(static_cast<std::size_t>(end - bytes.begin()));
}

std::string quoted_name(std::string_view name) {
  return fmt::format("'{}'", clbin::base::printable_excerpt(name));
}

Result<void> ContainerReader::add(std::string place, ByteView bytes) {
  if (bytes.empty()) {
    return {};
  }
  if (m_container.binaries.size() == k_max_binaries) {
    return fail(ErrorCode::limit_exceeded, "it contains more than {} binaries", k_max_binaries);
  }
  CLBIN_TRY(m_binaries_budget.take_raw(bytes.size(), place));
  m_container.binaries.push_back({std::move(place), bytes});
  return {};
}

// Decompression. ----------------------------------------------------------------------------------

// Returns memory for `raw_bytes` bytes, unless a format in which each byte becomes `most_for_byte`
// bytes at most, and whose library counts up to `most`, cannot store them in `stored`.
Result<Bytes> memory_for(std::string_view what, ByteView stored, std::uint64_t raw_bytes,
                         std::uint64_t most_for_byte, std::uint64_t most) {
  if (stored.size() > most || raw_bytes > most) {
    return fail(ErrorCode::limit_exceeded, "{} of {} bytes for {} is larger than {} bytes", what,
                stored.size(), raw_bytes, most);
  }
  if (raw_bytes / most_for_byte > stored.size()) {
    return fail(ErrorCode::damaged, "{} of {} bytes cannot contain {}", what, stored.size(),
                raw_bytes);
  }
  return clbin::base::allocate_bytes(raw_bytes, "decompressed data");
}

// A block without a frame. LZ4_decompress_safe accepts only one that ends where `block` does.
Result<Bytes> decompress_lz4(ByteView block, std::uint64_t raw_bytes) {
  constexpr std::uint64_t k_most_for_byte = 255; // of a length
  CLBIN_TRY_ASSIGN(
      Bytes raw, memory_for("an LZ4 block", block, raw_bytes, k_most_for_byte, LZ4_MAX_INPUT_SIZE));
  const int written = LZ4_decompress_safe(
      reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(raw.data()),
      static_cast<int>(block.size()), static_cast<int>(raw.size()));
  if (written < 0) {
    return fail(ErrorCode::damaged, "the LZ4 block is damaged or contains more than {} bytes",
                raw_bytes);
  }
  if (static_cast<std::size_t>(written) != raw.size()) {
    return fail(ErrorCode::damaged, "the LZ4 block contains {} bytes, expected {}", written,
                raw_bytes);
  }
  return raw;
}

Result<Bytes> decompress_zlib(ByteView stream, std::uint64_t raw_bytes) {
  constexpr std::uint64_t k_most_for_byte = 1032; // two codes of one bit are 258 bytes
  CLBIN_TRY_ASSIGN(Bytes raw, memory_for("a zlib stream", stream, raw_bytes, k_most_for_byte,
                                         std::numeric_limits<uLong>::max()));
  uLongf written = static_cast<uLongf>(raw.size());
  uLong read = static_cast<uLong>(stream.size());
  const int status = uncompress2(reinterpret_cast<Bytef*>(raw.data()), &written,
                                 reinterpret_cast<const Bytef*>(stream.data()), &read);
  if (status == Z_MEM_ERROR) {
    return fail(ErrorCode::out_of_memory, "no memory for the state of zlib");
  }
  if (status != Z_OK) {
    return fail(ErrorCode::damaged,
                "the zlib stream is damaged or incomplete, or contains more than {} bytes",
                raw_bytes);
  }
  if (written != raw.size()) {
    return fail(ErrorCode::damaged, "the zlib stream contains {} bytes, expected {}", written,
                raw_bytes);
  }
  if (read != stream.size()) {
    return fail(ErrorCode::damaged, "{} bytes follow the zlib stream", stream.size() - read);
  }
  return raw;
}

Result<Bytes> decompressed(Compression compression, ByteView stored, std::uint64_t raw_bytes) {
  switch (compression) {
  case Compression::lz4:
    return decompress_lz4(stored, raw_bytes);
  case Compression::zlib:
    return decompress_zlib(stored, raw_bytes);
  case Compression::zstd:
    break;
  }
  return clbin::base::ZstdDecompressor().decompress(stored, {}, raw_bytes);
}

Result<ByteView> ContainerReader::decompress(Compression compression, ByteView stored,
                                             std::uint64_t raw_bytes) {
  CLBIN_TRY(m_decompression_budget.take_raw(raw_bytes, "decompression"));
  CLBIN_TRY_ASSIGN(Bytes raw, decompressed(compression, stored, raw_bytes));
  return m_container.storage.emplace_back(std::move(raw));
}

// NVIDIA. -----------------------------------------------------------------------------------------

// Determined from files that fatbinary 13.0.88 made. A header of u32 magic, u16 version, u16 size
// of the header, u64 size of the members. Each member has a header and a payload.
constexpr std::uint32_t k_fatbin_magic = 0xBA55ED50U;
constexpr std::uint16_t k_fatbin_ptx = 1;
constexpr std::uint64_t k_fatbin_lz4 = 0x2000U;
constexpr std::uint64_t k_fatbin_zstd = 0x8000U;

Result<ByteView> ContainerReader::fatbin_payload(ByteView stored, std::uint64_t flags,
                                                 std::uint64_t compressed_bytes,
                                                 std::uint64_t raw_bytes) {
  const std::uint64_t compression = flags & (k_fatbin_lz4 | k_fatbin_zstd);
  if (compression == 0) {
    return stored;
  }
  if (compression == (k_fatbin_lz4 | k_fatbin_zstd)) {
    return fail(ErrorCode::damaged, "its flags 0x{:x} declare both LZ4 and zstd", flags);
  }
  CLBIN_TRY_ASSIGN(const ByteView data, part_of(stored, 0, compressed_bytes, "compressed data"));
  return decompress(compression == k_fatbin_lz4 ? Compression::lz4 : Compression::zstd, data,
                    raw_bytes);
}

Result<void> ContainerReader::read_fatbin_member(ByteReader& reader) {
  constexpr std::size_t k_read_bytes = 64;
  CLBIN_TRY_ASSIGN(const std::uint16_t kind, reader.read_u16("kind"));
  CLBIN_TRY(reader.read_u16("version"));
  CLBIN_TRY_ASSIGN(const std::uint32_t header_bytes, reader.read_u32("header bytes"));
  CLBIN_TRY_ASSIGN(const std::uint64_t stored_bytes, reader.read_u64("payload bytes"));
  CLBIN_TRY_ASSIGN(const std::uint32_t compressed_bytes, reader.read_u32("compressed bytes"));
  CLBIN_TRY(reader.read_bytes(20, "options, version, architecture and name"));
  CLBIN_TRY_ASSIGN(const std::uint64_t flags, reader.read_u64("flags"));
  CLBIN_TRY(reader.read_u64("reserved"));
  CLBIN_TRY_ASSIGN(const std::uint64_t raw_bytes, reader.read_u64("raw bytes"));
  if (header_bytes < k_read_bytes) {
    return fail(ErrorCode::damaged, "the header of a member has {} bytes", header_bytes);
  }
  CLBIN_TRY(reader.read_bytes(header_bytes - k_read_bytes, "rest of the header"));
  CLBIN_TRY_ASSIGN(const ByteView stored, reader.read_bytes(stored_bytes, "payload"));
  std::string place = fmt::format("member {}", m_container.binaries.size() + 1);
  CLBIN_TRY_ASSIGN(
      ByteView payload,
      clbin::base::in_context(fatbin_payload(stored, flags, compressed_bytes, raw_bytes), place));
  if (kind == k_fatbin_ptx) {
    payload =
        clbin::base::as_bytes(clbin::source::without_final_zeros(clbin::base::as_text(payload)));
  }
  return add(std::move(place), payload);
}

Result<void> ContainerReader::read_fatbins(ByteView bytes) {
  for (skip_padding(bytes); !bytes.empty(); skip_padding(bytes)) {
    constexpr std::uint16_t k_read_bytes = 16;
    ByteReader reader(bytes, "fat binary");
    CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
    CLBIN_TRY(reader.read_u16("version"));
    CLBIN_TRY_ASSIGN(const std::uint16_t header_bytes, reader.read_u16("header bytes"));
    CLBIN_TRY_ASSIGN(const std::uint64_t member_bytes, reader.read_u64("bytes"));
    if (magic != k_fatbin_magic || header_bytes < k_read_bytes) {
      return fail(ErrorCode::damaged, "a fat binary is followed by other bytes, or has no header");
    }
    CLBIN_TRY(reader.read_bytes(header_bytes - k_read_bytes, "rest of the header"));
    CLBIN_TRY_ASSIGN(const ByteView members, reader.read_bytes(member_bytes, "members"));
    ByteReader member(members, "member of a fat binary");
    while (member.remaining() != 0) {
      CLBIN_TRY(read_fatbin_member(member));
    }
    bytes = bytes.subspan(reader.offset());
  }
  return {};
}

// nvcc stores the fat binaries of a host object in the section ".nv_fatbin".
Result<void> ContainerReader::read_host_object(ByteView bytes) {
  const auto object = clbin::format::parse_elf(bytes);
  for (const auto& section : object ? object->sections : std::vector<clbin::format::ElfSection>()) {
    const auto magic = ByteReader(section.bytes, "section").read_u32("magic");
    if (magic && *magic == k_fatbin_magic) {
      CLBIN_TRY(m_binaries_budget.take_raw(section.bytes.size(), "sections")); // they may overlap
      CLBIN_TRY(read_fatbins(section.bytes));
    }
  }
  return {};
}

// clang. ------------------------------------------------------------------------------------------

// ClangOffloadBundler, "Bundled Binary File Layout": magic, u64 count; of each: u64 offset, u64
// size, u64 size of the ID, the ID.
constexpr std::string_view k_bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";

Result<void> ContainerReader::read_offload_bundle(ByteView bytes) {
  ByteReader reader(bytes, "offload bundle");
  CLBIN_TRY_ASSIGN(const ByteView magic, reader.read_bytes(k_bundle_magic.size(), "magic"));
  if (clbin::base::as_text(magic) != k_bundle_magic) {
    return fail(ErrorCode::damaged, "not an offload bundle");
  }
  CLBIN_TRY_ASSIGN(const std::uint64_t count, reader.read_u64("count"));
  for (std::uint64_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(const std::uint64_t offset, reader.read_u64("offset"));
    CLBIN_TRY_ASSIGN(const std::uint64_t size_bytes, reader.read_u64("bytes"));
    CLBIN_TRY_ASSIGN(const std::uint64_t id_bytes, reader.read_u64("bytes of the ID"));
    CLBIN_TRY_ASSIGN(const ByteView id_text, reader.read_bytes(id_bytes, "ID"));
    const std::string_view id = clbin::base::as_text(id_text);
    CLBIN_TRY_ASSIGN(const ByteView code, part_of(bytes, offset, size_bytes, quoted_name(id)));
    if (!id.starts_with("host-")) {
      CLBIN_TRY(add(quoted_name(id), code));
    }
  }
  return {};
}

// "Compressed Bundled Binary File Layout": magic, u16 version, u16 method; from version 2 the size
// of the file, and the raw size, with 4 bytes, or with 8 from version 3; u64 hash.
Result<void> ContainerReader::read_compressed_bundle(ByteView bytes) {
  constexpr std::uint16_t k_newest = 3;
  constexpr std::uint16_t k_zlib = 0;
  constexpr std::uint16_t k_zstd = 1;
  ByteReader reader(bytes, "compressed offload bundle");
  CLBIN_TRY(reader.read_u32("magic"));
  CLBIN_TRY_ASSIGN(const std::uint16_t version, reader.read_u16("version"));
  CLBIN_TRY_ASSIGN(const std::uint16_t method, reader.read_u16("method"));
  if (version < 1 || version > k_newest || method > k_zstd) {
    return fail(ErrorCode::no_matching_entry,
                "a compressed offload bundle of version {} with method {}, which oclcc does not "
                "know",
                version, method);
  }
  const auto read_size = [&](std::string_view field) -> Result<std::uint64_t> {
    if (version == k_newest) {
      return reader.read_u64(field);
    }
    CLBIN_TRY_ASSIGN(const std::uint32_t size, reader.read_u32(field));
    return size;
  };
  std::uint64_t file_bytes = bytes.size();
  if (version > 1) {
    CLBIN_TRY_ASSIGN(file_bytes, read_size("file bytes"));
  }
  CLBIN_TRY_ASSIGN(const std::uint64_t raw_bytes, read_size("raw bytes"));
  CLBIN_TRY(reader.read_u64("hash"));
  if (file_bytes < reader.offset()) {
    return fail(ErrorCode::damaged, "it declares a size of {} bytes", file_bytes);
  }
  CLBIN_TRY_ASSIGN(const ByteView data,
                   reader.read_bytes(file_bytes - reader.offset(), "compressed data"));
  CLBIN_TRY_ASSIGN(
      const ByteView raw,
      decompress(method == k_zlib ? Compression::zlib : Compression::zstd, data, raw_bytes));
  return read_offload_bundle(raw);
}

// llvm/Object/OffloadBinary.h, version 1 (LLVM 15 to 22): magic, u32 version, u64 size, u64 offset
// and u64 size of the entry: u16 kind of the image, u16 kind of the producer, u32 flags, u64 offset
// and u64 count of the texts, u64 offset and u64 size of the image. A file can be a sequence of
// them.
Result<void> ContainerReader::read_offload_binaries(ByteView bytes) {
  constexpr std::uint32_t k_magic = 0xAD10FF10U;
  for (skip_padding(bytes); !bytes.empty(); skip_padding(bytes)) {
    ByteReader reader(bytes, "offload binary");
    CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
    CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
    if (magic != k_magic || version != 1) {
      return fail(ErrorCode::no_matching_entry,
                  "an offload binary with magic 0x{:08x} and version {}, which oclcc does not know",
                  magic, version);
    }
    CLBIN_TRY_ASSIGN(const std::uint64_t size_bytes, reader.read_u64("bytes"));
    CLBIN_TRY_ASSIGN(const std::uint64_t entry_offset, reader.read_u64("offset of the entry"));
    CLBIN_TRY_ASSIGN(const std::uint64_t entry_bytes, reader.read_u64("bytes of the entry"));
    CLBIN_TRY_ASSIGN(
        const ByteView binary,
        part_of(bytes, 0, std::max<std::uint64_t>(size_bytes, reader.offset()), "offload binary"));
    CLBIN_TRY_ASSIGN(const ByteView record, part_of(binary, entry_offset, entry_bytes, "entry"));
    ByteReader entry(record, "entry of an offload binary");
    CLBIN_TRY(entry.read_bytes(24, "kinds, flags and texts"));
    CLBIN_TRY_ASSIGN(const std::uint64_t offset, entry.read_u64("offset of the image"));
    CLBIN_TRY_ASSIGN(const std::uint64_t image_bytes, entry.read_u64("bytes of the image"));
    CLBIN_TRY_ASSIGN(const ByteView image, part_of(binary, offset, image_bytes, "image"));
    CLBIN_TRY(add(fmt::format("member {}", m_container.binaries.size() + 1), image));
    bytes = bytes.subspan(binary.size());
  }
  return {};
}

// ocloc. ------------------------------------------------------------------------------------------

// Names of more than 15 characters are in a table, and headers have "/OFFSET". Others end with "/"
// or, as ocloc writes them, with the spaces that follow.
Result<std::string_view> name_in_archive(std::string_view field, std::string_view long_names) {
  if (!field.starts_with('/')) {
    return field.substr(0, field.find('/'));
  }
  std::string_view digits = field.substr(1);
  const auto offset = base::take_number<std::size_t>(digits);
  if (offset.value_or(long_names.size()) >= long_names.size()) {
    return fail(ErrorCode::damaged, "the name {} is not in the table of long names",
                quoted_name(field));
  }
  const std::string_view name = long_names.substr(*offset);
  return name.substr(0, name.find_first_of("/\n"));
}

// ar(5). ocloc(1) pads its archives with members "pad_0", "pad_1", …, so that binaries are aligned.
Result<void> ContainerReader::read_archive(ByteView bytes) {
  constexpr std::size_t k_name_bytes = 16;
  constexpr std::size_t k_size_bytes = 10;
  ByteReader reader(bytes, "archive");
  CLBIN_TRY(reader.read_bytes(std::string_view("!<arch>\n").size(), "magic"));
  std::string_view long_names;
  while (reader.remaining() != 0) {
    CLBIN_TRY_ASSIGN(const ByteView name_text, reader.read_bytes(k_name_bytes, "name"));
    CLBIN_TRY(reader.read_bytes(32, "times, owners and mode"));
    CLBIN_TRY_ASSIGN(const ByteView size_text, reader.read_bytes(k_size_bytes, "size"));
    CLBIN_TRY(reader.read_bytes(2, "end of the header"));
    std::string_view name = clbin::base::as_text(name_text);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    std::string_view digits = clbin::base::as_text(size_text);
    const auto size_bytes = base::take_number<std::uint64_t>(digits);
    if (!size_bytes) {
      return fail(ErrorCode::damaged, "the size of {} is not a number", quoted_name(name));
    }
    CLBIN_TRY_ASSIGN(const ByteView member, reader.read_bytes(*size_bytes, "member"));
    CLBIN_TRY(
        reader.read_bytes(std::min<std::size_t>(*size_bytes % 2, reader.remaining()), "padding"));
    if (name == "//") {
      long_names = clbin::base::as_text(member);
    }
    if (name == "//" || name == "/" || name == "/SYM64/") { // the latter are indices of symbols
      continue;
    }
    CLBIN_TRY_ASSIGN(name, name_in_archive(name, long_names));
    if (!name.starts_with("pad_")) {
      CLBIN_TRY(add(quoted_name(name), member));
    }
  }
  return {};
}

// All. --------------------------------------------------------------------------------------------

Result<void> ContainerReader::read() {
  const ByteView file = m_container.storage.front();
  switch (clbin::format::classify_binary(file).kind) {
  case BinaryKind::nvidia_fatbin:
    return read_fatbins(file);
  case BinaryKind::offload_bundle:
    return clbin::base::as_text(file).starts_with(k_bundle_magic) ? read_offload_bundle(file)
                                                                  : read_compressed_bundle(file);
  case BinaryKind::offload_binary:
    return read_offload_binaries(file);
  case BinaryKind::ar_archive:
    return read_archive(file);
  case BinaryKind::unknown:
    CLBIN_TRY(read_host_object(file));
    return m_container.binaries.empty() ? add({}, file) : Result<void>();
  default:
    return add({}, file);
  }
}

} // namespace

Result<BundleOrBytes> open_bundle_or_read(const std::filesystem::path& path,
                                          const BundleKeys& keys) {
  constexpr std::uint64_t k_max_file_bytes = 1ULL << 30U;
  if (is_bundle(path) || has_packs(path)) {
    return open_bundle(path, keys);
  }
  CLBIN_TRY_ASSIGN(Bytes bytes, clbin::base::read_whole_file(path, k_max_file_bytes));
  const auto magic = std::as_bytes(std::span(clbin::format::k_magic));
  if (!clbin::base::as_text(bytes).starts_with(clbin::base::as_text(magic))) {
    return bytes;
  }
  auto source = clbin::base::owning_source(std::move(bytes), bundle_name(path));
  CLBIN_TRY_ASSIGN(auto bundle, format::BundleReader::open(std::move(source), {},
                                                           format::TrailingBytes::refuse));
  CLBIN_TRY(keys.unlock(bundle));
  return bundle;
}

Result<Container> open_container(Bytes file) {
  Container container;
  container.storage.push_back(std::move(file));
  CLBIN_TRY(ContainerReader(container).read());
  if (container.binaries.empty()) {
    return fail(ErrorCode::no_matching_entry, "it contains no device binary");
  }
  return container;
}

} // namespace oclcc
