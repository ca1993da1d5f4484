// clbin.hpp without any OpenCL header: lists and selects. Also compiled without OpenCL headers, and
// linked with the other file, which must see the same classes.
#include <clbin/clbin.hpp>

#include <iterator>
#include <vector>

#if __cplusplus >= 202002L
#include <span>
static_assert(std::is_convertible_v<clbin::View<std::byte>, std::span<const std::byte>>);
static_assert(std::is_convertible_v<std::span<const std::byte>, clbin::View<std::byte>>);
#endif
static_assert(std::is_convertible_v<std::vector<std::byte>, clbin::View<std::byte>>);
static_assert(!std::is_convertible_v<std::vector<int>, clbin::View<std::byte>>);

std::size_t group_count(const clbin::Bundle& bundle) {
  bundle.verify();
  return bundle.list().size();
}
