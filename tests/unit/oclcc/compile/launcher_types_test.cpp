#include "compile/launchers.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::AddressSpace;
using clbin::format::KernelArgument;

struct TypeRow {
  std::string type_name;
  std::string expected;
};

ParameterType type_of(const std::string& name, AddressSpace space) {
  KernelArgument argument;
  argument.type_name = name;
  argument.address_space = space;
  return parameter_type(argument);
}

void expect_types(AddressSpace space, const std::vector<TypeRow>& table) {
  for (const auto& [name, expected] : table) {
    const ParameterType type = type_of(name, space);
    EXPECT_EQ(type.form, ParameterForm::plain) << name;
    EXPECT_EQ(type.type, expected) << name;
  }
}

void expect_form(AddressSpace space, ParameterForm form, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const ParameterType type = type_of(name, space);
    EXPECT_EQ(type.form, form) << name;
    EXPECT_EQ(type.type, "") << name;
  }
}

TEST(LauncherTypes, OfNumbersAndVectorsAreValues) {
  expect_types(AddressSpace::private_, {
                                           {"int", "clbin::Value<cl_int>"},
                                           {"const int", "clbin::Value<cl_int>"},
                                           {"unsigned int", "clbin::Value<cl_uint>"},
                                           {"unsigned", "clbin::Value<cl_uint>"},
                                           {"uint", "clbin::Value<cl_uint>"},
                                           {"signed char", "clbin::Value<cl_char>"},
                                           {"unsigned long", "clbin::Value<cl_ulong>"},
                                           {"uint64_t", "clbin::Value<cl_ulong>"},
                                           {"half", "clbin::Value<cl_half>"},
                                           {"double", "clbin::Value<cl_double>"},
                                           {"float2", "clbin::Value<cl_float2>"},
                                           {"float3", "clbin::Value<cl_float3>"},
                                           {"uchar16", "clbin::Value<cl_uchar16>"},
                                           {"ulong8", "clbin::Value<cl_ulong8>"},
                                           {"__private  ushort4", "clbin::Value<cl_ushort4>"},
                                       });
}

TEST(LauncherTypes, OfPointersAreBuffersHoweverTheyAreSpelled) {
  expect_types(AddressSpace::global,
               {
                   {"float*", "const clbin::Buffer<cl_float>&"},
                   {"float *", "const clbin::Buffer<cl_float>&"},
                   {"__global const float *restrict", "const clbin::Buffer<cl_float>&"},
                   {"global volatile atomic_int*", "const clbin::Buffer<cl_int>&"},
                   {"unsigned char*", "const clbin::Buffer<cl_uchar>&"},
                   {"int4*", "const clbin::Buffer<cl_int4>&"},
                   {"float", "const clbin::Buffer<cl_float>&"}, // a star that the driver left out
                   {"void*", "const cl::Buffer&"},
                   {"float (*)[4]", "const cl::Buffer&"},
                   {"float**", "const cl::Buffer&"},
               });
  expect_types(AddressSpace::constant, {{"int*", "const clbin::Buffer<cl_int>&"}});
  expect_types(AddressSpace::local, {
                                        {"float*", "clbin::Local<cl_float>"},
                                        {"__local uint2 *", "clbin::Local<cl_uint2>"},
                                        {"void*", "clbin::LocalBytes"},
                                        {"float (*)[4]", "clbin::LocalBytes"},
                                    });
}

TEST(LauncherTypes, OfStructsAreTemplates) {
  const std::vector<std::string> names = {"params_t",   "struct params", "float5",
                                          "half2",      "image_params",  "imagetable",
                                          "event_type", "pipeline_t",    "my_queue_type"};
  expect_form(AddressSpace::private_, ParameterForm::any_struct, names);
  std::vector<std::string> pointers;
  for (const std::string& name : names) {
    pointers.push_back(name + "*");
  }
  expect_form(AddressSpace::global, ParameterForm::any_buffer, pointers);
  expect_form(AddressSpace::local, ParameterForm::any_local, pointers);
}

TEST(LauncherTypes, OfImagesAndSamplersAreObjects) {
  expect_types(AddressSpace::global, {
                                         {"image2d_t", "const cl::Image2D&"},
                                         {"read_only image2d_t", "const cl::Image2D&"},
                                         {"__write_only image3d_t", "const cl::Image3D&"},
                                         {"image1d_buffer_t", "const cl::Image1DBuffer&"},
                                         {"image1d_array_t", "const cl::Image1DArray&"},
                                         {"image2d_array_depth_t", "const cl::Image2DArray&"},
                                         {"image2d_msaa_t", "const cl::Image&"},
                                         {"image2d_array_msaa_depth_t", "const cl::Image&"},
                                     });
  expect_types(AddressSpace::private_, {{"sampler_t", "const cl::Sampler&"}});
}

TEST(LauncherTypes, OfPipesQueuesAndEventsAreNotSupported) {
  expect_form(AddressSpace::private_, ParameterForm::not_supported,
              {"queue_t", "clk_event_t", "event_t", "reserve_id_t", "pipe int", "", "const"});
  expect_form(AddressSpace::global, ParameterForm::not_supported,
              {"clk_event_t*", "read_only pipe int"});
  KernelArgument pipe;
  pipe.type_name = "int";
  pipe.is_pipe = true;
  EXPECT_EQ(parameter_type(pipe).form, ParameterForm::not_supported);
}

TEST(LauncherTypes, NamesAreIdentifiersThatNothingElseTakes) {
  const std::vector<TypeRow> table = {
      {"matmul", "matmul"},  {"matmul", "matmul_"}, {"class", "class_"},     {"new", "new_"},
      {"9lives", "_9lives"}, {"a-b c", "a_b_c"},    {"a.b c", "a_b_c_"},     {"", "_"},
      {"std", "std_"},       {"clbin", "clbin_"},   {"kernels", "kernels_"}, {"class", "class__"},
      {"\xc3\xa9", "__"},    {"xor", "xor_"},       {"linux", "linux_"},     {"Int", "Int"},
  };
  std::set<std::string> taken;
  for (const auto& [name, expected] : table) {
    EXPECT_EQ(cpp_identifier(name, taken), expected) << name;
  }
  EXPECT_EQ(taken.size(), table.size());
}

TEST(CppIdentifier, StaysShortForAnyNumberOfEqualNames) {
  std::set<std::string> taken;
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_LE(cpp_identifier("a", taken).size(), 16U);
  }
  EXPECT_EQ(taken.size(), 20'000U);
}

clbin::format::BundleInput one_kernel(std::size_t arguments, const std::string& name) {
  clbin::format::KernelReflection kernel;
  kernel.name = "k";
  kernel.arguments.emplace(arguments);
  for (KernelArgument& argument : *kernel.arguments) {
    argument.name = name;
    argument.type_name = "int";
    argument.address_space = AddressSpace::private_;
  }
  clbin::format::EntryInput entry;
  entry.kernels.push_back(kernel);
  clbin::format::ProgramInput program;
  program.name = "p";
  program.entries.push_back(entry);
  clbin::format::BundleInput bundle;
  bundle.programs.push_back(program);
  return bundle;
}

TEST(LauncherHeader, LeavesOutKernelsThatNoDriverAccepts) {
  constexpr std::uint64_t k_no_limit = ~std::uint64_t{0};
  EXPECT_TRUE(launcher_header(one_kernel(1024, "a"), k_no_limit).value().left_out.empty());
  EXPECT_EQ(launcher_header(one_kernel(1025, "a"), k_no_limit).value().left_out,
            std::vector<std::string>{
                "program 'p': kernel 'k' has no launcher: it has more than 1024 arguments"});
  EXPECT_EQ(launcher_header(one_kernel(1, std::string(1025, 'a')), k_no_limit).value().left_out,
            std::vector<std::string>{"program 'p': kernel 'k' has no launcher: the name of an "
                                     "argument has more than 1024 bytes"});
}

TEST(LauncherHeader, LimitsTheText) {
  const auto header = launcher_header(one_kernel(1024, "a"), 10'000);
  ASSERT_FALSE(header.has_value());
  EXPECT_EQ(header.error().code, clbin::base::ErrorCode::limit_exceeded);
  EXPECT_EQ(header.error().message, "its launchers have more than 10000 bytes");
}

} // namespace
} // namespace oclcc
