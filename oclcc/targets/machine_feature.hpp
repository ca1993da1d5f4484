// Names of what units need, as features that a scheduler such as Slurm matches with machines. They
// consist of lower-case letters, digits and '_', so that no scheduler and no shell has to quote
// them.
#pragma once

#include "cache/cache_recipe.hpp"
#include "model/device.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// How each feature begins.
inline constexpr std::string_view k_feature_prefix = "oclcc_";

// Returns the feature of a device, "oclcc_pocl_pthread_haswell_0123456789abcdef": its family, its
// name, and the start of identity_digest. --device accepts it.
[[nodiscard]] std::string device_feature(const clbin::format::DeviceIdentity& identity);

// Returns the feature of the programs that compile for the offline target `spec`, such as
// "oclcc_nvptx_0123456789abcdef". `facts` is BuildTarget::compiler_facts: other versions of the
// programs are another feature.
[[nodiscard]] std::string tools_feature(std::string_view spec,
                                        const std::vector<clbin::cache::Ingredient>& facts);

} // namespace oclcc
