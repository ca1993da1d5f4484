#include "format/text_budget.hpp"

namespace clbin::format {

using base::ErrorCode;
using base::Result;

namespace {

constexpr std::uint64_t k_always = 16ULL << 20U;
constexpr std::uint64_t k_ratio = 4;

std::uint64_t limit_for(std::uint64_t total_bytes) {
  constexpr std::uint64_t k_most = ~std::uint64_t{0};
  return total_bytes > (k_most - k_always) / k_ratio ? k_most : k_always + k_ratio * total_bytes;
}

} // namespace

TextBudget::TextBudget(std::uint64_t total_bytes) noexcept
    : m_limit(limit_for(total_bytes)), m_left(m_limit) {}

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
    return base::fail(ErrorCode::limit_exceeded,
                      "the texts that its records name come to more than {} bytes", m_limit);
  }
  m_left -= bytes;
  return {};
}

} // namespace clbin::format
