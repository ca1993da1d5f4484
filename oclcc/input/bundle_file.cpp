#include "input/bundle_file.hpp"

#include "format/bundle/bundle_layout.hpp"
#include "listing/bundle_summary.hpp"

#include <algorithm>
#include <span>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;

std::string bundle_name(const std::filesystem::path& path) {
  return path == "-" ? "<stdin>" : path.string();
}

std::optional<base::ByteRegion> start_of_file(const std::filesystem::path& path,
                                              std::uint64_t max_bytes) {
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  const auto source = base::open_file_source(path);
  if (!source) {
    return std::nullopt;
  }
  auto start = (*source)->read(0, std::min((*source)->size_bytes(), max_bytes), "start");
  return start ? std::optional(std::move(*start)) : std::nullopt;
}

bool is_bundle(const std::filesystem::path& path) {
  const auto start = start_of_file(path, format::k_magic.size());
  const auto magic = std::as_bytes(std::span(format::k_magic));
  return start &&
         std::equal(magic.begin(), magic.end(), start->view().begin(), start->view().end());
}

base::Result<std::shared_ptr<const base::ByteSource>>
open_bundle_source(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path != "-" && !std::filesystem::is_fifo(path, ignored)) {
    return base::open_file_source(path);
  }
  CLBIN_TRY_ASSIGN(base::Bytes bytes, base::read_whole_file(path, k_max_whole_bundle_bytes));
  return base::owning_source(std::move(bytes), bundle_name(path));
}

namespace {

template <typename... Policy>
base::Result<format::BundleReader> open_with(const std::filesystem::path& path,
                                             const Policy&... policy) {
  auto source = open_bundle_source(path);
  if (!source) {
    return tl::unexpected(named_error(std::move(source.error()), path));
  }
  auto reader =
      format::BundleReader::open(std::move(*source), {}, format::TrailingBytes::refuse, policy...);
  if (!reader) {
    return tl::unexpected(named_error(std::move(reader.error()), path));
  }
  return reader;
}

} // namespace

base::Result<format::BundleReader> open_bundle(const std::filesystem::path& path) {
  return open_with(path);
}

base::Result<format::BundleReader> open_bundle(const std::filesystem::path& path,
                                               const format::SignaturePolicy& policy) {
  return open_with(path, policy);
}

base::Result<base::Bytes> read_valid_bundle(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(base::Bytes bytes, base::read_whole_file(path, k_max_whole_bundle_bytes));
  const auto bundle =
      format::BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
  auto verified = bundle ? bundle->verify() : tl::unexpected(bundle.error());
  if (!verified) {
    return tl::unexpected(named_error(std::move(verified.error()), path));
  }
  return bytes;
}

std::vector<clbin::format::TrailingRecord> signatures_in(const std::filesystem::path& path) {
  const auto bundle = open_bundle(path);
  auto records = bundle ? bundle->signature_records() : tl::unexpected(bundle.error());
  return records ? std::move(*records) : std::vector<clbin::format::TrailingRecord>();
}

base::Error named_error(base::Error error, const std::filesystem::path& path) {
  const bool is_named = error.message.find(fmt::format("'{}'", path.string())) != std::string::npos;
  return is_named ? error : clbin::listing::named_error(std::move(error), bundle_name(path));
}

} // namespace oclcc
