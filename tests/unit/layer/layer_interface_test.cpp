#include "layer/layer.hpp"

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string_view>

extern "C" CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info, std::size_t, void*,
                                                          std::size_t*);

namespace clbin::layer {
namespace {

template <typename Result, typename... Arguments>
void set_stub(Result(CL_API_CALL*& slot)(Arguments...)) {
  slot = [](Arguments...) -> Result { return {}; };
}

// Functions of which the layer requires some; clFinish is none of its concerns.
cl_icd_dispatch some_functions() {
  cl_icd_dispatch table{};
  set_stub(table.clGetPlatformIDs);
  set_stub(table.clGetPlatformInfo);
  set_stub(table.clGetDeviceIDs);
  set_stub(table.clGetDeviceInfo);
  set_stub(table.clCreateContext);
  set_stub(table.clReleaseContext);
  set_stub(table.clGetContextInfo);
  set_stub(table.clCreateProgramWithSource);
  set_stub(table.clCreateProgramWithBinary);
  set_stub(table.clRetainProgram);
  set_stub(table.clReleaseProgram);
  set_stub(table.clBuildProgram);
  set_stub(table.clGetProgramInfo);
  set_stub(table.clGetProgramBuildInfo);
  set_stub(table.clCreateKernel);
  set_stub(table.clReleaseKernel);
  set_stub(table.clGetKernelInfo);
  set_stub(table.clGetKernelWorkGroupInfo);
  set_stub(table.clEnqueueNDRangeKernel);
  set_stub(table.clFinish);
  return table;
}

constexpr cl_uint k_functions = sizeof(cl_icd_dispatch) / sizeof(void*);

struct LayerInterface : ::testing::Test {
  ~LayerInterface() override { (void)clDeinitLayer(); }

  const cl_icd_dispatch* init(cache::Rights rights = cache::Rights::plain,
                              cl_uint count = k_functions) {
    const cl_icd_dispatch* table = nullptr;
    EXPECT_EQ(init_layer(count, &next, &given, &table,
                         {[](const char*) { return std::nullopt; }, rights,
                          [] { return std::filesystem::path(); }}),
              CL_SUCCESS);
    return table;
  }

  cl_icd_dispatch next = some_functions();
  cl_uint given = 0;
};

TEST_F(LayerInterface, ReplacesOnlyWhatConcernsPrograms) {
  const cl_icd_dispatch* const table = init();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(given, k_functions);
  EXPECT_NE(table->clBuildProgram, next.clBuildProgram);
  EXPECT_NE(table->clGetKernelInfo, next.clGetKernelInfo);
  EXPECT_EQ(table->clFinish, next.clFinish);
  EXPECT_EQ(table->clCreateProgramWithBinary, next.clCreateProgramWithBinary);
  EXPECT_EQ(table->clGetKernelWorkGroupInfo, next.clGetKernelWorkGroupInfo);
  EXPECT_EQ(table->clEnqueueNDRangeKernel, next.clEnqueueNDRangeKernel);
}

TEST_F(LayerInterface, ReplacesNothingThatTheNextLayerLacks) {
  const cl_icd_dispatch* const table = init();
  EXPECT_EQ(table->clLinkProgram, nullptr);
  EXPECT_EQ(table->clGetExtensionFunctionAddress, nullptr);
}

TEST_F(LayerInterface, PassesEverythingOnInAProcessWithMoreRightsThanItsUser) {
  const cl_icd_dispatch* const table = init(cache::Rights::elevated);
  EXPECT_EQ(
      std::memcmp(static_cast<const void*>(table), static_cast<const void*>(&next), sizeof(next)),
      0);
}

TEST_F(LayerInterface, PassesEverythingOnIfARequiredFunctionIsMissing) {
  next.clGetProgramInfo = nullptr;
  EXPECT_EQ(init()->clBuildProgram, next.clBuildProgram);
}

TEST_F(LayerInterface, ReadsNoMoreFunctionsThanTheLoaderKnows) {
  constexpr cl_uint k_few = 30;
  const cl_icd_dispatch* const table = init(cache::Rights::plain, k_few);
  EXPECT_EQ(given, k_few);
  EXPECT_EQ(table->clGetPlatformIDs, next.clGetPlatformIDs);
  EXPECT_EQ(table->clFinish, nullptr);
}

TEST_F(LayerInterface, HandsOutAFunctionThatTheNextLayerLacks) {
  set_stub(next.clGetExtensionFunctionAddress);
  const auto* const table = init();
  EXPECT_NE(table->clGetExtensionFunctionAddress("clbinKeepNothingOf"), nullptr);
  EXPECT_EQ(table->clGetExtensionFunctionAddress("clbinKeepEverythingOf"), nullptr);
  EXPECT_EQ(table->clGetExtensionFunctionAddress("clBuildProgram"), nullptr);
  EXPECT_EQ(table->clGetExtensionFunctionAddress(nullptr), nullptr);
}

// Mode `strict` would otherwise let a driver build the program, and `serve` stores nothing.
TEST_F(LayerInterface, HandsOutThatFunctionOnlyInModesThatStorePrograms) {
  set_stub(next.clGetExtensionFunctionAddress);
  for (const char* const mode : {"cache", "record", "strict"}) {
    const auto variable = [mode](const char* name) -> std::optional<std::string> {
      const std::string_view wanted(name);
      return wanted == "CLBIN_LAYER_MODE"     ? std::optional<std::string>(mode)
             : wanted == "CLBIN_LAYER_RECORD" ? std::optional<std::string>("/tmp")
                                              : std::nullopt;
    };
    const cl_icd_dispatch* table = nullptr;
    ASSERT_EQ(init_layer(k_functions, &next, &given, &table,
                         {variable, cache::Rights::plain, [] { return std::filesystem::path(); }}),
              CL_SUCCESS);
    EXPECT_EQ(table->clGetExtensionFunctionAddress("clbinKeepNothingOf") == nullptr,
              std::string_view(mode) == "strict")
        << mode;
    (void)clDeinitLayer();
  }
}

TEST_F(LayerInterface, RejectsNullPointers) {
  const cl_icd_dispatch* table = nullptr;
  EXPECT_EQ(clInitLayer(k_functions, nullptr, &given, &table), CL_INVALID_VALUE);
  EXPECT_EQ(clInitLayer(k_functions, &next, nullptr, &table), CL_INVALID_VALUE);
  EXPECT_EQ(clInitLayer(k_functions, &next, &given, nullptr), CL_INVALID_VALUE);
}

TEST_F(LayerInterface, OffersBothVersionsOfTheInterface) {
  const cl_icd_dispatch* table = nullptr;
  EXPECT_EQ(clInitLayer(k_functions, &next, &given, &table), CL_SUCCESS);
  EXPECT_NE(table->clBuildProgram, next.clBuildProgram);
  EXPECT_EQ(clDeinitLayer(), CL_SUCCESS);
  const cl_layer_properties none[] = {CL_LAYER_PROPERTIES_LIST_END};
  EXPECT_EQ(clInitLayerWithProperties(k_functions, &next, &given, &table, none), CL_SUCCESS);
  EXPECT_EQ(clDeinitLayer(), CL_SUCCESS);
  EXPECT_EQ(clInitLayerWithProperties(k_functions, &next, &given, &table, nullptr), CL_SUCCESS);
  const cl_layer_properties unknown[] = {0x1234, 1, CL_LAYER_PROPERTIES_LIST_END};
  EXPECT_EQ(clInitLayerWithProperties(k_functions, &next, &given, &table, unknown),
            CL_INVALID_PROPERTY);
}

TEST_F(LayerInterface, ServesOneLoaderOfAProcess) {
  // Of the program itself, and therefore loaded as long as the process runs.
  static const cl_icd_dispatch k_first = some_functions();
  static const cl_icd_dispatch k_second = some_functions();
  const cl_icd_dispatch* table = nullptr;
  ASSERT_EQ(clInitLayer(k_functions, &k_first, &given, &table), CL_SUCCESS);
  EXPECT_NE(table->clBuildProgram, k_first.clBuildProgram);
  const cl_icd_dispatch* second = nullptr;
  ASSERT_EQ(clInitLayer(k_functions, &k_second, &given, &second), CL_SUCCESS);
  EXPECT_EQ(second->clBuildProgram, k_second.clBuildProgram);
}

TEST_F(LayerInterface, TellsItsNameAndVersion) {
  cl_layer_api_version version = 0;
  std::size_t size = 0;
  EXPECT_EQ(clGetLayerInfo(CL_LAYER_API_VERSION, sizeof(version), &version, &size), CL_SUCCESS);
  EXPECT_EQ(version, 100U);
  EXPECT_EQ(size, sizeof(version));
  char name[64] = {};
  EXPECT_EQ(clGetLayerInfo(CL_LAYER_NAME, sizeof(name), static_cast<void*>(name), &size),
            CL_SUCCESS);
  EXPECT_STREQ(static_cast<const char*>(name), "libclbin_layer");
  EXPECT_EQ(clGetLayerInfo(CL_LAYER_NAME, 1, static_cast<void*>(name), nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(clGetLayerInfo(0x7777, sizeof(version), &version, nullptr), CL_INVALID_VALUE);
}

} // namespace
} // namespace clbin::layer
