#include "opencl/device_query.hpp"
#include "opencl/driver.hpp"
#include "opencl/program_build.hpp"
#include "support/installed_devices.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

format::SourcePackage plain_source() {
  return {{"scale.cl", "scale.cl",
           "kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
           "void scale(global float* restrict values, const float factor, local int* scratch) {\n"
           "  scratch[0] = 0;\n"
           "  values[get_global_id(0)] *= factor;\n"
           "}\n"
           "kernel void add(constant int* in, global int* out) {\n"
           "  out[get_global_id(0)] += in[0] + OFFSET;\n"
           "}\n"},
          {}};
}

// A header in a sub-folder that is included twice, and includes another header.
format::SourcePackage source_with_headers() {
  return {{"twice.cl", "twice.cl",
           "#include \"sub/x.h\"\n"
           "#include \"sub/x.h\"\n"
           "#include \"y.h\"\n"
           "kernel void twice(global int* a) { a[get_global_id(0)] = f(3) + OFFSET; }\n"},
          {{"sub/x.h", "sub/x.h",
            "#ifndef X_H\n#define X_H\n#include \"y.h\"\nint f(int a) { return a + Y; }\n#endif\n"},
           {"y.h", "y.h", "#ifndef Y_H\n#define Y_H\n#define Y 4\n#endif\n"}}};
}

BuildOutcome build(const test::InstalledDevice& installed, const Context& context,
                   const format::SourcePackage& source, const std::string& options) {
  return build_from_source(installed.driver, context.get(), {installed.device}, source, options);
}

TEST(BuildFromSource, BuildsWithTheOptionsGiven) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome = build(installed, context, plain_source(), "-DOFFSET=1");
    EXPECT_EQ(outcome.code, CL_SUCCESS) << cl_error_name(outcome.code) << "\n" << outcome.log;
    EXPECT_TRUE(outcome.program);
    EXPECT_EQ(outcome.stage, "clBuildProgram");
  }
}

TEST(BuildFromSource, GivesCodeStageAndLogOfSourceThatDoesNotCompile) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome = build(installed, context, plain_source(), ""); // no OFFSET
    EXPECT_FALSE(outcome.program);
    EXPECT_EQ(outcome.code, CL_BUILD_PROGRAM_FAILURE) << cl_error_name(outcome.code);
    EXPECT_EQ(outcome.stage, "clBuildProgram");
    EXPECT_THAT(outcome.log, HasSubstr("OFFSET"));
    EXPECT_FALSE(outcome.log.empty() || outcome.log.back() == '\n' || outcome.log.back() == '\0');
  }
}

TEST(BuildFromSource, FindsHeadersInSubFoldersAndTwice) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome =
        build(installed, context, source_with_headers(), "-DOFFSET=1 -cl-kernel-arg-info");
    ASSERT_EQ(outcome.code, CL_SUCCESS) << cl_error_name(outcome.code) << "\n" << outcome.log;
    EXPECT_EQ(outcome.stage, "clLinkProgram");
    const auto names = program_kernel_names(installed.driver, outcome.program.get());
    ASSERT_TRUE(names.has_value()) << names.error().message;
    EXPECT_THAT(*names, ElementsAre("twice"));
  }
}

TEST(BuildFromSource, SendsEachOptionToTheStepThatTakesIt) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    for (const char* options :
         {"-DOFFSET=1 -cl-fast-relaxed-math", "-DOFFSET=1 -cl-denorms-are-zero -cl-mad-enable",
          "-D OFFSET=1 -cl-std=CL1.2 -cl-no-signed-zeros -w", "-DOFFSET=1 -cl-opt-disable",
          "-DOFFSET=1 -cl-finite-math-only -cl-unsafe-math-optimizations -Werror"}) {
      const BuildOutcome outcome = build(installed, context, source_with_headers(), options);
      EXPECT_EQ(outcome.code, CL_SUCCESS) << options << ": " << cl_error_name(outcome.code) << "\n"
                                          << outcome.log;
    }
  }
}

TEST(BuildFromSource, GivesTheLogOfAHeaderThatDoesNotCompile) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    format::SourcePackage source = source_with_headers();
    source.headers[0].text = "int f(int a) { return a + nonsense; }\n";
    const BuildOutcome outcome = build(installed, context, source, "-DOFFSET=1");
    EXPECT_FALSE(outcome.program);
    EXPECT_NE(outcome.code, CL_SUCCESS);
    EXPECT_EQ(outcome.stage, "clCompileProgram");
    EXPECT_THAT(outcome.log, HasSubstr("nonsense"));
  }
}

TEST(ProgramBinary, BuildsAgainFromTheBinaryThatCameOut) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    for (const auto& source : {plain_source(), source_with_headers()}) {
      SCOPED_TRACE(installed.name + ", " + source.main.display_name);
      const Context context = test::make_context(installed);
      const BuildOutcome outcome = build(installed, context, source, "-DOFFSET=1");
      ASSERT_EQ(outcome.code, CL_SUCCESS) << outcome.log;
      const auto names = program_kernel_names(installed.driver, outcome.program.get());
      ASSERT_TRUE(names.has_value()) << names.error().message;
      const auto binary = program_binary(installed.driver, outcome.program.get(), installed.device);
      ASSERT_TRUE(binary.has_value()) << binary.error().message;

      const BuildOutcome again = build_from_binary(installed.driver, context.get(),
                                                   installed.device, *binary, "-DOFFSET=1", *names);
      EXPECT_EQ(again.code, CL_SUCCESS) << cl_error_name(again.code) << "\n" << again.log;
      ASSERT_TRUE(again.program);
      for (const std::string& name : *names) {
        cl_int code = CL_SUCCESS;
        const Kernel kernel(installed.driver.CreateKernel(again.program.get(), name.c_str(), &code),
                            installed.driver.ReleaseKernel);
        EXPECT_EQ(code, CL_SUCCESS) << name;
      }
    }
  }
}

TEST(BuildFromBinary, RefusesABinaryWithoutAnExpectedKernel) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome = build(installed, context, plain_source(), "-DOFFSET=1");
    ASSERT_EQ(outcome.code, CL_SUCCESS) << outcome.log;
    const auto binary = program_binary(installed.driver, outcome.program.get(), installed.device);
    ASSERT_TRUE(binary.has_value()) << binary.error().message;
    const BuildOutcome again = build_from_binary(installed.driver, context.get(), installed.device,
                                                 *binary, "-DOFFSET=1", {"scale", "not_there"});
    EXPECT_FALSE(again.program);
    EXPECT_EQ(again.code, CL_INVALID_KERNEL_NAME);
    EXPECT_EQ(again.log, "the program has no kernel 'not_there'");
  }
}

TEST(ReflectKernels, TellsArgumentsAndWorkGroupSizes) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome =
        build(installed, context, plain_source(), "-DOFFSET=1 -cl-kernel-arg-info");
    ASSERT_EQ(outcome.code, CL_SUCCESS) << outcome.log;
    const auto reflection =
        reflect_kernels(installed.driver, outcome.program.get(), installed.device);
    ASSERT_TRUE(reflection.has_value()) << reflection.error().message;
    const auto* const kernels = &reflection->kernels;
    ASSERT_EQ(kernels->size(), 2U);
    EXPECT_EQ(kernels->at(0).name, "add");
    const format::KernelReflection& scale = kernels->at(1);
    EXPECT_EQ(scale.name, "scale");
    EXPECT_THAT(scale.required_work_group_size, ElementsAre(4, 2, 1));
    EXPECT_EQ(scale.argument_count, 3U);
    EXPECT_TRUE(scale.max_work_group_size.value_or(0) > 0);
    ASSERT_TRUE(scale.arguments.has_value());
    ASSERT_EQ(scale.arguments->size(), 3U);
    EXPECT_EQ(scale.arguments->at(0).name, "values");
    EXPECT_EQ(scale.arguments->at(0).type_name, "float*");
    EXPECT_EQ(scale.arguments->at(0).address_space, format::AddressSpace::global);
    EXPECT_TRUE(scale.arguments->at(0).is_restrict);
    EXPECT_EQ(scale.arguments->at(1).name, "factor");
    EXPECT_EQ(scale.arguments->at(1).address_space, format::AddressSpace::private_);
    EXPECT_EQ(scale.arguments->at(2).address_space, format::AddressSpace::local);
  }
}

TEST(ReflectKernels, KnowsTheArgumentsOfAProgramBuiltWithHeaders) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    for (const char* options : {"-DOFFSET=1 -cl-kernel-arg-info",
                                "-DOFFSET=1 -cl-fast-relaxed-math -cl-kernel-arg-info"}) {
      const BuildOutcome outcome = build(installed, context, source_with_headers(), options);
      ASSERT_EQ(outcome.code, CL_SUCCESS) << cl_error_name(outcome.code) << "\n" << outcome.log;
      const auto reflection =
          reflect_kernels(installed.driver, outcome.program.get(), installed.device);
      ASSERT_TRUE(reflection.has_value()) << reflection.error().message;
      const auto* const kernels = &reflection->kernels;
      ASSERT_EQ(kernels->size(), 1U);
      ASSERT_TRUE(kernels->front().arguments.has_value()) << options;
      EXPECT_EQ(kernels->front().arguments->front().name, "a");
    }
  }
}

// Oclgrind 21.10 reads CL_KERNEL_ATTRIBUTES from freed memory. Other drivers return text.
TEST(ReflectKernels, TellsAttributesOrNothingButNoGarbage) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const BuildOutcome outcome =
        build(installed, context, plain_source(), "-DOFFSET=1 -cl-kernel-arg-info");
    ASSERT_EQ(outcome.code, CL_SUCCESS) << outcome.log;
    const auto reflection =
        reflect_kernels(installed.driver, outcome.program.get(), installed.device);
    ASSERT_TRUE(reflection.has_value()) << reflection.error().message;
    const auto* const kernels = &reflection->kernels;
    const std::string& attributes = kernels->back().attributes;
    EXPECT_TRUE(attributes.empty() ||
                attributes.find("reqd_work_group_size(4") != std::string::npos)
        << attributes;
    EXPECT_EQ(kernels->back().required_work_group_size, (std::array<std::uint64_t, 3>{4, 2, 1}));
  }
}

// Oclgrind 21.10 builds a rotation, but clCreateKernel then answers CL_INVALID_KERNEL_NAME
// ("Undefined external function: llvm.fshl.i32"), as it does for a bare program.
TEST(ReflectKernels, NamesAKernelThatTheDriverCannotCreate) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    format::SourcePackage source;
    source.main = {
        "k.cl", "k.cl",
        "kernel void turn(global uint* a) { uint x = *a; *a = (x << 7) | (x >> 25); }\n"};
    const BuildOutcome outcome = build(installed, context, source, "");
    ASSERT_EQ(outcome.code, CL_SUCCESS) << outcome.log;
    cl_int code = CL_SUCCESS;
    const Kernel bare(installed.driver.CreateKernel(outcome.program.get(), "turn", &code),
                      installed.driver.ReleaseKernel);

    const auto reflection =
        reflect_kernels(installed.driver, outcome.program.get(), installed.device);
    ASSERT_TRUE(reflection.has_value()) << reflection.error().message;
    ASSERT_EQ(reflection->kernels.size(), 1U);
    EXPECT_EQ(reflection->kernels.front().name, "turn");
    EXPECT_EQ(reflection->kernels.front().argument_count.has_value(), code == CL_SUCCESS);
    if (code != CL_SUCCESS) {
      EXPECT_THAT(
          reflection->problems,
          ElementsAre(fmt::format("the driver builds kernel 'turn', but cannot create it: {}",
                                  cl_error_name(code))));
    } else {
      EXPECT_THAT(reflection->problems, testing::IsEmpty());
    }
  }
}

// A kernel without code, which requires a further capability.
base::Bytes module_requiring(std::uint32_t capability, std::uint32_t addressing_model = 2) {
  const std::vector<std::uint32_t> words = {
      0x07230203U, 0x00010000U,
      0,           10,
      0,                       // header, bound 10
      0x00020011U, 4,          // OpCapability Addresses
      0x00020011U, 6,          // OpCapability Kernel
      0x00020011U, capability, // OpCapability
      0x0003000eU, addressing_model,
      2, // OpMemoryModel OpenCL
      0x0004000fU, 6,
      3,           0x0000006bU, // OpEntryPoint Kernel %3 "k"
      0x00020013U, 1,           // %1 = OpTypeVoid
      0x00030021U, 2,
      1, // %2 = OpTypeFunction %1
      0x00050036U, 1,
      3,           0,
      2,              // %3 = OpFunction %1 None %2
      0x000200f8U, 4, // %4 = OpLabel
      0x000100fdU,    // OpReturn
      0x00010038U,    // OpFunctionEnd
  };
  base::Bytes bytes(words.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(BuildFromIl, RefusesFeaturesThatTheDeviceLacksAndDoesNotEndTheProcess) {
  constexpr std::uint32_t k_capabilities[] = {
      1,  2,  3,  21,   23,   24,   25,   27,   28,   31,   32,   33,   34,   35,
      36, 37, 40, 41,   42,   45,   48,   49,   51,   52,   53,   54,   55,   56,
      57, 59, 68, 4427, 4437, 5013, 5297, 5345, 5603, 5604, 5606, 5844, 31999};
  CLBIN_FOR_EACH_DEVICE(installed) {
    const auto version = device_text(installed.driver, installed.device, CL_DEVICE_IL_VERSION);
    if (!version || version->find("SPIR-V_1.0") == std::string::npos) {
      continue;
    }
    SCOPED_TRACE(installed.name);
    const Context context = test::make_context(installed);
    const auto build_il = [&](std::uint32_t capability, std::uint32_t addressing_model = 2) {
      return build_from_il(installed.driver, context.get(), {installed.device},
                           module_requiring(capability, addressing_model), {}, "", {"k"});
    };
    EXPECT_EQ(build_il(11).code, CL_SUCCESS) << "Int64";
    EXPECT_THAT(build_il(11, 1).log, HasSubstr("the addressing model Physical32 of"));
    EXPECT_THAT(build_il(11, 5348).log, HasSubstr("the addressing model 5348 of"));
    for (const std::uint32_t capability : k_capabilities) {
      const BuildOutcome outcome = build_il(capability);
      EXPECT_EQ(outcome.code, CL_INVALID_VALUE) << capability;
      EXPECT_THAT(outcome.log,
                  HasSubstr("the capability " + format::spirv_capability_name(capability) + " of"));
    }
  }
}

} // namespace
} // namespace clbin::opencl
