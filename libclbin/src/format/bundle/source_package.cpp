#include "format/bundle/source_package.hpp"

#include <algorithm>
#include <set>

namespace clbin::format {

using base::ErrorCode;

namespace {

constexpr std::uint32_t k_source_version = 1;
// Limit of one package: a file of 12 bytes uses 300 bytes of memory, and drivers process headers
// one at a time.
constexpr std::uint32_t k_max_files = 1U << 17U;

void encode_file(base::ByteWriter& writer, const SourceFile& file) {
  writer.write_text(file.include_name);
  writer.write_text(file.display_name);
  writer.write_text(file.text);
}

// A file with its node in the set of names and its share of a growing vector.
constexpr std::uint64_t k_file_bytes = 3 * sizeof(SourceFile) + 64;

base::Result<SourceFile> decode_file(base::ByteReader& reader, ReadBudget* budget) {
  const std::size_t start = reader.offset();
  CLBIN_TRY_ASSIGN(const std::string_view include_name, reader.read_text("include name"));
  CLBIN_TRY_ASSIGN(const std::string_view display_name, reader.read_text("display name"));
  CLBIN_TRY_ASSIGN(const std::string_view text, reader.read_text("text"));
  if (budget != nullptr) {
    CLBIN_TRY(budget->take_memory(k_file_bytes + reader.offset() - start, "source"));
  }
  return SourceFile{std::string(include_name), std::string(display_name), std::string(text)};
}

} // namespace

base::Bytes encode_source_package(const SourcePackage& package) {
  base::ByteWriter writer;
  writer.write_u32(k_source_version);
  writer.write_u32(static_cast<std::uint32_t>(1 + package.headers.size()));
  encode_file(writer, package.main);
  for (const SourceFile& header : package.headers) {
    encode_file(writer, header);
  }
  return std::move(writer).take();
}

bool is_valid_include_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (std::any_of(name.begin(), name.end(), is_control)) {
    return false;
  }
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    start = end + 1;
  }
  return true;
}

base::Result<SourcePackage> decode_source_package(base::ByteView bytes, ReadBudget* budget) {
  base::ByteReader reader(bytes, "source");
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
  if (version != k_source_version) {
    return base::fail(ErrorCode::newer_version, "source: version {} is not known", version);
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t file_count, reader.read_u32("file count"));
  if (file_count == 0) {
    return base::fail(ErrorCode::damaged, "source: it has no main file");
  }
  SourcePackage package;
  CLBIN_TRY_ASSIGN(package.main, decode_file(reader, budget));
  if (package.main.text.empty()) {
    return base::fail(ErrorCode::damaged, "source: the main file is empty");
  }
  // Reserves nothing for the untrusted count; every file has at least 12 bytes.
  std::set<std::string> names;
  for (std::uint32_t i = 1; i < file_count; ++i) {
    if (i == k_max_files) {
      return base::fail(ErrorCode::limit_exceeded, "source: more than {} files", k_max_files);
    }
    CLBIN_TRY_ASSIGN(SourceFile header, decode_file(reader, budget));
    if (!is_valid_include_name(header.include_name)) {
      return base::fail(ErrorCode::damaged, "source: file {} has no valid include name", i);
    }
    if (!names.insert(header.include_name).second) {
      return base::fail(ErrorCode::damaged, "source: file {} has an include name seen before", i);
    }
    package.headers.push_back(std::move(header));
  }
  CLBIN_TRY(reader.require_end());
  return package;
}

} // namespace clbin::format
