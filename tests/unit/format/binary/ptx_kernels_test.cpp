#include "format/binary/binary_kernels.hpp"

#include "real_binaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::real_binary;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Size3 = std::array<std::uint64_t, 3>;

std::vector<PtxKernel> read_all(std::string_view text) {
  auto kernels = read_ptx_kernels(text);
  EXPECT_TRUE(kernels.has_value()) << kernels.error().message;
  return kernels.value_or(std::vector<PtxKernel>{});
}

std::vector<KernelReflection> read_text(std::string_view text) {
  std::vector<KernelReflection> kernels;
  for (PtxKernel& kernel : read_all(text)) {
    kernels.push_back(std::move(kernel.reflection));
  }
  return kernels;
}

std::vector<std::uint64_t> parameter_bytes_of(std::string_view text) {
  std::vector<std::uint64_t> bytes;
  for (const PtxKernel& kernel : read_all(text)) {
    bytes.push_back(kernel.parameter_bytes);
  }
  return bytes;
}

std::string module_of(std::string_view text) {
  return ".version 6.3\n.target sm_70, texmode_independent\n.address_size 64\n" + std::string(text);
}

void expect_refused(std::string_view text, const std::string& message) {
  const auto kernels = read_ptx_kernels(module_of(text));
  ASSERT_FALSE(kernels.has_value()) << message;
  EXPECT_EQ(kernels.error().code, ErrorCode::damaged) << kernels.error().message;
  EXPECT_EQ(kernels.error().message, "PTX: " + message);
}

TEST(PtxKernels, ReadsKernelsOfClang) {
  const Bytes bytes = real_binary("arguments.sm_70.nvcl.ptx");
  const auto kernels = read_text(base::as_text(bytes));
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "every_space");
  EXPECT_FALSE(kernels[0].arguments.has_value());
  EXPECT_EQ(kernels[0].local_bytes, 256U);
  EXPECT_EQ(kernels[1].name, "nothing");
  EXPECT_EQ(kernels[1].local_bytes, 0U);
  EXPECT_EQ(parameter_bytes_of(base::as_text(bytes)), (std::vector<std::uint64_t>{121, 0}));
}

TEST(PtxKernels, ReadsWorkGroupSizesAfterParameters) {
  const auto kernels = read_text(module_of(".entry r(\n"
                                           "  .param .texref r_param_0,\n"
                                           "  .param .u64 .ptr .texref r_param_3\n"
                                           ")\n"
                                           ".reqntid 8, 8, 1\n"
                                           "{ ret; }\n"
                                           ".visible .entry hinted() .maxntid 256, 2\n"
                                           ".minnctapersm 1 { ret; }\n"));
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "hinted");
  EXPECT_EQ(kernels[0].attributes, "");
  EXPECT_EQ(kernels[1].required_work_group_size, (Size3{8, 8, 1}));
  EXPECT_EQ(kernels[1].attributes, "reqd_work_group_size(8,8,1)");
}

TEST(PtxKernels, ReadsAttributesFromTheDriversMetadata) {
  const auto kernels = read_text(module_of(
      ".entry a() .reqntid 8 { ret; }\n"
      ".entry b() { ret; }\n"
      ".metadata_section {\n"
      "  .metadata 0 { \"cl_kernel_attributes\", \"b\", \"work_group_size_hint(8,8,1)\" }\n"
      "  .metadata 1 { \"cl_kernel_attributes\", \"b\", \"vec_type_hint(int)\" }\n"
      "  .metadata 2 { \"other\", \"a\", \"x\" }\n"
      "}\n"));
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].attributes, "reqd_work_group_size(8,1,1)");
  EXPECT_EQ(kernels[1].attributes, "work_group_size_hint(8,8,1) vec_type_hint(int)");
}

TEST(PtxKernels, CountsSharedMemoryThatAKernelUses) {
  const auto kernels = read_text(module_of(
      ".extern .shared .align 4 .b8 dynamic[];\n"
      ".shared .align 16 .b8 both[20];\n"
      ".shared .f64 one;\n"
      ".global .align 1 .b8 text[3] = {1, 2, 3}; // .shared .b8 comment[9];\n"
      ".func f() { ret; }\n"
      ".entry a() { .shared .b8 own[3]; { .reg .b32 %r<2>; } ld.shared.f64 %fd1, [one+0]; ret; }\n"
      ".entry b() { ld.shared.u8 %r1, [both]; ld.shared.f64 %fd1, [one]; ret; }\n"
      ".entry c() { call.uni f, (); ret; }\n"
      ".entry d() { ret; }\n"));
  ASSERT_THAT(kernels, SizeIs(4));
  EXPECT_EQ(kernels[0].local_bytes, 16U); // 3 bytes, 5 of padding, 8
  EXPECT_EQ(kernels[1].local_bytes, 32U); // 20 bytes, 4 of padding, 8
  EXPECT_FALSE(kernels[2].local_bytes.has_value()) << "f may use what it does not name";
  EXPECT_EQ(kernels[3].local_bytes, 0U);
}

TEST(PtxKernels, EndsAtANul) {
  std::string text = module_of(".entry a() { ret; }\n");
  text += '\0';
  text += ".entry b() { ret; }";
  EXPECT_THAT(read_text(text), SizeIs(1));
}

TEST(PtxKernels, SurvivesCutsAndFlippedBits) {
  std::size_t refused = 0;
  test::for_each_damage(real_binary("arguments.sm_70.nvcl.ptx"), [&](base::ByteView bytes) {
    if (const auto kernels = read_ptx_kernels(base::as_text(bytes)); !kernels) {
      EXPECT_THAT(kernels.error().message, HasSubstr("PTX: "));
      ++refused;
    }
  });
  EXPECT_GT(refused, 1000U);
}

TEST(PtxKernels, NamesTheKernelAndTheFieldOfWhatItRefuses) {
  const auto none = read_ptx_kernels("kernel void k() {}");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::damaged);
  EXPECT_EQ(none.error().message, "PTX: the text does not begin with .version and .target");
  expect_refused(".entry (", "'.entry': a kernel has no name");
  expect_refused(".entry k(.param .u32 p", "'k': expected .param in the list of parameters");
  expect_refused(".entry k() { .shared .u32 ; }", "'k': a variable has no name");
  expect_refused(".entry k(.reg .b32 p) {}", "'k': expected .param in the list of parameters");
  expect_refused(".entry k(.param .u32 ) {}", "'k': a variable has no name");
  expect_refused(".entry k()", "'k': the kernel has no body");
  expect_refused(".entry k() .entry l() {}", "'k': the kernel has no body");
  expect_refused(".entry k() { {", "'k': the body does not end");
  expect_refused(".entry k() {} .entry k() {}", "'k': two kernels have this name");
  expect_refused(".entry k() .reqntid 0 {}", "'k': .reqntid is 0");
  expect_refused(".entry k() .reqntid x {}", "'k': .reqntid is 'x'");
  expect_refused(".entry k() .reqntid 4294967296 {}", "'k': .reqntid is 4294967296");
  expect_refused(".entry k() { .shared .b8 p[99999999999999999999]; }",
                 "'k': the size of an array is '99999999999999999999'");
  expect_refused(".entry k() { .shared .b8 p[4294967296][4294967296]; }",
                 "'k': the array 'p' is too large");
  expect_refused(".entry k() { .shared .b8 p[1; }", "'k': the size of an array does not end");
  expect_refused(".entry k() { .shared .align 9999999999999 .b8 x; }", "'k': .align is too large");
  expect_refused(".entry k() { .shared .b8 x[1099511627776]; .shared .b8 y; }",
                 "'k': its .shared variables are too large");
  expect_refused(".func f", "'.func': a function has no body");
}

} // namespace
} // namespace clbin::format
