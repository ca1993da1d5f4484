#include "listing/launch_compilation.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <set>

namespace clbin::listing {

namespace {

// "8, 4, 1 )…" → 8, 4, 1
std::optional<GroupSize> parse_hint(std::string_view text) {
  const std::size_t end = text.find(')');
  std::string numbers(text.substr(0, end));
  std::erase_if(numbers, [](char c) { return c == ' ' || c == '\t'; });
  const bool is_hint = end != std::string_view::npos && std::ranges::count(numbers, ',') == 2;
  return is_hint ? parse_group_size(numbers, ',') : std::nullopt;
}

} // namespace

std::optional<std::vector<std::string_view>>
kernels_compiled_at_launch(format::DeviceFamily family,
                           std::span<const format::KernelReflection> kernels) {
  std::vector<std::string_view> names;
  if (!needs_specialization(family)) {
    return names;
  }
  for (const format::KernelReflection& kernel : kernels) {
    format::KernelReflection bare;
    bare.name = kernel.name;
    if (kernel == bare) { // after --strip-reflection, or if a driver cannot create the kernel
      return std::nullopt;
    }
    if (kernel.specialized_sizes.empty()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

std::optional<GroupSize> parse_group_size(std::string_view text, char separator) {
  GroupSize size{1, 1, 1};
  for (std::uint64_t& items : size) {
    items = base::take_number<std::uint64_t>(text).value_or(0);
    if (items == 0 || items > k_largest_group) {
      return std::nullopt;
    }
    if (text.empty() || text.front() != separator) {
      return text.empty() ? std::optional(size) : std::nullopt;
    }
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string to_string(const GroupSize& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

bool is_specializable(const GroupSize& size) noexcept {
  return std::ranges::all_of(
      size, [](std::uint64_t items) { return items != 0 && items <= k_largest_group; });
}

std::optional<GroupSize> hinted_size(std::string_view attributes) {
  constexpr std::string_view k_hint = "work_group_size_hint(";
  const std::size_t hint = attributes.find(k_hint);
  return hint == std::string_view::npos ? std::nullopt
                                        : parse_hint(attributes.substr(hint + k_hint.size()));
}

std::vector<GroupSize>
sizes_to_specialize(const format::KernelReflection& kernel,
                    const std::vector<format::Specialization>& specializations) {
  if (kernel.required_work_group_size[0] != 0) {
    return {kernel.required_work_group_size};
  }
  std::set<GroupSize> sizes;
  if (const auto hint = hinted_size(kernel.attributes)) {
    sizes.insert(*hint);
  }
  for (const format::Specialization& specialization : specializations) {
    if (specialization.kernel == kernel.name) {
      sizes.insert(specialization.size);
    }
  }
  std::erase_if(sizes, [&](const GroupSize& size) {
    return kernel.max_work_group_size && size[0] * size[1] * size[2] > *kernel.max_work_group_size;
  });
  return {sizes.begin(), sizes.end()};
}

bool has_offset_launch(const std::string& kernel, const GroupSize& size,
                       const std::vector<format::Specialization>& specializations) {
  return std::ranges::any_of(specializations, [&](const auto& wanted) {
    return wanted.has_offset && wanted.kernel == kernel && wanted.size == size;
  });
}

} // namespace clbin::listing
