#include "bundles/bundle_summary.hpp"

#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/bundle_surgery.hpp"

namespace oclcc {

namespace {

class TruncatedSource final : public base::ByteSource {
public:
  TruncatedSource(std::shared_ptr<const base::ByteSource> source, std::uint64_t declared_bytes)
      : m_source(std::move(source)), m_declared_bytes(declared_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return m_declared_bytes; }
  [[nodiscard]] Result<base::ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                              std::string_view field) const override {
    return m_source->read(offset, size_bytes, field);
  }
  [[nodiscard]] const std::string& name() const noexcept override { return m_source->name(); }

private:
  std::shared_ptr<const base::ByteSource> m_source;
  std::uint64_t m_declared_bytes;
};

} // namespace

std::shared_ptr<const base::ByteSource>
as_if_whole(std::shared_ptr<const base::ByteSource> source) {
  const auto start = source->read(0, format::k_prefix_bytes, "prefix");
  if (!start) {
    return nullptr;
  }
  const auto prefix =
      format::read_record<format::Prefix>(start->view().subspan(format::k_magic.size()), "prefix");
  if (!prefix || prefix->total_bytes <= source->size_bytes()) {
    return nullptr;
  }
  const std::uint64_t declared_bytes = prefix->total_bytes;
  return std::make_shared<TruncatedSource>(std::move(source), declared_bytes);
}

namespace {

using Source = std::shared_ptr<const base::ByteSource>;

std::optional<format::BundleReader> open(const Source& source, clbin::listing::ErrorList& errors) {
  auto reader = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
  if (reader) {
    return std::move(*reader);
  }
  errors.add(reader.error());
  if (reader.error().code == ErrorCode::trailing_bytes) {
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
Result<Source> decrypted(const Source& source, const BundleKeys& keys) {
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

BundleSummary unread_summary(const std::filesystem::path& path, const Error& error) {
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

std::vector<Error> errors_of(const std::vector<BundleSummary>& bundles) {
  std::vector<Error> errors;
  for (const BundleSummary& bundle : bundles) {
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
  }
  return errors;
}

} // namespace oclcc
