#include "format/binary/binary_kernels.hpp"

#include "real_binaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::real_binary;
using ::testing::IsEmpty;
using ::testing::Optional;
using namespace std::string_view_literals;

KernelCodes codes_of(base::ByteView bytes) {
  auto codes = read_kernel_codes(bytes);
  EXPECT_TRUE(codes.has_value()) << codes.error().message;
  return codes.value_or(KernelCodes());
}

KernelCode code_of(const KernelCodes& codes, std::string_view kernel) {
  const auto found = codes.find(kernel);
  EXPECT_NE(found, codes.end()) << kernel;
  return found == codes.end() ? KernelCode() : found->second;
}

std::optional<std::uint64_t> ptx_instructions(std::string_view body) {
  const std::string text = ".version 6.3\n.target sm_70, texmode_independent\n.address_size 64\n"
                           ".entry k() {" +
                           std::string(body) + "}\n";
  return code_of(codes_of(base::as_bytes(text)), "k").instructions;
}

// The numbers are those of `readelf -S` and of `cuobjdump -res-usage`, CONSTANT[0].
TEST(KernelCodes, OfACubinAreTheSectionsOfTheKernel) {
  const KernelCodes codes = codes_of(real_binary("arguments.sm_80.cubin"));
  const KernelCode code = code_of(codes, "every_space");
  EXPECT_THAT(code.code_bytes, Optional(0x300U));
  EXPECT_THAT(code.constant_bytes, Optional(473U));
  EXPECT_EQ(code.instructions, std::nullopt);
  EXPECT_THAT(code_of(codes, "nothing").constant_bytes, Optional(352U));
}

// `readelf -sW` and `readelf -SW`.
TEST(KernelCodes, OfAmdAndIntelAreTheMachineCode) {
  const base::Bytes amd = real_binary("gfx1030.v4.co");
  const KernelCode code = code_of(codes_of(amd), "add");
  EXPECT_THAT(code.code_bytes, Optional(56U));
  // `llvm-objdump -d`: it ends with s_endpgm, 0xbf810000.
  ASSERT_EQ(code.code.size(), 56U);
  EXPECT_EQ(base::to_hex(code.code.last(4)), "000081bf");
  EXPECT_THAT(code_of(codes_of(real_binary("tgllp.zebin")), "add").code_bytes, Optional(0x1c0U));
}

// Two objects, as PoCL's binaries contain them, of AMD, whose functions need no prefix.
Bytes pocl_binary() {
  const Bytes object = real_binary("gfx1030.v4.co");
  Bytes binary;
  for (const std::string_view before :
       {"poclbin\0DEVICE..\x09\0\0\0/add/0-0-0/add.so"sv, "\x7f"
                                                          "ELF, /add/8-1-1/add.so"sv}) {
    std::ranges::copy(base::as_bytes(before), std::back_inserter(binary));
    std::ranges::copy(object, std::back_inserter(binary));
  }
  return binary;
}

TEST(KernelCodes, OfPoclAreThoseOfTheObjectsInside) {
  const Bytes binary = pocl_binary();
  const KernelCodes codes = codes_of(binary);
  EXPECT_EQ(codes.size(), 1U);
  EXPECT_THAT(code_of(codes, "add").code_bytes, Optional(56U));
  const std::size_t half = binary.size() / 2 - 100;
  EXPECT_THAT(codes_of(base::ByteView(binary).first(half)), IsEmpty());
}

// spirv-dis shows 8 instructions in the function, and OpFunctionCall and OpReturn in the kernel.
TEST(KernelCodes, OfSpirvIncludeCalledFunctions) {
  EXPECT_THAT(code_of(codes_of(real_binary("kernel.spv")), "add").instructions, Optional(10U));
}

TEST(KernelCodes, OfPtxAreStatementsThatAreNoDirectives) {
  EXPECT_THAT(ptx_instructions(""), Optional(0U));
  EXPECT_THAT(ptx_instructions(".reg .b32 %r<3>; .shared .b32 x[4]; mov.u32 %r1, 1; ret;"),
              Optional(2U));
  EXPECT_THAT(ptx_instructions("$L: @%p1 bra $L; { .reg .b32 %t; call f, (%t); } ret;"),
              Optional(3U));
  EXPECT_THAT(ptx_instructions("ld.global.v2.f32 {%f1, %f2}, [%rd1]; st.v2.f32 [%rd1], {1, 2};"),
              Optional(2U));
  EXPECT_THAT(ptx_instructions(".loc 1 12 0\nadd.s32 %r1, %r1, 1;\n"
                               ".loc 1 13 4, function_name $L__info, inlined_at 1 2 0\n"
                               "@%p1 ret;\n.loc 1 14 0\n$L1:\nret;"),
              Optional(3U));
}

TEST(KernelCodes, OfAnotherFileAreEmpty) {
  EXPECT_THAT(codes_of(Bytes()), IsEmpty());
  EXPECT_THAT(codes_of(real_binary("llvmpipe.rusticl")), IsEmpty());
  EXPECT_THAT(codes_of(real_binary("oclgrind.bc")), IsEmpty());
}

// Function 1 calls 2 twice, 2 calls 3; 4 and 5 call each other.
TEST(KernelCodes, OfSpirvCountEachCallAndNoCircle) {
  base::ByteWriter module;
  const auto add = [&](std::uint32_t opcode, const std::vector<std::uint32_t>& operands) {
    module.write_u32(static_cast<std::uint32_t>((operands.size() + 1) << 16U) | opcode);
    for (const std::uint32_t operand : operands) {
      module.write_u32(operand);
    }
  };
  const auto add_function = [&](std::uint32_t id, const std::vector<std::uint32_t>& callees) {
    add(54, {9, id, 0, 9});
    add(248, {20 + id});
    for (const std::uint32_t callee : callees) {
      add(57, {9, 40, callee});
    }
    add(253, {}); // OpReturn
    add(56, {});
  };
  for (const std::uint32_t word : {0x07230203U, 0x00010000U, 0U, 100U, 0U}) {
    module.write_u32(word);
  }
  add(14, {2, 2}); // OpMemoryModel
  const auto text = [](std::string_view name) { return static_cast<std::uint32_t>(name[0]); };
  add(15, {6, 1, text("a")});
  add(15, {6, 4, text("b")});
  add(15, {6, 5, text("c")});
  add_function(1, {2, 2, 7}); // 7 belongs to another module
  add_function(2, {3});
  add_function(3, {});
  add_function(4, {5});
  add_function(5, {4});
  const KernelCodes codes = codes_of(module.view());
  EXPECT_THAT(code_of(codes, "a").instructions, Optional(4U + 2U * (2U + 1U)));
  EXPECT_EQ(code_of(codes, "b").instructions, std::nullopt);
  EXPECT_EQ(code_of(codes, "c").instructions, std::nullopt);
}

// Each of 60 functions calls the next one twice: 2^60 instructions without a limit of time.
TEST(KernelCodes, OfSpirvDoNotOverflow) {
  base::ByteWriter module;
  for (const std::uint32_t word :
       {0x07230203U, 0x00010000U, 0U, 1000U, 0U, 0x0003000eU, 2U, 2U, 0x0004000fU, 6U, 1U, 0x61U}) {
    module.write_u32(word);
  }
  constexpr std::uint32_t k_functions = 90;
  for (std::uint32_t id = 1; id <= k_functions; ++id) {
    for (const std::uint32_t word : {0x00050036U, 9U, id, 0U, 9U, 0x00040039U, 9U, 900U, id + 1,
                                     0x00040039U, 9U, 901U, id + 1, 0x00010038U}) {
      module.write_u32(word);
    }
  }
  EXPECT_THAT(code_of(codes_of(module.view()), "a").instructions,
              Optional(std::uint64_t{1} << 62U));
}

TEST(KernelCodes, OfADamagedFileAreRefusedOrHarmless) {
  std::vector<Bytes> binaries = {pocl_binary()};
  for (const char* const file :
       {"arguments.sm_80.cubin", "gfx1030.v4.co", "tgllp.zebin", "kernel.spv", "sm_50.nvcl.ptx"}) {
    binaries.push_back(real_binary(file));
  }
  for (const Bytes& binary : binaries) {
    test::for_each_damage(binary, [&](base::ByteView bytes) {
      const auto codes = read_kernel_codes(bytes);
      EXPECT_TRUE(codes.has_value() || !codes.error().message.empty());
    });
  }
}

} // namespace
} // namespace clbin::format
