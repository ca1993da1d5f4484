// What a cached program was made from, as named ingredients, so that a miss can say which changed.
#pragma once

#include "base/digest.hpp"
#include "format/bundle/source_package.hpp"
#include "format/identity/device_identity.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clbin::cache {

// Whether a value tells people something.
enum class ShowValue : std::uint8_t { yes, no };

struct Ingredient {
  std::string name;  // "driver version"
  std::string value; // what is large goes in as its digest
  ShowValue show = ShowValue::yes;
  friend bool operator==(const Ingredient&, const Ingredient&) = default;
};

struct Recipe {
  // What stays the same when an ingredient changes ("matmul / default / NVIDIA H200"): a miss is
  // compared with what was last stored for it. No part of the key.
  std::string subject;
  std::vector<Ingredient> ingredients; // their order counts
};

// Every field of the identity, named.
void add_identity(Recipe& recipe, const format::DeviceIdentity& identity);
// The main text and each header by its include name; not the paths they had when they were read.
void add_source(Recipe& recipe, const format::SourcePackage& source);

// A digest over every name and value, each with its length first.
[[nodiscard]] base::Digest recipe_key(const Recipe& recipe);
// A digest over the subject alone.
[[nodiscard]] base::Digest subject_key(const Recipe& recipe);

struct IngredientChange {
  enum class Kind : std::uint8_t { changed, added, removed, reordered };
  Kind kind = Kind::changed;
  std::string name;   // empty when only the order of the ingredients is another
  std::string before; // shortened for people; empty where it is not shown
  std::string now;
};
// "driver version: '3.1' before, '3.2' now"; "header 'a.h'" where values are not shown.
[[nodiscard]] std::string describe(const IngredientChange& change);

// The recipe as it is stored beside the entries, its values as digests and, where they are shown,
// shortened texts.
[[nodiscard]] base::Bytes encode_recipe(const Recipe& recipe);
// What is different in `recipe` from the stored one. Safe on untrusted input: truncated, damaged.
[[nodiscard]] base::Result<std::vector<IngredientChange>>
compare_with_stored(const Recipe& recipe, base::ByteView stored);

} // namespace clbin::cache
