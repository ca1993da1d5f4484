#include "cache/cache_recipe.hpp"

#include <iterator>

namespace clbin::cache {

namespace {

constexpr std::string_view k_key_label = "clbin-cache-key-2";
constexpr std::string_view k_subject_label = "clbin-cache-subject-1";
constexpr std::string_view k_record_label = "clbin-cache-recipe-2";
constexpr std::size_t k_shown_bytes = 80; // of a value, in messages
constexpr std::string_view k_source_name = "source";

void add(Recipe& recipe, std::string name, std::string value) {
  recipe.ingredients.push_back({std::move(name), std::move(value)});
}

void add_list(Recipe& recipe, const std::string& name, const std::vector<std::string>& values) {
  add(recipe, "number of " + name, std::to_string(values.size()));
  for (const std::string& value : values) {
    add(recipe, name, value);
  }
}

// Returns the part of a value that messages show.
std::string shortened(const std::string& value) {
  return value.size() <= k_shown_bytes ? value : value.substr(0, k_shown_bytes) + "…";
}

struct StoredIngredient {
  std::string name;
  Digest digest; // of the value
  std::string shown;
};

StoredIngredient to_stored(const Ingredient& ingredient) {
  return {ingredient.name, base::digest_of(base::as_bytes(ingredient.value)),
          ingredient.show == ShowValue::yes ? shortened(ingredient.value) : std::string()};
}

Result<Digest> read_digest(base::ByteReader& reader, std::string_view field) {
  Digest digest;
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(digest.bytes.size(), field));
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

struct StoredRecipe {
  std::vector<StoredIngredient> ingredients;
  std::vector<std::uint32_t> line_digests;
};

Result<StoredRecipe> decode_record(ByteView stored) {
  base::ByteReader reader(stored, "recipe of a cache entry");
  CLBIN_TRY_ASSIGN(const auto label, reader.read_text("label"));
  if (label != k_record_label) {
    return fail(ErrorCode::damaged, "recipe of a cache entry: it is not a recipe");
  }
  CLBIN_TRY_ASSIGN(const Digest digest, read_digest(reader, "digest"));
  if (digest != base::digest_of(stored.subspan(reader.offset()))) {
    return fail(ErrorCode::damaged, "recipe of a cache entry: its digest does not match");
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t count, reader.read_u32("count"));
  StoredRecipe recipe;
  for (std::uint32_t i = 0; i < count; ++i) {
    StoredIngredient ingredient;
    CLBIN_TRY_ASSIGN(ingredient.name, reader.read_text("name"));
    CLBIN_TRY_ASSIGN(ingredient.digest, read_digest(reader, "digest of the value"));
    CLBIN_TRY_ASSIGN(ingredient.shown, reader.read_text("value"));
    recipe.ingredients.push_back(std::move(ingredient));
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t lines, reader.read_u32("number of lines"));
  for (std::uint32_t i = 0; i < lines; ++i) {
    CLBIN_TRY_ASSIGN(const std::uint32_t line, reader.read_u32("digest of a line"));
    recipe.line_digests.push_back(line);
  }
  CLBIN_TRY(reader.require_end());
  return recipe;
}

using Kind = IngredientChange::Kind;

bool is_equal(const StoredIngredient& a, const StoredIngredient& b) {
  return a.name == b.name && a.digest == b.digest;
}

// Removes and returns the first of `ingredients` that `matches`.
std::optional<StoredIngredient> take(std::vector<StoredIngredient>& ingredients,
                                     const auto& matches) {
  const auto found = std::ranges::find_if(ingredients, matches);
  if (found == ingredients.end()) {
    return std::nullopt;
  }
  StoredIngredient ingredient = std::move(*found);
  ingredients.erase(found);
  return ingredient;
}

// Returns "line 12 of the source" for the first line that differs; "source" if it is not known.
std::string changed_line(const std::vector<std::uint32_t>& before,
                         const std::vector<std::uint32_t>& now) {
  const auto [first, other] = std::mismatch(now.begin(), now.end(), before.begin(), before.end());
  const bool is_known =
      !before.empty() && !now.empty() && (first != now.end() || other != before.end());
  return is_known ? fmt::format("line {} of the source", std::distance(now.begin(), first) + 1)
                  : std::string(k_source_name);
}

std::optional<IngredientChange>
first_at_another_place(const std::vector<StoredIngredient>& now,
                       const std::vector<StoredIngredient>& before) {
  const auto [one, other] = std::ranges::mismatch(now, before, is_equal);
  if (one == now.end() || other == before.end()) {
    return std::nullopt;
  }
  return one->name == other->name
             ? IngredientChange{Kind::changed, one->name, other->shown, one->shown}
             : IngredientChange{Kind::reordered, {}, {}, {}};
}

} // namespace

// Names every member, so that a new one does not compile before somebody decides here whether it is
// an ingredient.
void add_identity(Recipe& recipe, const format::DeviceIdentity& identity) {
  const auto& [platform_name, platform_version, vendor, device_name, vendor_id, driver_version,
               device_version, opencl_c_versions, il_versions, address_bits, architecture] =
      identity;
  add(recipe, "platform", platform_name);
  add(recipe, "platform version", platform_version);
  add(recipe, "vendor", vendor);
  add(recipe, "device", device_name);
  add(recipe, "vendor id", std::to_string(vendor_id));
  add(recipe, "driver version", driver_version);
  add(recipe, "device version", device_version);
  add_list(recipe, "OpenCL C version", opencl_c_versions);
  add_list(recipe, "IL version", il_versions);
  add(recipe, "address bits", std::to_string(address_bits));
  add(recipe, "architecture", architecture);
}

void add_source(Recipe& recipe, const format::SourcePackage& source) {
  add_source(recipe, base::digest_of(base::as_bytes(source.main.text)), source.headers);
}

void add_source(Recipe& recipe, const Digest& main_digest,
                const std::vector<format::SourceFile>& headers) {
  recipe.ingredients.push_back(
      {std::string(k_source_name), base::to_hex(main_digest), ShowValue::no});
  for (const auto& [include_name, display_name, text] : headers) {
    recipe.ingredients.push_back({"header '" + include_name + "'",
                                  base::to_hex(base::digest_of(base::as_bytes(text))),
                                  ShowValue::no});
  }
}

std::vector<std::uint32_t> line_digests_of(std::string_view text) {
  std::vector<std::uint32_t> digests;
  while (!text.empty() && digests.size() < k_max_line_digests) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Digest digest = base::digest_of(base::as_bytes(text.substr(0, end)));
    digests.push_back(static_cast<std::uint32_t>(base::leading_u64(digest)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return digests;
}

Digest recipe_key(const Recipe& recipe) {
  base::Hasher hasher;
  hasher.add_field(k_key_label);
  hasher.add_u64(recipe.ingredients.size());
  for (const Ingredient& ingredient : recipe.ingredients) {
    hasher.add_field(ingredient.name);
    hasher.add_field(ingredient.value);
  }
  return hasher.finish();
}

Digest subject_key(const Recipe& recipe) {
  return base::Hasher().add_field(k_subject_label).add_field(recipe.subject).finish();
}

std::string describe(const IngredientChange& change) {
  if (change.before.empty() && change.now.empty() && change.kind != Kind::reordered) {
    return change.name;
  }
  switch (change.kind) {
  case Kind::changed:
    return fmt::format("{}: '{}' before, '{}' now", change.name, change.before, change.now);
  case Kind::added:
    return fmt::format("{}: absent before, now '{}'", change.name, change.now);
  case Kind::removed:
    return fmt::format("{}: '{}' before, now absent", change.name, change.before);
  case Kind::reordered:
    break;
  }
  return "the order of the ingredients";
}

Bytes encode_recipe(const Recipe& recipe) {
  base::ByteWriter body;
  body.write_u32(static_cast<std::uint32_t>(recipe.ingredients.size()));
  for (const Ingredient& ingredient : recipe.ingredients) {
    const StoredIngredient stored = to_stored(ingredient);
    body.write_text(stored.name);
    body.write_bytes(stored.digest.bytes);
    body.write_text(stored.shown);
  }
  body.write_u32(static_cast<std::uint32_t>(recipe.line_digests.size()));
  for (const std::uint32_t digest : recipe.line_digests) {
    body.write_u32(digest);
  }
  base::ByteWriter record;
  record.write_text(k_record_label);
  record.write_bytes(base::digest_of(body.view()).bytes);
  record.write_bytes(body.view());
  return std::move(record).take();
}

Result<std::vector<IngredientChange>> compare_with_stored(const Recipe& recipe, ByteView stored) {
  CLBIN_TRY_ASSIGN(auto recorded, decode_record(stored));
  std::vector<StoredIngredient>& before = recorded.ingredients;
  std::vector<StoredIngredient> now;
  std::ranges::transform(recipe.ingredients, std::back_inserter(now), to_stored);
  const std::optional<IngredientChange> moved = first_at_another_place(now, before);
  // One of several with a name, such as an option, may have been inserted: equal ones come first.
  std::erase_if(now, [&](const StoredIngredient& one) {
    return take(before, [&](const auto& other) { return is_equal(one, other); }).has_value();
  });
  std::vector<IngredientChange> changes;
  for (const StoredIngredient& one : now) {
    const auto earlier = take(before, [&](const auto& other) { return one.name == other.name; });
    if (!earlier.has_value()) {
      changes.push_back({Kind::added, one.name, {}, one.shown});
      continue;
    }
    const std::string name = one.name == k_source_name
                                 ? changed_line(recorded.line_digests, recipe.line_digests)
                                 : one.name;
    changes.push_back({Kind::changed, name, earlier->shown, one.shown});
  }
  for (const StoredIngredient& rest : before) {
    changes.push_back({Kind::removed, rest.name, rest.shown, {}});
  }
  if (changes.empty() && moved.has_value()) {
    changes.push_back(*moved);
  }
  return changes;
}

} // namespace clbin::cache
