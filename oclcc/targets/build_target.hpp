// What the units of a run are built for.
#pragma once

#include "cache/cache_recipe.hpp"
#include "model/device.hpp"
#include "worker/worker_protocol.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

struct BuildTarget {
  clbin::format::Target target; // recorded in the entries
  // The installed device that the units are built for; std::nullopt for an offline target.
  std::optional<worker::DeviceDescription> device;
  // The name in messages: the name of the device, with its numbers if another one has the same.
  std::string label;
  std::string form{};       // what its entries are, if it differs from another target only in that
  std::size_t compiler = 0; // index in Job::compilers
  std::size_t compiler_target = 0; // its number at the compiler
  // The target whose binaries are converted, before this one in the list; std::nullopt if the
  // units are built from source.
  std::optional<std::size_t> input{};
  // For cache keys, unless the target is a device that its driver compiles for: what the compiler
  // is.
  std::vector<clbin::cache::Ingredient> compiler_facts{};
  // The same for keys that other machines compute, too: files by their contents. std::nullopt if no
  // remote cache is used, or a file cannot be read.
  std::optional<std::vector<clbin::cache::Ingredient>> shared_facts{};
};

// Returns the devices as targets of the first compiler.
[[nodiscard]] std::vector<BuildTarget>
device_targets(const std::vector<worker::DeviceDescription>& devices);

} // namespace oclcc
