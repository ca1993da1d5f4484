#include "matching/candidate_ranking.hpp"

#include "format/bundle/bundle_layout.hpp"
#include "matching/vendor_rules.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/project_folders.hpp"
#include "support/sample_identities.hpp"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::matching {
namespace {

using format::BundleReader;
using format::DeviceIdentity;
using format::EntryInput;
using format::SectionKind;
using format::Target;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t k_entry_blob_field = 12;
constexpr std::size_t k_entry_type_field = 26;

base::Bytes real_binary(std::string_view name) {
  const auto bytes =
      base::read_whole_file(test::tests_folder() / "unit/format/binaries" / name, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or(base::Bytes{});
}

base::Bytes ptx(std::string_view sm, std::string_view version, unsigned address_bits = 64) {
  return test::bytes_of(fmt::format(
      ".version {}\n.target {}, texmode_independent\n.address_size {}\n\n.entry k() {{ ret; }}\n",
      version, sm, address_bits));
}

base::Bytes poclbin(std::string_view content) {
  base::ByteWriter writer;
  writer.write_bytes(base::as_bytes(std::string_view("poclbin\0device_i", 16)));
  writer.write_u32(9);
  writer.write_bytes(base::as_bytes(content));
  return std::move(writer).take();
}

DeviceIdentity of_platform(std::string_view platform, std::string_view driver_version) {
  DeviceIdentity identity = test::unknown_identity("a device");
  identity.platform_name = platform;
  identity.driver_version = driver_version;
  return identity;
}

EntryInput made_for(const DeviceIdentity& identity, base::Bytes payload) {
  Target target;
  target.identity = identity;
  return test::sample_entry(format::k_default_variant, std::move(target), std::move(payload));
}

EntryInput made_offline(std::string_view spec, base::Bytes payload) {
  return test::sample_entry(format::k_default_variant, test::sample_offline_target(spec, ""),
                            std::move(payload));
}

format::BundleInput bundle_of(std::vector<EntryInput> entries) {
  format::ProgramInput program;
  program.name = "add";
  program.variants = {{std::string(format::k_default_variant), ""}};
  program.entries = std::move(entries);
  return {"test", {std::move(program)}};
}

format::GroupView only_group(const BundleReader& bundle) {
  const auto group = bundle.find_group("add", format::k_default_variant);
  EXPECT_TRUE(group.has_value());
  return group.value_or(format::GroupView{});
}

std::vector<Candidate> ranked(const BundleReader& bundle, const DeviceIdentity& device) {
  auto candidates = rank_candidates(bundle, only_group(bundle), device);
  EXPECT_TRUE(candidates.has_value()) << candidates.error().message;
  return candidates.value_or(std::vector<Candidate>{});
}

std::vector<Candidate> explained(const BundleReader& bundle, const DeviceIdentity& device) {
  auto candidates = explain_candidates(bundle, only_group(bundle), device);
  EXPECT_TRUE(candidates.has_value()) << candidates.error().message;
  return candidates.value_or(std::vector<Candidate>{});
}

std::vector<std::string> reasons(const std::vector<Candidate>& candidates) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : candidates) {
    texts.push_back(candidate.reason);
  }
  return texts;
}

format::BundleInput entries_for_many_nvidia_devices() {
  return bundle_of({
      made_for(test::nvidia_identity("sm_90"), ptx("sm_90", "9.0")),
      made_for(test::nvidia_identity("sm_80"), ptx("sm_80", "8.7")),
      made_for(test::nvidia_identity("sm_100"), ptx("sm_100", "9.0")),
      made_offline("nvptx:sm_50", ptx("sm_50", "4.0")),
      made_offline("nvptx:sm_90a", ptx("sm_90a", "9.1")),
      made_offline("cubin:sm_80", real_binary("sm_80.cubin")),
      made_offline("cubin:sm_90", real_binary("sm_90.cubin")),
      made_offline("cubin:sm_90a", real_binary("sm_90a.cubin")),
      made_offline("amdgcn:gfx1030", real_binary("gfx1030.v4.co")),
      made_for(of_platform("Portable Computing Language", "3.1"), poclbin("a")),
      made_offline("spirv:1.0", real_binary("kernel.spv")),
  });
}

TEST(CandidateRanking, PutsCubinsThatFitBeforeOwnPtxThenTheBestThatFits) {
  const BundleReader bundle = test::must_open(test::must_write(entries_for_many_nvidia_devices()));
  const auto candidates = ranked(bundle, test::nvidia_identity("sm_90"));
  EXPECT_THAT(
      reasons(candidates),
      ElementsAre("cubin sm_90a runs on compute capability 9.0",
                  "cubin sm_90 runs on compute capability 9.0", "made for this device",
                  "PTX 8.7 for sm_80 is compiled by the driver for compute capability 9.0",
                  "PTX 4.0 for sm_50 is compiled by the driver for compute capability 9.0"));
  ASSERT_EQ(candidates.size(), 5U);
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    EXPECT_EQ(candidates[index].rule, index == 2 ? Rule::exact_identity : Rule::compatible);
    EXPECT_EQ(candidates[index].turn,
              index <= 2 ? Turn::before_user_cache : Turn::after_user_cache);
  }
  EXPECT_EQ(bundle.decompressed_count(), 0U) << "ranking reads no payload";
}

TEST(CandidateRanking, FindsThePacksWhoseEntriesFit) {
  const BundleReader bundle = test::must_open(test::must_write(entries_for_many_nvidia_devices()));
  std::vector<format::PackRecord> packs; // one an entry
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const format::EntryView entry = bundle.entry(i).value();
    packs.push_back(
        {entry.match_key, base::leading_u64(entry.target.digest), {}, std::to_string(i)});
  }
  for (const DeviceIdentity& device :
       {test::nvidia_identity("sm_90"), test::nvidia_identity("sm_80"),
        test::nvidia_identity("sm_35"), of_platform("Portable Computing Language", "3.1"),
        of_platform("Portable Computing Language", "3.2"), test::unknown_identity("x")}) {
    std::set<std::string> expected;
    for (const Candidate& candidate : ranked(bundle, device)) {
      expected.insert(std::to_string(candidate.entry.index));
    }
    std::set<std::string> found;
    for (const format::PackRecord& pack : packs_for(packs, device)) {
      found.insert(pack.name.str());
    }
    EXPECT_EQ(found, expected) << device.device_name << " " << device.architecture;
  }
}

TEST(CandidateRanking, ExplainsEveryEntry) {
  const BundleReader bundle = test::must_open(test::must_write(entries_for_many_nvidia_devices()));
  const DeviceIdentity device = test::nvidia_identity("sm_90");
  const auto all = explained(bundle, device);
  EXPECT_EQ(all.size(), bundle.entry_count());
  const auto best = reasons(ranked(bundle, device));
  const auto texts = reasons(all);
  ASSERT_GE(texts.size(), best.size());
  EXPECT_TRUE(std::equal(best.begin(), best.end(), texts.begin()));
  EXPECT_THAT(
      std::vector<std::string>(texts.begin() + static_cast<std::ptrdiff_t>(best.size()),
                               texts.end()),
      ElementsAre(
          "PTX 9.1 is newer than 9.0, the newest version that driver '580.159.03' is known to read",
          "PTX for sm_100 needs compute capability 10.0, this device has 9.0",
          "cubin sm_80 needs compute capability 8.0 or a higher one of the same major, this "
          "device has 9.0",
          "AMD code object gfx1030 is not a format of this device's family, nvidia",
          "SPIR-V 1.0 is an intermediate language, and this device accepts none",
          "PoCL binary is not a format of this device's family, nvidia"));
}

TEST(CandidateRanking, PutsAnOwnEntryThatIsNotPtxBeforeOtherCubins) {
  const DeviceIdentity device = test::nvidia_identity("sm_90");
  const BundleReader bundle = test::must_open(test::must_write(bundle_of(
      {made_for(device, ptx("sm_90", "9.0")), made_for(device, real_binary("sm_90.cubin")),
       made_offline("cubin:sm_90a", real_binary("sm_90a.cubin"))})));
  EXPECT_THAT(reasons(ranked(bundle, device)),
              ElementsAre("made for this device", "cubin sm_90a runs on compute capability 9.0",
                          "made for this device"));
}

TEST(CandidateRanking, LeavesCubinsBehindTheUserCacheWithoutOwnPtx) {
  const BundleReader bundle = test::must_open(
      test::must_write(bundle_of({made_offline("cubin:sm_90", real_binary("sm_90.cubin"))})));
  const auto candidates = ranked(bundle, test::nvidia_identity("sm_90"));
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].turn, Turn::after_user_cache);
}

TEST(CandidateRanking, PrefersOwnCubinToOwnPtx) {
  const DeviceIdentity device = test::nvidia_identity("sm_90");
  const BundleReader bundle = test::must_open(test::must_write(bundle_of(
      {made_for(device, ptx("sm_90", "9.0")), made_for(device, real_binary("sm_90.cubin"))})));
  const auto candidates = ranked(bundle, device);
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].entry.kind, format::BinaryKind::cubin);
  EXPECT_EQ(candidates[1].entry.kind, format::BinaryKind::ptx);
  EXPECT_EQ(candidates[1].rule, Rule::exact_identity);
}

TEST(CandidateRanking, DoesNotDependOnTheOrderOfTheInput) {
  const auto expected =
      reasons(explained(test::must_open(test::must_write(entries_for_many_nvidia_devices())),
                        test::nvidia_identity("sm_121")));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const BundleReader bundle =
        test::must_open(test::must_write(test::shuffled(entries_for_many_nvidia_devices(), seed)));
    EXPECT_EQ(reasons(explained(bundle, test::nvidia_identity("sm_121"))), expected);
  }
}

TEST(CandidateRanking, OffersABinaryOnceHoweverManyEntriesShareIt) {
  const BundleReader bundle = test::must_open(test::must_write(bundle_of({
      made_for(test::nvidia_identity("sm_80"), ptx("sm_50", "4.0")),
      made_for(test::nvidia_identity("sm_90"), ptx("sm_50", "4.0")),
      made_offline("nvptx:sm_50", ptx("sm_50", "4.0")),
  })));
  const auto candidates = ranked(bundle, test::nvidia_identity("sm_90"));
  EXPECT_THAT(reasons(candidates), ElementsAre("made for this device"));
  EXPECT_EQ(explained(bundle, test::nvidia_identity("sm_90")).size(), 3U);
}

TEST(CandidateRanking, OffersOtherDriversNothingOfOneThatServesItsOwnOnly) {
  const DeviceIdentity old_pocl = of_platform("Portable Computing Language", "3.0");
  const DeviceIdentity new_pocl = of_platform("Portable Computing Language", "3.1");
  const BundleReader bundle =
      test::must_open(test::must_write(bundle_of({made_for(old_pocl, poclbin("old"))})));
  EXPECT_THAT(reasons(ranked(bundle, old_pocl)), ElementsAre("made for this device"));
  EXPECT_THAT(ranked(bundle, new_pocl), IsEmpty());
  EXPECT_THAT(reasons(explained(bundle, new_pocl)),
              ElementsAre("PoCL binary matches only the device and driver that it was made for: "
                          "driver version '3.0' there, '3.1' here"));
  DeviceIdentity other_llvm = old_pocl; // the table does not contain the platform's version
  other_llvm.platform_version = "OpenCL 3.0 PoCL 3.0, LLVM 15";
  EXPECT_THAT(ranked(bundle, other_llvm), IsEmpty());
  EXPECT_THAT(reasons(explained(bundle, other_llvm)),
              ElementsAre(HasSubstr("the names are equal, but the rest of the identity differs")));
}

TEST(CandidateRanking, OffersALittleCoreNothingOfABigOne) {
  DeviceIdentity big = of_platform("Portable Computing Language", "3.1+debian");
  big.device_name = "pthread--cortex-a72";
  big.architecture = "pthread-aarch64-unknown-linux-gnu-(null)";
  DeviceIdentity little = big;
  little.device_name = "pthread--cortex-a53";
  const BundleReader bundle =
      test::must_open(test::must_write(bundle_of({made_for(big, poclbin("big"))})));
  EXPECT_THAT(reasons(ranked(bundle, big)), ElementsAre("made for this device"));
  EXPECT_THAT(ranked(bundle, little), IsEmpty());
  EXPECT_THAT(
      reasons(explained(bundle, little)),
      ElementsAre(HasSubstr("device 'pthread--cortex-a72' there, 'pthread--cortex-a53' here")));
  DeviceIdentity by_build_hash = big; // the names are those of PoCL without /proc
  by_build_hash.architecture = "pthread-aarch64-unknown-linux-gnu-cortex-a53";
  EXPECT_THAT(ranked(bundle, by_build_hash), IsEmpty());
}

TEST(CandidateRanking, NamesTheOfflineTargetOfWhatServesItsOwnOnly) {
  const BundleReader bundle =
      test::must_open(test::must_write(bundle_of({made_offline("intel:x", test::bytes_of("?"))})));
  EXPECT_THAT(
      reasons(explained(bundle, test::unknown_identity("mali"))),
      ElementsAre(
          "matches only the device and driver that it was made for: 'intel:x' there, 'mali' "
          "here"));
}

// Intel's CPU runtime writes ELF files of a kind without a number.
TEST(CandidateRanking, NamesThePlatformOfABinaryOfAnUnknownKind) {
  const BundleReader bundle = test::must_open(test::must_write(
      bundle_of({made_for(of_platform("Intel(R) OpenCL", "1"), test::bytes_of("?"))})));
  EXPECT_THAT(reasons(explained(bundle, test::unknown_identity("mali"))),
              ElementsAre(AllOf(HasSubstr("platform 'Intel(R) OpenCL' there"),
                                Not(HasSubstr("unknown binary")))));
}

// doc/drivers.md: rusticl aborts the process on another driver's binary. No table may cause an
// attempt.
TEST(CandidateRanking, NeverOffersAnotherDriversBinaryEvenOnEqualIdentity) {
  const DeviceIdentity rusticl = of_platform("rusticl", "22.3.6");
  const BundleReader bundle =
      test::must_open(test::must_write(bundle_of({made_for(rusticl, poclbin("planted"))})));
  EXPECT_THAT(ranked(bundle, rusticl), IsEmpty());
  EXPECT_THAT(reasons(explained(bundle, rusticl)),
              ElementsAre("PoCL binary is not a format of this device's family, rusticl"));
}

TEST(CandidateRanking, RefusesBytesOfAnotherKindThanTheTableSays) {
  const DeviceIdentity rusticl = of_platform("rusticl", "22.3.6");
  const DeviceIdentity pocl = of_platform("Portable Computing Language", "3.1");
  test::CraftedBundle crafted(test::must_write(bundle_of(
      {made_for(rusticl, real_binary("llvmpipe.rusticl")), made_for(pocl, poclbin("planted"))})));
  const std::uint32_t first = crafted.u32_at(SectionKind::entry, 0, k_entry_blob_field);
  const std::uint32_t second = crafted.u32_at(SectionKind::entry, 1, k_entry_blob_field);
  crafted.set_u32(SectionKind::entry, 0, k_entry_blob_field, second);
  crafted.set_u32(SectionKind::entry, 1, k_entry_blob_field, first);
  const BundleReader bundle = test::must_open(crafted.build(), "planted.clbin");
  const auto candidates = ranked(bundle, rusticl);
  ASSERT_EQ(candidates.size(), 1U);
  const auto bytes = read_candidate(bundle, candidates[0]);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code, base::ErrorCode::damaged);
  EXPECT_EQ(bytes.error().message,
            "payload of entry 1 of 'planted.clbin' is poclbin, but the table records rusticl");
}

TEST(CandidateRanking, ReadsTheBytesOfACandidate) {
  const DeviceIdentity rusticl = of_platform("rusticl", "22.3.6");
  const BundleReader bundle = test::must_open(
      test::must_write(bundle_of({made_for(rusticl, real_binary("llvmpipe.rusticl"))})));
  const auto candidates = ranked(bundle, rusticl);
  ASSERT_EQ(candidates.size(), 1U);
  const auto bytes = read_candidate(bundle, candidates[0]);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  EXPECT_EQ(*bytes, real_binary("llvmpipe.rusticl"));
}

TEST(CandidateRanking, OffersExecutablesOnly) {
  const DeviceIdentity device = test::nvidia_identity("sm_90");
  for (const auto& [type, text] :
       {std::pair{std::uint8_t{2}, "a library"}, std::pair{std::uint8_t{3}, "a compiled object"}}) {
    test::CraftedBundle crafted(
        test::must_write(bundle_of({made_for(device, ptx("sm_90", "9.0"))})));
    crafted.set_u8(SectionKind::entry, 0, k_entry_type_field, type);
    const BundleReader bundle = test::must_open(crafted.build());
    EXPECT_THAT(ranked(bundle, device), IsEmpty());
    EXPECT_THAT(
        reasons(explained(bundle, device)),
        ElementsAre(fmt::format("contains {}, but this device requires an executable", text)));
  }
}

TEST(CandidateRanking, OffersNothingOfAnotherAddressSize) {
  const BundleReader bundle = test::must_open(
      test::must_write(bundle_of({made_offline("nvptx:sm_50", ptx("sm_50", "4.0", 32))})));
  DeviceIdentity device = test::nvidia_identity("sm_90");
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  EXPECT_THAT(reasons(explained(bundle, device)),
              ElementsAre("made for 32-bit addresses, but this device has 64-bit addresses"));
  device.address_bits = 32;
  EXPECT_EQ(ranked(bundle, device).size(), 1U);
}

TEST(CandidateRanking, FindsNothingInAGroupWithoutEntries) {
  const BundleReader bundle = test::must_open(test::must_write(bundle_of({})));
  EXPECT_THAT(ranked(bundle, test::nvidia_identity("sm_90")), IsEmpty());
  EXPECT_THAT(explained(bundle, test::nvidia_identity("sm_90")), IsEmpty());
}

TEST(CandidateRanking, PrefersProcessorsToGenericTargetsOnAmd) {
  base::Bytes generic = real_binary("gfx1030.v4.co");
  generic[8] = std::byte{4};     // code object version 6
  generic[48] = std::byte{0x53}; // gfx10-3-generic
  generic[51] = std::byte{1};
  const BundleReader bundle = test::must_open(test::must_write(bundle_of({
      made_offline("amdgcn:gfx10-3-generic", generic),
      made_offline("amdgcn:gfx1030", real_binary("gfx1030.v4.co")),
      made_offline("amdgcn:gfx906", real_binary("gfx906.v3.co")),
  })));
  DeviceIdentity device = of_platform("AMD Accelerated Parallel Processing", "3625.0");
  device.architecture = "gfx1030";
  EXPECT_THAT(reasons(ranked(bundle, device)),
              ElementsAre("AMD code object gfx1030 runs on gfx1030",
                          "AMD code object gfx10-3-generic runs on gfx1030"));
}

TEST(CandidateRanking, FindsIntelBinariesOfAProductFamily) {
  const BundleReader bundle = test::must_open(
      test::must_write(bundle_of({made_offline("intel:tgllp", real_binary("tgllp.zebin"))})));
  DeviceIdentity device = of_platform("Intel(R) OpenCL Graphics", "25.13");
  device.architecture = "12.0.0";
  EXPECT_THAT(reasons(ranked(bundle, device)),
              ElementsAre("Intel zebin of product family 29 runs on IP version 12.0.0"));
  device.architecture = "12.1.0";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
}

// The same bundle as from `oclcc --target amdgcn:… --target intel:… --target nvptx:… --target
// spirv:…`.
BundleReader bundle_for_four_vendors() {
  return test::must_open(test::must_write(bundle_of({
      made_offline("amdgcn:gfx90a:xnack-", real_binary("gfx90a-no-xnack.v4.co")),
      made_offline("amdgcn:gfx1030", real_binary("gfx1030.v4.co")),
      made_offline("intel:tgllp", real_binary("tgllp.zebin")),
      made_offline("nvptx:sm_50", ptx("sm_50", "6.0")),
      made_offline("spirv:1.2", real_binary("kernel.spv")),
  })));
}

std::vector<std::string> reasons_on(const BundleReader& bundle, DeviceIdentity device,
                                    const std::string& architecture) {
  device.architecture = architecture;
  return reasons(ranked(bundle, device));
}

TEST(CandidateRanking, OffersAmdsDevicesTheCodeObjectOfTheirTargetId) {
  const BundleReader bundle = bundle_for_four_vendors();
  const DeviceIdentity amd = of_platform("AMD Accelerated Parallel Processing", "3452.0");
  EXPECT_THAT(reasons_on(bundle, amd, "gfx90a:sramecc+:xnack-"),
              ElementsAre("AMD code object gfx90a:xnack- runs on gfx90a:sramecc+:xnack-"));
  EXPECT_THAT(reasons_on(bundle, amd, "gfx90a:sramecc+:xnack+"), IsEmpty());
  EXPECT_THAT(reasons_on(bundle, amd, "gfx1030"),
              ElementsAre("AMD code object gfx1030 runs on gfx1030"));
  EXPECT_THAT(reasons_on(bundle, amd, "gfx1031"), IsEmpty());
}

TEST(CandidateRanking, OffersIntelsDevicesTheZebinOfTheirProduct) {
  const BundleReader bundle = bundle_for_four_vendors();
  const DeviceIdentity intel = of_platform("Intel(R) OpenCL HD Graphics", "22.43.24595.41");
  EXPECT_THAT(reasons_on(bundle, intel, "12.0.0"),
              ElementsAre("Intel zebin of product family 29 runs on IP version 12.0.0"));
  EXPECT_THAT(reasons_on(bundle, intel, "9.0.9"), IsEmpty());
  EXPECT_THAT(reasons_on(bundle, intel, "12.55.8"), IsEmpty()); // dg2
  EXPECT_THAT(reasons_on(bundle, intel, ""), IsEmpty());
}

TEST(CandidateRanking, NeverOffersAFormatOfAnotherVendor) {
  const BundleReader bundle = bundle_for_four_vendors();
  for (const char* platform :
       {"rusticl", "Portable Computing Language", "Oclgrind", "Clover", "Intel(R) OpenCL"}) {
    for (const char* architecture : {"gfx90a:sramecc+:xnack-", "gfx1030", "sm_90"}) {
      EXPECT_THAT(reasons_on(bundle, of_platform(platform, "1.0"), architecture), IsEmpty())
          << platform << " " << architecture;
    }
  }
  EXPECT_THAT(reasons_on(bundle, test::nvidia_identity("sm_90"), "sm_90"),
              ElementsAre(testing::HasSubstr("PTX 6.0 for sm_50")));
}

// ---- Devices that a name and a driver identify --------------------------------------------------

DeviceIdentity phone(std::string_view name, std::string_view driver, std::string_view version) {
  DeviceIdentity identity = test::unknown_identity(std::string(name));
  identity.driver_version = driver;
  identity.device_version = version;
  return identity;
}

const DeviceIdentity k_adreno =
    phone("QUALCOMM Adreno(TM)",
          "OpenCL 3.0 QUALCOMM build: commit #1 Date: 01/01/24 Compiler E031.45.02.16",
          "OpenCL 3.0 Adreno(TM) 740");
const DeviceIdentity k_mali = phone("Mali-G78", "3.0", "OpenCL 3.0 v1.r32p1-01eac0.0123abcd");

format::BundleInput for_phones(unsigned host_bits) {
  return bundle_of({
      made_for(short_identity("Adreno(TM) 740", "E031.45.02.16", host_bits),
               test::bytes_of("of Adreno")),
      made_for(short_identity("Mali-G78", "v1.r32p1-01eac0.0123abcd", host_bits),
               test::bytes_of("of Mali")),
  });
}

TEST(CandidateRanking, OffersAPhoneABinaryThatNamesItsGpuAndCompiler) {
  const BundleReader bundle = test::must_open(test::must_write(for_phones(8 * sizeof(void*))));
  for (const DeviceIdentity& device : {k_adreno, k_mali}) {
    const std::vector<Candidate> candidates = ranked(bundle, device);
    ASSERT_EQ(candidates.size(), 1U) << device.device_name;
    EXPECT_EQ(candidates.front().rule, Rule::exact_identity);
    EXPECT_EQ(candidates.front().reason, "made for this device");
  }
}

TEST(CandidateRanking, OffersAPhoneNoBinaryOfAnotherGpuCompilerOrHost) {
  const BundleReader bundle = test::must_open(test::must_write(for_phones(8 * sizeof(void*))));
  DeviceIdentity device = k_adreno;
  device.device_version = "OpenCL 3.0 Adreno(TM) 750";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  device = k_adreno;
  device.driver_version += ".1";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  EXPECT_THAT(reasons(explained(bundle, device)),
              Contains("matches only the device and driver that it was made for: driver version "
                       "'E031.45.02.16' there, 'E031.45.02.16.1' here"));
  device = k_mali;
  device.device_version += "ef";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  const BundleReader other_host =
      test::must_open(test::must_write(for_phones(sizeof(void*) == 8 ? 32 : 64)));
  EXPECT_THAT(ranked(other_host, k_adreno), IsEmpty());
  EXPECT_THAT(ranked(other_host, k_mali), IsEmpty());
}

// The entry of a whole series comes behind those for the GPU itself, and only in its own series.
TEST(CandidateRanking, OffersAPhoneABinaryForItsSeriesOnlyWhereTheEntryNamesTheSeries) {
  const auto entry = [](std::string_view name, std::string_view driver, std::string_view bytes) {
    return made_for(short_identity(name, driver, 8 * sizeof(void*)), test::bytes_of(bytes));
  };
  const BundleReader bundle = test::must_open(test::must_write(
      bundle_of({entry("Adreno(TM) 7xx", "E031.45.02.16", "of the series"),
                 entry("Adreno(TM) 740", "E031.45.02.16", "of the GPU"),
                 entry("Mali-G6xx", "v1.r32p1-01eac0.0123abcd", "of another series")})));
  const std::vector<Candidate> candidates = ranked(bundle, k_adreno);
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].reason, "made for this device");
  EXPECT_FALSE(candidates[0].is_of_series);
  EXPECT_EQ(candidates[1].rule, Rule::compatible);
  EXPECT_EQ(candidates[1].turn, Turn::after_user_cache);
  EXPECT_EQ(candidates[1].reason,
            "made for the series 'Adreno(TM) 7xx', and this device is 'Adreno(TM) 740'");
  EXPECT_TRUE(candidates[1].is_of_series);
  DeviceIdentity device = k_adreno;
  device.device_version = "OpenCL 3.0 Adreno(TM) 750";
  EXPECT_EQ(ranked(bundle, device).size(), 1U);
  device.device_version = "OpenCL 3.0 Adreno(TM) 830";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  device = k_adreno;
  device.driver_version += ".1";
  EXPECT_THAT(ranked(bundle, device), IsEmpty());
  EXPECT_THAT(ranked(bundle, k_mali), IsEmpty());
}

// A binary of another version makes PoCL crash: only the whole identity counts.
TEST(CandidateRanking, ANameAndADriverIdentifyNoDeviceOfAFamilyWithRules) {
  DeviceIdentity pocl = of_platform("Portable Computing Language", "3.1");
  const BundleReader bundle = test::must_open(test::must_write(bundle_of(
      {made_for(short_identity(pocl.device_name, "3.1", 8 * sizeof(void*)), poclbin("a"))})));
  EXPECT_THAT(ranked(bundle, pocl), IsEmpty());
  pocl.platform_name = "Another Platform";
  EXPECT_EQ(ranked(bundle, pocl).size(), 1U);
}

} // namespace
} // namespace clbin::matching
