#include "targets/nvptx_passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string annotated(std::string_view ir, const NvptxSettings& settings = {}) {
  const auto text = annotate_nvptx(ir, settings);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

TEST(NvptxAnnotations, NameImagesAndSamplers) {
  const std::string text = annotated(
      "define dso_local spir_kernel void @k(ptr addrspace(1) %a) #0 !kernel_arg_access_qual !4 "
      "!kernel_arg_base_type !5 {\n"
      "!4 = !{!\"read_only\", !\"write_only\", !\"read_write\", !\"none\", !\"none\"}\n"
      "!5 = !{!\"image2d_t\", !\"image3d_t\", !\"image1d_buffer_t\", !\"sampler_t\", !\"int\"}\n");
  EXPECT_THAT(text, HasSubstr("!6 = !{ptr @k, !\"rdoimage\", i32 0}\n"));
  EXPECT_THAT(text, HasSubstr("!7 = !{ptr @k, !\"wroimage\", i32 1}\n"));
  EXPECT_THAT(text, HasSubstr("!8 = !{ptr @k, !\"rdwrimage\", i32 2}\n"));
  EXPECT_THAT(text, HasSubstr("!9 = !{ptr @k, !\"sampler\", i32 3}\n"));
  // Reads without a sampler still need one.
  EXPECT_THAT(text, HasSubstr("!10 = !{ptr addrspace(1) @oclcc_sampler_state_16, !\"sampler\", "
                              "i32 1}\n!nvvm.annotations = !{!6, !7, !8, !9, !10}\n"));
}

// LLVM cannot convert a parameter twice that is an integer already.
TEST(NvptxAnnotations, PassImagesAndSamplersAsIntegers) {
  const std::string text =
      annotated("define spir_kernel void @k(i32 noundef %n, ptr addrspace(1) readonly %a, ptr "
                "noundef byval(%struct.s) align 4 %b, ptr addrspace(4) %s, ptr addrspace(1) %0) #0 "
                "!kernel_arg_access_qual !4 !kernel_arg_base_type !5 {\n"
                "entry:\n"
                "  ret void\n"
                "}\n"
                "define spir_kernel void @other(ptr addrspace(1) %a) #0 {\n"
                "entry:\n"
                "}\n"
                "!4 = !{!\"none\", !\"read_only\", !\"none\", !\"none\", !\"read_only\"}\n"
                "!5 = !{!\"int\", !\"image2d_t\", !\"s\", !\"sampler_t\", !\"image2d_t\"}\n");
  EXPECT_THAT(
      text,
      HasSubstr("define spir_kernel void @k(i32 noundef %n, i64 %oclcc_handle_1, ptr noundef "
                "byval(%struct.s) align 4 %b, i64 %oclcc_handle_3, ptr addrspace(1) %0) #0 "));
  EXPECT_THAT(text, HasSubstr("entry:\n"
                              "  %a = inttoptr i64 %oclcc_handle_1 to ptr addrspace(1)\n"
                              "  %s = inttoptr i64 %oclcc_handle_3 to ptr addrspace(4)\n"
                              "  ret void\n"));
  EXPECT_THAT(text, HasSubstr("@other(ptr addrspace(1) %a) #0 {\nentry:\n}\n"));
}

TEST(NvptxAnnotations, JoinThoseThatAreThere) {
  EXPECT_THAT(annotated("define spir_kernel void @k() !reqd_work_group_size !2 {\n"
                        "!nvvm.annotations = !{!0, !1}\n"
                        "!0 = !{ptr @k, !\"kernel\", i32 1}\n!1 = !{ptr @j, !\"kernel\", i32 1}\n"
                        "!2 = !{i32 8, i32 4, i32 1}\n",
                        {64, SquareRoot::correctly_rounded}),
              HasSubstr("!3 = !{ptr @k, !\"maxnreg\", i32 64}\n"
                        "!4 = !{ptr @k, !\"reqntidx\", i32 8, !\"reqntidy\", i32 4, "
                        "!\"reqntidz\", i32 1}\n"
                        "!nvvm.annotations = !{!0, !1, !3, !4}\n"));
}

TEST(NvptxAnnotations, DivideHalfExactly) {
  const std::string text = annotated(
      "  %1 = fdiv half %0, 0xH3C00, !dbg !7\n"
      "  %2 = fdiv fast <4 x half> <half 0xH3C00, half 0xH4000, half undef, half 0xH0000>, "
      "%a\n"
      "  %3 = fdiv float %b, %c, !fpmath !6\n"
      "  %4 = fdiv half %0, %1\n");
  EXPECT_THAT(text,
              HasSubstr("  %1 = call half @oclcc_divide_1(half %0, half 0xH3C00), !dbg !7\n"
                        "  %2 = call <4 x half> @oclcc_divide_4(<4 x half> <half 0xH3C00, half "
                        "0xH4000, half undef, half 0xH0000>, <4 x half> %a)\n"
                        "  %3 = fdiv float %b, %c, !fpmath !6\n"
                        "  %4 = call half @oclcc_divide_1(half %0, half %1)\n"));
  EXPECT_THAT(text, HasSubstr("define internal half @oclcc_divide_1(half %a, half %b)"));
  EXPECT_THAT(text, HasSubstr("define internal <4 x half> @oclcc_divide_4(<4 x half> %a, "));
  EXPECT_THAT(text, Not(HasSubstr("@oclcc_divide_2")));
}

TEST(NvptxAnnotations, CompareTwoComponentsOfHalfByOneInstruction) {
  const std::string text = annotated("  %1 = fcmp une <2 x half> %a, zeroinitializer\n"
                                     "  %2 = fcmp olt <4 x half> %b, %c\n"
                                     "  %3 = fcmp olt half %d, %e\n"
                                     "  %4 = fcmp nnan oge <2 x half> %a, %f\n");
  EXPECT_THAT(text, HasSubstr("  %1 = call <2 x i1> @oclcc_compare_une(<2 x half> %a, <2 x half> "
                              "zeroinitializer)\n"
                              "  %2 = fcmp olt <4 x half> %b, %c\n"
                              "  %3 = fcmp olt half %d, %e\n"
                              "  %4 = call <2 x i1> @oclcc_compare_oge(<2 x half> %a, <2 x half> "
                              "%f)\n"));
  EXPECT_THAT(text, HasSubstr("setp.neu.f16x2 p|q, $1, $2;"));
  EXPECT_THAT(text, HasSubstr("setp.ge.f16x2 p|q, $1, $2;"));
}

TEST(NvptxAnnotations, ReplaceSquareRootsUnlessTheyAreExact) {
  constexpr const char* k_ir = "define spir_kernel void @k() {\n"
                               "  %1 = call fast float @llvm.sqrt.f32(float %0)\n"
                               "  %2 = call double @llvm.sqrt.f64(double %3)\n"
                               "}\n"
                               "declare float @llvm.sqrt.f32(float) #1\n";
  const std::string approximate = annotated(k_ir);
  EXPECT_THAT(approximate, HasSubstr("  %1 = call fast float @llvm.nvvm.sqrt.approx.f(float %0)\n"
                                     "  %2 = call double @llvm.sqrt.f64(double %3)\n"));
  EXPECT_THAT(approximate, HasSubstr("declare float @llvm.nvvm.sqrt.approx.f(float)\n"));
  EXPECT_THAT(approximate, Not(HasSubstr("@llvm.sqrt.f32")));
  EXPECT_EQ(annotated(k_ir, {std::nullopt, SquareRoot::correctly_rounded}), k_ir);
}

TEST(NvptxAnnotations, CopyTheStringsOfPrintf) {
  const std::string text = annotated(
      "@.str = private unnamed_addr addrspace(4) constant [3 x i8] c\"%d\\00\", align 1\n"
      "define spir_kernel void @k() {\n"
      "  %5 = tail call i64 @_Z12__oclcc_passPU3AS4Kc(ptr addrspace(4) noundef @.str) #7\n"
      "}\n");
  EXPECT_THAT(text, HasSubstr("  %5 = ptrtoint ptr addrspacecast (ptr addrspace(1) "
                              "@oclcc_text_0 to ptr) to i64\n"));
  EXPECT_THAT(text, HasSubstr("@oclcc_text_0 = internal unnamed_addr addrspace(1) constant "
                              "[3 x i8] c\"%d\\00\", align 1\n"));
}

TEST(NvptxAnnotations, RefuseStringsOfPrintfThatAreNotConstant) {
  for (const char* argument : {"%s", "@elsewhere", ""}) {
    const auto text =
        annotate_nvptx(std::string("  %5 = call i64 @_Z12__oclcc_passPU3AS4Kc(ptr addrspace(4) ") +
                           argument + ") #7\n",
                       {});
    ASSERT_FALSE(text) << argument;
    EXPECT_EQ(text.error().message,
              "printf: the format and each string must be constant on NVIDIA's devices");
  }
}

TEST(NvptxAnnotations, DefineConstantSamplers) {
  // Clamped to the edge, linear, normalized: OpenCL's coding is 1 | 2 << 1 | 2 << 4.
  const std::string text =
      annotated("  %1 = call ptr addrspace(4) @__translate_sampler_initializer(i32 37) #2\n"
                "declare ptr addrspace(4) @__translate_sampler_initializer(i32)\n");
  EXPECT_THAT(text, HasSubstr("  %1 = call ptr addrspace(4) @oclcc_sampler_37() #2\n"));
  EXPECT_THAT(
      text, HasSubstr("@oclcc_sampler_state_37 = internal addrspace(1) global i64 25, align 8\n"));
  EXPECT_THAT(text, Not(HasSubstr("__translate")));
  const auto variable =
      annotate_nvptx("  %1 = call ptr @__translate_sampler_initializer(i32 %0)\n", {});
  ASSERT_FALSE(variable);
  EXPECT_EQ(variable.error().message, "a sampler must be constant on NVIDIA's devices");
}

TEST(NvptxAnnotations, KeepFunctionsToTheModule) {
  const std::string text =
      annotated("define dso_local float @helper(float %x) local_unnamed_addr #3 {\n"
                "define internal void @mine() #3 {\n"
                "define linkonce_odr hidden void @one() #3 {\n"
                "define weak dso_local protected spir_func %struct.hidden @two() #3 {\n"
                "define available_externally void @three() #3 {\n"
                "define dso_local spir_kernel void @k() #3 {\n"
                "attributes #3 = { convergent noinline nounwind }\n");
  EXPECT_THAT(text, HasSubstr("define internal float @helper(float %x) local_unnamed_addr #3 {\n"
                              "define internal void @mine() #3 {\n"
                              "define internal void @one() #3 {\n"
                              "define internal spir_func %struct.hidden @two() #3 {\n"
                              "define available_externally void @three() #3 {\n"
                              "define dso_local spir_kernel void @k() #3 {\n"
                              "attributes #3 = { convergent noinline nounwind }\n"));
}

TEST(NvptxAnnotations, InlineFunctionsWhereThereAreImages) {
  const std::string text =
      annotated("define dso_local float @helper(float %x) local_unnamed_addr #3 {\n"
                "define internal float @mine(float %x) #3 {\n"
                "define internal float @_Z3get14ocl_image2d_ro(ptr %x) #3 {\n"
                "define internal float @_Z3logf(float %x) #3 {\n"
                "define spir_kernel void @k(ptr %a) #3 !kernel_arg_access_qual !4 "
                "!kernel_arg_base_type !5 {\n"
                "attributes #3 = { convergent noinline nounwind }\n"
                "!4 = !{!\"read_only\"}\n!5 = !{!\"image2d_t\"}\n");
  EXPECT_THAT(text, HasSubstr("define internal float @helper(float %x) local_unnamed_addr "
                              "alwaysinline #3 {\n"
                              "define internal float @mine(float %x) alwaysinline #3 {\n"
                              "define internal float @_Z3get14ocl_image2d_ro(ptr %x) alwaysinline "
                              "#3 {\n"
                              "define internal float @_Z3logf(float %x) #3 {\n"));
  EXPECT_THAT(text, HasSubstr("attributes #3 = { convergent nounwind }\n"));
}

TEST(NvptxAnnotations, LeaveTheTextOfStringsAlone) {
  constexpr const char* k_ir =
      "@.str = constant [9 x i8] c\"@llvm.sqrt.f32( @__translate_sampler_initializer(i32 7)\"\n";
  EXPECT_EQ(annotated(k_ir, {std::nullopt, SquareRoot::correctly_rounded}), k_ir);
}

} // namespace
} // namespace oclcc::offline
