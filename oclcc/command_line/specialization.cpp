#include "command_line/specialization.hpp"

#include "terminal/reporter.hpp"

#include <charconv>
#include <set>

namespace oclcc {

namespace {

// No device supports larger work-groups, and each size costs a compilation.
constexpr std::uint64_t k_largest = 65536;

// "16x16" → 16, 16, 1. False for anything else.
bool parse_size(std::string_view text, char separator, GroupSize& size) {
  for (std::uint64_t& items : size) {
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), items);
    if (code != std::errc() || items == 0 || items > k_largest) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty() || text.front() != separator) {
      return text.empty();
    }
    text.remove_prefix(1);
  }
  return false;
}

// "8, 4, 1 )…" → 8, 4, 1
std::optional<GroupSize> parse_hint(std::string_view text) {
  const std::size_t end = text.find(')');
  std::string numbers(text.substr(0, end));
  std::erase_if(numbers, [](char c) { return c == ' ' || c == '\t'; });
  GroupSize size{};
  const bool is_hint = end != std::string_view::npos && std::ranges::count(numbers, ',') == 2 &&
                       parse_size(numbers, ',', size);
  return is_hint ? std::optional(size) : std::nullopt;
}

bool can_be_launched(const format::KernelReflection& kernel, const GroupSize& size) {
  return !kernel.max_work_group_size || size[0] * size[1] * size[2] <= *kernel.max_work_group_size;
}

} // namespace

Result<Specialization> parse_specialization(const std::string& text) {
  const std::size_t equals = text.find('=');
  Specialization result;
  if (equals == std::string::npos || equals == 0 ||
      !parse_size(std::string_view(text).substr(equals + 1), 'x', result.size)) {
    return fail(ErrorCode::invalid_argument,
                "'--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one "
                "to three numbers from 1 to {}; not '{}'",
                k_largest, text);
  }
  result.kernel = text.substr(0, equals);
  return result;
}

bool is_specializable(const GroupSize& size) noexcept {
  return std::ranges::all_of(size,
                             [](std::uint64_t items) { return items != 0 && items <= k_largest; });
}

std::string to_string(const GroupSize& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

std::optional<GroupSize> hinted_size(std::string_view attributes) {
  constexpr std::string_view k_hint = "work_group_size_hint(";
  const std::size_t hint = attributes.find(k_hint);
  return hint == std::string_view::npos ? std::nullopt
                                        : parse_hint(attributes.substr(hint + k_hint.size()));
}

std::vector<GroupSize> sizes_to_specialize(const format::KernelReflection& kernel,
                                           const std::vector<Specialization>& specializations) {
  if (kernel.required_work_group_size[0] != 0) {
    return {kernel.required_work_group_size};
  }
  std::set<GroupSize> sizes;
  if (const auto hint = hinted_size(kernel.attributes)) {
    sizes.insert(*hint);
  }
  for (const Specialization& specialization : specializations) {
    if (specialization.kernel == kernel.name) {
      sizes.insert(specialization.size);
    }
  }
  std::erase_if(sizes, [&](const GroupSize& size) { return !can_be_launched(kernel, size); });
  return {sizes.begin(), sizes.end()};
}

bool has_offset_launch(const std::string& kernel, const GroupSize& size,
                       const std::vector<Specialization>& specializations) {
  return std::ranges::any_of(specializations, [&](const auto& wanted) {
    return wanted.has_offset && wanted.kernel == kernel && wanted.size == size;
  });
}

void add_specialization(std::vector<Specialization>& all, Specialization specialization) {
  const auto place = std::lower_bound(all.begin(), all.end(), specialization);
  if (place == all.end() || *place != specialization) {
    all.insert(place, std::move(specialization));
  }
}

} // namespace oclcc
