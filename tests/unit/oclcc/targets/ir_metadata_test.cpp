#include "targets/llvm_ir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using clbin::format::AccessQualifier;
using clbin::format::AddressSpace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* k_ir_of_kernel =
    "define dso_local spir_kernel void @add(ptr addrspace(1) noundef %a, i32 %n) "
    "local_unnamed_addr #0 !kernel_arg_addr_space !3 !kernel_arg_access_qual !4 "
    "!kernel_arg_type !5 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 !kernel_arg_name !8 "
    "!reqd_work_group_size !9 {\n"
    "define float @helper(float %x) {\n"
    "define dso_local ptx_kernel void @\"other.k\"() #0 {\n"
    "define amdgpu_kernel void @third() {\n"
    "!3 = !{i32 1, i32 0, i32 2, i32 3}\n"
    "!4 = !{!\"none\", !\"none\", !\"read_only\", !\"read_write\"}\n"
    "!5 = !{!\"float4*\", !\"S\", !\"image2d_t\", !\"int*\"}\n"
    "!6 = !{!\"float __attribute__((ext_vector_type(4)))*\", !\"struct S\", !\"image2d_t\", "
    "!\"int*\"}\n"
    "!7 = !{!\"restrict const\", !\"\", !\"pipe\", !\"volatile\"}\n"
    "!8 = !{!\"a\", !\"n\\22\", !\"i\", !\"l\"}\n"
    "!9 = !{i32 8, i32 4, i32 1}\n"
    "!named = !{!3}\n";

TEST(IrMetadata, FindsKernelsOfEachCallingConvention) {
  const auto kernels = kernels_in(k_ir_of_kernel);
  ASSERT_THAT(kernels, SizeIs(3));
  EXPECT_EQ(kernels[0].symbol, "add");
  EXPECT_EQ(kernels[0].node("reqd_work_group_size"), 9U);
  EXPECT_EQ(kernels[0].node("vec_type_hint"), IrKernel::k_no_node);
  EXPECT_EQ(kernels[1].symbol, "\"other.k\"");
  EXPECT_EQ(kernels[1].name, "other.k");
  EXPECT_EQ(kernels[2].name, "third");
}

TEST(IrMetadata, DescribesArgumentsAsADriverDoes) {
  const auto kernel = reflect(kernels_in(k_ir_of_kernel)[0], IrNodes(k_ir_of_kernel));
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->name, "add");
  EXPECT_EQ(kernel->required_work_group_size, (std::array<std::uint64_t, 3>{8, 4, 1}));
  ASSERT_TRUE(kernel->arguments);
  ASSERT_THAT(*kernel->arguments, SizeIs(4));
  const auto& arguments = *kernel->arguments;
  EXPECT_EQ(arguments[0].type_name, "float4*");
  EXPECT_EQ(arguments[0].address_space, AddressSpace::global);
  EXPECT_TRUE(arguments[0].is_const);
  EXPECT_TRUE(arguments[0].is_restrict);
  EXPECT_EQ(arguments[1].name, "n\"");
  EXPECT_EQ(arguments[1].address_space, AddressSpace::private_);
  EXPECT_EQ(arguments[2].access, AccessQualifier::read_only);
  EXPECT_TRUE(arguments[2].is_pipe);
  EXPECT_EQ(arguments[3].address_space, AddressSpace::local);
  EXPECT_EQ(arguments[3].access, AccessQualifier::read_write);
  EXPECT_TRUE(arguments[3].is_volatile);
}

TEST(IrMetadata, RefusesKernelsWhoseNodesDisagree) {
  const std::string ir = "define spir_kernel void @k() !kernel_arg_name !1 !kernel_arg_type !2 {\n"
                         "!1 = !{!\"a\", !\"b\"}\n!2 = !{!\"int\"}\n";
  const auto kernel = reflect(kernels_in(ir)[0], IrNodes(ir));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "the compiler describes 2 and 1 arguments of the kernel 'k'");
}

TEST(IrMetadata, HasNoNodesOfOtherNumbers) {
  const IrNodes nodes(k_ir_of_kernel);
  EXPECT_THAT(nodes.strings(99), IsEmpty());
  EXPECT_THAT(nodes.numbers(IrKernel::k_no_node), IsEmpty());
  EXPECT_EQ(nodes.content(9), "i32 8, i32 4, i32 1");
  EXPECT_THAT(nodes.numbers(9), ElementsAre(8, 4, 1));
  EXPECT_EQ(nodes.first_unused(), 10U);
  EXPECT_EQ(IrNodes("").first_unused(), 0U);
}

} // namespace
} // namespace oclcc::offline
