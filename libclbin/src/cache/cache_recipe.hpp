// The inputs of a cached program as named ingredients, so that a miss can report which one changed.
#pragma once

#include "cache/cache_settings.hpp"
#include "model/device.hpp"
#include "model/source.hpp"

namespace clbin::cache {

// Whether a value is meaningful to humans.
enum class ShowValue : std::uint8_t { yes, no };

struct Ingredient {
  std::string name;  // "driver version"
  std::string value; // a large value is replaced by its digest
  ShowValue show = ShowValue::yes;
  friend bool operator==(const Ingredient&, const Ingredient&) = default;
};

struct Recipe {
  // What stays the same if an ingredient changes ("matmul / default / NVIDIA H200"). A miss is
  // compared with the recipe that was last stored for the same subject. Not part of the key.
  std::string subject;
  std::vector<Ingredient> ingredients; // the order is significant
  // Of the source, so that a miss can report the first line that changed. Not part of the key.
  std::vector<std::uint32_t> line_digests{};
};

// Returns the first 32 bits of a digest of each line, for at most k_max_line_digests lines.
inline constexpr std::size_t k_max_line_digests = 16384;
[[nodiscard]] std::vector<std::uint32_t> line_digests_of(std::string_view text);

// Adds every field of the identity by name.
void add_identity(Recipe& recipe, const format::DeviceIdentity& identity);
// Adds the main text, and each header by its include name, but not their paths.
void add_source(Recipe& recipe, const format::SourcePackage& source);
// `main_digest` is digest_of() the main text.
void add_source(Recipe& recipe, const Digest& main_digest,
                const std::vector<format::SourceFile>& headers);

// Returns a digest of every name and value, each preceded by its length.
[[nodiscard]] Digest recipe_key(const Recipe& recipe);
// Returns a digest of the subject only.
[[nodiscard]] Digest subject_key(const Recipe& recipe);

struct IngredientChange {
  enum class Kind : std::uint8_t { changed, added, removed, reordered };
  Kind kind = Kind::changed;
  std::string name;   // empty if only the order of the ingredients differs
  std::string before; // shortened for messages; empty if it is not shown
  std::string now;
};
// Returns "driver version: '3.1' before, '3.2' now", or "header 'a.h'" if values are not shown.
[[nodiscard]] std::string describe(const IngredientChange& change);

// Returns the stored form: values as digests and, if they are shown, also as shortened text.
[[nodiscard]] Bytes encode_recipe(const Recipe& recipe);
// Returns how `recipe` differs from the stored one. Safe on untrusted input. Errors: truncated,
// damaged.
[[nodiscard]] Result<std::vector<IngredientChange>> compare_with_stored(const Recipe& recipe,
                                                                        ByteView stored);

} // namespace clbin::cache
