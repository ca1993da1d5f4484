// A unit, as the caches identify it.
#pragma once

#include "base/digest.hpp"
#include "cache/cache_recipe.hpp"
#include "model/bundle.hpp"

#include <optional>
#include <string>

namespace oclcc {

struct CacheUnit {
  clbin::cache::Recipe recipe;
  clbin::base::Digest key; // recipe_key(recipe)
  std::string program;     // its name; like the options, for users who inspect the entry
  std::string options;
  clbin::format::Target target;
  // The key that other machines compute, too; std::nullopt if the unit is not shared with them.
  std::optional<clbin::base::Digest> remote_key{};
};

} // namespace oclcc
