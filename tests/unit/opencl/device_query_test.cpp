#include "opencl/device_query.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_identities.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

format::DeviceIdentity identity_of(const test::FakeDriver& driver, cl_device_id device) {
  const auto identity = query_identity(driver.functions(), device);
  EXPECT_TRUE(identity.has_value()) << identity.error().message;
  return identity.value_or(format::DeviceIdentity());
}

std::string bytes_of(cl_uint value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

TEST(DeviceQuery, GivesEveryFieldAsTheDriverDoes) {
  format::DeviceIdentity expected = test::nvidia_identity("sm_90");
  expected.device_version = "OpenCL 2.1 CUDA";
  expected.il_versions = {"SPIR-V_1.0", "SPIR-V_1.2"};
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(expected);
  EXPECT_EQ(identity_of(driver, device), expected);
}

TEST(DeviceQuery, ListsAllOpenClCVersionsOfOpenCl3) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::nvidia_identity("sm_90"));
  std::string values;
  for (const cl_version version :
       {cl_version{CL_MAKE_VERSION(1, 2, 0)}, cl_version{CL_MAKE_VERSION(3, 0, 1)}}) {
    cl_name_version value{};
    value.version = version;
    std::strcpy(value.name, "OpenCL C");
    values.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  driver.script_device_value(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS, values + "tail");
  EXPECT_THAT(identity_of(driver, device).opencl_c_versions,
              ElementsAre("OpenCL C:1.2.0", "OpenCL C:3.0.1"));
}

TEST(DeviceQuery, TakesTheOneOpenClCVersionWhereTheListIsMissing) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::nvidia_identity("sm_90"));
  EXPECT_THAT(identity_of(driver, device).opencl_c_versions, ElementsAre("OpenCL C 1.2 "));
}

std::vector<std::string> capability_names(const format::SpirvFeatures& features) {
  std::vector<std::string> names;
  std::ranges::transform(features.capabilities, std::back_inserter(names),
                         format::spirv_capability_name);
  return names;
}

TEST(SpirvFeaturesOfADevice, AreThoseThatItLists) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  const std::array<const char*, 2> extensions = {"SPV_KHR_linkonce_odr", "SPV_INTEL_subgroups"};
  const std::array<const char*, 1> sets = {"OpenCL.std"};
  const auto bytes = [](const auto& items) {
    return std::string(reinterpret_cast<const char*>(items.data()), sizeof(items));
  };
  driver.script_device_value(device, CL_DEVICE_EXTENSIONS, "cl_khr_fp64 cl_khr_spirv_queries");
  driver.script_device_value(device, 0x12b9, bytes(sets));
  driver.script_device_value(device, 0x12ba, bytes(extensions));
  driver.script_device_value(device, 0x12bb, bytes_of(6) + bytes_of(9));
  const auto features = query_spirv_features(driver.functions(), device);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_THAT(capability_names(*features), ElementsAre("Kernel", "Float16"));
  EXPECT_THAT(features->extensions, ElementsAre("SPV_KHR_linkonce_odr", "SPV_INTEL_subgroups"));
  EXPECT_THAT(features->instruction_sets, ElementsAre("OpenCL.std"));
}

TEST(SpirvFeaturesOfADevice, OfOpenCl31AreListedWithoutTheExtension) {
  test::FakeDriver driver;
  format::DeviceIdentity identity = test::unknown_identity("d");
  identity.device_version = "OpenCL 3.1 test";
  cl_device_id device = driver.add_device(identity);
  driver.script_device_value(device, 0x12bb, bytes_of(6));
  const auto features = query_spirv_features(driver.functions(), device);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_THAT(capability_names(*features), ElementsAre("Kernel"));
}

TEST(SpirvFeaturesOfADevice, IncludeAtomicFunctionsOfFloatsThatItHas) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_EXTENSIONS, "cl_ext_float_atomics");
  const auto features = query_spirv_features(driver.functions(), device);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_THAT(capability_names(*features),
              ::testing::IsSupersetOf({"AtomicFloat32AddEXT", "AtomicFloat64MinMaxEXT"}));
  EXPECT_THAT(features->extensions, ::testing::Contains("SPV_EXT_shader_atomic_float_add"));
}

TEST(SpirvFeaturesOfADevice, OtherwiseFollowFromWhatItHas) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_EXTENSIONS,
                             "cl_khr_fp64 cl_khr_subgroup_rotate cl_khr_spirv_linkonce_odr");
  driver.script_device_value(device, CL_DEVICE_IMAGE_SUPPORT, bytes_of(0));
  driver.script_device_value(device, CL_DEVICE_PIPE_SUPPORT, bytes_of(1));
  const auto features = query_spirv_features(driver.functions(), device);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_THAT(capability_names(*features),
              ElementsAre("Addresses", "Linkage", "Kernel", "Vector16", "Float16Buffer", "Int64",
                          "Groups", "Int16", "Int8", "Float64", "Pipes", "PipeStorage",
                          "GroupNonUniformRotateKHR"));
  EXPECT_THAT(features->extensions, ElementsAre("SPV_KHR_subgroup_rotate", "SPV_KHR_linkonce_odr"));
  EXPECT_THAT(features->instruction_sets, ElementsAre("OpenCL.std"));
}

TEST(SpirvFeaturesOfADevice, OfOpenCl2IncludeWhatOnlyOpenCl3CanQuery) {
  test::FakeDriver driver;
  format::DeviceIdentity identity = test::unknown_identity("d");
  identity.device_version = "OpenCL 2.1 test";
  cl_device_id device = driver.add_device(identity);
  const auto features = query_spirv_features(driver.functions(), device);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_THAT(capability_names(*features),
              ::testing::IsSupersetOf({"GenericPointer", "Pipes", "DeviceEnqueue"}));
}

TEST(DeviceQuery, ToleratesTextWithoutAClosingNul) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_NAME, "no end");
  EXPECT_EQ(identity_of(driver, device).device_name, "no end");
}

TEST(DeviceQuery, CutsTextAtItsFirstNul) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_NAME, std::string("short\0rubbish", 13));
  EXPECT_EQ(identity_of(driver, device).device_name, "short");
}

TEST(DeviceQuery, ToleratesEmptyText) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_VENDOR, "");
  EXPECT_EQ(identity_of(driver, device).vendor, "");
}

TEST(DeviceQuery, GivesEmptyTextForAValueThatTheDeviceDoesNotKnow) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  const auto text = device_text(driver.functions(), device, 0x7fff0001);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, "");
}

TEST(DeviceQuery, AsksAgainForTextLongerThanTheUsual) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  const std::string long_name(5000, 'x');
  driver.script_device_value(device, CL_DEVICE_NAME, long_name + '\0');
  EXPECT_EQ(identity_of(driver, device).device_name, long_name);
}

TEST(DeviceQuery, ToleratesASizeAboveWhatWasWritten) {
  test::FakeDriver fake;
  cl_device_id device = fake.add_device(test::unknown_identity("d"));
  Driver driver = fake.functions();
  driver.GetDeviceInfo = [](cl_device_id, cl_device_info, std::size_t size, void* value,
                            std::size_t* size_out) -> cl_int {
    if (value != nullptr) {
      std::memset(value, 'x', size);
    }
    if (size_out != nullptr) {
      *size_out = ~std::size_t{0};
    }
    return CL_SUCCESS;
  };
  const auto text = device_text(driver, device, CL_DEVICE_NAME);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, std::string(512, 'x'));
}

TEST(DeviceQuery, ReadsIntelsIpVersion) {
  format::DeviceIdentity identity = test::unknown_identity("Arc");
  identity.vendor_id = 0x8086;
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(identity);
  driver.script_device_value(device, 0x4250, bytes_of((12U << 22U) | (55U << 14U) | 8U));
  EXPECT_EQ(identity_of(driver, device).architecture, "12.55.8");
}

TEST(DeviceQuery, TakesAmdsTargetIdFromTheDeviceName) {
  format::DeviceIdentity identity = test::unknown_identity("gfx90a:sramecc+:xnack-");
  identity.vendor_id = 0x1002;
  test::FakeDriver driver;
  EXPECT_EQ(identity_of(driver, driver.add_device(identity)).architecture,
            "gfx90a:sramecc+:xnack-");
  identity.device_name = "AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6)";
  EXPECT_EQ(identity_of(driver, driver.add_device(identity)).architecture, "");
}

// Nothing that these drivers report differs between processes of 32 and 64 bits, whose binaries do.
TEST(DeviceQuery, NamesTheHostOfThePhonesGpus) {
  const std::string host = fmt::format("{}-bit host", 8 * sizeof(void*));
  test::FakeDriver driver;
  EXPECT_EQ(identity_of(driver, driver.add_device(test::adreno_identity())).architecture,
            "QUALCOMM Adreno(TM) 750, " + host);
  EXPECT_EQ(identity_of(driver, driver.add_device(test::mali_identity())).architecture,
            "Mali-G610 MC6 r0p0, " + host);
  format::DeviceIdentity rusticl = test::mali_identity();
  rusticl.platform_name = "rusticl";
  EXPECT_EQ(identity_of(driver, driver.add_device(rusticl)).architecture, "");
}

TEST(DeviceQuery, TakesPoclsBuildHashAsArchitecture) {
  format::DeviceIdentity identity = test::unknown_identity("cpu");
  identity.device_version = "OpenCL 1.2 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3";
  test::FakeDriver driver;
  EXPECT_EQ(identity_of(driver, driver.add_device(identity)).architecture,
            "pthread-x86_64-pc-linux-gnu-znver3");
}

// Texts of Debian's PoCL 3.1 for ARM64, which forces no processor, and of PoCL 6.0 built on the
// machine (doc/drivers.md, "PoCL").
TEST(DeviceQuery, DistinguishesTheProcessorsOfArm64) {
  format::DeviceIdentity identity = test::unknown_identity("pthread--cortex-a72");
  identity.platform_name = "Portable Computing Language";
  identity.device_version = "OpenCL 3.0 PoCL HSTR: pthread-aarch64-unknown-linux-gnu-(null)";
  test::FakeDriver driver;
  const auto big = identity_of(driver, driver.add_device(identity));
  EXPECT_EQ(big.architecture, "pthread-aarch64-unknown-linux-gnu-(null)");
  identity.device_name = "pthread--cortex-a53";
  const auto little = identity_of(driver, driver.add_device(identity));
  EXPECT_NE(format::identity_digest(little), format::identity_digest(big));

  identity.device_name = "cpu";
  identity.device_version = "OpenCL 3.0 PoCL HSTR: cpu-aarch64-unknown-linux-gnu-cortex-a72";
  const auto big_of_6 = identity_of(driver, driver.add_device(identity));
  identity.device_version = "OpenCL 3.0 PoCL HSTR: cpu-aarch64-unknown-linux-gnu-cortex-a53";
  const auto little_of_6 = identity_of(driver, driver.add_device(identity));
  EXPECT_EQ(little_of_6.architecture, "cpu-aarch64-unknown-linux-gnu-cortex-a53");
  EXPECT_NE(format::identity_digest(little_of_6), format::identity_digest(big_of_6));
}

TEST(DeviceQuery, LeavesOutTheDeviceNumberInPoclsVendorId) {
  format::DeviceIdentity identity = test::unknown_identity("cpu");
  identity.platform_name = "Portable Computing Language";
  identity.device_version = "OpenCL 1.2 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3";
  test::FakeDriver driver;
  identity.vendor_id = 0x8086;
  const auto first = identity_of(driver, driver.add_device(identity));
  identity.vendor_id = 0x8087;
  const auto second = identity_of(driver, driver.add_device(identity));
  EXPECT_EQ(first, second);
}

TEST(DeviceQuery, GivesASubDeviceTheIdentityOfItsParent) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::nvidia_identity("sm_70"));
  cl_device_id part = driver.add_sub_device(device);
  cl_device_id part_of_part = driver.add_sub_device(part);
  EXPECT_EQ(identity_of(driver, part_of_part), identity_of(driver, device));
}

TEST(DeviceQuery, RefusesADeviceThatIsItsOwnAncestor) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_value(device, CL_DEVICE_PARENT_DEVICE,
                             std::string(reinterpret_cast<const char*>(&device), sizeof(device)));
  const auto identity = query_identity(driver.functions(), device);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code, base::ErrorCode::opencl_call);
  EXPECT_THAT(identity.error().message, HasSubstr("generations of parents"));
}

TEST(DeviceQuery, NamesTheCallThatFailed) {
  test::FakeDriver driver;
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  driver.script_device_failure(device, CL_DRIVER_VERSION, CL_OUT_OF_HOST_MEMORY);
  const auto identity = query_identity(driver.functions(), device);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code, base::ErrorCode::opencl_call);
  EXPECT_EQ(identity.error().message, "clGetDeviceInfo failed: CL_OUT_OF_HOST_MEMORY (-6)");
}

TEST(ListPlatforms, GivesAnEmptyListWhereNoneIsInstalled) {
  const test::FakeDriver driver; // answers CL_PLATFORM_NOT_FOUND_KHR
  const auto platforms = list_platforms(driver.functions());
  ASSERT_TRUE(platforms.has_value()) << platforms.error().message;
  EXPECT_TRUE(platforms->empty());
}

TEST(ListDevices, ListsThoseOfOnePlatformWithoutSubDevices) {
  test::FakeDriver driver;
  cl_device_id first = driver.add_device(test::nvidia_identity("sm_70"));
  cl_device_id second = driver.add_device(test::nvidia_identity("sm_90"));
  driver.add_sub_device(second);
  driver.add_device(test::unknown_identity("elsewhere"));
  cl_platform_id platform = nullptr;
  ASSERT_EQ(driver.functions().GetDeviceInfo(first, CL_DEVICE_PLATFORM, sizeof(platform), &platform,
                                             nullptr),
            CL_SUCCESS);
  const auto devices = list_devices(driver.functions(), platform);
  ASSERT_TRUE(devices.has_value()) << devices.error().message;
  EXPECT_THAT(*devices, ElementsAre(first, second));
}

} // namespace
} // namespace clbin::opencl
