#include "targets/llvm_ir.hpp"

#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

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

TEST(SpirvRepairs, LeaveOtherLinesAlone) {
  const char* const ir = "  %f = call spir_func i64 @_Z15get_global_sizej(i32 2) #2\n"
                         "  %g = call spir_func i64 @_Z13get_global_idj(i32 %d) #2\n"
                         "declare spir_func i64 @_Z13get_global_idj(i32)\n"
                         "  %a = select i1 %b, float %x, float %y\n"
                         "  %c = select <4 x i1> %d, <4 x float> %x, <4 x float> %y\n"
                         "  %e = call i1 @select(i1 %b)\n"
                         "\n"
                         "}\n";
  EXPECT_EQ(repaired_for_spirv(ir), ir);
}

} // namespace
} // namespace oclcc::offline
