#include "model/phone_gpu.hpp"
#include "support/bundle_samples.hpp"
#include "support/sample_identities.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace clbin::format {
namespace {

DeviceIdentity sample_identity() {
  DeviceIdentity identity;
  identity.platform_name = "Portable Computing Language";
  identity.platform_version = "OpenCL 3.0 PoCL 3.1, LLVM 14.0.6";
  identity.vendor = "AuthenticAMD";
  identity.device_name = "pthread-AMD EPYC";
  identity.vendor_id = 27902;
  identity.driver_version = "3.1";
  identity.device_version = "OpenCL 3.0 pocl HSTR: pthread";
  identity.opencl_c_versions = {"OpenCL C 1.2 pocl", "OpenCL C:3.0.0"};
  identity.il_versions = {"SPIR-V_1.0", "SPIR-V_1.2"};
  identity.address_bits = 64;
  identity.architecture = "znver3";
  return identity;
}

// Written with ByteWriter as clbin(5), TARGET, specifies. Detects code that no longer matches the
// manual page.
TEST(IdentityDigest, IsTheOneOfTheManualPage) {
  const DeviceIdentity identity = sample_identity();
  base::ByteWriter writer;
  const auto text = [&writer](std::string_view value) {
    writer.write_u64(value.size());
    writer.write_bytes(base::as_bytes(value));
  };
  text("clbin-identity-1");
  text("Portable Computing Language");
  text("OpenCL 3.0 PoCL 3.1, LLVM 14.0.6");
  text("AuthenticAMD");
  text("pthread-AMD EPYC");
  writer.write_u64(27902);
  text("3.1");
  text("OpenCL 3.0 pocl HSTR: pthread");
  writer.write_u64(2);
  text("OpenCL C 1.2 pocl");
  text("OpenCL C:3.0.0");
  writer.write_u64(2);
  text("SPIR-V_1.0");
  text("SPIR-V_1.2");
  writer.write_u64(64);
  text("znver3");
  EXPECT_EQ(identity_digest(identity), base::digest_of(writer.view()));
}

TEST(IdentityDigest, ChangesWithEveryField) {
  const std::vector<std::function<void(DeviceIdentity&)>> changes{
      [](DeviceIdentity& identity) { identity.platform_name += "x"; },
      [](DeviceIdentity& identity) { identity.platform_version += "x"; },
      [](DeviceIdentity& identity) { identity.vendor += "x"; },
      [](DeviceIdentity& identity) { identity.device_name += "x"; },
      [](DeviceIdentity& identity) { identity.vendor_id += 1; },
      [](DeviceIdentity& identity) { identity.driver_version += "x"; },
      [](DeviceIdentity& identity) { identity.device_version += "x"; },
      [](DeviceIdentity& identity) { identity.opencl_c_versions.pop_back(); },
      [](DeviceIdentity& identity) { identity.opencl_c_versions.push_back(""); },
      [](DeviceIdentity& identity) {
        std::swap(identity.opencl_c_versions.front(), identity.opencl_c_versions.back());
      },
      [](DeviceIdentity& identity) { identity.il_versions.clear(); },
      [](DeviceIdentity& identity) { identity.address_bits = 32; },
      [](DeviceIdentity& identity) { identity.architecture += "x"; },
      // The same bytes, divided between other fields.
      [](DeviceIdentity& identity) {
        identity.device_name = identity.vendor.back() + identity.device_name;
        identity.vendor.pop_back();
      },
      [](DeviceIdentity& identity) {
        identity.il_versions.insert(identity.il_versions.begin(),
                                    identity.opencl_c_versions.back());
        identity.opencl_c_versions.pop_back();
      },
  };
  std::set<base::Digest> digests{identity_digest(sample_identity()), identity_digest({})};
  for (const auto& change : changes) {
    DeviceIdentity identity = sample_identity();
    change(identity);
    digests.insert(identity_digest(identity));
  }
  EXPECT_EQ(digests.size(), changes.size() + 2);
}

TEST(TargetDigest, OfAnInstalledDeviceIsThatOfItsIdentity) {
  Target target;
  target.identity = sample_identity();
  EXPECT_EQ(target_digest(target), identity_digest(sample_identity()));
}

TEST(TargetDigest, OfAnOfflineTargetIsThatOfItsSpec) {
  Target target;
  target.origin = TargetOrigin::offline;
  target.spec = "nvptx:sm_70";
  base::Hasher hasher;
  hasher.add_field("clbin-offline-target-1");
  hasher.add_field("nvptx:sm_70");
  EXPECT_EQ(target_digest(target), hasher.finish());
  Target other = target;
  other.spec = "nvptx:sm_75";
  EXPECT_NE(target_digest(other), target_digest(target));
}

DeviceFamily family_of_platform(std::string_view platform_name, std::string_view vendor) {
  DeviceIdentity identity;
  identity.platform_name = platform_name;
  identity.vendor = vendor;
  return device_family(identity);
}

TEST(DeviceFamily, IsToldByThePlatform) {
  EXPECT_EQ(family_of_platform("NVIDIA CUDA", "NVIDIA Corporation"), DeviceFamily::nvidia);
  EXPECT_EQ(family_of_platform("AMD Accelerated Parallel Processing", "x"), DeviceFamily::amd);
  EXPECT_EQ(family_of_platform("Intel(R) OpenCL Graphics", "Intel(R) Corporation"),
            DeviceFamily::intel);
  EXPECT_EQ(family_of_platform("Intel(R) OpenCL HD Graphics", "x"), DeviceFamily::intel);
  EXPECT_EQ(family_of_platform("Portable Computing Language", "AuthenticAMD"), DeviceFamily::pocl);
  EXPECT_EQ(family_of_platform("rusticl", "Mesa/X.org"), DeviceFamily::rusticl);
  EXPECT_EQ(family_of_platform("Oclgrind", "University of Bristol"), DeviceFamily::oclgrind);
  EXPECT_EQ(family_of_platform("clvk", "x"), DeviceFamily::clvk);
}

TEST(DeviceFamily, IsThatOfTheDriverAndNotOfTheHardware) {
  EXPECT_EQ(family_of_platform("Portable Computing Language", "NVIDIA Corporation"),
            DeviceFamily::pocl);
  EXPECT_EQ(family_of_platform("rusticl", "AMD"), DeviceFamily::rusticl);
}

TEST(DeviceFamily, IsUnknownForAnyOtherPlatform) {
  for (const std::string_view name :
       {"", "Apple", "Clover", "Intel Gen OCL Driver", "NVIDIA", "NVIDIA CUDA 2",
        "Intel(R) FPGA Emulation Platform for OpenCL(TM)"}) {
    EXPECT_EQ(family_of_platform(name, "NVIDIA Corporation"), DeviceFamily::unknown) << name;
  }
}

TEST(DeviceFamily, HasANameForEveryNumber) {
  std::set<std::string_view> names;
  for (std::uint16_t number = 0; number <= 8; ++number) {
    names.insert(to_string(static_cast<DeviceFamily>(number)));
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(to_string(DeviceFamily::oclgrind), "oclgrind");
  EXPECT_EQ(to_string(static_cast<DeviceFamily>(9)), "unknown");
  EXPECT_EQ(to_string(static_cast<DeviceFamily>(0xffff)), "unknown");
}

TEST(TargetFamily, OfAnOfflineTargetIsToldByItsSpec) {
  const auto family_of_spec = [](std::string_view spec) {
    Target target;
    target.origin = TargetOrigin::offline;
    target.spec = spec;
    return target_family(target);
  };
  EXPECT_EQ(family_of_spec("nvptx:sm_70"), DeviceFamily::nvidia);
  EXPECT_EQ(family_of_spec("cubin:sm_90"), DeviceFamily::nvidia);
  EXPECT_EQ(family_of_spec("amdgcn:gfx90a"), DeviceFamily::amd);
  EXPECT_EQ(family_of_spec("intel:tgllp"), DeviceFamily::intel);
  EXPECT_EQ(family_of_spec("spirv:1.2"), DeviceFamily::spirv);
  EXPECT_EQ(family_of_spec("nvptx2:sm_70"), DeviceFamily::unknown);
  EXPECT_EQ(family_of_spec(""), DeviceFamily::unknown);
}

TEST(TargetFamily, OfAnInstalledDeviceIsThatOfItsPlatform) {
  Target target;
  target.identity = sample_identity();
  EXPECT_EQ(target_family(target), DeviceFamily::pocl);
}

TargetFacts facts_of(std::string_view spec, std::string_view architecture) {
  return target_facts(test::sample_offline_target(spec, architecture));
}

TEST(TargetFacts, ReadsNvidiaArchitectures) {
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").family, DeviceFamily::nvidia);
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").architecture, 70U);
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").features, 0U);
  EXPECT_EQ(facts_of("cubin:sm_90a", "sm_90a").architecture, 90U);
  EXPECT_EQ(facts_of("cubin:sm_90a", "sm_90a").features, static_cast<std::uint32_t>('a'));
}

TEST(TargetFacts, ReadsAmdArchitectures) {
  const TargetFacts facts = facts_of("amdgcn:gfx90a", "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(facts.family, DeviceFamily::amd);
  EXPECT_EQ(facts.architecture, 0x90aU);
  EXPECT_EQ(facts.features, 3U | (2U << 2U));
  EXPECT_EQ(facts_of("amdgcn:gfx1030", "gfx1030").features, 0U);
  EXPECT_EQ(facts_of("amdgcn:gfx906", "gfx906:xnack+").features, 3U << 2U);
}

TEST(TargetFacts, GivesZeroForWhatDoesNotParse) {
  EXPECT_EQ(target_facts(test::sample_device("cpu")).architecture, 0U);
  EXPECT_EQ(facts_of("x", "sm_").architecture, 0U);
  EXPECT_EQ(facts_of("x", "sm_99999999999").architecture, 0U);
  EXPECT_EQ(facts_of("x", "gfx").architecture, 0U);
  EXPECT_EQ(facts_of("x", "").architecture, 0U);
  EXPECT_EQ(facts_of("x", "12.0").architecture, 0U);
  EXPECT_EQ(facts_of("x", "53").architecture, 53U);
}

// ---- Phones
// --------------------------------------------------------------------------------------

TEST(PhoneGpuTest, IsToldByTheNameOrTheVersionOnAPlatformOfItsVendor) {
  EXPECT_EQ(phone_gpu(test::adreno_identity()), PhoneGpu::adreno);
  EXPECT_EQ(phone_gpu(test::mali_identity()), PhoneGpu::mali);
  EXPECT_EQ(phone_gpu("Immortalis-G715"), PhoneGpu::mali);
  DeviceIdentity old = test::unknown_identity("QUALCOMM GPU");
  old.device_version = "OpenCL 2.0 Adreno(TM) 640";
  EXPECT_EQ(phone_gpu(old), PhoneGpu::adreno);
  EXPECT_EQ(phone_gpu(test::unknown_identity("PowerVR B-Series BXE-4-32")), PhoneGpu::none);
  DeviceIdentity rusticl = test::mali_identity();
  rusticl.platform_name = "rusticl";
  EXPECT_EQ(phone_gpu(rusticl), PhoneGpu::none);
}

} // namespace
} // namespace clbin::format
