#include "worker/first_launch.hpp"

#include <string_view>

namespace oclcc::worker {

using clbin::format::DeviceFamily;

namespace {

// PoCL's documentation of POCL_BINARY_SPECIALIZE_WG ("Tuning PoCL behavior with ENV variables"): a
// list of directory names in its cache. Measured on 3.1:
// - A launch without a global offset requires "X-Y-Z-goffs0-smallgrid" if the grid is narrower than
//   65535 work-items in each dimension, otherwise "X-Y-Z-goffs0"; one with an offset the same
//   without "-goffs0". If it is missing, PoCL compiles it in 0.3 to 0.8 s.
// - With two of them in one list, PoCL creates only the first: it mistakes the second for the same
//   function, which is already loaded. Another process, which has loaded nothing, adds the second
//   to its cache. The binary contains the directory.
// - A process reads the variable once, and its value applies to every kernel of the program.
constexpr std::string_view k_pocl_variable = "POCL_BINARY_SPECIALIZE_WG";
struct Flavour {
  std::string_view purpose;
  std::string_view suffix;
  bool has_offset;
};
constexpr Flavour k_pocl_flavours[] = {
    {"while specializing for large grids", "-goffs0", false},
    {"while specializing for small grids", "-goffs0-smallgrid", false},
    {"while specializing for large grids with an offset", "", true},
    {"while specializing for small grids with an offset", "-smallgrid", true},
};

std::string pocl_list(const std::set<GroupSize>& sizes, std::string_view suffix) {
  std::string list;
  for (const GroupSize& size : sizes) {
    list += fmt::format("{}{}-{}-{}{}", list.empty() ? "" : ",", size[0], size[1], size[2], suffix);
  }
  return list;
}

} // namespace

std::vector<BinaryPass> first_launch_passes(DeviceFamily family, const std::set<GroupSize>& sizes,
                                            const std::set<GroupSize>& offset_sizes) {
  std::vector<BinaryPass> passes;
  if (!needs_specialization(family)) {
    return passes;
  }
  if (sizes.empty()) {
    passes.push_back({"while making the binary", std::string(k_pocl_variable), ""});
    return passes;
  }
  for (const auto& [purpose, suffix, has_offset] : k_pocl_flavours) {
    const std::set<GroupSize>& wanted = has_offset ? offset_sizes : sizes;
    if (!wanted.empty()) {
      passes.push_back(
          {std::string(purpose), std::string(k_pocl_variable), pocl_list(wanted, suffix)});
    }
  }
  return passes;
}

} // namespace oclcc::worker
