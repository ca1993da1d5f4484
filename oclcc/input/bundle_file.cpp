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

base::Result<format::BundleReader> unlocked(base::Result<format::BundleReader> bundle,
                                            const std::filesystem::path& path,
                                            const BundleKeys& keys) {
  auto opened = bundle ? keys.unlock(*bundle) : base::Result<void>();
  return opened ? std::move(bundle) : tl::unexpected(named_error(std::move(opened.error()), path));
}

} // namespace

base::Result<format::BundleReader> open_bundle(const std::filesystem::path& path) {
  return open_with(path);
}

base::Result<format::BundleReader> open_bundle(const std::filesystem::path& path,
                                               const BundleKeys& keys) {
  return unlocked(open_with(path), path, keys);
}

base::Result<format::BundleReader> open_bundle(const std::filesystem::path& path,
                                               const BundleKeys& keys,
                                               const format::SignaturePolicy& policy) {
  return unlocked(open_with(path, policy), path, keys);
}

base::Result<format::BundleReader> open_readable_bundle(const std::filesystem::path& path,
                                                        const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(format::BundleReader bundle, open_bundle(path, keys));
  if (auto readable = require_contents(bundle); !readable) {
    return tl::unexpected(named_error(std::move(readable.error()), path));
  }
  return bundle;
}

base::Result<void> require_contents(const format::BundleReader& bundle) {
  if (!bundle.is_locked()) {
    return {};
  }
  return base::fail(base::ErrorCode::encrypted,
                    "it is encrypted: name its key with '--decrypt-key'");
}

base::Result<Verified> verify_bundle(const format::BundleReader& bundle) {
  auto verified = bundle.verify();
  if (verified) {
    return Verified::all;
  }
  if (bundle.is_locked() && verified.error().code == base::ErrorCode::encrypted) {
    return Verified::all_but_contents;
  }
  return tl::unexpected(std::move(verified.error()));
}

namespace {

// Reads a file that is no bundle, however large, only as far as its prefix.
base::Result<ValidBundle> read_whole_bundle(const std::filesystem::path& path,
                                            const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(const auto source, open_bundle_source(path));
  CLBIN_TRY(format::BundleReader::open(source, {}, format::TrailingBytes::refuse));
  if (source->size_bytes() > k_max_whole_bundle_bytes) {
    return base::fail(base::ErrorCode::limit_exceeded, "it has more than {} bytes",
                      k_max_whole_bundle_bytes);
  }
  CLBIN_TRY_ASSIGN(const base::ByteRegion whole, source->read(0, source->size_bytes(), "bundle"));
  base::Bytes bytes(whole.view().begin(), whole.view().end());
  // The file may have changed since it was opened.
  CLBIN_TRY_ASSIGN(auto bundle, format::BundleReader::open(base::memory_source(bytes), {},
                                                           format::TrailingBytes::refuse));
  CLBIN_TRY(keys.unlock(bundle));
  CLBIN_TRY_ASSIGN(const Verified verified, verify_bundle(bundle));
  return ValidBundle{std::move(bytes), verified};
}

} // namespace

base::Result<ValidBundle> read_valid_bundle(const std::filesystem::path& path,
                                            const BundleKeys& keys) {
  auto bundle = read_whole_bundle(path, keys);
  return bundle ? std::move(bundle) : tl::unexpected(named_error(std::move(bundle.error()), path));
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
