#include "cache/cache_recipe.hpp"

#include "cache/cache_space.hpp"
#include "support/sample_identities.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace clbin::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Making {
  format::SourcePackage source;
  std::string options;
  format::DeviceIdentity identity;
  std::string compiler_version;
};

Making sample_making() {
  Making making;
  making.source.main = {"k.cl", "src/k.cl", "#include \"a.h\"\nkernel void k() {}\n"};
  making.source.headers = {{"a.h", "inc/a.h", "#define A 1\n"},
                           {"b.h", "inc/b.h", "#define B 2\n"}};
  making.options = "-DX=1 -DY=2";
  making.identity = test::unknown_identity("Device");
  making.identity.il_versions = {"SPIR-V_1.0", "SPIR-V_1.2"};
  making.compiler_version = "oclcc 0.1.0";
  return making;
}

Recipe recipe_of(const Making& making) {
  Recipe recipe{"k / default / Device", {}};
  recipe.ingredients.push_back({"oclcc version", making.compiler_version});
  recipe.ingredients.push_back({"options", making.options});
  add_source(recipe, making.source);
  add_identity(recipe, making.identity);
  return recipe;
}

std::vector<std::string> explain(const Recipe& now, const Recipe& stored) {
  const auto changes = compare_with_stored(now, encode_recipe(stored));
  EXPECT_TRUE(changes.has_value()) << changes.error().message;
  std::vector<std::string> sentences;
  for (const auto& change : changes.value_or(std::vector<IngredientChange>())) {
    sentences.push_back(describe(change));
  }
  return sentences;
}

struct KeyCase {
  const char* name; // of the ingredient
  std::function<void(Making&)> change;
};

// One case for each way in which a cache of this kind once returned a stale program
// (doc/other_caches.md).
const std::vector<KeyCase>& key_cases() {
  static const std::vector<KeyCase> k_cases{
      {"driver version", [](Making& m) { m.identity.driver_version = "2"; }},
      {"device", [](Making& m) { m.identity.device_name = "Other"; }},
      {"platform", [](Making& m) { m.identity.platform_name = "Other"; }},
      {"platform version", [](Making& m) { m.identity.platform_version += ", LLVM 15"; }},
      {"vendor", [](Making& m) { m.identity.vendor = "Other"; }},
      {"vendor id", [](Making& m) { m.identity.vendor_id = 3; }},
      {"device version", [](Making& m) { m.identity.device_version = "OpenCL 3.0"; }},
      {"OpenCL C version", [](Making& m) { m.identity.opencl_c_versions[0] = "OpenCL C 2.0"; }},
      {"IL version",
       [](Making& m) { std::swap(m.identity.il_versions[0], m.identity.il_versions[1]); }},
      {"address bits", [](Making& m) { m.identity.address_bits = 32; }},
      {"architecture", [](Making& m) { m.identity.architecture = "haswell"; }},
      {"options", [](Making& m) { m.options = "-DX=1 -DY=3"; }},
      {"options", [](Making& m) { m.options = "-DY=2 -DX=1"; }}, // only their order differs
      {"source", [](Making& m) { m.source.main.text += "\n"; }},
      {"header 'a.h'", [](Making& m) { m.source.headers[0].text = "#define A 3\n"; }},
      {"header 'inc/a.h'", [](Making& m) { m.source.headers[0].include_name = "inc/a.h"; }},
      {"oclcc version", [](Making& m) { m.compiler_version = "oclcc 0.2.0"; }},
  };
  return k_cases;
}

TEST(CacheRecipe, GivesAnotherKeyForEveryIngredient) {
  std::set<base::Digest> keys{recipe_key(recipe_of(sample_making()))};
  for (const KeyCase& key_case : key_cases()) {
    Making making = sample_making();
    key_case.change(making);
    EXPECT_TRUE(keys.insert(recipe_key(recipe_of(making))).second) << key_case.name;
  }
}

TEST(CacheRecipe, SaysWhichIngredientChanged) {
  const Recipe stored = recipe_of(sample_making());
  for (const KeyCase& key_case : key_cases()) {
    Making making = sample_making();
    key_case.change(making);
    const auto changes = compare_with_stored(recipe_of(making), encode_recipe(stored));
    ASSERT_TRUE(changes.has_value()) << changes.error().message;
    ASSERT_FALSE(changes->empty()) << key_case.name;
    EXPECT_EQ(changes->front().name, key_case.name);
  }
}

TEST(CacheRecipe, NamesOnlyTheOptionThatIsNewOrMissing) {
  const auto of_options = [](const std::vector<std::string>& options) {
    Recipe recipe;
    for (const std::string& option : options) {
      recipe.ingredients.push_back({"option", option});
    }
    return recipe;
  };
  const auto texts = [&](const Recipe& now, const Recipe& before) {
    std::vector<std::string> result;
    const auto changes = compare_with_stored(now, encode_recipe(before));
    for (const IngredientChange& change : changes.value()) {
      result.push_back(describe(change));
    }
    return result;
  };
  const Recipe less = of_options({"-w", "-O1"});
  const Recipe more = of_options({"-DA", "-w", "-O1"});
  EXPECT_THAT(texts(more, less), ElementsAre("option: absent before, now '-DA'"));
  EXPECT_THAT(texts(less, more), ElementsAre("option: '-DA' before, now absent"));
  EXPECT_THAT(texts(less, of_options({"-O1", "-w"})),
              ElementsAre("option: '-O1' before, '-w' now"));
  EXPECT_THAT(texts(of_options({"-w", "-w"}), of_options({"-w"})),
              ElementsAre("option: absent before, now '-w'"));
  EXPECT_THAT(texts(less, less), IsEmpty());
}

TEST(CacheRecipe, GivesTheSameKeyWhereOnlyThePathsOfTheBuildMachineDiffer) {
  Making elsewhere = sample_making();
  elsewhere.source.main.display_name = "/other/k.cl";
  elsewhere.source.headers[0].display_name = "/other/a.h";
  EXPECT_EQ(recipe_key(recipe_of(elsewhere)), recipe_key(recipe_of(sample_making())));
}

// The name of a program does not affect its binary.
TEST(CacheRecipe, GivesTheSameKeyWhateverTheSubject) {
  EXPECT_EQ(recipe_key({"s", {{"a", "1"}}}), recipe_key({"t", {{"a", "1"}}}));
  EXPECT_NE(subject_key({"s", {{"a", "1"}}}), subject_key({"t", {{"a", "1"}}}));
}

TEST(CacheRecipe, ShowsNoValueThatTellsPeopleNothing) {
  const Recipe stored{"s", {{"source", "00ff", ShowValue::no}, {"old", "x", ShowValue::no}}};
  const Recipe now{"s", {{"source", "00fe", ShowValue::no}, {"new", "x", ShowValue::no}}};
  EXPECT_THAT(explain(now, stored), ElementsAre("source", "new", "old"));
}

TEST(CacheRecipe, KeepsNeighbouringFieldsApart) {
  EXPECT_NE(recipe_key({"s", {{"ab", "c"}}}), recipe_key({"s", {{"a", "bc"}}}));
  EXPECT_NE(recipe_key({"s", {{"a", "b"}, {"c", "d"}}}), recipe_key({"s", {{"a", "bcd"}}}));
  EXPECT_NE(recipe_key({"s", {{"a", "1"}, {"b", "2"}}}),
            recipe_key({"s", {{"b", "2"}, {"a", "1"}}}));
}

TEST(CacheRecipe, TellsWhatWasAndWhatIs) {
  const Recipe stored{"s", {{"driver version", "3.1"}, {"old", "1"}, {"same", "x"}}};
  const Recipe now{"s", {{"driver version", "3.2"}, {"same", "x"}, {"new", "2"}}};
  EXPECT_THAT(explain(now, stored),
              ElementsAre("driver version: '3.1' before, '3.2' now", "new: absent before, now '2'",
                          "old: '1' before, now absent"));
  EXPECT_THAT(explain(stored, stored), IsEmpty());
  EXPECT_THAT(explain({"s", {{"b", "2"}, {"a", "1"}}}, {"s", {{"a", "1"}, {"b", "2"}}}),
              ElementsAre("the order of the ingredients"));
}

TEST(CacheRecipe, ComparesWholeValuesAndShowsTheirBeginnings) {
  const std::string beginning(100, 'x');
  const auto sentences = explain({"s", {{"a", beginning + "1"}}}, {"s", {{"a", beginning + "2"}}});
  const std::string shown(80, 'x');
  EXPECT_THAT(sentences, ElementsAre("a: '" + shown + "…' before, '" + shown + "…' now"));
}

TEST(CacheRecipe, RefusesARecordThatIsCutOrChanged) {
  const Recipe recipe = recipe_of(sample_making());
  const base::Bytes record = encode_recipe(recipe);
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(compare_with_stored(recipe, base::ByteView(record).first(size)).has_value())
        << size;
  }
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    base::Bytes flipped = record;
    flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(compare_with_stored(recipe, flipped).has_value()) << bit;
  }
}

TEST(CacheCounters, ReadBackWhatWasWritten) {
  const CacheCounters counters{1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(decode_counters(encode_counters(counters)), counters);
  const CacheCounters nothing_known;
  EXPECT_EQ(decode_counters(encode_counters(nothing_known)), nothing_known);
}

TEST(CacheCounters, BeginAgainAfterAnyDamage) {
  const base::Bytes bytes = encode_counters({1, 2, 3, 4, 5, 6, 7});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode_counters(base::ByteView(bytes).first(size)), CacheCounters()) << size;
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    base::Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_EQ(decode_counters(flipped), CacheCounters()) << bit;
  }
}

} // namespace
} // namespace clbin::cache
