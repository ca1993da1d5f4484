// Tests which unit is built next and in which lane, with compilers that only record their calls.
#include "units/unit.hpp"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>

namespace oclcc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

clbin::base::Bytes bytes_of(std::string_view text) {
  const auto view = clbin::base::as_bytes(text);
  return {view.begin(), view.end()};
}

std::string text_of(const UnitResult& result) {
  return result.reply ? std::string(clbin::base::as_text(result.reply->binary)) : result.failure;
}

TEST(UnitQueue, StaysWithTheLaneOfTheSession) {
  UnitQueue queue;
  queue.add({0, 0}, 0);
  queue.add({0, 1}, 1);
  queue.add({0, 0}, 2);
  EXPECT_EQ(queue.choose(std::nullopt), Lane(0, 0));
  EXPECT_EQ(queue.take({0, 0}), 0U);
  EXPECT_EQ(queue.choose(Lane(0, 0)), Lane(0, 0));
  EXPECT_EQ(queue.take({0, 0}), 2U);
  EXPECT_EQ(queue.choose(Lane(0, 0)), Lane(0, 1));
  EXPECT_EQ(queue.take({0, 1}), 1U);
  EXPECT_EQ(queue.choose(Lane(0, 1)), std::nullopt);
  EXPECT_EQ(queue.take({0, 1}), std::nullopt);
}

TEST(UnitQueue, LeavesAUnitThereUntilItIsTaken) {
  UnitQueue queue;
  queue.add({0, 0}, 7);
  EXPECT_EQ(queue.front({0, 0}), 7U);
  EXPECT_EQ(queue.front({0, 0}), 7U);
  EXPECT_EQ(queue.take({0, 0}), 7U);
  EXPECT_EQ(queue.front({0, 0}), std::nullopt);
  EXPECT_EQ(queue.front({0, 1}), std::nullopt);
}

TEST(UnitQueue, SpreadsSessionsOverLanes) {
  UnitQueue queue;
  for (std::size_t unit = 0; unit < 4; ++unit) {
    queue.add({0, 0}, unit);
  }
  queue.add({0, 1}, 4);
  queue.add({0, 1}, 5);
  queue.add({0, 1}, 6);
  EXPECT_EQ(queue.choose(std::nullopt), Lane(0, 0)) << "it has the most units";
  EXPECT_EQ(queue.take({0, 0}), 0U);
  EXPECT_EQ(queue.choose(std::nullopt), Lane(0, 1))
      << "lane 0 has 3 units for 2 sessions, lane 1 has 3 for 1";
}

// The binary of a unit is "NAME(options)" or "NAME(binary)". Units with the options "fail" fail.
// The tens of a target are its lane.
class RecordingCompiler final : public Compiler {
public:
  explicit RecordingCompiler(std::string name) : m_name(std::move(name)) {}

  [[nodiscard]] std::uint32_t lane_of(std::size_t target) const override {
    return static_cast<std::uint32_t>(target / 10);
  }
  void expect(const Workload& workload) override { expected = workload; }
  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token) override {
    const std::lock_guard lock(m_mutex);
    first_lanes.push_back(lane);
    return std::make_unique<Session>(*this);
  }

  Workload expected;
  std::vector<std::uint32_t> first_lanes; // of each session
  std::vector<std::size_t> targets;       // of each built unit

private:
  class Session final : public CompilerSession {
  public:
    explicit Session(RecordingCompiler& compiler) : m_compiler(compiler) {}
    void get_ready_for(std::size_t target) override { m_ready_for = target; }
    [[nodiscard]] UnitResult build(const Unit& unit) override {
      EXPECT_EQ(m_ready_for / 10, unit.target / 10) << "of the same lane";
      const std::lock_guard lock(m_compiler.m_mutex);
      m_compiler.targets.push_back(unit.target);
      UnitResult result;
      if (unit.options.text() == "fail") {
        result.failure = "it failed";
        return result;
      }
      const std::string text =
          unit.binary ? std::string(clbin::base::as_text(*unit.binary)) : unit.options.text();
      result.reply.emplace().binary = bytes_of(m_compiler.m_name + "(" + text + ")");
      result.reply->kernels = unit.kernels;
      result.reply->kernels.emplace_back().name = m_compiler.m_name;
      return result;
    }

  private:
    RecordingCompiler& m_compiler;
    std::size_t m_ready_for = 0;
  };

  std::string m_name;
  std::mutex m_mutex;
};

class BuildUnits : public ::testing::Test {
protected:
  BuildUnits() { m_plan.compilers = {m_front, m_back}; }

  std::size_t add(std::size_t compiler, const std::string& options, std::size_t target = 0,
                  std::optional<std::size_t> input = std::nullopt) {
    m_plan.units.push_back({{target, nullptr, BuildOptions({options})}, compiler, input});
    return m_plan.units.size() - 1;
  }

  // Checks that each unit is reported exactly once.
  std::vector<UnitResult> build(unsigned jobs) {
    m_plan.jobs = jobs;
    std::set<std::size_t> reported;
    std::size_t count = 0;
    std::vector<UnitResult> reported_results(m_plan.units.size());
    m_plan.complete = [&](std::size_t unit, Unit& complete) -> clbin::base::Result<void> {
      if (const auto input = m_plan.units[unit].input) {
        const auto& reply = reported_results[*input].reply;
        EXPECT_TRUE(reply) << "the input of " << unit << " was not reported";
        complete.binary = std::make_shared<const clbin::base::Bytes>(reply->binary);
        complete.kernels = reply->kernels;
      }
      return {};
    };
    std::vector<UnitResult> results =
        build_units(m_plan, [&](std::size_t done, std::size_t unit, UnitResult& result) {
          EXPECT_EQ(done, ++count);
          EXPECT_TRUE(reported.insert(unit).second) << "once";
          reported_results[unit] = result;
        });
    EXPECT_EQ(reported.size(), m_plan.units.size());
    return results;
  }

  std::shared_ptr<RecordingCompiler> m_front = std::make_shared<RecordingCompiler>("front");
  std::shared_ptr<RecordingCompiler> m_back = std::make_shared<RecordingCompiler>("back");
  BuildPlan m_plan;
};

TEST_F(BuildUnits, GivesTheBinaryAndTheKernelsOfAUnitToThoseThatNeedThem) {
  for (const unsigned jobs : {1U, 2U, 8U}) {
    m_plan.units.clear();
    // added before its input, to prove that the order of the plan is not the order of building
    add(1, "", 0, 1);
    const std::size_t needed = add(0, "a");
    add(1, "", 0, needed);
    add(1, "", 0, 2); // a chain
    const auto results = build(jobs);
    EXPECT_EQ(text_of(results[0]), "back(front(a))") << jobs;
    EXPECT_EQ(text_of(results[2]), "back(front(a))") << jobs;
    EXPECT_EQ(text_of(results[3]), "back(back(front(a)))") << jobs;
    ASSERT_EQ(results[0].reply->kernels.size(), 2U);
    EXPECT_EQ(results[0].reply->kernels[0].name, "front");
  }
}

TEST_F(BuildUnits, SkipsWhatNeedsAUnitThatWasNotBuilt) {
  for (const unsigned jobs : {1U, 4U}) {
    m_plan.units.clear();
    m_back->targets.clear();
    const std::size_t failed = add(0, "fail");
    const std::size_t skipped = add(1, "", 0, failed);
    add(1, "", 0, skipped);
    add(0, "b");
    const auto results = build(jobs);
    EXPECT_EQ(results[0].state, UnitResult::State::attempted);
    EXPECT_EQ(results[1].state, UnitResult::State::skipped);
    EXPECT_EQ(results[2].state, UnitResult::State::skipped);
    EXPECT_EQ(text_of(results[3]), "front(b)");
    EXPECT_THAT(m_back->targets, IsEmpty()) << "nothing was tried";
  }
}

// Dependent units also get results from the cache.
TEST_F(BuildUnits, PassesOnAResultThatWasNotBuilt) {
  const std::size_t needed = add(0, "a");
  add(1, "", 0, needed);
  m_plan.make = [&](std::size_t unit, const std::function<UnitResult()>& build) {
    if (unit != needed) {
      return build();
    }
    UnitResult result;
    result.reply.emplace().binary = bytes_of("cached");
    return result;
  };
  EXPECT_EQ(text_of(build(1)[1]), "back(cached)");
  EXPECT_THAT(m_front->targets, IsEmpty());
}

TEST_F(BuildUnits, FailsAUnitWhoseInputCannotBeRead) {
  add(0, "a");
  m_plan.complete = [](std::size_t, Unit&) -> clbin::base::Result<void> {
    return clbin::base::fail(clbin::base::ErrorCode::file_read, "the disk is gone");
  };
  const auto results = build_units(m_plan, [](auto...) {});
  EXPECT_EQ(results[0].failure, "the disk is gone");
  EXPECT_THAT(m_front->targets, IsEmpty());
}

TEST_F(BuildUnits, LetsASessionFinishItsLaneFirst) {
  for (const std::size_t target : {0U, 10U, 1U, 11U, 2U}) {
    add(0, "a", target);
  }
  (void)build(1);
  EXPECT_THAT(m_front->targets, ElementsAre(0, 1, 2, 10, 11));
  EXPECT_THAT(m_front->first_lanes, ElementsAre(0)) << "one session for both";
}

TEST_F(BuildUnits, TellsEachCompilerWhatToExpect) {
  const std::size_t needed = add(0, "a");
  add(0, "b");
  add(1, "", 0, needed);
  (void)build(16);
  EXPECT_EQ(m_front->expected.units, 2U);
  EXPECT_EQ(m_back->expected.units, 1U);
  EXPECT_EQ(m_front->expected.sessions, 3U) << "no more than units";
}

// A thread without work must not end while others can still add work.
TEST_F(BuildUnits, BuildsManyDependentUnitsWithManyThreads) {
  std::vector<std::size_t> needed;
  for (std::size_t i = 0; i < 50; ++i) {
    needed.push_back(add(0, std::to_string(i), i % 3 * 10));
  }
  for (const std::size_t unit : needed) {
    add(1, "", unit % 2 * 10, unit);
  }
  const auto results = build(8);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(text_of(results[50 + i]), "back(front(" + std::to_string(i) + "))");
  }
}

TEST_F(BuildUnits, BuildsNothingOfAnEmptyPlan) {
  EXPECT_THAT(build(4), IsEmpty());
}

} // namespace
} // namespace oclcc
