#include "remote/remote_cache.hpp"

#include <gtest/gtest.h>

namespace oclcc::remote {
namespace {

using std::chrono::milliseconds;

// A clock that only the test moves.
class TimeBudgetTest : public ::testing::Test {
protected:
  // A look-up over each of `at_once` connections, all of which take `time`.
  void look_up(milliseconds time, RequestEnd end, std::size_t at_once = 1,
               std::size_t size_bytes = 0) {
    m_budget.begin(at_once);
    m_now += time;
    for (std::size_t connection = 0; connection < at_once; ++connection) {
      m_budget.grant(free_time(end, size_bytes));
    }
    m_budget.end();
  }

  Clock::time_point m_now{};
  TimeBudget m_budget{milliseconds(1000), [this] { return m_now; }};
};

TEST_F(TimeBudgetTest, IsNotUsedByAServerThatIsHealthyAndEmpty) {
  for (int request = 0; request < 10'000; ++request) {
    look_up(milliseconds(50), RequestEnd::no_hit, 8);
  }
  EXPECT_EQ(m_budget.left(), milliseconds(1000));
}

TEST_F(TimeBudgetTest, IsUsedByWhatAMissTakesBeyond50Milliseconds) {
  look_up(milliseconds(150), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(900));
  look_up(milliseconds(350), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(600));
}

TEST_F(TimeBudgetTest, IsUsedByWhatAHitTakesBeyond200MillisecondsAnd1MillisecondPerKibibyte) {
  look_up(milliseconds(300), RequestEnd::hit);
  EXPECT_EQ(m_budget.left(), milliseconds(900));
  look_up(milliseconds(600), RequestEnd::hit, 1, 300 << 10U);
  EXPECT_EQ(m_budget.left(), milliseconds(800));
}

TEST_F(TimeBudgetTest, ServesAnyNumberOfHitsOverAWideAreaNetwork) {
  for (int request = 0; request < 10'000; ++request) {
    look_up(milliseconds(200), RequestEnd::hit, 8);
  }
  EXPECT_EQ(m_budget.left(), milliseconds(1000));
}

TEST_F(TimeBudgetTest, LetsHitsPayForMisses) {
  m_budget.begin(1);
  for (int request = 0; request < 1000; ++request) {
    m_now += milliseconds(200);
    m_budget.grant(free_time(request % 4 == 0 ? RequestEnd::no_hit : RequestEnd::hit, 64 << 10U));
  }
  EXPECT_TRUE(m_budget.allows_look_up());
}

TEST_F(TimeBudgetTest, KeepsNoFreeTimeForLater) {
  for (int request = 0; request < 100; ++request) {
    look_up(milliseconds(1), RequestEnd::hit, 8);
  }
  look_up(milliseconds(650), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(400));
}

TEST_F(TimeBudgetTest, CountsRequestsAtOnceOnce) {
  look_up(milliseconds(450), RequestEnd::no_hit, 8);
  EXPECT_EQ(m_budget.left(), milliseconds(600));
}

TEST_F(TimeBudgetTest, CountsTheLastRequestOfSeveralConnectionsCompletely) {
  m_budget.begin(8);
  m_now += milliseconds(900); // the seven others have ended
  EXPECT_EQ(m_budget.left(), milliseconds(100));
}

// A server that answers at the last moment: the whole phase ends within the budget and the free
// times.
TEST_F(TimeBudgetTest, BoundsThePhaseWhateverTheServerDoes) {
  for (const RequestEnd end : {RequestEnd::hit, RequestEnd::no_hit}) {
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{8}}) {
      const auto begin = m_now;
      TimeBudget budget(milliseconds(1000), [this] { return m_now; });
      Clock::duration free{};
      budget.begin(at_once);
      while (budget.allows_look_up()) {
        m_now += std::max(milliseconds(0), budget.left() - milliseconds(1));
        budget.grant(free_time(end, 0));
        free += free_time(end, 0) / static_cast<std::int64_t>(at_once);
      }
      EXPECT_LE(m_now - begin, milliseconds(1000) + free);
      EXPECT_LE(m_now - begin, milliseconds(1300)); // two requests at most
    }
  }
}

TEST_F(TimeBudgetTest, AllowsLookUpsUntilAHalfIsUsed) {
  look_up(milliseconds(549), RequestEnd::no_hit);
  EXPECT_TRUE(m_budget.allows_look_up());
  look_up(milliseconds(51), RequestEnd::no_hit);
  EXPECT_FALSE(m_budget.allows_look_up());
  EXPECT_EQ(m_budget.left(), milliseconds(500)); // for results that are to be stored at the end
}

TEST_F(TimeBudgetTest, IsNotUsedByBuilds) {
  look_up(milliseconds(150), RequestEnd::no_hit);
  m_now += std::chrono::hours(1);
  EXPECT_EQ(m_budget.left(), milliseconds(900));
}

TEST_F(TimeBudgetTest, IsNeverNegative) {
  look_up(milliseconds(5000), RequestEnd::no_hit);
  EXPECT_EQ(m_budget.left(), milliseconds(0));
  EXPECT_FALSE(m_budget.allows_look_up());
}

TEST_F(TimeBudgetTest, IsEmptyAfterAFailure) {
  m_budget.exhaust();
  EXPECT_EQ(m_budget.left(), milliseconds(0));
  EXPECT_FALSE(m_budget.allows_look_up());
}

} // namespace
} // namespace oclcc::remote
