#include "compile/unit_plan.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc::plan {
namespace {

using clbin::base::Digest;
using clbin::base::ErrorCode;
using clbin::format::SourcePackage;
using clbin::format::TargetOrigin;
using testing::HasSubstr;

// Everything that a key covers.
struct Case {
  Job job;
  Options options;
  CompilerFacts facts{"1.0", "oclcc's stamp", {{"POCL_BITCODE", "1"}, {"HOME", "/home/a"}}};

  [[nodiscard]] Digest key(std::size_t variant = 0, std::size_t target = 0) const {
    return unit_key(job, options, facts, {0, variant, target});
  }
};

std::shared_ptr<const SourcePackage> source(const std::string& main, const std::string& header) {
  return std::make_shared<const SourcePackage>(
      SourcePackage{{"k.cl", "folder/k.cl", main}, {{"h.h", "h.h", header}}});
}

Case sample() {
  Case sample;
  sample.job.programs.push_back({"k", "folder/k.cl", source("main", "header"), {}, {}});
  sample.job.variants = {{"one", BuildOptions({"-DN=1"})}, {"two", BuildOptions({"-DN=2"})}};
  BuildTarget device;
  device.device.emplace();
  device.target.identity.platform_name = "Portable Computing Language";
  device.target.identity.driver_version = "3.1";
  device.device->identity = device.target.identity;
  BuildTarget offline;
  offline.target.origin = TargetOrigin::offline;
  offline.target.spec = "nvptx:sm_70";
  offline.compiler_facts = {{"clang", "digest"}};
  sample.job.targets = {device, offline};
  return sample;
}

TEST(UnitKey, IsTheSameForTheSameUnit) {
  EXPECT_EQ(sample().key(), sample().key());
}

TEST(UnitKey, DiffersForEachUnitOfAJob) {
  const Case all = sample();
  const std::set<Digest> keys = {all.key(0, 0), all.key(0, 1), all.key(1, 0), all.key(1, 1)};
  EXPECT_EQ(keys.size(), 4U);
}

TEST(UnitKey, DependsOnWhatTheBundleOfTheUnitDependsOn) {
  const std::vector<std::pair<const char*, std::function<void(Case&)>>> changes = {
      {"name", [](Case& c) { c.job.programs[0].name = "l"; }},
      {"main", [](Case& c) { c.job.programs[0].source = source("other", "header"); }},
      {"header", [](Case& c) { c.job.programs[0].source = source("main", "other"); }},
      {"need", [](Case& c) { c.job.programs[0].need = ProgramNeed::optional; }},
      {"variant", [](Case& c) { c.job.variants[0].name = "first"; }},
      {"options", [](Case& c) { c.job.variants[0].options = BuildOptions({"-DN=3"}); }},
      {"device options",
       [](Case& c) { c.job.variants[0].target_options.resize(2, BuildOptions({"-DM"})); }},
      {"specialization",
       [](Case& c) {
         c.job.specializations = {{"k", {4, 1, 1}}};
       }},
      {"no source", [](Case& c) { c.options.source = SourcePolicy::drop; }},
      {"driver", [](Case& c) { c.job.targets[0].target.identity.driver_version = "3.2"; }},
      {"driver's variable", [](Case& c) { c.facts.environment[0].value = "0"; }},
      {"oclcc", [](Case& c) { c.facts.version = "1.1"; }},
      {"cubin",
       [](Case& c) {
         c.job.targets.push_back(c.job.targets[0]);
         c.job.targets.back().input = 0;
       }},
  };
  std::set<Digest> keys = {sample().key()};
  for (const auto& [what, change] : changes) {
    Case changed = sample();
    change(changed);
    EXPECT_TRUE(keys.insert(changed.key()).second) << what;
  }
  Case changed = sample();
  changed.job.targets[1].compiler_facts[0].value = "other";
  EXPECT_NE(changed.key(0, 1), sample().key(0, 1)) << "tool";
  Case with_variable = sample();
  with_variable.facts.environment.push_back({"CCC_OVERRIDE_OPTIONS", "+-DX=7"});
  EXPECT_NE(with_variable.key(0, 1), sample().key(0, 1)) << "tool's variable";
  EXPECT_EQ(with_variable.key(), sample().key()) << "not of a driver";
}

TEST(UnitKey, DoesNotDependOnTheMachine) {
  Case other = sample();
  other.facts.executable = "another stamp";
  other.facts.environment[1].value = "/home/b";
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD", "OPENCL_LAYERS"}) {
    other.facts.environment.push_back({name, "/usr/lib64"});
  }
  other.job.targets[0].device->platform = 3;
  other.job.targets[0].device->driver_library = "/usr/lib64/libpocl.so";
  other.job.targets[0].label = "cpu (3:0)";
  EXPECT_EQ(other.key(), sample().key());
}

TEST(KeepUnit, LeavesOnlyTheVariantOfTheUnit) {
  Case sampled = sample();
  sampled.job.targets.pop_back();
  ASSERT_TRUE(keep_unit(sampled.job, sampled.options, sampled.facts, sample().key(1)));
  ASSERT_EQ(sampled.job.variants.size(), 1U);
  EXPECT_EQ(sampled.job.variants[0].name, "two");
}

TEST(KeepUnit, RefusesAUnitThatAnotherVersionOfOclccPlanned) {
  Case sampled = sample();
  sampled.job.targets.pop_back();
  sampled.facts.version = "1.1";
  const auto kept = keep_unit(sampled.job, sampled.options, sampled.facts, sample().key());
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(kept.error().message,
              HasSubstr("'folder/k.cl' is no longer the unit " +
                        clbin::base::to_hex(sample().key()) +
                        ": a source, an option, the compiler, a variable that it reads, or oclcc "
                        "has changed since the plan was made; make the plan again"));
}

TEST(KeepUnit, RequiresOneProgramAndOneTarget) {
  Case sampled = sample();
  const auto kept = keep_unit(sampled.job, sampled.options, sampled.facts, sampled.key());
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message,
            "'--unit' requires one program and one device or target, not 1 and 2");
}

TEST(ShellText, LeavesPlainWordsAndQuotesTheOthers) {
  EXPECT_EQ(shell_text({"-o", "a/b.clbin", "--unit=1"}), " -o a/b.clbin --unit=1");
  EXPECT_EQ(shell_text({"", "a b", "$HOME", "it's", "~", "#", "\t\xff"}),
            " '' 'a b' '$HOME' 'it'\\''s' '~' '#' '\t'\"$(printf '\\377')\"");
}

TEST(EngineText, RefusesLineBreaksByTheWordThatHasThem) {
  for (const std::string word : {"a\nb", "a\rb"}) {
    const auto text = require_lines({"-o", word});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(text.error().message,
              "only a plan of '--plan=json' can contain a line break, which is in 'a?b'");
  }
}

TEST(NinjaText, EscapesWhatNinjaWouldExpandOrEndANameAt) {
  EXPECT_EQ(ninja_value("a $b: c|d"), "a $$b: c|d");
  EXPECT_EQ(ninja_path("a $b: c|d"), "a$ $$b$:$ c${pipe}d");
}

} // namespace
} // namespace oclcc::plan
