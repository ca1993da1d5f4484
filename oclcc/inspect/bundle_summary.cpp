#include "inspect/bundle_summary.hpp"

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

} // namespace

BundleSummary summarize_bundle(const std::filesystem::path& path) {
  const auto source = open_bundle_source(path);
  if (!source) {
    return {bundle_name(path), std::nullopt, {}, {}, {source.error()}};
  }
  clbin::listing::ErrorList errors(bundle_name(path));
  const auto reader = open(*source, errors);
  if (!reader) {
    return {errors.bundle(), std::nullopt, {}, {}, errors.list()};
  }
  return clbin::listing::summarize(*reader, std::move(errors));
}

std::vector<base::Error> errors_of(const std::vector<BundleSummary>& bundles) {
  std::vector<base::Error> errors;
  for (const BundleSummary& bundle : bundles) {
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
  }
  return errors;
}

} // namespace oclcc
