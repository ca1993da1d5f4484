#include "modes/launch_description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::AddressSpace;
using clbin::format::KernelArgument;
using clbin::format::KernelReflection;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- Expressions -------------------------------------------------------------------------------

std::string value_of(std::string_view text, const MacroValues& values = {}) {
  const auto expression = SizeExpression::parse(text);
  if (!expression) {
    return expression.error().message;
  }
  const auto value =
      expression->evaluate([&](const std::string& name) -> std::optional<std::uint64_t> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      });
  return value ? std::to_string(*value) : value.error().message;
}

TEST(SizeExpression, CalculatesWithExactFractions) {
  EXPECT_EQ(value_of("512"), "512");
  EXPECT_EQ(value_of(" 2 + 3 * 4 - 1 "), "13");
  EXPECT_EQ(value_of("(2 + 3) * 4"), "20");
  EXPECT_EQ(value_of("10 - 2 - 3"), "5");
  EXPECT_EQ(value_of("1000 / 3 * 3"), "1000");
  EXPECT_EQ(value_of("ceil(1000 / 64) * 64"), "1024");
  EXPECT_EQ(value_of("ceil(8 / 4)"), "2");
}

TEST(SizeExpression, TakesTheValuesOfNamesAndTheirDefaults) {
  EXPECT_EQ(value_of("ceil(512/TILE)", {{"TILE", 100}}), "6");
  EXPECT_EQ(value_of("TILE?128 * 2"), "256");
  EXPECT_EQ(value_of("TILE?128 * 2", {{"TILE", 16}}), "32");
  EXPECT_EQ(value_of("N / TILE", {{"N", 4}}),
            "'N / TILE': 'TILE' has no value, and no default such as TILE?16");
}

TEST(SizeExpression, SaysWhatIsWrong) {
  EXPECT_EQ(value_of("1000 / 3"), "'1000 / 3' is 1000/3, which is not a whole number");
  EXPECT_EQ(value_of("1 - 2"), "'1 - 2' divides by zero, is below zero, or is too large");
  EXPECT_EQ(value_of("1 / 0"), "'1 / 0' divides by zero, is below zero, or is too large");
  EXPECT_EQ(value_of("9223372036854775807 + 1"),
            "'9223372036854775807 + 1' divides by zero, is below zero, or is too large");
  EXPECT_EQ(value_of("4294967296 * 4294967296"),
            "'4294967296 * 4294967296' divides by zero, is below zero, or is too large");
  EXPECT_EQ(value_of("9223372036854775808"), "'9223372036854775808': a number is too large");
  EXPECT_EQ(value_of(""), "a number or a name is missing before ''");
  EXPECT_EQ(value_of("99999999999999999999"),
            "a number or a name is missing before '99999999999999999999'");
  EXPECT_EQ(value_of("2 +"), "a number or a name is missing before ''");
  EXPECT_EQ(value_of("(2"), "')' is missing before ''");
  EXPECT_EQ(value_of("2 3"), "'3' follows an expression");
  EXPECT_EQ(value_of("A?B"), "a number is missing behind 'A?'");
  EXPECT_EQ(value_of(std::string(1000, '(')), "its parentheses are nested too deeply");
}

TEST(SizeExpression, EndsBeforeWhatIsNotPartOfIt) {
  std::string_view text = "16x4,8";
  EXPECT_EQ(SizeExpression::take(text)->text(), "16");
  EXPECT_EQ(text, "x4,8");
  text = "ceil(L / 4) * local0 x M";
  EXPECT_THAT(SizeExpression::take(text)->names(), ElementsAre("L", "local0"));
  EXPECT_EQ(text, "x M");
}

// ---- Descriptions ------------------------------------------------------------------------------

KernelArgument argument(std::string name, std::string type,
                        AddressSpace space = AddressSpace::private_) {
  KernelArgument result;
  result.name = std::move(name);
  result.type_name = std::move(type);
  result.address_space = space;
  return result;
}

KernelReflection scale_kernel() {
  KernelReflection kernel;
  kernel.name = "scale";
  kernel.arguments = {argument("a", "float*", AddressSpace::global),
                      argument("b", "float*", AddressSpace::global), argument("f", "float"),
                      argument("n", "int")};
  kernel.arguments->at(1).is_const = true;
  return kernel;
}

KernelReflection kernel_of(KernelArgument one) {
  KernelReflection kernel;
  kernel.name = "k";
  kernel.arguments = {std::move(one)};
  return kernel;
}

Result<LaunchDescription> described(const std::string& text) {
  auto launches = read_launches(text);
  if (!launches) {
    return tl::unexpected(launches.error());
  }
  return launches->front();
}

Result<BoundLaunch> bound(const std::string& text, const KernelReflection& kernel,
                          const MacroValues& macros = {}, const format::GroupSize& local = {}) {
  const auto launch = described(text);
  return launch ? bind_launch(*launch, kernel, macros, local) : tl::unexpected(launch.error());
}

std::string error_of(const std::string& text) {
  const auto launch = described(text);
  return launch ? "no error" : launch.error().message;
}

std::string error_of(const std::string& text, const KernelReflection& kernel) {
  const auto launch = bound(text, kernel);
  return launch ? "no error" : launch.error().message;
}

TEST(LaunchDescription, HasAProgramAKernelAClassAndSizes) {
  const auto launch = described("blas/gemm[512x256] =\n ceil(L/TILE)*8 x 4,\n8x1 : 1,\n 2");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->program, "blas");
  EXPECT_EQ(launch->kernel, "gemm");
  ASSERT_EQ(launch->class_size.size(), 2U);
  EXPECT_EQ(launch->class_size[1].text(), "256");
  ASSERT_EQ(launch->global_size.size(), 2U);
  EXPECT_EQ(launch->global_size[0].text(), "ceil(L/TILE)*8");
  ASSERT_EQ(launch->local_size.size(), 2U);
  EXPECT_EQ(launch->arguments.size(), 2U);
}

TEST(LaunchDescription, SaysWhichPartIsWrong) {
  EXPECT_EQ(error_of("=4"), "--launch '=4': a kernel is missing before '='");
  EXPECT_EQ(error_of("k=4,2x2"),
            "--launch 'k=4,2x2': the global size has 1 dimensions, and another size 2");
  EXPECT_EQ(error_of("k=1x2x3x4"), "--launch 'k=1x2x3x4': a size has at most 3 dimensions, not 4");
  EXPECT_EQ(error_of("k=4;n=1"), "--launch 'k=4;n=1': ';n=1' does not continue a size");
  EXPECT_EQ(error_of("k[4=4"), "--launch 'k[4=4': ']' is missing before '='");
  EXPECT_EQ(error_of("k=4:random(f32)"),
            "--launch 'k=4:random(f32)': argument 'random(f32)': 'random' has a type, a number of "
            "elements, and maybe a seed");
  EXPECT_EQ(error_of("k=4:zero(float,4)"),
            "--launch 'k=4:zero(float,4)': argument 'zero(float,4)': 'float' is not one of the "
            "types i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64");
  EXPECT_THAT(error_of("k=4:random(f32,4,x)"), HasSubstr("'x' is not a seed, which is a number"));
  EXPECT_THAT(error_of("k=4:n=2 3"), HasSubstr("argument 'n=2 3': '3' follows an expression"));
}

TEST(LaunchDescription, FitsArgumentsByNameAndByPosition) {
  const auto launch = bound("scale=n:zero(f32,n),f=-2.5,n=100,b=random(f32,n,7)", scale_kernel());
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->dimensions, 1U);
  EXPECT_THAT(launch->global_size, ElementsAre(100, 1, 1));
  EXPECT_THAT(launch->class_size, ElementsAre(100, 1, 1));
  EXPECT_THAT(launch->local_size, ElementsAre(0, 0, 0));
  ASSERT_EQ(launch->arguments.size(), 4U);
  EXPECT_EQ(launch->arguments[0].count, 100U);
  EXPECT_FALSE(launch->arguments[0].is_constant);
  EXPECT_EQ(launch->arguments[1].seed, 7U);
  EXPECT_TRUE(launch->arguments[1].is_constant);
  EXPECT_EQ(base::as_text(launch->arguments[2].number), std::string("\0\0\x20\xC0", 4));
  EXPECT_EQ(base::as_text(launch->arguments[3].number), std::string("d\0\0\0", 4));
}

TEST(LaunchDescription, DoesNotFitOtherArguments) {
  const KernelReflection kernel = scale_kernel();
  EXPECT_EQ(error_of("scale=4:zero(f32,4)", kernel), "argument 1 'b' of kernel 'scale' is missing");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),zero(f32,4),1,1,1", kernel),
            "kernel 'scale' has 4 arguments, not 5");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),a=zero(f32,4)", kernel),
            "argument 0 of kernel 'scale' is given twice");
  EXPECT_EQ(error_of("scale=4:c=1", kernel), "kernel 'scale' has no argument 'c'");
  EXPECT_EQ(error_of("scale=4:1,zero(f32,4),1,1", kernel),
            "argument 0 'a': it is a pointer (float*), not a number");
  EXPECT_EQ(error_of("scale=4:zero(i32,4),zero(f32,4),1,1", kernel),
            "argument 0 'a': it is a 'float*', not a buffer of i32");
  EXPECT_EQ(error_of("scale=4:local(4),zero(f32,4),1,1", kernel),
            "argument 0 'a': it is a 'float*', not local memory");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),zero(f32,4),zero(f32,1),1", kernel),
            "argument 2 'f': it is a number (float), not a buffer");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),zero(f32,4),1,1.5", kernel),
            "argument 3 'n': '1.5' is not a number of type i32");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),zero(f32,4),1,2147483648", kernel),
            "argument 3 'n': '2147483648' is not a number of type i32");
  EXPECT_EQ(error_of("scale=4:zero(f32,4),zero(f32,4),1,u32(1)", kernel),
            "argument 3 'n': it is a 'int', not of type u32");
  EXPECT_EQ(error_of("scale=4:zero(f32,0),zero(f32,4),1,1", kernel),
            "argument 0 'a': the buffer has no elements");
  EXPECT_EQ(error_of("scale=4:zero(f32,268435456),zero(f32,1),1,1", kernel),
            "its buffers have more than 1024 MiB");
  EXPECT_EQ(error_of("scale=n-1:zero(f32,4),zero(f32,4),1,1", kernel), "the size 'n-1' is 0");
  EXPECT_EQ(error_of("k=1:zero(u8,4)", kernel_of(argument("i", "image2d_t", AddressSpace::global))),
            "argument 0 'i': it is a 'image2d_t', which --launch cannot describe");
  EXPECT_EQ(
      error_of("k=1:1", kernel_of(argument("s", "struct pair"))),
      "argument 0 's': it is a 'struct pair': name the type of the numbers in it, as f32(1, 2)");
  EXPECT_EQ(error_of("k=1:1", kernel_of(argument("v", "float4"))),
            "argument 0 'v': it is a 'float4', which has 4 numbers, not 1");
}

TEST(LaunchDescription, MakesTheNumbersOfEveryType) {
  const auto bytes = [](const std::string& number, const std::string& type) {
    const auto launch = bound("k=1:" + number, kernel_of(argument("x", type)));
    return std::string(launch ? base::as_text(launch->arguments[0].number)
                              : launch.error().message);
  };
  EXPECT_EQ(bytes("-1", "char"), "\xFF");
  EXPECT_EQ(bytes("-128", "char"), "\x80");
  EXPECT_EQ(bytes("255", "uchar"), "\xFF");
  EXPECT_EQ(bytes("-2", "long"), "\xFE" + std::string(7, '\xFF'));
  EXPECT_EQ(bytes("18446744073709551615", "ulong"), std::string(8, '\xFF'));
  EXPECT_EQ(bytes("1", "half"), std::string("\x00\x3C", 2));
  EXPECT_EQ(bytes("1", "double"), std::string("\0\0\0\0\0\0\xF0\x3F", 8));
  EXPECT_EQ(bytes("u8(1, 2, 3)", "uchar3"), std::string("\1\2\3\0", 4));
  EXPECT_EQ(bytes("i16(1, 2)", "struct pair"), std::string("\1\0\2\0", 4));
  EXPECT_THAT(bytes("-1", "uint"), HasSubstr("'-1' is not a number of type u32"));
  EXPECT_THAT(bytes("256", "uchar"), HasSubstr("'256' is not a number of type u8"));
}

TEST(LaunchDescription, UsesMacrosOfTheVariantAndTheRequiredWorkGroup) {
  KernelReflection kernel = scale_kernel();
  kernel.required_work_group_size = {64, 1, 1};
  const std::string text = "scale[n]=ceil(n/(BLOCK?4))*local0:zero(f32,n),zero(f32,n),1,n=100";
  const auto launch = bound(text, kernel, macro_values("-DOTHER -D BLOCK=8 -cl-mad-enable"));
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(launch->global_size, ElementsAre(13 * 64, 1, 1));
  EXPECT_THAT(launch->class_size, ElementsAre(100, 1, 1));
  EXPECT_THAT(launch->local_size, ElementsAre(64, 1, 1));
  EXPECT_THAT(bound(text, kernel)->global_size, ElementsAre(25 * 64, 1, 1));
}

TEST(LaunchDescription, ReadsMacrosAsCDoes) {
  const auto macros = macro_values("-DA=0x10 -DB=(0X1fUL) -DC=010 -DD=((7u)) -DE=0 -DF=N -DG=08 "
                                   "-DH= -DI=0x -DJ=99999999999999999999 -DK=-1 -DL");
  const MacroValues expected{{"A", 16},
                             {"B", 31},
                             {"C", 8},
                             {"D", 7},
                             {"E", 0},
                             {"F", std::nullopt},
                             {"G", std::nullopt},
                             {"H", std::nullopt},
                             {"I", std::nullopt},
                             {"J", std::nullopt},
                             {"K", std::nullopt},
                             {"L", 1}};
  EXPECT_EQ(macros, expected);
}

TEST(LaunchDescription, TakesNoDefaultForAMacroThatIsNoNumber) {
  const auto launch = bound("scale=64/(T?4):zero(f32,64),zero(f32,64),1,64", scale_kernel(),
                            macro_values("-DT=SIZE"));
  ASSERT_FALSE(launch.has_value());
  EXPECT_EQ(launch.error().message,
            "'64/(T?4)' needs the macro T, which the options of the variant "
            "do not define as a whole number");
}

TEST(LaunchDescription, RefusesNumbersBeyondTheirTypeAndKernelsOfTooManyArguments) {
  EXPECT_NE(error_of("scale=64:zero(f32,64),zero(f32,64),1e999,64", scale_kernel()), "no error");
  KernelReflection kernel = scale_kernel();
  kernel.arguments.reset();
  kernel.argument_count = 0xffffffff;
  EXPECT_EQ(error_of("scale=64:zero(f32,64)", kernel), "kernel 'scale' has 4294967295 arguments");
}

TEST(LaunchDescription, HasNoGlobalSizeUntilTheWorkGroupIsKnown) {
  const std::string text = "scale=ceil(n/local0)*local0:zero(f32,n),zero(f32,n),1,n=100";
  EXPECT_THAT(bound(text, scale_kernel())->global_size, ElementsAre(0, 0, 0));
  EXPECT_THAT(bound(text, scale_kernel(), {}, {16, 1, 1})->global_size, ElementsAre(112, 1, 1));
}

TEST(LaunchDescription, RefusesAnotherWorkGroupThanTheRequiredOne) {
  KernelReflection kernel = scale_kernel();
  kernel.required_work_group_size = {64, 1, 1};
  EXPECT_EQ(error_of("scale=128,32:zero(f32,4),zero(f32,4),1,1", kernel),
            "kernel 'scale' requires work-groups of 64x1x1, not of 32x1x1");
}

// ---- JSON --------------------------------------------------------------------------------------

std::string error_of_file(std::string_view document) {
  const auto folder = base::TemporaryFolder::create({}, "oclcc-test-").value();
  const auto file = folder.path() / "l.json";
  EXPECT_TRUE(base::write_output_file(file, base::as_bytes(document)));
  const auto launches = read_launches(file.string());
  if (launches) {
    return "no error";
  }
  std::string message = launches.error().message;
  while (message.find(folder.path().string() + "/") != std::string::npos) {
    message.erase(message.find(folder.path().string()), folder.path().string().size() + 1);
  }
  return message;
}

TEST(LaunchDescription, ReadsSeveralLaunchesFromJson) {
  constexpr std::string_view k_document = R"json({"launches": [
    {"kernel": "scale", "program": "p", "global": ["n"], "local": [4], "class": [8],
     "arguments": {"a": "zero(f32,n)", "b": "random(f32,n)", "f": -1.5, "n": 8}},
    {"kernel": "scale", "global": [8], "arguments": ["zero(f32,8)", "zero(f32,8)", 1, 8]}]})json";
  const auto folder = base::TemporaryFolder::create({}, "oclcc-test-").value();
  const auto file = folder.path() / "l.json";
  EXPECT_TRUE(base::write_output_file(file, base::as_bytes(k_document)));
  const auto launches = read_launches(file.string());
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2U);
  const auto first = bind_launch(launches->at(0), scale_kernel(), {}, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->local_size, ElementsAre(4, 1, 1));
  EXPECT_EQ(launches->at(0).program, "p");
  const auto second = bind_launch(launches->at(1), scale_kernel(), {}, {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->arguments[0].count, 8U);
}

TEST(LaunchDescription, SaysWhereJsonIsWrong) {
  const auto error_of_launch = [](std::string_view launch) {
    return error_of_file(fmt::format(R"json({{"launches": [{}]}})json", launch));
  };
  EXPECT_EQ(error_of_file("{}"), "'l.json' has no list 'launches'");
  EXPECT_THAT(error_of_file("{"), HasSubstr("l.json: "));
  EXPECT_EQ(error_of_launch(R"json({"kernel": "k"})json"), "l.json: launch 0: 'global' is missing");
  EXPECT_EQ(error_of_launch(R"json({"kernel": "k", "global": 4})json"),
            "l.json: launch 0: 'global' is not a list of one to three sizes");
  EXPECT_EQ(error_of_launch(R"json({"kernel": "k", "global": [4], "size": 1})json"),
            "l.json: launch 0: 'size' is not one of kernel, program, class, global, local and "
            "arguments");
  EXPECT_EQ(
      error_of_launch(R"json({"kernel": "k", "global": [4], "arguments": ["zero(f3,1)"]})json"),
      "l.json: launch 0: argument 0: 'f3' is not one of the types i8, u8, i16, u16, i32, u32, i64, "
      "u64, f16, f32, f64");
}

} // namespace
} // namespace oclcc
