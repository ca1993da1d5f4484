#include "format/bundle/text_budget.hpp"

#include "format/bundle/size_limits.hpp"

namespace clbin::format {

using base::ErrorCode;
using base::Result;

TextBudget::TextBudget(std::uint64_t total_bytes) noexcept
    : m_limit(limit_for_file(total_bytes, 16ULL << 20U, 4)), m_left(m_limit) {}

Result<void> TextBudget::take(const GroupView& group) {
  return take(std::uint64_t{group.program.size()} + group.variant.size() + group.options.size());
}

Result<void> TextBudget::take(const EntryView& entry) {
  std::uint64_t bytes = std::uint64_t{entry.options.size()} + entry.target.platform_name.size() +
                        entry.target.device_name.size() + entry.target.driver_version.size() +
                        entry.target.spec.size();
  for (const std::string& kernel : entry.kernels) {
    bytes += sizeof(std::string) + kernel.size();
  }
  return take(bytes);
}

Result<void> TextBudget::take(std::uint64_t bytes) {
  if (bytes > m_left) {
    return base::fail(ErrorCode::limit_exceeded, "the texts of its records exceed {} bytes",
                      m_limit);
  }
  m_left -= bytes;
  return {};
}

} // namespace clbin::format
