// Tests clbin.hpp alone, without an OpenCL header before it.
#include "clbin/clbin.hpp"

#include "base/byte_codec.hpp"
#include "support/sample_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <type_traits>

namespace clbin {
namespace {

using ::testing::ElementsAre;

static_assert(std::is_nothrow_move_constructible_v<Bundle>);
static_assert(!std::is_copy_constructible_v<Bundle>);

Identity nvidia() {
  Identity identity;
  identity.platform_name = "NVIDIA CUDA";
  identity.vendor = "NVIDIA Corporation";
  identity.vendor_id = 0x10de;
  identity.device_name = "some GPU";
  identity.driver_version = "580.159.03";
  identity.device_version = "OpenCL 3.0 CUDA";
  identity.opencl_c_versions = {"OpenCL C:1.2.0", "OpenCL C:3.0.0"};
  identity.architecture = "sm_90";
  identity.address_bits = 64;
  return identity;
}

TEST(ClbinHpp, ThrowsStatusAndMessage) {
  try {
    (void)Bundle::open("/nowhere/x.clbin");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_FILE_NOT_FOUND);
    EXPECT_EQ(error.status_name(), "CLBIN_ERROR_FILE_NOT_FOUND");
    EXPECT_STREQ(error.what(), "cannot open '/nowhere/x.clbin': No such file or directory");
  }
}

TEST(ClbinHpp, ListsGroupsEntriesAndKernels) {
  const base::Bytes bytes = test::sample_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  bundle.verify();
  EXPECT_TRUE(bundle.is_current());
  const std::vector<Group> groups = bundle.list();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].program, "saxpy");
  EXPECT_EQ(groups[0].variant, "default");
  EXPECT_TRUE(groups[0].has_source);
  ASSERT_EQ(groups[0].entries.size(), 2U);
  const Entry& own = groups[0].entries[groups[0].entries[0].target_spec.empty() ? 0 : 1];
  EXPECT_EQ(own.device, "d");
  ASSERT_EQ(own.kernels.size(), 1U);
  EXPECT_EQ(own.kernels[0].argument_count, 2U);
  ASSERT_EQ(own.kernels[0].arguments.size(), 2U);
  EXPECT_EQ(own.kernels[0].arguments[0].name, "alpha");
  EXPECT_EQ(own.kernels[0].arguments[0].type, "float");
  EXPECT_THAT(own.kernels[0].required_work_group_size, ElementsAre(16, 4, 1));
}

TEST(ClbinHpp, ReadsThroughAFunctionAlsoAfterTheBundleWasMoved) {
  const base::Bytes bytes = test::sample_bundle();
  int calls = 0;
  const auto read = [&](std::uint64_t offset, void* buffer, std::size_t size) {
    ++calls;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), size,
                static_cast<std::byte*>(buffer));
    return 0;
  };
  Bundle first = Bundle::from_callback(read, bytes.size());
  const Bundle bundle = std::move(first);
  const int calls_to_open = calls;
  bundle.verify();
  EXPECT_GT(calls, calls_to_open);
  EXPECT_THROW((void)Bundle::from_callback([](auto, auto*, auto) { return 1; }, bytes.size()),
               Error);
}

TEST(ClbinHpp, ListsAsJson) {
  base::Bytes bytes = test::sample_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  const std::string document = bundle.list_json();
  EXPECT_NE(document.find("\"program\": \"saxpy\""), std::string::npos);
  std::string parts;
  bundle.list_json([&](std::string_view part) {
    parts += part;
    return 0;
  });
  EXPECT_EQ(parts, document);
  try {
    bundle.list_json([](std::string_view) { return 1; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_FILE_WRITE);
  }
  bytes[bytes.size() - 9] ^= std::byte{1};
  try {
    (void)bundle.list_json();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_DIGEST_MISMATCH);
  }
}

TEST(ClbinHpp, SelectsWithoutOpenCl) {
  const base::Bytes bytes = test::sample_bundle();
  Bundle first = Bundle::from_memory(bytes);
  const Bundle bundle = std::move(first);
  const Selection selection = bundle.select(nvidia(), "saxpy");
  EXPECT_EQ(selection.rule(), "compatible");
  EXPECT_EQ(selection.rule_number(), Rule::compatible);
  EXPECT_EQ(selection.format(), "PTX 7.5 for sm_70");
  EXPECT_EQ(selection.options(), "-DV=1");
  EXPECT_THAT(selection.kernels(), ElementsAre("saxpy"));
  EXPECT_TRUE(base::as_text(selection.data()).starts_with("//\n.version 7.5\n"));
  try {
    (void)bundle.select(nvidia(), "saxpy", "fast");
    FAIL() << "selected";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_NO_MATCHING_ENTRY);
  }
}

} // namespace
} // namespace clbin
