#include "worker/forks.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace oclcc::worker {
namespace {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

TEST(ChildStep, HandsTheAnswerOverAndLeavesThisProcessAsItIs) {
  int value = 1;
  const auto done = run_in_child("for a test", [&]() -> Result<Bytes> {
    value = 2;
    return Bytes(300'000, std::byte{7}); // more than a pipe can buffer
  });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, Bytes(300'000, std::byte{7}));
  EXPECT_EQ(value, 1);
}

TEST(ChildStep, CarriesTheErrorOver) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> {
    return fail(ErrorCode::opencl_call, "the driver says {}", -5);
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::internal);
  EXPECT_EQ(done.error().message, "for a test: the driver says -5");
}

TEST(ChildStep, TellsACrash) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> {
    ::signal(SIGSEGV, SIG_DFL); // otherwise a sanitizer's handler would exit
    ::raise(SIGSEGV);
    return Bytes();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the compiler crashed (signal 11) for a test");
}

TEST(ChildStep, TellsAnEndThatNobodyAskedFor) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> { ::_exit(3); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "for a test: the driver ended the process");
}

} // namespace
} // namespace oclcc::worker
