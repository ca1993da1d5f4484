#include "targets/offline_target.hpp"

#include "format/binary/binary_kind.hpp"
#include "matching/vendor_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace oclcc::offline {
namespace {

using ::testing::ElementsAre;

constexpr const char* k_amd_processors[] = {
    "gfx803",  "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",
    "gfx90c",  "gfx942",  "gfx950",  "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030",
    "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100", "gfx1101",
    "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201"};
constexpr const char* k_amd_generic[] = {"gfx9-generic",    "gfx9-4-generic", "gfx10-1-generic",
                                         "gfx10-3-generic", "gfx11-generic",  "gfx12-generic"};

std::vector<std::string> amd_processors_and_generic() {
  std::vector<std::string> all(std::begin(k_amd_processors), std::end(k_amd_processors));
  all.insert(all.end(), std::begin(k_amd_generic), std::end(k_amd_generic));
  return all;
}

// AMDGPUUsage: target features that target IDs contain.
bool has_sramecc(std::string_view processor) {
  constexpr std::string_view k_names[] = {"gfx906", "gfx908", "gfx90a",
                                          "gfx942", "gfx950", "gfx9-4-generic"};
  return std::ranges::find(k_names, processor) != std::end(k_names);
}
bool has_xnack(std::string_view processor) {
  return processor.starts_with("gfx9") || processor.starts_with("gfx101") ||
         processor == "gfx10-1-generic";
}

std::vector<std::string> spellings(std::string_view specification) {
  const auto targets = parse_targets(specification);
  std::vector<std::string> all;
  if (!targets) {
    return {targets.error().message};
  }
  for (const OfflineTarget& target : *targets) {
    all.push_back(spelling_of(target));
  }
  return all;
}

TEST(OfflineTarget, HasOneSpellingThatParsesToItself) {
  std::set<std::string> seen;
  for (const OfflineTarget& target : known_targets()) {
    const std::string spelling = spelling_of(target);
    EXPECT_TRUE(seen.insert(spelling).second) << spelling;
    EXPECT_THAT(spellings(spelling), ElementsAre(spelling));
  }
}

// The spellings never change, because bundles contain them.
TEST(OfflineTarget, KeepsItsSpellings) {
  std::vector<std::string> all;
  for (const OfflineTarget& target : known_targets()) {
    if (target.family != OfflineFamily::amdgcn) {
      all.push_back(spelling_of(target));
    }
  }
  EXPECT_THAT(
      all, ElementsAre("nvptx:sm_50", "nvptx:sm_52", "nvptx:sm_53", "nvptx:sm_60", "nvptx:sm_61",
                       "nvptx:sm_62", "nvptx:sm_70", "nvptx:sm_72", "nvptx:sm_75", "nvptx:sm_80",
                       "nvptx:sm_86", "nvptx:sm_87", "nvptx:sm_89", "nvptx:sm_90", "nvptx:sm_100",
                       "nvptx:sm_103", "nvptx:sm_110", "nvptx:sm_120", "nvptx:sm_121",
                       "cubin:sm_75", "cubin:sm_80", "cubin:sm_86", "cubin:sm_87", "cubin:sm_88",
                       "cubin:sm_89", "cubin:sm_90", "cubin:sm_100", "cubin:sm_103", "cubin:sm_110",
                       "cubin:sm_120", "cubin:sm_121", "intel:bdw", "intel:skl", "intel:kbl",
                       "intel:cfl", "intel:bxt", "intel:glk", "intel:icllp", "intel:lkf",
                       "intel:ehl", "intel:tgllp", "intel:rkl", "intel:adl-s", "intel:adl-p",
                       "intel:adl-n", "intel:dg1", "intel:dg2", "intel:acm-g11", "intel:acm-g12",
                       "intel:pvc", "intel:mtl", "intel:mtl-h", "intel:arl-h", "intel:bmg",
                       "intel:bmg-g31", "intel:lnl", "intel:ptl", "intel:ptl-u", "intel:wcl",
                       "spirv:1.0:32", "spirv:1.0", "spirv:1.1:32", "spirv:1.1", "spirv:1.2:32",
                       "spirv:1.2", "spirv:1.3:32", "spirv:1.3", "spirv:1.4:32", "spirv:1.4"));
}

// The spellings of LLVM's target IDs.
TEST(OfflineTarget, KeepsItsSpellingsForAmd) {
  std::vector<std::string> all;
  for (const OfflineTarget& target : known_targets()) {
    if (target.family == OfflineFamily::amdgcn) {
      all.push_back(spelling_of(target));
    }
  }
  std::vector<std::string> expected;
  for (const std::string& processor : amd_processors_and_generic()) {
    for (const std::string sramecc : {"", ":sramecc-", ":sramecc+"}) {
      for (const std::string xnack : {"", ":xnack-", ":xnack+"}) {
        if ((sramecc.empty() || has_sramecc(processor)) &&
            (xnack.empty() || has_xnack(processor))) {
          expected.push_back("amdgcn:" + processor + sramecc + xnack);
        }
      }
    }
  }
  EXPECT_EQ(all, expected);
}

// Every listed target can be loaded by some device.
TEST(OfflineTarget, ForAmdCanHaveAnotherCodeObject) {
  const auto versions = [](std::string_view word) {
    std::string text;
    for (const OfflineTarget& target : parse_targets(word).value_or(std::vector<OfflineTarget>())) {
      text += fmt::format("{} {} {}\n", spelling_of(target), code_object_version(target),
                          recorded_target(target).identity.architecture);
    }
    return text;
  };
  EXPECT_EQ(versions("amdgcn:gfx906:xnack-:co6,gfx906:co6,gfx906:co5,gfx906"),
            "amdgcn:gfx906 4 gfx906\namdgcn:gfx906:co5 5 gfx906\namdgcn:gfx906:co6 6 gfx906\n"
            "amdgcn:gfx906:xnack-:co6 6 gfx906:xnack-\n");
  // What a processor has anyway has one spelling.
  EXPECT_EQ(versions("amdgcn:gfx906:co4,gfx1100:co5,gfx11-generic:co6"),
            "amdgcn:gfx906 4 gfx906\namdgcn:gfx1100 5 gfx1100\n"
            "amdgcn:gfx11-generic 6 gfx11-generic\n");
  EXPECT_EQ(versions("amdgcn:gfx1201:co4"), "amdgcn:gfx1201:co4 4 gfx1201\n");
  for (const char* refused : {"amdgcn:gfx11-generic:co5", "amdgcn:gfx906:co7", "amdgcn:gfx906:co",
                              "amdgcn:co5", "nvptx:sm_70:co5", "all:co5", "spirv:1.2:32:co4"}) {
    EXPECT_FALSE(parse_targets(refused)) << refused;
  }
}

TEST(OfflineTarget, ForAmdIsATargetIdOfADevice) {
  const std::map<std::string, std::string> member_of = {
      {"gfx9-generic", "gfx900"},     {"gfx9-4-generic", "gfx942"}, {"gfx10-1-generic", "gfx1010"},
      {"gfx10-3-generic", "gfx1030"}, {"gfx11-generic", "gfx1100"}, {"gfx12-generic", "gfx1200"}};
  for (const OfflineTarget& target : known_targets()) {
    if (target.family != OfflineFamily::amdgcn) {
      continue;
    }
    auto object = clbin::format::parse_amd_target(target.architecture);
    ASSERT_TRUE(object) << target.architecture;
    clbin::format::DeviceIdentity device;
    device.architecture = target.architecture;
    const std::size_t end = std::min(target.architecture.find(':'), target.architecture.size());
    const auto member = member_of.find(target.architecture.substr(0, end));
    if (member != member_of.end()) {
      object->format_minor = 1;
      device.architecture.replace(0, end, member->second);
    }
    EXPECT_EQ(clbin::matching::judge_amd(*object, device).fit, clbin::matching::Fit::yes)
        << target.architecture;
  }
}

TEST(OfflineTarget, ForIntelHasOneIpVersion) {
  for (const OfflineTarget& target : known_targets()) {
    if (target.family != OfflineFamily::intel) {
      continue;
    }
    const clbin::format::Target recorded = recorded_target(target);
    EXPECT_EQ(clbin::format::target_family(recorded), clbin::format::DeviceFamily::intel);
    // For zebins with an IP version, and for those of ocloc 22.43 with a family.
    const std::size_t ranges = ocloc_releases(target).has(22) ? 2 : 1;
    EXPECT_THAT(clbin::matching::intel_key_ranges(recorded.identity),
                ::testing::SizeIs(::testing::Ge(ranges)))
        << spelling_of(target);
  }
}

TEST(OfflineTarget, ListsShareTheFamilyOfTheirFirstTarget) {
  EXPECT_THAT(spellings("spirv:1.2,1.0"), ElementsAre("spirv:1.0", "spirv:1.2"));
  EXPECT_THAT(spellings("spirv:1.2,1.2:32,1.2"), ElementsAre("spirv:1.2:32", "spirv:1.2"));
}

// A pinned table: an update of oclcc must not change a bundle of "all" unnoticed.
TEST(OfflineTarget, GroupsExpandToAPinnedTable) {
  EXPECT_THAT(spellings("nvptx:all-major"),
              ElementsAre("nvptx:sm_50", "nvptx:sm_60", "nvptx:sm_70", "nvptx:sm_80", "nvptx:sm_90",
                          "nvptx:sm_100", "nvptx:sm_110", "nvptx:sm_120"));
  EXPECT_THAT(spellings("nvptx:all"), ::testing::SizeIs(19));
  EXPECT_THAT(spellings("cubin:all"), ::testing::SizeIs(12));
  std::vector<std::string> amd;
  for (const char* processor : k_amd_processors) {
    amd.push_back(std::string("amdgcn:") + processor);
  }
  std::erase(amd, "amdgcn:gfx950"); // only clang 20 and later know them
  std::erase(amd, "amdgcn:gfx1153");
  EXPECT_EQ(spellings("amdgcn:all"), amd);
  EXPECT_THAT(spellings("intel:all"), ::testing::SizeIs(15));
  EXPECT_THAT(spellings("spirv:all"),
              ElementsAre("spirv:1.0", "spirv:1.1", "spirv:1.2", "spirv:1.3", "spirv:1.4"));
}

TEST(OfflineTarget, AllIsEveryVendorsDevicesAndOneSpirv) {
  std::vector<std::string> expected;
  for (const char* group : {"nvptx:all-major", "amdgcn:all", "intel:all", "spirv:1.2"}) {
    const auto members = spellings(group);
    expected.insert(expected.end(), members.begin(), members.end());
  }
  EXPECT_EQ(spellings("all"), expected);
}

// A pinned list, as "all" is.
TEST(OfflineTarget, GpusIsOneEntryForEachFamilyOfDevices) {
  EXPECT_THAT(spellings("gpus"),
              ElementsAre("nvptx:sm_50", "nvptx:sm_70", "amdgcn:gfx803", "amdgcn:gfx908",
                          "amdgcn:gfx90a", "amdgcn:gfx942", "amdgcn:gfx9-generic",
                          "amdgcn:gfx10-1-generic", "amdgcn:gfx10-3-generic",
                          "amdgcn:gfx11-generic", "amdgcn:gfx12-generic", "spirv:1.2"));
}

TEST(OfflineTarget, RefusesWhatIsNoTarget) {
  for (const std::string word : {"", "spir", "nvptx:sm_20", "cubin:sm_50", "SPIRV:1.2", "1.2",
                                 ":1.2", "spirv", "all,spirv:1.2"}) {
    const auto targets = parse_targets(word);
    ASSERT_FALSE(targets) << word;
    EXPECT_EQ(targets.error().code, clbin::base::ErrorCode::invalid_argument);
  }
  EXPECT_EQ(parse_targets("gpu").error().message,
            "'--target gpu': a target is a family and an architecture, such as 'nvptx:sm_70' or "
            "'spirv:1.2'; --list-targets lists them");
  EXPECT_EQ(parse_targets("spirv:1.9").error().message,
            "'--target spirv:1.9': the family 'spirv' has no such target; --list-targets lists "
            "them");
  EXPECT_EQ(parse_targets("spirv:1.2,").error().message,
            "'--target spirv:': the family 'spirv' has no such target; --list-targets lists them");
}

TEST(OfflineTarget, RecordsTheArchitectureOfADevice) {
  const auto targets = parse_targets("cubin:sm_90");
  ASSERT_TRUE(targets);
  const clbin::format::Target recorded = recorded_target(targets->front());
  EXPECT_EQ(recorded.spec, "cubin:sm_90");
  EXPECT_EQ(recorded.identity.architecture, "sm_90");
  EXPECT_EQ(clbin::format::target_family(recorded), clbin::format::DeviceFamily::nvidia);
}

TEST(OfflineTarget, RecordsItsSpellingAndItsAddressBits) {
  const auto targets = parse_targets("spirv:1.2:32");
  ASSERT_TRUE(targets);
  const clbin::format::Target recorded = recorded_target(targets->front());
  EXPECT_EQ(recorded.origin, clbin::format::TargetOrigin::offline);
  EXPECT_EQ(recorded.spec, "spirv:1.2:32");
  EXPECT_EQ(recorded.identity.address_bits, 32U);
  EXPECT_EQ(clbin::format::target_family(recorded), clbin::format::DeviceFamily::spirv);
}

} // namespace
} // namespace oclcc::offline
