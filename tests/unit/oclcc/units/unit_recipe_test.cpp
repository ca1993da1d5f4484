// The key of the compile cache: one case for each way in which a cache of binaries has returned a
// stale binary (doc/other_caches.md).
#include "units/recipes.hpp"

#include "base/file_io.hpp"
#include "closure/include_closure.hpp"
#include "command_line/options.hpp"
#include "support/sample_identities.hpp"
#include "support/texts.hpp"
#include "terminal/shell_quoting.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc {
namespace {

using clbin::closure::driver_options_of;
using clbin::closure::find_include_closure;
using clbin::closure::IncludeSearch;

using clbin::base::Digest;
using clbin::format::DeviceFamily;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Making {
  clbin::format::SourcePackage source;
  Unit unit;
  clbin::format::DeviceDescription device;
  std::string library_stamp = "100 bytes, changed at 1";
  CompilerFacts facts;
};

Making sample_making() {
  Making making;
  making.source.main = {"k.cl", "src/k.cl", "#include \"a.h\"\nkernel void k() {}\n"};
  making.source.headers = {{"a.h", "inc/a.h", "#define A 1\n"},
                           {"b.h", "inc/b.h", "#define B 2\n"}};
  making.unit.options = BuildOptions({"-DX=1", "-DY=2"});
  making.device.identity = clbin::test::unknown_identity("Device");
  making.device.identity.platform_name = "Portable Computing Language";
  making.device.driver_library = "/usr/lib/libdriver.so";
  making.facts = {"0.1.0", "200 bytes, changed at 2", {{"POCL_EXTRA_BUILD_FLAGS", "-g"}}};
  return making;
}

BuildTarget offline_target(const std::string& spec) {
  BuildTarget target;
  target.target.origin = clbin::format::TargetOrigin::offline;
  target.target.spec = spec;
  return target;
}

clbin::cache::Recipe recipe_of(Making making) {
  making.unit.source =
      std::make_shared<const clbin::format::SourcePackage>(std::move(making.source));
  BuildTarget target;
  target.target.identity = making.device.identity;
  target.device = making.device;
  const Ingredients driver = {
      {"driver library", making.library_stamp, clbin::cache::ShowValue::no}};
  return unit_recipe("k.cl / default / Device", making.unit, target, driver, making.facts);
}

Digest key_of(const Making& making) {
  return clbin::cache::recipe_key(recipe_of(making));
}

struct KeyCase {
  const char* told; // the message of -v
  std::function<void(Making&)> change;
};

const std::vector<KeyCase>& key_cases() {
  static const std::vector<KeyCase> k_cases{
      {"source changed", [](Making& m) { m.source.main.text += "\n"; }},
      {"header 'a.h' changed", [](Making& m) { m.source.headers[0].text = "#define A 3\n"; }},
      {"header 'c.h' is new",
       [](Making& m) {
         m.source.headers.push_back({"c.h", "c.h", ""});
       }},
      {"header 'b.h' is gone", [](Making& m) { m.source.headers.pop_back(); }},
      {"header 'one/a.h' is new", [](Making& m) { m.source.headers[0].include_name = "one/a.h"; }},
      {"options changed from '-DX=1 -DY=2' to '-DX=1 -DY=3'",
       [](Making& m) {
         m.unit.options = BuildOptions({"-DX=1", "-DY=3"});
       }},
      {"options changed from '-DX=1 -DY=2' to '-DY=2 -DX=1'",
       [](Making& m) {
         m.unit.options = BuildOptions({"-DY=2", "-DX=1"});
       }},
      {"device changed from 'Device' to 'Other'",
       [](Making& m) { m.device.identity.device_name = "Other"; }},
      {"driver version changed from '1.0' to '1.1'",
       [](Making& m) { m.device.identity.driver_version = "1.1"; }},
      {"platform version changed from 'OpenCL 1.2' to 'OpenCL 1.2, LLVM 15'",
       [](Making& m) { m.device.identity.platform_version += ", LLVM 15"; }},
      {"architecture changed from '' to 'haswell'",
       [](Making& m) { m.device.identity.architecture = "haswell"; }},
      {"driver library changed", [](Making& m) { m.library_stamp = "100 bytes, changed at 9"; }},
      {"environment variable POCL_EXTRA_BUILD_FLAGS changed from '-g' to '-O0'",
       [](Making& m) { m.facts.environment[0].value = "-O0"; }},
      {"environment variable OPENCL_LAYERS is new",
       [](Making& m) {
         m.facts.environment.push_back({"OPENCL_LAYERS", "layer.so"});
       }},
      {"oclcc version changed from '0.1.0' to '0.2.0'",
       [](Making& m) { m.facts.version = "0.2.0"; }},
      {"oclcc executable changed", [](Making& m) { m.facts.executable = "201 bytes"; }},
  };
  return k_cases;
}

TEST(UnitRecipe, GivesAnotherKeyForEveryIngredient) {
  std::set<Digest> keys{key_of(sample_making())};
  for (const KeyCase& key_case : key_cases()) {
    Making making = sample_making();
    key_case.change(making);
    EXPECT_TRUE(keys.insert(key_of(making)).second) << key_case.told;
  }
}

// ocloc reads the environment variables of Intel's driver.
TEST(UnitRecipe, OfAnOfflineTargetSeesTheVariablesOfItsVendor) {
  const auto key = [](const std::string& spec, const Variable& variable) {
    Making making = sample_making();
    making.unit.source = std::make_shared<const clbin::format::SourcePackage>(making.source);
    making.facts.environment = {variable};
    return clbin::cache::recipe_key(
        unit_recipe("k", making.unit, offline_target(spec), {{"clang", "digest"}}, making.facts));
  };
  const Variable none{"HOME", "/root"};
  EXPECT_NE(key("intel:skl", {"IGC_ForceOCLSIMDWidth", "8"}), key("intel:skl", none));
  EXPECT_EQ(key("spirv:1.2", {"IGC_ForceOCLSIMDWidth", "8"}), key("spirv:1.2", none));
  EXPECT_NE(key("spirv:1.2", {"LD_PRELOAD", "a.so"}), key("spirv:1.2", none));
  EXPECT_NE(key("spirv:1.2", none), key("spirv:1.0", none));
}

TEST(UnitRecipe, OfAnOfflineTargetSeesTheVariablesOfItsTools) {
  Making making = sample_making();
  making.unit.source = std::make_shared<const clbin::format::SourcePackage>(making.source);
  const auto key = [&](const Variable& variable) {
    making.facts.environment = {variable};
    return clbin::cache::recipe_key(unit_recipe("k", making.unit, offline_target("nvptx:sm_70"),
                                                {{"clang", "digest"}}, making.facts));
  };
  std::set<Digest> keys{key({"HOME", "/root"})};
  for (const char* const name : {"CCC_OVERRIDE_OPTIONS", "CCC_ADD_ARGS", "COMPILER_PATH",
                                 "LLVM_OVERRIDE_PRODUCER", "LLD_VERSION"}) {
    EXPECT_TRUE(keys.insert(key({name, "+-DX=7"})).second) << name;
    EXPECT_TRUE(keys.insert(key({name, "+-DX=8"})).second) << name;
  }
  EXPECT_FALSE(keys.insert(key({"CCC", "1"})).second);
}

TEST(UnitRecipe, TellsWhichIngredientChanged) {
  const auto stored = clbin::cache::encode_recipe(recipe_of(sample_making()));
  for (const KeyCase& key_case : key_cases()) {
    Making making = sample_making();
    key_case.change(making);
    const auto changes = clbin::cache::compare_with_stored(recipe_of(making), stored);
    ASSERT_TRUE(changes) << changes.error().message;
    ASSERT_FALSE(changes->empty()) << key_case.told;
    EXPECT_EQ(describe_change(changes->front()), key_case.told);
  }
}

TEST(UnitRecipe, TellsThatTheOrderOfHeadersChanged) {
  Making making = sample_making();
  std::swap(making.source.headers[0], making.source.headers[1]);
  const auto changes = clbin::cache::compare_with_stored(
      recipe_of(making), clbin::cache::encode_recipe(recipe_of(sample_making())));
  ASSERT_TRUE(changes) << changes.error().message;
  ASSERT_EQ(changes->size(), 1U);
  EXPECT_EQ(describe_change(changes->front()), "the order of headers or variables changed");
}

// Boost.Compute's cache had no hits for years (PR #697).
TEST(UnitRecipe, GivesTheSameKeyForTheSame) {
  EXPECT_EQ(key_of(sample_making()), key_of(sample_making()));
}

TEST(UnitRecipe, GivesTheSameKeyForWhatNoCompilerSees) {
  Making making = sample_making();
  making.source.main.display_name = "/elsewhere/k.cl";
  making.source.headers[0].display_name = "/elsewhere/a.h";
  making.unit.target = 3;
  making.device.platform = 1;
  making.device.device = 2;
  making.device.driver_library = "/opt/lib/libdriver.so";
  making.device.properties = {{"global memory", "16 GiB"}};
  making.facts.environment.push_back({"POCL_DEBUG", "all"});
  making.facts.environment.push_back({"OCLGRIND_BUILD_OPTIONS", "-g"}); // another driver's
  EXPECT_EQ(key_of(making), key_of(sample_making()));
}

TEST(UnitRecipe, KeepsOptionsOfAnySpellingApart) {
  std::set<Digest> keys;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-DA=1", "-DB=2"},
                                             {"-DA=1-DB=2"},
                                             {"-DA=1 -DB=2"},
                                             {"-DA=1", "", "-DB=2"},
                                             {"-DA=1", " -DB=2"},
                                             {"-DA", "-D1", "-DB=2"},
                                             {"-D", "A=1", "-DB=2"},
                                             {"-D", "A=1 -DB=2"},
                                             {}}) {
    Making making = sample_making();
    making.unit.options = BuildOptions(words);
    EXPECT_TRUE(keys.insert(key_of(making)).second) << making.unit.options.text();
  }
}

// Bytes that move from the end of one field to the beginning of the next (PyOpenCL joins its fields
// without separators).
TEST(UnitRecipe, KeepsNeighbouringFieldsApart) {
  Making one = sample_making();
  one.device.identity.device_name = "Device A";
  one.device.identity.driver_version = "1.0";
  Making other = sample_making();
  other.device.identity.device_name = "Device ";
  other.device.identity.driver_version = "A1.0";
  EXPECT_NE(key_of(one), key_of(other));
}

// --- with the include closure -------------------------------------------------------------------

class UnitRecipeOfFiles : public ::testing::Test {
protected:
  void write(const std::string& name, const std::string& text) {
    clbin::test::write_text(m_folder.path() / name, text);
  }
  // -I one -I two
  Digest key(const std::vector<std::string>& words = {},
             const std::vector<std::string>& folders = {"one", "two"}) {
    IncludeSearch search;
    for (const std::string& folder : folders) {
      search.folders.push_back(m_folder.path() / folder);
    }
    search.driver_options = words;
    auto closure = find_include_closure(m_folder.path() / "k.cl", search);
    EXPECT_TRUE(closure) << closure.error().message;
    Making making = sample_making();
    making.source = std::move(closure->package);
    making.unit.options = BuildOptions(driver_options_of(search, {}));
    return key_of(making);
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "unit-recipe-").value();
};

TEST_F(UnitRecipeOfFiles, SeesAHeaderThatIsNowFoundThroughAnotherFolder) {
  write("k.cl", "#include <tile.h>\nkernel void k() {}\n");
  write("two/tile.h", "#define T 2\n");
  const Digest before = key();
  write("one/tile.h", "#define T 1\n");
  EXPECT_NE(key(), before);
  EXPECT_EQ(key({}, {"two"}), before);
}

TEST_F(UnitRecipeOfFiles, SeesAHeaderOfAHeader) {
  write("k.cl", "#include \"a.h\"\nkernel void k() {}\n");
  write("a.h", "#include \"sub/b.h\"\n");
  write("sub/b.h", "#include \"c.h\"\n"); // found beside the file that includes it
  write("sub/c.h", "#define C 1\n");
  const Digest before = key();
  write("sub/c.h", "#define C 2\n");
  EXPECT_NE(key(), before);
}

TEST_F(UnitRecipeOfFiles, SeesAHeaderThatWasMissingBefore) {
  write("k.cl", "#ifdef HAS\n#include \"late.h\"\n#endif\nkernel void k() {}\n");
  const Digest before = key();
  write("late.h", "#define LATE 1\n");
  EXPECT_NE(key(), before);
}

TEST_F(UnitRecipeOfFiles, SeesADefinitionWithASeparatorInIt) {
  write("k.cl", "kernel void k() {}\n");
  std::set<Digest> keys;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-DA=1", "-DB=2"}, std::vector<std::string>{"-DA=1 -DB=2"},
        std::vector<std::string>{"-DA=1\n#define B 2"}, std::vector<std::string>{"-DA=1;-DB=2"},
        std::vector<std::string>{"-DB=2", "-DA=1"},
        std::vector<std::string>{"-DA=1", "-DB=2", "-UB"}, std::vector<std::string>{}}) {
    EXPECT_TRUE(keys.insert(key(words)).second) << join_options(words);
  }
}

TEST_F(UnitRecipeOfFiles, IsTheSameInAnotherFolder) {
  write("k.cl", "#include <tile.h>\nkernel void k() {}\n");
  write("one/tile.h", "#define T 2\n");
  const Digest before = key();
  std::filesystem::create_directory(m_folder.path() / "moved");
  for (const char* name : {"k.cl", "one"}) {
    std::filesystem::rename(m_folder.path() / name, m_folder.path() / "moved" / name);
  }
  const auto main_file = m_folder.path() / "moved" / "k.cl";
  auto closure = find_include_closure(main_file, {{m_folder.path() / "moved" / "one"}, {}, {}, {}});
  ASSERT_TRUE(closure) << closure.error().message;
  Making making = sample_making();
  making.source = std::move(closure->package);
  making.unit.options = {};
  EXPECT_EQ(key_of(making), before);
}

TEST_F(UnitRecipeOfFiles, StampTellsAFileThatWasWrittenAgain) {
  write("driver.so", "code");
  const auto path = m_folder.path() / "driver.so";
  const std::string before = file_stamp(path);
  EXPECT_EQ(file_stamp(path), before);
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) +
                                             std::chrono::nanoseconds(1000));
  const std::string touched = file_stamp(path);
  EXPECT_NE(touched, before);
  const auto time = std::filesystem::last_write_time(path);
  write("driver.so", "more code");
  std::filesystem::last_write_time(path, time);
  EXPECT_NE(file_stamp(path), touched);
  EXPECT_EQ(file_stamp(m_folder.path() / "none.so"), "");
}

// --- the drivers' variables ---------------------------------------------------------------------

std::vector<std::string> names_for(DeviceFamily family, const std::vector<std::string>& names) {
  std::vector<Variable> environment;
  for (const std::string& name : names) {
    environment.push_back({name, "1"});
  }
  std::vector<std::string> chosen;
  for (const Variable& variable : driver_variables(environment, family)) {
    chosen.push_back(variable.name);
  }
  return chosen;
}

TEST(DriverVariables, AreThoseOfTheFamilyAndOfWhatStandsBeforeEveryDriver) {
  const std::vector<std::string> all{"HOME",
                                     "IGC_ShaderDumpEnable",
                                     "LD_PRELOAD",
                                     "LP_NATIVE_VECTOR_WIDTH",
                                     "OCLGRIND_BUILD_OPTIONS",
                                     "OPENCL_LAYERS",
                                     "POCL_EXTRA_BUILD_FLAGS"};
  EXPECT_THAT(names_for(DeviceFamily::pocl, all),
              ElementsAre("LD_PRELOAD", "OPENCL_LAYERS", "POCL_EXTRA_BUILD_FLAGS"));
  EXPECT_THAT(names_for(DeviceFamily::oclgrind, all),
              ElementsAre("LD_PRELOAD", "OCLGRIND_BUILD_OPTIONS", "OPENCL_LAYERS"));
  EXPECT_THAT(names_for(DeviceFamily::rusticl, all),
              ElementsAre("LD_PRELOAD", "LP_NATIVE_VECTOR_WIDTH", "OPENCL_LAYERS"));
  EXPECT_THAT(names_for(DeviceFamily::intel, all),
              ElementsAre("IGC_ShaderDumpEnable", "LD_PRELOAD", "OPENCL_LAYERS"));
  EXPECT_THAT(names_for(DeviceFamily::unknown, all), ElementsAre("LD_PRELOAD", "OPENCL_LAYERS"));
}

TEST(DriverVariables, LeaveOutWhatOnlyChoosesDevicesAndFolders) {
  EXPECT_THAT(names_for(DeviceFamily::pocl, {"POCL_CACHE_DIR", "POCL_DEVICES", "POCL_DEBUG_X"}),
              ElementsAre("POCL_DEBUG_X"));
  EXPECT_THAT(
      names_for(DeviceFamily::nvidia,
                {"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_VISIBLE_DEVICES",
                 "CUDA_FORCE_PTX_JIT", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_VERSION"}),
      ElementsAre("CUDA_FORCE_PTX_JIT"));
}

TEST(DriverVariables, OfToolsAreNotThoseOfDrivers) {
  EXPECT_THAT(names_for(DeviceFamily::pocl, {"CCC_OVERRIDE_OPTIONS", "COMPILER_PATH"}), IsEmpty());
}

TEST(DriverVariables, ThatLoadLibrariesIntoEveryCompilerAreNotShared) {
  EXPECT_EQ(unshared_variable({{"HOME", "/root"}, {"LD_LIBRARY_PATH", "/lib"}}), std::nullopt);
  EXPECT_EQ(unshared_variable({{"LD_PRELOAD", ""}}), std::nullopt);
  for (const char* const name : {"LD_PRELOAD", "LD_AUDIT", "OPENCL_LAYERS"}) {
    EXPECT_EQ(unshared_variable({{"HOME", "/root"}, {name, "a.so"}}), name);
  }
}

TEST(DriverVariables, OfTheProcessAreSortedAndEachOnce) {
  ASSERT_EQ(::setenv("POCL_TEST_B", "b=c", 1), 0);
  ASSERT_EQ(::setenv("POCL_TEST_A", "", 1), 0);
  const auto variables = driver_variables(process_environment(), DeviceFamily::pocl);
  std::vector<Variable> ours;
  for (const Variable& variable : variables) {
    if (variable.name.starts_with("POCL_TEST_")) {
      ours.push_back(variable);
    }
  }
  EXPECT_THAT(ours, ElementsAre(Variable{"POCL_TEST_A", ""}, Variable{"POCL_TEST_B", "b=c"}));
}

} // namespace
} // namespace oclcc
