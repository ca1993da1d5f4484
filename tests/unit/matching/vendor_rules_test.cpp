#include "matching/vendor_rules.hpp"

#include "format/binary/binary_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace clbin::matching {
namespace {

using format::AmdFeature;
using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceIdentity;
using format::PtxFlavour;
using testing::HasSubstr;

DeviceIdentity device(std::string_view platform, std::string_view architecture,
                      std::string_view driver_version) {
  DeviceIdentity identity;
  identity.platform_name = platform;
  identity.architecture = architecture;
  identity.driver_version = driver_version;
  identity.address_bits = 64;
  return identity;
}

DeviceIdentity nvidia(std::string_view architecture,
                      std::string_view driver_version = "580.159.03") {
  return device("NVIDIA CUDA", architecture, driver_version);
}

DeviceIdentity amd(std::string_view architecture) {
  return device("AMD Accelerated Parallel Processing", architecture, "3625.0 (HSA1.1,LC)");
}

DeviceIdentity intel(std::string_view architecture) {
  return device("Intel(R) OpenCL Graphics", architecture, "25.13.33276");
}

BinaryInfo of_kind(BinaryKind kind) {
  BinaryInfo info;
  info.kind = kind;
  return info;
}

// "sm_90a" and .version "8.4"
BinaryInfo ptx(std::uint16_t sm, char suffix, std::uint16_t major, std::uint16_t minor,
               PtxFlavour flavour = PtxFlavour::nvcl) {
  BinaryInfo info = of_kind(BinaryKind::ptx);
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = suffix;
  info.format_major = major;
  info.format_minor = minor;
  info.ptx_flavour = flavour;
  return info;
}

BinaryInfo cubin(std::uint16_t sm, char suffix = '\0') {
  BinaryInfo info = of_kind(BinaryKind::cubin);
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = suffix;
  return info;
}

BinaryInfo zebin(std::uint16_t architecture, std::uint16_t release, std::uint16_t revision) {
  BinaryInfo info = of_kind(BinaryKind::intel_zebin);
  info.arch_major = architecture;
  info.arch_minor = release;
  info.arch_stepping = revision;
  return info;
}

BinaryInfo zebin_of_family(std::uint16_t family) {
  BinaryInfo info = of_kind(BinaryKind::intel_zebin);
  info.product_family = family;
  return info;
}

BinaryInfo code_object(std::string_view target) {
  const auto info = format::parse_amd_target(target);
  EXPECT_TRUE(info.has_value()) << target;
  BinaryInfo object = info.value_or(BinaryInfo{});
  object.format_minor = object.arch_stepping == format::k_amd_generic_stepping ? 1 : 0;
  return object;
}

struct Row {
  BinaryInfo info;
  DeviceIdentity device;
  Fit fit;
  std::string_view reason; // part of it
};

// Checks each row against the rule. Every fit must be in a key range, otherwise it would never be
// found.
void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Verdict verdict = judge_foreign(row.info, row.device);
    EXPECT_EQ(verdict.fit, row.fit) << format::describe(row.info) << ": " << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr(std::string(row.reason)));
    const std::uint64_t key = format::match_key(row.info, base::Digest{});
    bool is_in_range = false;
    for (const KeyRange& range : compatible_key_ranges(row.device)) {
      EXPECT_LE(range.low, range.high);
      is_in_range = is_in_range || (range.low <= key && key <= range.high);
    }
    EXPECT_TRUE(row.fit == Fit::no || is_in_range) << format::describe(row.info);
  }
}

TEST(NvidiaRules, PtxNeedsItsTargetsCapabilityOrAHigherOne) {
  // PTX ISA, ".target"
  check({
      {ptx(50, '\0', 4, 0), nvidia("sm_90"), Fit::yes,
       "PTX 4.0 for sm_50 is compiled by the driver for compute capability 9.0"},
      {ptx(90, '\0', 8, 0), nvidia("sm_90"), Fit::yes, "compute capability 9.0"},
      {ptx(90, '\0', 8, 0), nvidia("sm_121"), Fit::yes, "compute capability 12.1"},
      {ptx(90, '\0', 8, 0), nvidia("sm_80"), Fit::no,
       "PTX for sm_90 needs compute capability 9.0, this device has 8.0"},
      {ptx(86, '\0', 8, 0), nvidia("sm_80"), Fit::no,
       "PTX for sm_86 needs compute capability 8.6, this device has 8.0"},
      {ptx(100, '\0', 8, 6), nvidia("sm_90"), Fit::no,
       "PTX for sm_100 needs compute capability 10.0, this device has 9.0"},
  });
}

TEST(NvidiaRules, PtxWithSuffixNeedsItsVeryCapability) {
  // PTX ISA, ".target": no suffix a or f unless equal
  check({
      {ptx(90, 'a', 8, 0), nvidia("sm_90"), Fit::yes, "PTX 8.0 for sm_90a"},
      {ptx(90, 'a', 8, 0), nvidia("sm_100"), Fit::no,
       "PTX for sm_90a runs on compute capability 9.0 only, this device has 10.0"},
      {ptx(100, 'f', 8, 8), nvidia("sm_100"), Fit::yes, "PTX 8.8 for sm_100f"},
      {ptx(100, 'f', 8, 8), nvidia("sm_103"), Fit::no,
       "PTX for sm_100f runs on compute capability 10.0 only, this device has 10.3"},
  });
}

TEST(NvidiaRules, PtxVersionMustBeKnownToTheDriver) {
  // doc/drivers.md, NVIDIA: for a version above the driver's, the build fails with -9999
  check({
      {ptx(50, '\0', 9, 0), nvidia("sm_90", "580.159.03"), Fit::yes, "PTX 9.0 for sm_50"},
      {ptx(50, '\0', 9, 1), nvidia("sm_90", "580.159.03"), Fit::no,
       "PTX 9.1 is newer than 9.0, the newest version that driver '580.159.03' is known to read"},
      {ptx(50, '\0', 8, 3), nvidia("sm_90", "535.54.03"), Fit::no,
       "PTX 8.3 is newer than 8.2, the newest version that driver '535.54.03' is known to read"},
      {ptx(50, '\0', 9, 3), nvidia("sm_90", "999.1"), Fit::yes, "PTX 9.3 for sm_50"},
      {ptx(50, '\0', 9, 9), nvidia("sm_90", "999.1"), Fit::no,
       "PTX 9.9 is newer than 9.3, the newest version that driver '999.1' is known to read"},
      {ptx(50, '\0', 4, 0), nvidia("sm_90", "driver"), Fit::no,
       "PTX 4.0 needs a driver known to read it, this one is 'driver'"},
  });
}

TEST(NvidiaRules, NeverPtxOfCudasFlavour) {
  // doc/drivers.md, NVIDIA: the driver accepts and builds it, but the launch fails or uses wrong
  // data
  check({{ptx(50, '\0', 4, 0, PtxFlavour::cuda), nvidia("sm_90"), Fit::no,
          "PTX for sm_50 is of CUDA's flavour, this device needs OpenCL's"}});
  EXPECT_EQ(judge_own(ptx(50, '\0', 4, 0, PtxFlavour::cuda), nvidia("sm_90")).fit, Fit::no);
  EXPECT_EQ(judge_own(ptx(50, '\0', 4, 0, PtxFlavour::cuda), nvidia("")).fit, Fit::no);
}

TEST(NvidiaRules, CubinNeedsItsMajorAndNotAHigherMinor) {
  // CUDA C++ Programming Guide, "Binary Compatibility"; doc/drivers.md: for another major, build
  // -42
  check({
      {cubin(80), nvidia("sm_80"), Fit::yes, "cubin sm_80 runs on compute capability 8.0"},
      {cubin(80), nvidia("sm_89"), Fit::yes, "cubin sm_80 runs on compute capability 8.9"},
      {cubin(86), nvidia("sm_80"), Fit::no,
       "cubin sm_86 needs compute capability 8.6 or a higher one of the same major, this device "
       "has "
       "8.0"},
      {cubin(80), nvidia("sm_90"), Fit::no, "this device has 9.0"},
      {cubin(90), nvidia("sm_80"), Fit::no, "this device has 8.0"},
      {cubin(90, 'a'), nvidia("sm_90"), Fit::yes, "cubin sm_90a"},
      {cubin(100, 'a'), nvidia("sm_103"), Fit::no,
       "cubin sm_100a runs on compute capability 10.0 only, this device has 10.3"},
      {cubin(100), nvidia("sm_103"), Fit::yes, "cubin sm_100"},
      {cubin(0), nvidia("sm_80"), Fit::no, "this device has 8.0"},
  });
}

TEST(NvidiaRules, PreferCubinToPtx) {
  EXPECT_GT(judge_nvidia(cubin(80), nvidia("sm_89")).preference,
            judge_nvidia(ptx(89, '\0', 8, 0), nvidia("sm_89")).preference);
}

TEST(NvidiaRules, RefuseADeviceWithoutCapability) {
  for (const std::string_view architecture : {"", "sm_", "sm_9", "sm_90a", "sm_9000", "gfx90a"}) {
    check({{cubin(80), nvidia(architecture), Fit::no,
            fmt::format(
                "cubin sm_80 requires a known compute capability, but this device reports '{}'",
                architecture)}});
  }
}

TEST(PtxVersions, FollowTheDriver) {
  struct Case {
    std::string_view driver;
    std::optional<PtxVersion> newest;
  };
  // CUDA Toolkit release notes; drivers of Debian 12 (525, 535), of the measured H200 (580.159)
  const std::vector<Case> cases{
      {"346.45", std::nullopt},         {"346.46", PtxVersion{4, 2}},
      {"525.60.12", PtxVersion{7, 8}},  {"525.60.13", PtxVersion{8, 0}},
      {"525.147.05", PtxVersion{8, 0}}, {"535.216.01", PtxVersion{8, 2}},
      {"560.35.03", PtxVersion{8, 5}},  {"565.57.01", PtxVersion{8, 5}},
      {"575.51.03", PtxVersion{8, 8}},  {"580.159", PtxVersion{9, 0}},
      {"610.43.02", PtxVersion{9, 3}},  {"4000.1", PtxVersion{9, 3}},
      {"535", PtxVersion{8, 1}},        {"", std::nullopt},
      {"v580", std::nullopt},           {"99999999999999999999.1", std::nullopt},
  };
  for (const Case& expected : cases) {
    EXPECT_TRUE(newest_ptx(expected.driver) == expected.newest) << expected.driver;
  }
}

TEST(AmdRules, NeedTheProcessor) {
  // clang/lib/Basic/TargetID.cpp, isCompatibleTargetID
  check({
      {code_object("gfx906"), amd("gfx906"), Fit::yes, "AMD code object gfx906 runs on gfx906"},
      {code_object("gfx906"), amd("gfx906:sramecc+:xnack-"), Fit::yes,
       "runs on gfx906:sramecc+:xnack-"},
      {code_object("gfx906"), amd("gfx90a:sramecc+:xnack-"), Fit::no,
       "AMD code object gfx906 does not run on gfx90a:sramecc+:xnack-"},
      {code_object("gfx90a"), amd("gfx90c"), Fit::no, "does not run on gfx90c"},
      {code_object("gfx1030"), amd("gfx1031"), Fit::no, "does not run on gfx1031"},
      {of_kind(BinaryKind::amd_code_object), amd("gfx906"), Fit::no,
       "AMD code object of an unknown processor does not run on gfx906"},
      {code_object("gfx906"), amd("Ellesmere"), Fit::no,
       "AMD code object gfx906 requires a known gfx target, but this device reports 'Ellesmere'"},
  });
}

TEST(AmdRules, NeedEachFeatureEqualOrNotFixed) {
  BinaryInfo any = code_object("gfx90a");
  any.sramecc = AmdFeature::any;
  any.xnack = AmdFeature::any;
  check({
      {any, amd("gfx90a:sramecc+:xnack-"), Fit::yes, "AMD code object gfx90a runs on"},
      {code_object("gfx90a:xnack-"), amd("gfx90a:sramecc+:xnack-"), Fit::yes, "gfx90a:xnack-"},
      {code_object("gfx90a:xnack+"), amd("gfx90a:sramecc+:xnack-"), Fit::no,
       "AMD code object gfx90a:xnack+ requires xnack on, but it is off on this device"},
      {code_object("gfx90a:sramecc-"), amd("gfx90a:sramecc+:xnack-"), Fit::no,
       "AMD code object gfx90a:sramecc- requires sramecc off, but it is on on this device"},
      {code_object("gfx90a:sramecc+"), amd("gfx90a"), Fit::no,
       "requires sramecc on, but it is not reported on this device"},
  });
}

TEST(AmdRules, TakeGenericTargetsOfTheProcessor) {
  // AMDGPUUsage, "AMDGPU Generic Processors"
  check({
      {code_object("gfx9-generic"), amd("gfx906:sramecc+:xnack-"), Fit::yes,
       "AMD code object gfx9-generic runs on gfx906:sramecc+:xnack-"},
      {code_object("gfx9-generic"), amd("gfx90a"), Fit::no, "does not run on gfx90a"},
      {code_object("gfx9-4-generic"), amd("gfx942"), Fit::yes, "runs on gfx942"},
      {code_object("gfx9-4-generic"), amd("gfx906"), Fit::no, "does not run on gfx906"},
      {code_object("gfx10-3-generic"), amd("gfx1036"), Fit::yes, "runs on gfx1036"},
      {code_object("gfx10-1-generic"), amd("gfx1030"), Fit::no, "does not run on gfx1030"},
      {code_object("gfx11-generic"), amd("gfx1151"), Fit::yes, "runs on gfx1151"},
      {code_object("gfx12-generic:xnack+"), amd("gfx1201"), Fit::no, "requires xnack on"},
  });
  EXPECT_GT(judge_amd(code_object("gfx906"), amd("gfx906")).preference,
            judge_amd(code_object("gfx9-generic"), amd("gfx906")).preference);
}

// The tables of AMDGPUUsage, LLVM 22. gfx940 and gfx941 are processors of LLVM 16 to 18.
TEST(AmdRules, TakeGenericTargetsOfTheirProcessorsOnly) {
  const std::map<std::string, std::set<std::string>> processors_of = {
      {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
      {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
      {"gfx10-3-generic",
       {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11-generic",
       {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}},
  };
  std::set<std::string> all = {"gfx700", "gfx803",  "gfx810",  "gfx908",
                               "gfx90a", "gfx1170", "gfx1250", "gfx1251"};
  for (const auto& [generic, processors] : processors_of) {
    all.insert(processors.begin(), processors.end());
  }
  for (const auto& [generic, processors] : processors_of) {
    for (const std::string& processor : all) {
      const Verdict verdict = judge_amd(code_object(generic), amd(processor));
      EXPECT_EQ(verdict.fit == Fit::yes, processors.contains(processor))
          << verdict.reason << ": " << generic << ", " << processor;
    }
    EXPECT_EQ(judge_amd(code_object(generic), amd(generic)).fit, Fit::no) << generic;
  }
}

TEST(AmdRules, NeedTheVersionOfAGenericTarget) {
  BinaryInfo object = code_object("gfx11-generic");
  object.format_minor = 2;
  EXPECT_EQ(judge_amd(object, amd("gfx1100")).fit, Fit::yes);
  object.format_minor = 0;
  const Verdict verdict = judge_amd(object, amd("gfx1100"));
  EXPECT_EQ(verdict.fit, Fit::no);
  EXPECT_EQ(verdict.reason, "AMD code object gfx11-generic has no version of its generic target");
}

TEST(AmdRules, HonourTheSettingsOfGenericTargets) {
  check({
      {code_object("gfx9-4-generic:sramecc+:xnack-"), amd("gfx942:sramecc+:xnack-"), Fit::yes,
       "runs on gfx942"},
      {code_object("gfx9-4-generic:xnack+"), amd("gfx950:sramecc+:xnack-"), Fit::no,
       "requires xnack on, but it is off on this device"},
      {code_object("gfx10-1-generic:xnack-"), amd("gfx1012:xnack-"), Fit::yes, "runs on gfx1012"},
  });
}

TEST(IntelRules, NeedTheIpVersion) {
  // compute-runtime, zebin_decoder.cpp, validateTargetDevice
  check({
      {zebin(12, 55, 8), intel("12.55.8"), Fit::yes, "Intel zebin 12.55.8 runs on IP version"},
      {zebin(12, 55, 8), intel("12.55.4"), Fit::no,
       "Intel zebin 12.55.8 does not run on IP version 12.55.4"},
      {zebin(12, 1, 0), intel("12.10.0"), Fit::no,
       "Intel zebin 12.1.0 does not run on IP version 12.10.0"},
      {zebin(12, 55, 8), intel(""), Fit::no,
       "Intel zebin 12.55.8 requires a known IP version, but this device reports ''"},
      {zebin(12, 55, 8), intel("12.55"), Fit::no, "this device reports '12.55'"},
      {zebin(12, 55, 8), intel("12.55.8.1"), Fit::no, "this device reports '12.55.8.1'"},
  });
}

TEST(IntelRules, TakeACompatibleIpVersionInOneDirection) {
  // compute-runtime, platforms.h, compatibilityMapping
  check({
      {zebin(12, 55, 8), intel("12.57.0"), Fit::yes,
       "Intel zebin 12.55.8 runs on IP version 12.57.0"},
      {zebin(12, 57, 0), intel("12.55.8"), Fit::no, "does not run on IP version 12.55.8"},
      {zebin(12, 70, 4), intel("12.71.4"), Fit::yes, "runs on IP version 12.71.4"},
      {zebin(12, 70, 4), intel("12.74.4"), Fit::no, "does not run on IP version 12.74.4"},
      {zebin(20, 1, 4), intel("20.1.0"), Fit::yes, "runs on IP version 20.1.0"},
      {zebin(20, 1, 0), intel("20.1.4"), Fit::no, "does not run on IP version 20.1.4"},
      {zebin(30, 0, 4), intel("30.5.4"), Fit::yes, "runs on IP version 30.5.4"},
  });
  EXPECT_GT(judge_intel(zebin(20, 4, 4), intel("20.4.4")).preference,
            judge_intel(zebin(20, 1, 0), intel("20.4.4")).preference);
}

TEST(IntelRules, TakeAProductFamilyThatIsOneIpVersion) {
  // ocloc 22.43 writes the family only
  check({
      {zebin_of_family(29), intel("12.0.0"), Fit::yes,
       "Intel zebin of product family 29 runs on IP version 12.0.0"},
      {zebin_of_family(29), intel("12.1.0"), Fit::no,
       "Intel zebin of product family 29 (IP version 12.0.0) does not run on IP version 12.1.0"},
      {zebin_of_family(1270), intel("12.55.8"), Fit::no,
       "Intel zebin of product family 1270 does not name a single IP version; this device has "
       "12.55.8"},
      {zebin_of_family(0), intel("12.55.8"), Fit::no, "does not name a single IP version"},
  });
  EXPECT_GT(judge_intel(zebin(12, 0, 0), intel("12.0.0")).preference,
            judge_intel(zebin_of_family(29), intel("12.0.0")).preference);
}

std::vector<BinaryInfo> one_of_each_kind() {
  std::vector<BinaryInfo> all;
  for (std::uint16_t number = 0; number <= 13; ++number) {
    all.push_back(of_kind(static_cast<BinaryKind>(number)));
  }
  all[1] = ptx(50, '\0', 4, 0);
  all[2] = cubin(80);
  all[3] = code_object("gfx906");
  all[4] = zebin(12, 0, 0);
  return all;
}

struct Family {
  DeviceIdentity device;
  std::vector<BinaryKind> taken; // on equal identity, besides unknown
};

std::vector<Family> families() {
  return {
      {nvidia("sm_80"), {BinaryKind::ptx, BinaryKind::cubin, BinaryKind::nvidia_fatbin}},
      {amd("gfx906"), {BinaryKind::amd_code_object}},
      {intel("12.0.0"), {BinaryKind::intel_zebin, BinaryKind::ar_archive}},
      {device("Portable Computing Language", "", "3.1"), {BinaryKind::poclbin}},
      {device("rusticl", "", "22.3.6"), {BinaryKind::rusticl}},
      {device("Oclgrind", "", "Oclgrind 21.10"), {BinaryKind::llvm_bitcode}},
      {device("clvk", "", "3.0"), {BinaryKind::clvk, BinaryKind::llvm_bitcode}},
  };
}

TEST(VendorRules, NeverTakeAnotherVendorsFormat) {
  // doc/drivers.md: rusticl aborts the process on foreign bytes; Oclgrind accepts any bitcode
  for (const Family& family : families()) {
    for (const BinaryInfo& info : one_of_each_kind()) {
      const bool is_taken = std::count(family.taken.begin(), family.taken.end(), info.kind) != 0 ||
                            info.kind == BinaryKind::unknown;
      const Verdict own = judge_own(info, family.device);
      EXPECT_EQ(own.fit == Fit::yes, is_taken)
          << family.device.platform_name << ", " << format::describe(info) << ": " << own.reason;
      if (!is_taken) {
        EXPECT_EQ(judge_foreign(info, family.device).fit, Fit::no);
        EXPECT_THAT(own.reason, testing::AnyOf(HasSubstr("is not a format of this device's family"),
                                               HasSubstr("is an intermediate language")));
      }
    }
  }
}

TEST(VendorRules, TakeMostFormatsOnEqualIdentityOnly) {
  for (const Family& family : families()) {
    for (const BinaryKind kind :
         {BinaryKind::unknown, BinaryKind::llvm_bitcode, BinaryKind::poclbin, BinaryKind::rusticl,
          BinaryKind::clvk, BinaryKind::ar_archive, BinaryKind::nvidia_fatbin,
          BinaryKind::offload_bundle, BinaryKind::offload_binary}) {
      EXPECT_EQ(judge_foreign(of_kind(kind), family.device).fit, Fit::no);
    }
  }
  const DeviceIdentity pocl = device("Portable Computing Language", "", "3.1");
  const Verdict verdict = judge_foreign(of_kind(BinaryKind::poclbin), pocl);
  EXPECT_EQ(verdict.reason, "PoCL binary matches only the device and driver that it was made for");
  EXPECT_TRUE(verdict.needs_same_device);
  EXPECT_TRUE(compatible_key_ranges(pocl).empty());
}

TEST(VendorRules, NameWhatADeviceDoesNotTake) {
  EXPECT_EQ(judge_own(of_kind(BinaryKind::poclbin), device("rusticl", "", "22.3.6")).reason,
            "PoCL binary is not a format of this device's family, rusticl");
  BinaryInfo spirv = of_kind(BinaryKind::spirv);
  spirv.arch_major = 1;
  spirv.arch_minor = 2;
  EXPECT_EQ(judge_foreign(spirv, intel("12.0.0")).reason,
            "SPIR-V 1.2 is an intermediate language, not a binary of this device");
}

TEST(VendorRules, TakeWhatADeviceOfAnUnknownFamilyMade) {
  const DeviceIdentity mali = device("ARM Platform", "", "v1.r44p0");
  EXPECT_EQ(judge_own(of_kind(BinaryKind::unknown), mali).fit, Fit::yes);
  EXPECT_EQ(judge_own(of_kind(BinaryKind::llvm_bitcode), mali).fit, Fit::yes);
  EXPECT_EQ(judge_own(of_kind(BinaryKind::spirv), mali).fit, Fit::no);
  EXPECT_EQ(judge_foreign(of_kind(BinaryKind::unknown), mali).fit, Fit::no);
  EXPECT_TRUE(compatible_key_ranges(mali).empty());
}

TEST(VendorRules, TakeIlUpToTheNewestVersionOfTheSameMajor) {
  BinaryInfo spirv = of_kind(BinaryKind::spirv);
  spirv.arch_major = 1;
  spirv.arch_minor = 2;
  DeviceIdentity device = intel("12.0.0");
  EXPECT_EQ(judge_il(spirv, device).reason,
            "SPIR-V 1.2 is an intermediate language, and this device accepts none");
  EXPECT_TRUE(il_key_ranges(device).empty());
  device.il_versions = {"SPIR-V_1.0", "SPIR-V_1.1"};
  EXPECT_EQ(judge_il(spirv, device).fit, Fit::no);
  device.il_versions = {"SPIR-V_1.4", "SPIR-V_1.0", "SPIR-V_2.0"};
  EXPECT_EQ(judge_il(spirv, device).reason,
            "the driver compiles SPIR-V 1.2, because it accepts SPIR-V_1.4");
  const auto ranges = il_key_ranges(device);
  ASSERT_EQ(ranges.size(), 2U);
  const std::uint64_t key = format::match_key(spirv, {});
  EXPECT_TRUE(ranges[0].low <= key && key <= ranges[0].high);
  EXPECT_FALSE(ranges[1].low <= key && key <= ranges[1].high);
  spirv.arch_minor = 5;
  EXPECT_EQ(judge_il(spirv, device).fit, Fit::no);
  EXPECT_GT(format::match_key(spirv, {}), ranges[0].high);
}

TEST(ShortIdentity, TakesTheWordsThatDecideOutOfTheTextsOfDrivers) {
  struct Texts {
    std::string_view name;
    std::string_view driver;
    std::string_view device_name;
    std::string_view driver_version;
  };
  constexpr Texts k_rows[] = {
      {"QUALCOMM Adreno(TM) 740", "OpenCL 3.0 QUALCOMM build: a b Compiler E031.45.02.16",
       "Adreno(TM) 740", "E031.45.02.16"},
      {"Adreno(TM) 740", "E031.45.02.16", "Adreno(TM) 740", "E031.45.02.16"},
      {"Qualcomm(R) Adreno(TM) X1-85 GPU", "OpenCL 3.0 QUALCOMM build: 0842.27.1 Compiler DX.17.75",
       "Adreno(TM) X1-85 GPU", "DX.17.75"},
      {"Adreno(TM) X1", "OpenCL 3.0 QUALCOMM DX.17.75.00", "Adreno(TM) X1", "DX.17.75.00"},
      {"Mali-G78", "OpenCL 3.0 v1.r32p1-01eac0.ab", "Mali-G78", "v1.r32p1-01eac0.ab"},
      {"Immortalis-G715", "v1.r38p1-01eac0.ab", "Immortalis-G715", "v1.r38p1-01eac0.ab"},
      {"PowerVR B-Series BXE-4-32", "1.17@6210866", "PowerVR B-Series BXE-4-32", "1.17@6210866"},
  };
  for (const Texts& row : k_rows) {
    const DeviceIdentity identity = short_identity(row.name, row.driver, 32);
    EXPECT_EQ(identity.device_name, row.device_name);
    EXPECT_EQ(identity.driver_version, row.driver_version);
    EXPECT_EQ(identity.architecture, "32-bit host");
    EXPECT_EQ(identity.address_bits, 0U);
  }
}

TEST(SeriesIdentity, ReplacesTheLastDigitsOfAPhonesGpu) {
  const auto series_of = [](std::string_view name) {
    const auto series = series_identity(short_identity(name, "E031.45", 64));
    return series ? series->device_name + " " + series->driver_version : "none";
  };
  EXPECT_EQ(series_of("Adreno(TM) 740"), "Adreno(TM) 7xx E031.45");
  EXPECT_EQ(series_of("QUALCOMM Adreno(TM) 750"), "Adreno(TM) 7xx E031.45");
  EXPECT_EQ(series_of("Adreno(TM) 7xx"), "Adreno(TM) 7xx E031.45");
  EXPECT_EQ(series_of("Mali-G610 MC6 r0p0"), "Mali-G6xx E031.45");
  EXPECT_EQ(series_of("Immortalis-G715"), "Immortalis-G7xx E031.45");
  EXPECT_EQ(series_of("Adreno(TM) X1-85 GPU"), "none");
  EXPECT_EQ(series_of("Adreno(TM)"), "none");
  EXPECT_EQ(series_of("PowerVR BXE-432"), "none");
}

} // namespace
} // namespace clbin::matching
