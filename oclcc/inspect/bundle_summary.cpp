#include "inspect/bundle_summary.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "input/bundle_file.hpp"
#include "input/truncated_source.hpp"

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;

namespace {

using Source = std::shared_ptr<const base::ByteSource>;

std::optional<format::BundleReader> open(const Source& source, clbin::listing::ErrorList& errors) {
  auto reader = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
  if (reader) {
    return std::move(*reader);
  }
  errors.add(reader.error());
  if (reader.error().code == base::ErrorCode::trailing_bytes) {
    reader = format::BundleReader::open(source, {}, format::TrailingBytes::ignore);
  } else if (const Source whole = as_if_whole(source); whole != nullptr) {
    reader = format::BundleReader::open(whole, {}, format::TrailingBytes::refuse);
  }
  return reader ? std::optional(std::move(*reader)) : std::nullopt;
}

BundleSummary summarize_source(const std::filesystem::path& path, const Source& source,
                               const BundleKeys& keys) {
  clbin::listing::ErrorList errors(bundle_name(path));
  auto reader = open(source, errors);
  if (!reader) {
    BundleSummary summary;
    summary.file = errors.bundle();
    summary.errors = errors.list();
    return summary;
  }
  if (const auto unlocked = keys.unlock(*reader); !unlocked) {
    errors.add(unlocked.error());
  }
  return clbin::listing::summarize(*reader, std::move(errors));
}

// Returns `source` itself unless it is an encrypted bundle.
base::Result<Source> decrypted(const Source& source, const BundleKeys& keys) {
  auto bundle = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
  if (!bundle || !bundle->is_encrypted()) {
    return source;
  }
  CLBIN_TRY(keys.unlock(*bundle));
  CLBIN_TRY(require_contents(*bundle));
  CLBIN_TRY(bundle->verify()); // decrypting copies only what is used
  const format::BundleReader* const input = &*bundle;
  CLBIN_TRY_ASSIGN(base::Bytes plain, format::merge_bundles({&input, 1}));
  return base::owning_source(std::move(plain), source->name());
}

} // namespace

BundleSummary unread_summary(const std::filesystem::path& path, const base::Error& error) {
  BundleSummary summary;
  summary.file = bundle_name(path);
  summary.errors = {error};
  return summary;
}

BundleSummary summarize_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  const auto source = open_bundle_source(path);
  return source ? summarize_source(path, *source, keys) : unread_summary(path, source.error());
}

BundleSummary summarize_plain_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  const auto source = open_bundle_source(path);
  const auto plain = source ? decrypted(*source, keys) : source;
  return plain ? summarize_source(path, *plain, {})
               : unread_summary(path, named_error(plain.error(), path));
}

std::vector<base::Error> errors_of(const std::vector<BundleSummary>& bundles) {
  std::vector<base::Error> errors;
  for (const BundleSummary& bundle : bundles) {
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
  }
  return errors;
}

} // namespace oclcc
