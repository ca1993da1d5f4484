#include "targets/nvptx_passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NvptxAssembly, FindsFunctionsThatAreDeclaredOnly) {
  EXPECT_THAT(unresolved_functions(".func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 "
                                   "vprintf_param_0\n)\n;\n"
                                   ".func  (.param .b32 func_retval0) _Z3foof\n(\n)\n;\n"
                                   ".func later (.param .b64 x);\n"
                                   ".visible .func later(\n\t.param .b64 x\n)\n{\n\tret;\n}\n"
                                   ".func _Z1av\n;"),
              ElementsAre("_Z1av", "_Z3foof"));
  EXPECT_THAT(unresolved_functions(".entry k(\n)\n{\n\tret;\n}\n"), IsEmpty());
  EXPECT_THAT(unresolved_functions("\t// .func in a comment;\n"), IsEmpty());
  EXPECT_THAT(unresolved_functions(".func "), IsEmpty());
  EXPECT_THAT(unresolved_functions(".func ("), IsEmpty());
}

TEST(NvptxAssembly, FindsFunctionsThatAreCalledWithoutADeclaration) {
  EXPECT_THAT(unresolved_functions(".func known(\n)\n{\n\tret;\n}\n"
                                   ".entry k(\n)\n{\n"
                                   "\tcall.uni (retval0), \n\tfar, \n\t(\n\tparam0\n\t);\n"
                                   "\t@%p1 call.uni near;\n"
                                   "\tcall known, (param0);\n"
                                   "\tcall (retval0), vprintf, (param0, param1);\n"
                                   "\tcall (retval0), %rd1, (param0), prototype_0;\n"
                                   "\t// call.uni comment;\n}\n"),
              ElementsAre("far", "near"));
  EXPECT_THAT(unresolved_functions("\tcall"), IsEmpty());
  EXPECT_THAT(unresolved_functions("\tcall ("), IsEmpty());
  EXPECT_THAT(unresolved_functions("\t@%p1"), IsEmpty());
}

TEST(NvptxAssembly, FindsKernelsThatAreCalled) {
  constexpr const char* k_ptx = ".visible .entry g(\n)\n{\n\tret;\n}\n"
                                ".entry f(\n)\n{\n\tcall.uni \n\tg, \n\t(\n\tparam0\n\t);\n}\n";
  EXPECT_THAT(called_kernels(k_ptx), ElementsAre("g"));
  EXPECT_THAT(unresolved_functions(k_ptx), IsEmpty());
  EXPECT_THAT(called_kernels(".func g(\n)\n{\n}\n.entry f(\n)\n{\n\tcall.uni g;\n}\n"), IsEmpty());
}

TEST(NvptxAssembly, FindsVariablesWithoutAValue) {
  EXPECT_THAT(unresolved_variables(".extern .const .align 4 .b8 table[16];\n"
                                   ".extern .global .align 4 .u32 counter;\n"
                                   ".extern .func vprintf;\n"
                                   ".global .align 4 .u32 known;\n"
                                   "// .extern .global .u32 comment;\n"),
              ElementsAre("table", "counter"));
}

TEST(NvptxAssembly, FindsImagesOutsideKernels) {
  EXPECT_THAT(functions_with_images(".func  (.param .b32 r) blur(\n\t.param .b64 a\n)\n{\n"
                                    "\ttex.2d.v4.f32.s32 \t{%f1}, [blur_param_0, {%r1}];\n"
                                    "\tsust.b.2d.v4.b32.trap \t[a], {%r1};\n}\n"
                                    ".func other(\n)\n{\n\tret;\n}\n"
                                    ".entry k(\n)\n{\n\tsuld.b.2d.v4.b32 {%r1}, [k_param_0];\n}\n"
                                    ".func last(\n)\n{\n\ttxq.width.b32 %r1, [a];\n}\n"),
              ElementsAre("blur", "last"));
}

TEST(NvptxAssembly, ReducesTheDistancesOfRotations) {
  const auto ptx = with_reduced_rotations("\t{\n"
                                          "\t.reg .b64 %lhs;\n"
                                          "\t.reg .b64 %rhs;\n"
                                          "\t.reg .u32 %amt2;\n"
                                          "\tshl.b64 \t%lhs, %rd5, %r9;\n"
                                          "\tsub.u32 \t%amt2, 64, %r9;\n"
                                          "\tshr.b64 \t%rhs, %rd5, %amt2;\n");
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_EQ(*ptx, "\t{\n"
                  "\t.reg .b64 %lhs;\n"
                  "\t.reg .b64 %rhs;\n"
                  "\t.reg .u32 %amt1;\n"
                  "\t.reg .u32 %amt2;\n"
                  "\tand.b32 \t%amt1, %r9, 63;\n"
                  "\tshl.b64 \t%lhs, %rd5, %amt1;\n"
                  "\tsub.u32 \t%amt2, 64, %amt1;\n"
                  "\tshr.b64 \t%rhs, %rd5, %amt2;\n");
}

TEST(NvptxAssembly, EndsLoopsByABranchBack) {
  EXPECT_EQ(with_branches_back("$L__BB0_1:                              // %loop\n"
                               "\tadd.s32 \t%r1, %r1, 4;\n"
                               "\tsetp.lt.u32 \t%p12, %r2, %r1;\n"
                               "\t@%p12 bra \t$L__BB0_2;\n"
                               "\tbra.uni \t$L__BB0_1;\n"
                               "$L__BB0_2:\n"),
            "$L__BB0_1:                              // %loop\n"
            "\tadd.s32 \t%r1, %r1, 4;\n"
            "\tsetp.lt.u32 \t%p12, %r2, %r1;\n"
            "\t{ .reg .pred %oclcc_back; setp.ge.u32 \t%oclcc_back, %r2, %r1; @%oclcc_back bra "
            "\t$L__BB0_1; }\n"
            "\tbra.uni \t$L__BB0_2;\n"
            "$L__BB0_2:\n");
}

TEST(NvptxAssembly, EndsLoopsByABranchBackBesideDebugInformation) {
  EXPECT_EQ(with_branches_back("$L__BB0_1:\n"
                               "\tsetp.ne.s32 \t%p2, %r2, %r1;\n"
                               "\t.loc\t1 7 3\n"
                               "\t@%p2 bra \t$L__BB0_2;\n"
                               "$L__tmp4:\n"
                               "\tbra.uni \t$L__BB0_1;\n"
                               "$L__BB0_2:\n"),
            "$L__BB0_1:\n"
            "\tsetp.ne.s32 \t%p2, %r2, %r1;\n"
            "\t.loc\t1 7 3\n"
            "$L__tmp4:\n"
            "\t{ .reg .pred %oclcc_back; setp.eq.s32 \t%oclcc_back, %r2, %r1; @%oclcc_back bra "
            "\t$L__BB0_1; }\n"
            "\tbra.uni \t$L__BB0_2;\n"
            "$L__BB0_2:\n");
}

TEST(NvptxAssembly, KeepsTheAssemblerTextOfPrograms) {
  constexpr const char* k_ptx = "\t// begin inline asm\n"
                                "$L__user_1:\n"
                                "\tsetp.ge.s32 \t%p1, %c, %r2;\n"
                                "\t@%p1 bra \t$L__user_2;\n"
                                "\tbra.uni \t$L__user_1;\n"
                                "$L__user_2:\n"
                                "\t// end inline asm\n";
  EXPECT_EQ(with_branches_back(k_ptx), k_ptx);
}

TEST(NvptxAssembly, KeepsBranchesThatEndNoLoopOrCompareFloats) {
  const auto with = [](const char* comparison, const char* leave, const char* back) {
    return fmt::format("$L__BB0_1:\n\t{};\n\t{};\n\t{};\n$L__BB0_2:\n", comparison, leave, back);
  };
  const std::string changed =
      with("setp.eq.b64 \t%p1, %rd1, 0", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1");
  EXPECT_NE(with_branches_back(changed), changed);
  for (const std::string& kept :
       {with("setp.eq.b64 \t%p11, %rd1, 0", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.eq.b64 \t%p1, %rd1, 0", "@%p11 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.lt.f32 \t%p1, %f1, %f2", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.lo.u32 \t%p1, %r1, %r2", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.eq.b64 \t%p1, %rd1, 0", "@%p1 bra \t$L__BB0_1", "bra.uni \t$L__BB0_1"),
        with("setp.eq.b64 \t%p1, %rd1, 0", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_2"),
        with("setp.eq.b64 \t%p1, %rd1, 0", "@!%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.eq.and.s32 \t%p1, %r1, %r2, %p3", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp. \t%p1, %r1, %r2", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.eq.s32 \t%p1", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("mov.pred \t%p1, %p2", "@%p1 bra \t$L__BB0_2", "bra.uni \t$L__BB0_1"),
        with("setp.eq.b64 \t%p1, %rd1, 0", "@%p1 bra \t$L__BB0_2", "ret"), std::string("\tret;\n"),
        std::string()}) {
    EXPECT_EQ(with_branches_back(kept), kept);
  }
}

constexpr const char* k_counted =
    "\tmov.u32 \t%r20, 0;\n"
    "$L__BB2_4:                              // %for.body\n"
    "\tld.global.v2.f32 \t{%f1, %f2}, [%rd20];\n"
    "\tmul.wide.s32 \t%rd2, %r20, 4;\n"
    "\tadd.s32 \t%r20, %r20, 4;\n"
    "\tsetp.eq.s32 \t%p4, %r2, %r20;\n"
    "\t{ .reg .pred %oclcc_back; setp.ne.s32 \t%oclcc_back, %r2, %r20; "
    "@%oclcc_back bra \t$L__BB2_4; }\n"
    "\tbra.uni \t$L__BB2_5;\n";

// k_counted with another line.
std::string counted_with(std::string_view line, std::string_view other) {
  std::string ptx = k_counted;
  const std::size_t at = ptx.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return ptx.replace(at, line.size(), other);
}

TEST(NvptxAssembly, CountsDownInLoopsThatEndAtABound) {
  EXPECT_EQ(with_counts_down(k_counted),
            "\tmov.u32 \t%r20, 0;\n"
            "\t.reg .b32 %oclcc_left0;\n"
            "\tsub.s32 \t%oclcc_left0, %r2, %r20;\n"
            "$L__BB2_4:                              // %for.body\n"
            "\tld.global.v2.f32 \t{%f1, %f2}, [%rd20];\n"
            "\tmul.wide.s32 \t%rd2, %r20, 4;\n"
            "\tadd.s32 \t%r20, %r20, 4;\n"
            "\tsetp.eq.s32 \t%p4, %r2, %r20;\n"
            "\tsub.s32 \t%oclcc_left0, %oclcc_left0, 4;\n"
            "\t{ .reg .pred %oclcc_back; setp.ne.s32 \t%oclcc_back, %oclcc_left0, 0; "
            "@%oclcc_back bra \t$L__BB2_4; }\n"
            "\tbra.uni \t$L__BB2_5;\n");
  for (const std::string& counted :
       {counted_with("%oclcc_back, %r2, %r20;", "%oclcc_back, %r20, %r2;"),
        counted_with("%oclcc_back, %r2, %r20;", "%oclcc_back, %r20, 1024;"),
        counted_with("%r20, %r20, 4;", "%r20, %r20, -1;"),
        counted_with("\tmul.wide.s32 \t%rd2,", "\tmul.wide.s32 \t%rd20,"),
        counted_with("\tmul.wide.s32 \t%rd2,", "\tmul.wide.s32 \t%r200,"),
        counted_with("{%f1, %f2}", "{%r1, %r21}"),
        counted_with("\tbra.uni", "\t.loc\t1 7 3\n\tbra.uni"),
        counted_with("\tmul", "$L__tmp3:\n\t.loc\t1 7 3\n\tmul")}) {
    EXPECT_NE(with_counts_down(counted).find("%oclcc_left0, 0;"), std::string::npos) << counted;
  }
}

TEST(NvptxAssembly, KeepsLoopsWhoseStepsItCannotCount) {
  for (const std::string& kept :
       {counted_with("setp.ne.s32 \t%oclcc_back, %r2, %r20",
                     "setp.lt.s32 \t%oclcc_back, %r2, %r20"),
        counted_with("setp.ne.s32 \t%oclcc_back, %r2, %r20",
                     "setp.ne.s64 \t%oclcc_back, %rd2, %rd20"),
        counted_with("%r20, %r20, 4;", "%r20, %r20, %r3;"),
        counted_with("%r20, %r20, 4;", "%r21, %r20, 4;"),
        counted_with("\tmul.wide.s32 \t%rd2,",
                     "\tadd.s32 \t%r20, %r20, 4;\n\tmul.wide.s32 \t%rd2,"),
        counted_with("\tmul.wide.s32 \t%rd2,", "\tmov.u32 \t%r20,"),
        counted_with("\tmul.wide.s32 \t%rd2,", "\tmov.u32 \t%r2,"),
        counted_with("{%f1, %f2}", "{%r1, %r2}"),
        counted_with("{%f1, %f2}", "{%r20, %r1}"),
        counted_with("\tmul", "\t{ .reg .b32 tmp; mov.b64 {tmp, %r2}, %rd20; }\n\tmul"),
        counted_with("\tmul", "\tshfl.sync.idx.b32\t%r2, %r3, 0, 31, -1;\n\tmul"),
        counted_with("\tmul", "\tredux.sync.add.s32 %r2, %r3, -1;\n\tmul"),
        counted_with("\tmul", "\t@%p1 mov.b32 %r20, %r3;\n\tmul"),
        counted_with("\tmul", "$L__BB2_9:\n\tmul"),
        counted_with("\tmul",
                     "\t// begin inline asm\n\tmov.u32 %r2, 5;\n\t// end inline asm\n\tmul"),
        counted_with("\tbra.uni \t$L__BB2_5", "\tbra.uni \t$L__BB2_4"),
        counted_with("\tbra.uni", "ts: .branchtargets $L__BB2_5, $L__BB2_4;\n\tbra.uni"),
        counted_with("bra \t$L__BB2_4; }", "bra \t$L__BB2_3; }"),
        std::string("\tret;\n"),
        std::string()}) {
    EXPECT_EQ(with_counts_down(kept), kept);
  }
}

TEST(NvptxAssembly, NamesAnotherTargetAndVersion) {
  const auto ptx = retargeted("//\n// made by a compiler\n//\n\n.version 7.1\n"
                              ".target sm_86, texmode_independent\n.address_size 64\n",
                              "7.8", "sm_90");
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_EQ(*ptx, "//\n// made by a compiler\n//\n\n.version 7.8\n"
                  ".target sm_90, texmode_independent\n.address_size 64\n");
  for (const char* text : {"", "\n.version 7.1\n", "\n.target sm_86\n.version 7.1\n"}) {
    const auto refused = retargeted(text, "7.8", "sm_90");
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message, "clang wrote no PTX: it has no .version or no .target");
  }
}

TEST(NvptxAssembly, KeepsTheRotationsOfClang17) {
  constexpr const char* k_ptx = "\t.reg .u32 %amt2;\n"
                                "\tand.b32 \t%amt2, %r9, 63;\n"
                                "\tshl.b64 \t%lhs, %rd5, %amt2;\n"
                                "\tsub.u32 \t%amt2, 64, %amt2;\n"
                                "\tshr.b64 \t%rhs, %rd5, %amt2;\n";
  EXPECT_EQ(with_reduced_rotations(k_ptx), k_ptx);
}

TEST(NvptxAssembly, RefusesRotationsThatItDoesNotKnow) {
  for (const char* text :
       {"\t.reg .u32 %amt2;\n", "\t.reg .u32 %amt2;\n\tand.b32 \t%amt2, %r9, 31;\n",
        "\t.reg .u32 %amt2;\n\tshl.b64 \t%lhs, %rd5, %r9;\n",
        "\t.reg .u32 %amt2;\n\tshl.b64 \t%lhs, %rd5, %r9;\n\tsub.u32 \t%amt2, 64, %r8;\n",
        "\t.reg .u32 %amt2;\n\tshl.b32 \t%lhs, %rd5, %r9;\n\tsub.u32 \t%amt2, 64, %r9;\n"}) {
    const auto ptx = with_reduced_rotations(text);
    ASSERT_FALSE(ptx) << text;
    EXPECT_EQ(ptx.error().message,
              "clang emulates a 64-bit rotation with an unknown sequence of instructions");
  }
}

TEST(NvptxAssembly, DescribesTheAttributesOfKernels) {
  EXPECT_EQ(attributes_section("define spir_kernel void @plain() #0 !kernel_arg_name !1 {\n"
                               "define dso_local spir_kernel void @both() #0 "
                               "!reqd_work_group_size !2 !vec_type_hint !3 {\n"
                               "define spir_kernel void @\"k.1\"() !work_group_size_hint !4 "
                               "!vec_type_hint !5 {\n"
                               "define spir_kernel void @other() !vec_type_hint !6 {\n"
                               "!1 = !{}\n!2 = !{i32 8, i32 4, i32 1}\n"
                               "!3 = !{<4 x float> undef, i32 0}\n!4 = !{i32 1, i32 2, i32 3}\n"
                               "!5 = !{i32 undef, i32 0}\n!6 = !{%struct.S undef, i32 0}\n"),
            ".metadata_section {\n"
            "\t.metadata 0 {\n\t\t\"cl_kernel_attributes\", \"both\", "
            "\"vec_type_hint(float4) reqd_work_group_size(8,4,1)\"\n\t}\n"
            "\t.metadata 1 {\n\t\t\"cl_kernel_attributes\", \"k.1\", "
            "\"vec_type_hint(uint) work_group_size_hint(1,2,3)\"\n\t}\n"
            "}\n");
  EXPECT_EQ(attributes_section("define spir_kernel void @plain() {\n"), "");
}

} // namespace
} // namespace oclcc::offline
