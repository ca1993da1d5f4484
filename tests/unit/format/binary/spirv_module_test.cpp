#include "format/binary/binary_kernels.hpp"

#include "format/binary/binary_kind.hpp"
#include "real_binaries.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::argument_texts;
using test::real_binary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Size3 = std::array<std::uint64_t, 3>;

SpirvModule read_module(base::ByteView bytes) {
  auto module = read_spirv_module(bytes);
  EXPECT_TRUE(module.has_value()) << module.error().message;
  return module.value_or(SpirvModule{});
}

// Builds modules of a few instructions, word by word. The bound of ids is 100.
class ModuleMaker {
public:
  ModuleMaker() {
    for (const std::uint32_t word : {0x07230203U, 0x00010000U, 0U, 100U, 0U}) {
      m_writer.write_u32(word);
    }
    add(14, {2, 2}); // OpMemoryModel Physical64 OpenCL
  }
  ModuleMaker& add(std::uint32_t opcode, const std::vector<std::uint32_t>& operands) {
    return add(opcode, operands, std::nullopt);
  }
  // The literal string follows the operands.
  ModuleMaker& add(std::uint32_t opcode, const std::vector<std::uint32_t>& operands,
                   std::optional<std::string> text) {
    if (text) {
      text->resize((text->size() / 4 + 1) * 4);
    }
    const std::size_t words = 1 + operands.size() + (text ? text->size() / 4 : 0);
    m_writer.write_u32(static_cast<std::uint32_t>(words << 16U) | opcode);
    for (const std::uint32_t operand : operands) {
      m_writer.write_u32(operand);
    }
    m_writer.write_bytes(base::as_bytes(text.value_or("")));
    return *this;
  }
  ModuleMaker& add_kernel(std::uint32_t function, const std::string& name) {
    return add(15, {6, function}, name);
  }
  [[nodiscard]] Bytes bytes() const { return {m_writer.view().begin(), m_writer.view().end()}; }

private:
  base::ByteWriter m_writer;
};

void expect_refused(const ModuleMaker& maker, ErrorCode code, const std::string& message) {
  const Bytes bytes = maker.bytes();
  const auto module = read_spirv_module(bytes);
  ASSERT_FALSE(module.has_value()) << message;
  EXPECT_EQ(module.error().code, code) << module.error().message;
  EXPECT_THAT(module.error().message, HasSubstr(message));
}

TEST(SpirvModule, ReadsVersionAndAddressBits) {
  const SpirvModule module = read_module(real_binary("arguments.spv"));
  EXPECT_EQ(module.version_major, 1);
  EXPECT_EQ(module.version_minor, 0);
  EXPECT_EQ(module.address_bits, 64);
  EXPECT_THAT(module.spec_constants, IsEmpty());
}

TEST(SpirvModule, ReadsArgumentsFromTheStringsOfTheTranslator) {
  const SpirvModule module = read_module(real_binary("arguments.spv"));
  ASSERT_THAT(module.kernels, SizeIs(3));
  test::expect_kernels_of_arguments_cl(module.kernels);
  EXPECT_EQ(module.kernels[0].required_work_group_size, (Size3{8, 4, 2}));
  EXPECT_EQ(module.kernels[0].attributes, "reqd_work_group_size(8,4,2)");
  EXPECT_EQ(module.kernels[1].required_work_group_size, (Size3{0, 0, 0}));
  EXPECT_EQ(module.kernels[1].attributes, "work_group_size_hint(16,1,1) vec_type_hint(float4)");
  EXPECT_EQ(module.kernels[2].attributes, "");
}

// clang 22 writes no strings and no argument names, and `pair*` has no pointee type.
TEST(SpirvModule, MakesArgumentsOfTheTypesWhereStringsAreMissing) {
  const SpirvModule module = read_module(real_binary("arguments.clang22.spv"));
  ASSERT_THAT(module.kernels, SizeIs(3));
  EXPECT_THAT(argument_texts(module.kernels[0]),
              ElementsAre("global restrict float* ", "global volatile int* ",
                          "constant const char4* ", "local float* ", "private int ",
                          "private float4 ", "private pair ", "global char* ", "global float* ",
                          "private long ", "private uchar "));
  EXPECT_EQ(module.kernels[0].required_work_group_size, (Size3{8, 4, 2}));
  EXPECT_THAT(argument_texts(module.kernels[1]),
              ElementsAre("global read_only image2d_t ", "global write_only image2d_t ",
                          "private sampler_t ", "global read_only image3d_t "));
}

TEST(SpirvModule, ReadsAModuleInTheOtherByteOrderAlike) {
  for (const std::string_view name : {"arguments.spv", "spec_constants.spv"}) {
    Bytes bytes = real_binary(name);
    const SpirvModule module = read_module(bytes);
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      std::swap(bytes[at], bytes[at + 3]);
      std::swap(bytes[at + 1], bytes[at + 2]);
    }
    const SpirvModule swapped = read_module(bytes);
    EXPECT_EQ(swapped.kernels, module.kernels);
    EXPECT_EQ(swapped.spec_constants, module.spec_constants);
  }
}

TEST(SpirvModule, ReadsSpecializationConstantsThatCanBeSet) {
  const SpirvModule module = read_module(real_binary("spec_constants.spv"));
  EXPECT_EQ(module.address_bits, 32);
  EXPECT_THAT(module.spec_constants,
              ElementsAre(SpecConstant{0, "", "bool", 1, 1}, SpecConstant{1, "", "bool", 1, 0},
                          SpecConstant{3, "", "char", 1, 200},
                          SpecConstant{4, "", "long", 8, 0x123456789abcdef0U},
                          SpecConstant{7, "width", "int", 4, 4},
                          SpecConstant{9, "factor", "double", 8, 0x3fe0000000000000U}));
}

TEST(SpirvModule, ReadsSizesThatAreConstantsAndDecorationsOfGroups) {
  const SpirvModule module = read_module(real_binary("spec_constants.spv"));
  ASSERT_THAT(module.kernels, SizeIs(1));
  EXPECT_EQ(module.kernels[0].required_work_group_size, (Size3{8, 4, 1}));
  EXPECT_EQ(module.kernels[0].attributes,
            "reqd_work_group_size(8,4,1) intel_reqd_sub_group_size(16)");
  EXPECT_THAT(argument_texts(module.kernels[0]),
              ElementsAre("global restrict volatile int* values"));
}

TEST(SpirvModule, NamesWhatItImports) {
  ModuleMaker maker;
  maker.add(71, {5, 41, 0x66335a5f, 0x00666f6f, 1}); // OpDecorate: imports "_Z3foof"
  maker.add(71, {6, 41, 0x00000062, 1});             // imports "b"
  maker.add(71, {7, 41, 0x00000063, 0});             // exports "c"
  maker.add(71, {8, 41, 0x00000064, 1});             // imports "d",
  maker.add(71, {8, 11, 28});                        // which is GlobalInvocationId
  EXPECT_THAT(read_module(maker.bytes()).imports, ElementsAre("_Z3foof", "b"));
  ModuleMaker cut;
  cut.add(71, {5, 41, 0x00000062});
  expect_refused(cut, ErrorCode::truncated, "linkage type");
}

TEST(SpirvModule, SortsKernelsByName) {
  ModuleMaker maker;
  maker.add_kernel(1, "b").add_kernel(2, "a");
  maker.add(54, {3, 1, 0, 4}).add(54, {3, 2, 0, 4});
  const SpirvModule module = read_module(maker.bytes());
  ASSERT_THAT(module.kernels, SizeIs(2));
  EXPECT_EQ(module.kernels[0].name, "a");
  EXPECT_EQ(module.kernels[1].name, "b");
}

TEST(SpirvModule, IgnoresStringsThatDoNotFitTheArguments) {
  for (const std::string text : {"kernel_arg_type.k.", "kernel_arg_type.k.uint,uint,",
                                 "kernel_arg_type.k.uint", "kernel_arg_type.kk.uint,"}) {
    ModuleMaker maker;
    maker.add_kernel(1, "k").add(7, {9}, text).add(21, {2, 32, 0}).add(54, {3, 1, 0, 4});
    maker.add(55, {2, 5});
    EXPECT_THAT(argument_texts(read_module(maker.bytes()).kernels.at(0)),
                ElementsAre("private int "))
        << text;
  }
}

TEST(SpirvModule, SurvivesCutsAndFlippedBits) {
  std::size_t refused = 0;
  for (const std::string_view name : {"arguments.spv", "spec_constants.spv", "kernel.spv"}) {
    test::for_each_damage(real_binary(name), [&](base::ByteView bytes) {
      if (const auto module = read_spirv_module(bytes); !module) {
        EXPECT_FALSE(module.error().message.empty());
        ++refused;
      }
    });
  }
  EXPECT_GT(refused, 1000U);
}

TEST(SpirvModule, RefusesWhatIsNoModule) {
  const auto nothing = read_spirv_module({});
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().code, ErrorCode::truncated);
  EXPECT_THAT(nothing.error().message, HasSubstr("SPIR-V module: magic"));
  const auto text = read_spirv_module(base::as_bytes("kernel void k() {}"));
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::damaged);
  EXPECT_THAT(text.error().message, HasSubstr("magic is 0x6e72656b and not 0x07230203"));
  Bytes newer = ModuleMaker().bytes();
  newer[6] = std::byte{2};
  const auto module = read_spirv_module(newer);
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error().code, ErrorCode::newer_version);
  EXPECT_THAT(module.error().message, HasSubstr("version 2.0"));
}

TEST(SpirvModule, NamesTheFieldOfWhatItRefuses) {
  expect_refused(ModuleMaker().add(15, {6, 100}, "k"), ErrorCode::damaged,
                 "entry point is id 100, the module's bound is 100");
  expect_refused(ModuleMaker().add(15, {6, 0}, "k"), ErrorCode::damaged, "entry point is id 0");
  expect_refused(ModuleMaker().add(15, {6, 1, 0x41414141U}), ErrorCode::damaged,
                 "name of the entry point has no terminating NUL");
  expect_refused(ModuleMaker().add_kernel(1, ""), ErrorCode::damaged,
                 "the name of the entry point is empty");
  expect_refused(ModuleMaker().add_kernel(1, "k"), ErrorCode::damaged,
                 "entry point 'k' names function 1, which does not exist");
  expect_refused(ModuleMaker().add_kernel(1, "k").add_kernel(1, "k").add(54, {3, 1, 0, 4}),
                 ErrorCode::damaged, "two entry points have the name 'k'");
  expect_refused(ModuleMaker().add(16, {1, 17, 8}), ErrorCode::truncated, "work-group size");
  expect_refused(ModuleMaker().add(16, {1, 30, 7}), ErrorCode::damaged, "VecTypeHint names type 7");
  expect_refused(ModuleMaker().add(331, {1, 38, 5, 5, 5}), ErrorCode::damaged,
                 "work-group size is id 5, which is no constant");
  expect_refused(ModuleMaker().add(25, {5, 2, 1, 0, 0, 0, 0, 0, 3}), ErrorCode::damaged,
                 "access qualifier 3 does not exist");
  expect_refused(ModuleMaker().add(50, {5, 6, 7}), ErrorCode::damaged,
                 "the constant's type 5 is no number of 1 to 64 bits");
  expect_refused(ModuleMaker().add(21, {5, 32, 0}).add(48, {5, 6}), ErrorCode::damaged,
                 "the constant's type 5 is not bool");
  expect_refused(ModuleMaker().add(55, {5, 6}), ErrorCode::damaged,
                 "parameter 6 belongs to no function");
  expect_refused(ModuleMaker().add(54, {3, 1, 0, 4}).add(54, {3, 1, 0, 4}), ErrorCode::damaged,
                 "function 1 is defined twice");
}

TEST(SpirvModule, RefusesInstructionsThatDoNotFitTheModule) {
  Bytes none = ModuleMaker().bytes();
  none.resize(none.size() + 4); // a word count of 0
  const auto empty = read_spirv_module(none);
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().code, ErrorCode::damaged);
  EXPECT_THAT(empty.error().message, HasSubstr("the instruction at offset 32 has no words"));
  none[34] = std::byte{0xff}; // more words than remain
  const auto beyond = read_spirv_module(none);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, ErrorCode::truncated);
  EXPECT_THAT(beyond.error().message, HasSubstr("instruction at offset 36 needs 1016 bytes"));
  Bytes header = ModuleMaker().bytes();
  header.resize(20);
  const auto without_model = read_spirv_module(header);
  ASSERT_FALSE(without_model.has_value());
  EXPECT_THAT(without_model.error().message, HasSubstr("OpMemoryModel is missing"));
}

// A type that contains itself must not cause an endless loop.
TEST(SpirvModule, RefusesTypesThatContainThemselves) {
  ModuleMaker maker;
  maker.add_kernel(1, "k").add(32, {2, 5, 2}).add(54, {3, 1, 0, 4}).add(55, {2, 5});
  expect_refused(maker, ErrorCode::damaged, "contains more than 16 others");
}

// Many entry points share one function, which has many parameters of a type with a long name.
TEST(SpirvModule, RefusesModulesThatRepeatOneNameTooOften) {
  ModuleMaker maker;
  for (int index = 0; index < 500; ++index) {
    maker.add_kernel(1, std::to_string(index));
  }
  maker.add(5, {2}, std::string(10000, 'x')).add(30, {2}).add(54, {3, 1, 0, 4});
  for (int index = 0; index < 500; ++index) {
    maker.add(55, {2, 5});
  }
  expect_refused(maker, ErrorCode::limit_exceeded, "the names of its kernels exceed ");
}

} // namespace
} // namespace clbin::format
