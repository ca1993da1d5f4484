#include "input/truncated_source.hpp"

#include "format/bundle/bundle_layout.hpp"

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;

namespace {

class TruncatedSource final : public base::ByteSource {
public:
  TruncatedSource(std::shared_ptr<const base::ByteSource> source, std::uint64_t declared_bytes)
      : m_source(std::move(source)), m_declared_bytes(declared_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return m_declared_bytes; }
  [[nodiscard]] base::Result<base::ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
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

} // namespace oclcc
