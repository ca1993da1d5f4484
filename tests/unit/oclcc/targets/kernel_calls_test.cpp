#include "targets/llvm_ir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

} // namespace
} // namespace oclcc::offline
