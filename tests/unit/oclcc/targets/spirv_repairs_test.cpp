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

TEST(SpirvRepairs, WriteConstantsWithoutVectorsOfOneElement) {
  EXPECT_EQ(repaired_for_spirv(
                "  store <2 x i32> bitcast (<1 x i64> <i64 -9223372036854775807> to <2 x i32>), "
                "<2 x i32>* %p\n"
                "  store <4 x i16> bitcast (<1 x i64> <i64 65536> to <4 x i16>), <4 x i16>* %q\n"),
            "  store <2 x i32> <i32 1, i32 2147483648>, <2 x i32>* %p\n"
            "  store <4 x i16> <i16 0, i16 1, i16 0, i16 0>, <4 x i16>* %q\n");
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
