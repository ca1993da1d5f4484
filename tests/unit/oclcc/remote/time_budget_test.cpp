#include "remote/time_budget.hpp"

#include <gtest/gtest.h>

namespace oclcc::remote {
namespace {

using std::chrono::milliseconds;

// A clock that only the test moves.
class TimeBudgetTest : public ::testing::Test {
protected:
  void wait(milliseconds time, RequestEnd end, std::size_t at_once = 1) {
    const auto begin = m_now;
    m_now += time;
    m_budget.charge(begin, end, at_once);
  }

  Clock::time_point m_now{};
  TimeBudget m_budget{milliseconds(1000), [this] { return m_now; }};
};

TEST_F(TimeBudgetTest, ChargesNothingForAServerThatIsHealthyAndEmpty) {
  for (int request = 0; request < 10'000; ++request) {
    wait(milliseconds(50), RequestEnd::no_hit);
  }
  EXPECT_EQ(m_budget.left(), milliseconds(1000));
}

TEST_F(TimeBudgetTest, ChargesWhatAMissTakesBeyond50Milliseconds) {
  wait(milliseconds(150), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(900));
  wait(milliseconds(350), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(600));
}

TEST_F(TimeBudgetTest, ChargesNothingForAHit) {
  wait(milliseconds(900), RequestEnd::hit);
  EXPECT_EQ(m_budget.left(), milliseconds(1000));
}

TEST_F(TimeBudgetTest, ChargesRequestsThatWaitAtOnceTheirShares) {
  for (int request = 0; request < 8; ++request) {
    const auto begin = m_now - milliseconds(450);
    m_budget.charge(begin, RequestEnd::no_hit, 8);
  }
  EXPECT_EQ(m_budget.left(), milliseconds(600));
}

TEST_F(TimeBudgetTest, IsNeverNegative) {
  wait(milliseconds(5000), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(0));
  wait(milliseconds(5000), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(0));
}

TEST_F(TimeBudgetTest, IsEmptyAfterAFailure) {
  m_budget.exhaust();
  EXPECT_EQ(m_budget.left(), milliseconds(0));
}

} // namespace
} // namespace oclcc::remote
