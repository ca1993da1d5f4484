#include "targets/llvm_ir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using clbin::format::AccessQualifier;
using clbin::format::AddressSpace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* k_kernels =
    "define dso_local spir_kernel void @g(ptr addrspace(1) %a) #0 !kernel_arg_type !4 {\n"
    "entry:\n"
    "  store i32 1, ptr addrspace(1) %a\n"
    "  ret void\n"
    "}\n"
    "\n"
    "define dso_local spir_kernel void @f(ptr addrspace(1) %a) #0 !kernel_arg_type !4 {\n"
    "  call spir_kernel void @g(ptr addrspace(1) %a) #2\n"
    "  call spir_func void @h(ptr addrspace(1) %a) #2\n"
    "  ret void\n"
    "}\n"
    "define spir_func void @h(ptr addrspace(1) %a) #1 {\n"
    "}\n"
    "attributes #0 = { convergent noinline nounwind }\n"
    "attributes #1 = { noinline }\n";

TEST(KernelCalls, CallACopyThatIsAFunctionAndMayBeInlined) {
  EXPECT_EQ(
      with_callable_kernels(k_kernels),
      "define dso_local spir_kernel void @g(ptr addrspace(1) %a) #0 !kernel_arg_type !4 {\n"
      "entry:\n"
      "  store i32 1, ptr addrspace(1) %a\n"
      "  ret void\n"
      "}\n"
      "\n"
      "define internal spir_func void @oclcc_called_g(ptr addrspace(1) %a) #0 !kernel_arg_type !4 "
      "{\n"
      "entry:\n"
      "  store i32 1, ptr addrspace(1) %a\n"
      "  ret void\n"
      "}\n"
      "\n"
      "define dso_local spir_kernel void @f(ptr addrspace(1) %a) #0 !kernel_arg_type !4 {\n"
      "  call spir_func void @oclcc_called_g(ptr addrspace(1) %a) #2\n"
      "  call spir_func void @h(ptr addrspace(1) %a) #2\n"
      "  ret void\n"
      "}\n"
      "define spir_func void @h(ptr addrspace(1) %a) #1 {\n"
      "}\n"
      "attributes #0 = { convergent nounwind }\n"
      "attributes #1 = { noinline }\n");
}

TEST(KernelCalls, LeaveTheCodeAsItIsIfNoKernelIsCalled) {
  constexpr const char* k_ir = "define spir_kernel void @f() #0 {\n"
                               "  call spir_func void @g() #2\n"
                               "}\n"
                               "attributes #0 = { noinline }";
  EXPECT_EQ(with_callable_kernels(k_ir), k_ir);
  EXPECT_EQ(with_callable_kernels(""), "");
}

TEST(KernelCalls, AreRedirectedInTheCopiesToo) {
  const std::string text = with_callable_kernels("define spir_kernel void @a() {\n"
                                                 "}\n"
                                                 "define spir_kernel void @b() {\n"
                                                 "  call spir_kernel void @a()\n"
                                                 "}\n"
                                                 "define spir_kernel void @c() {\n"
                                                 "  call spir_kernel void @b()\n"
                                                 "}\n");
  EXPECT_THAT(text, HasSubstr("define internal spir_func void @oclcc_called_b() {\n"
                              "  call spir_func void @oclcc_called_a()\n}\n"));
  EXPECT_THAT(text, HasSubstr("define spir_kernel void @c() {\n"
                              "  call spir_func void @oclcc_called_b()\n}\n"));
  EXPECT_THAT(text, Not(HasSubstr("call spir_kernel")));
}

TEST(KernelCalls, HaveTheConventionOfFunctionsOfTheTarget) {
  EXPECT_THAT(with_callable_kernels("define protected amdgpu_kernel void @g(i32 %n) #0 {\n"
                                    "  call amdgpu_kernel void @g(i32 %n)\n"
                                    "}\n"),
              HasSubstr("define internal void @oclcc_called_g(i32 %n) #0 {\n"
                        "  call void @oclcc_called_g(i32 %n)\n}\n"));
  EXPECT_THAT(with_callable_kernels("define ptx_kernel void @g() #0 {\n"
                                    "  call ptx_kernel void @g()\n"
                                    "}\n"),
              HasSubstr("define internal void @oclcc_called_g() #0 {\n"
                        "  call void @oclcc_called_g()\n}\n"));
}

TEST(KernelCalls, KeepTheQuotesOfANameThatNeedsThem) {
  EXPECT_THAT(with_callable_kernels("define spir_kernel void @\"g\\C3\\A9\"() {\n"
                                    "  call spir_kernel void @\"g\\C3\\A9\"()\n"
                                    "}\n"),
              HasSubstr("define internal spir_func void @\"oclcc_called_g\\C3\\A9\"() {\n"
                        "  call spir_func void @\"oclcc_called_g\\C3\\A9\"()\n"));
}

// A later check reports it by the name that the source calls.
TEST(KernelCalls, OfAKernelThatIsDeclaredOnlyStay) {
  constexpr const char* k_ir = "define spir_kernel void @f() {\n"
                               "  call spir_kernel void @g()\n"
                               "}\n"
                               "declare spir_kernel void @g()\n";
  EXPECT_EQ(with_callable_kernels(k_ir), k_ir);
}

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

TEST(SpirvRepairs, SelectVectorsByVectors) {
  EXPECT_EQ(repaired_for_spirv("  %c = select i1 %b, <4 x float> %x, <4 x float> %y\n"
                               "  %d = select fast i1 true, <16 x half> %x, <16 x half> %y\n"),
            "  %oclcc.lane0 = insertelement <4 x i1> undef, i1 %b, i32 0\n"
            "  %oclcc.lanes0 = shufflevector <4 x i1> %oclcc.lane0, <4 x i1> undef, <4 x i32> "
            "zeroinitializer\n"
            "  %c = select <4 x i1> %oclcc.lanes0, <4 x float> %x, <4 x float> %y\n"
            "  %oclcc.lane1 = insertelement <16 x i1> undef, i1 true, i32 0\n"
            "  %oclcc.lanes1 = shufflevector <16 x i1> %oclcc.lane1, <16 x i1> undef, <16 x i32> "
            "zeroinitializer\n"
            "  %d = select fast <16 x i1> %oclcc.lanes1, <16 x half> %x, <16 x half> %y\n");
}

TEST(SpirvRepairs, AnswerForDimensionsThatDoNotExist) {
  EXPECT_EQ(repaired_for_spirv("  %a = tail call spir_func i64 @_Z15get_global_sizej(i32 3) #2\n"
                               "  %b = call spir_func i32 @_Z12get_local_idj(i32 noundef 4) #2\n"),
            "  %a = add i64 1, 0\n"
            "  %b = add i32 0, 0\n");
}

TEST(SpirvRepairs, DropHintsOfLoops) {
  EXPECT_EQ(repaired_for_spirv("  br i1 %c, label %do.body, label %do.end, !llvm.loop !13\n"
                               "  br label %for.cond, !dbg !3, !llvm.loop !7\n"),
            "  br i1 %c, label %do.body, label %do.end\n"
            "  br label %for.cond, !dbg !3\n");
}

TEST(SpirvRepairs, WriteConstantsWithoutVectorsOfOneElement) {
  EXPECT_EQ(repaired_for_spirv(
                "  store <2 x i32> bitcast (<1 x i64> <i64 -9223372036854775807> to <2 x i32>), "
                "<2 x i32>* %p\n"
                "  store <4 x i16> bitcast (<1 x i64> <i64 65536> to <4 x i16>), <4 x i16>* %q\n"),
            "  store <2 x i32> <i32 1, i32 2147483648>, <2 x i32>* %p\n"
            "  store <4 x i16> <i16 0, i16 1, i16 0, i16 0>, <4 x i16>* %q\n");
}

TEST(SpirvRepairs, MakeFlagsOfFencesConstant) {
  EXPECT_EQ(repaired_for_spirv("  call spir_func void @_Z7barrierj(i32 noundef %0) #3, !dbg !7\n"
                               "  tail call spir_func void @_Z13read_mem_fencej(i32 %flags)\n"),
            "  call spir_func void @_Z7barrierj(i32 noundef 7) #3, !dbg !7\n"
            "  tail call spir_func void @_Z13read_mem_fencej(i32 7)\n");
}

TEST(SpirvRepairs, GiveSamplersAFilter) {
  EXPECT_EQ(repaired_for_spirv("  %s = call x @__translate_sampler_initializer(i32 4) #2\n"
                               "  %t = call x @__translate_sampler_initializer(i32 32)\n"),
            "  %s = call x @__translate_sampler_initializer(i32 20) #2\n"
            "  %t = call x @__translate_sampler_initializer(i32 32)\n");
}

TEST(SpirvRepairs, InlineFunctionsWithSamplers) {
  EXPECT_EQ(
      repaired_for_spirv(
          "define dso_local spir_func void @f(%opencl.sampler_t addrspace(2)* %s) #0 "
          "{\n"
          "define dso_local spir_kernel void @k(%opencl.sampler_t addrspace(2)* %s) "
          "#1 !kernel_arg_addr_space !7 {\n"),
      "define internal spir_func void @f(%opencl.sampler_t addrspace(2)* %s) alwaysinline #0 {\n"
      "define dso_local spir_kernel void @k(%opencl.sampler_t addrspace(2)* %s) #1 "
      "!kernel_arg_addr_space !7 {\n");
}

TEST(SpirvRepairs, LeaveOtherLinesAlone) {
  const char* const ir = "  %f = call spir_func i64 @_Z15get_global_sizej(i32 2) #2\n"
                         "  %g = call spir_func i64 @_Z13get_global_idj(i32 %d) #2\n"
                         "declare spir_func i64 @_Z13get_global_idj(i32)\n"
                         "  %a = select i1 %b, float %x, float %y\n"
                         "  %c = select <4 x i1> %d, <4 x float> %x, <4 x float> %y\n"
                         "  %e = call i1 @select(i1 %b)\n"
                         "  store <2 x float> bitcast (<1 x i64> <i64 7> to <2 x float>), p\n"
                         "  store <2 x i32> bitcast (<1 x i64> <i64 7\n"
                         "  call spir_func void @_Z7barrierj(i32 noundef 1) #3\n"
                         "define dso_local spir_func void @g(i32 noundef %n) #0 {\n"
                         "\n"
                         "}\n";
  EXPECT_EQ(repaired_for_spirv(ir), ir);
}

TEST(PlacesInTheSource, AreThoseOfLineTables) {
  const char* const ir = "  %a = call i32 @llvm.uadd.sat.i32(i32 %b, i32 %c), !dbg !8\n"
                         "  %d = call i32 @elsewhere(i32 %b)\n"
                         "  %e = call i32 @other(i32 %b) #3, !dbg !9\n"
                         "!1 = !DIFile(filename: \"include/a b.h\", directory: \"\")\n"
                         "!7 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 1)\n"
                         "!8 = !DILocation(line: 12, column: 5, scope: !7)\n"
                         "!9 = !DILocation(line: 12, column: 5, scope: !70)\n";
  EXPECT_EQ(source_place(ir, "@llvm.uadd.sat.i32("), "include/a b.h:12:5");
  EXPECT_EQ(source_place(ir, "@elsewhere("), "");
  EXPECT_EQ(source_place(ir, "@other("), "");
  EXPECT_EQ(source_place(ir, "@nowhere("), "");
}

} // namespace
} // namespace oclcc::offline
