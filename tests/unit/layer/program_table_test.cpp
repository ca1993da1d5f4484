#include "layer/program_table.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace clbin::layer {
namespace {

cl_program program_at(std::uintptr_t address) {
  return reinterpret_cast<cl_program>(address);
}
cl_kernel kernel_at(std::uintptr_t address) {
  return reinterpret_cast<cl_kernel>(address);
}

const cl_program k_program = program_at(0x1000);
const cl_kernel k_kernel = kernel_at(0x2000);

struct Table : ::testing::Test {
  Table() { table.add({k_program, nullptr, "text", {}}); }

  // A build that ends with a substitute.
  std::shared_ptr<const Substitute> serve() {
    const auto program = table.find(k_program).program;
    auto substitute = std::make_shared<const Substitute>();
    table.begin_build(program);
    (void)table.set_build(program, substitute, std::nullopt);
    EXPECT_EQ(table.end_build(program).holds, 0U) << "the substitute needs it";
    return substitute;
  }

  void retain(cl_program program) {
    table.change(program, [](TrackedProgram& known) { ++known.references; });
  }
  void set_constant(cl_program program, cl_uint id, const base::Bytes& value) {
    table.change(program,
                 [&](TrackedProgram& known) { known.constants.insert_or_assign(id, value); });
  }
  void set_pending(const PendingKeep& pending) {
    table.change(k_program, [&](TrackedProgram& known) {
      known.pending = std::make_shared<PendingKeep>(pending);
    });
  }

  ProgramTable table;
};

TEST_F(Table, KnowsAProgramUntilItsLastReference) {
  retain(k_program);
  EXPECT_TRUE(table.release(k_program).has_value());
  EXPECT_NE(table.find(k_program).program, nullptr);
  EXPECT_TRUE(table.release(k_program).has_value());
  EXPECT_EQ(table.find(k_program).program, nullptr);
  EXPECT_EQ(table.release(k_program).value().held, nullptr);
}

TEST_F(Table, ForgetsAProgramThatWasNotBuilt) {
  table.forget(k_program);
  EXPECT_EQ(table.find(k_program).program, nullptr);
  EXPECT_EQ(table.release(k_program).value().held, nullptr);
  table.forget(k_program);
}

TEST_F(Table, DoesNotForgetAProgramOfWhichItHoldsAReference) {
  const auto substitute = serve();
  table.forget(k_program);
  EXPECT_EQ(table.find(k_program).substitute, substitute);
  EXPECT_EQ(table.release(k_program)->holds, 1U);
}

TEST_F(Table, KnowsAProgramUntilItsLastKernel) {
  table.add_kernel(k_kernel, table.find(k_program).program, nullptr, "k");
  table.retain_kernel(k_kernel);
  EXPECT_TRUE(table.release(k_program).has_value());
  EXPECT_EQ(table.find_kernel(k_kernel)->program->handle, k_program);
  EXPECT_NE(table.find(k_program).program, nullptr);
  EXPECT_FALSE(table.release(k_program).has_value()) << "nothing is left to release";
  EXPECT_EQ(table.release_kernel(k_kernel).held, nullptr);
  EXPECT_NE(table.find(k_program).program, nullptr);
  (void)table.release_kernel(k_kernel);
  EXPECT_EQ(table.find(k_program).program, nullptr);
  EXPECT_FALSE(table.find_kernel(k_kernel).has_value());
}

TEST_F(Table, HoldsAServedProgramUntilItsLastKernel) {
  auto substitute = serve();
  table.add_kernel(k_kernel, table.find(k_program).program, substitute, "k");
  EXPECT_EQ(table.find(k_program).holds, 1U);
  EXPECT_EQ(table.release(k_program)->holds, 0U);
  const Ended ended = table.release_kernel(k_kernel);
  EXPECT_EQ(ended.held, k_program);
  EXPECT_EQ(ended.holds, 1U);
  EXPECT_EQ(ended.substitute, substitute);
  EXPECT_EQ(table.find(k_program).program, nullptr);
}

TEST_F(Table, ReturnsTheHoldWithTheLastReference) {
  (void)serve();
  const Ended ended = table.release(k_program).value();
  EXPECT_EQ(ended.held, k_program);
  EXPECT_EQ(ended.holds, 1U);
}

TEST_F(Table, ReturnsTheHoldIfTheDriverBuildsTheProgramItself) {
  auto substitute = serve();
  const auto program = table.find(k_program).program;
  table.begin_build(program);
  EXPECT_EQ(table.set_build(program, nullptr, std::nullopt), substitute);
  EXPECT_EQ(table.end_build(program).holds, 2U);
  EXPECT_EQ(table.find(k_program).holds, 0U);
  EXPECT_EQ(table.find(k_program).substitute, nullptr);
}

TEST_F(Table, KeepsAProgramThatIsReleasedDuringItsBuild) {
  const auto program = table.find(k_program).program;
  table.begin_build(program);
  EXPECT_EQ(table.release(k_program)->held, nullptr);
  EXPECT_NE(table.find(k_program).program, nullptr);
  const Ended ended = table.end_build(program);
  EXPECT_EQ(ended.held, k_program);
  EXPECT_EQ(ended.holds, 1U);
  EXPECT_EQ(table.find(k_program).program, nullptr);
}

TEST_F(Table, TellsWhichKernelsABuildWouldMeet) {
  EXPECT_EQ(table.build_turn(k_program), BuildTurn::free);
  table.add_kernel(k_kernel, table.find(k_program).program, nullptr, "k");
  EXPECT_EQ(table.build_turn(k_program), BuildTurn::has_kernels);
  (void)table.release_kernel(k_kernel);
  EXPECT_EQ(table.build_turn(k_program), BuildTurn::free);
  table.add_kernel(k_kernel, table.find(k_program).program, serve(), "k");
  EXPECT_EQ(table.build_turn(k_program), BuildTurn::has_substitute_kernels);
  EXPECT_EQ(table.build_turn(program_at(0x9000)), BuildTurn::free);
}

TEST_F(Table, StoresAPendingBuildWhenLaunchesOnlyRepeatThemselves) {
  const auto program = table.find(k_program).program;
  set_pending({{{}, "-DA"}});
  table.add_kernel(k_kernel, program, nullptr, "k");
  EXPECT_TRUE(table.awaits_launches(k_kernel));
  const auto launch = [&](const std::string& size, int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_FALSE(table.only_repeats(k_kernel));
      table.note_launch(k_kernel, size);
    }
  };
  launch(" 4", 16);
  launch(" 8", 16); // the first one is new
  EXPECT_FALSE(table.only_repeats(k_kernel));
  table.note_launch(k_kernel, " 4");
  EXPECT_TRUE(table.only_repeats(k_kernel));
  launch(" 8", 16); // a kernel was running
  EXPECT_TRUE(table.only_repeats(k_kernel));
  const DueKeep due = table.take_pending(k_kernel);
  EXPECT_FALSE(table.awaits_launches(k_kernel));
  EXPECT_EQ(due.program, program);
  EXPECT_EQ(due.pending->arguments.options, "-DA");
  EXPECT_EQ(due.pending->launches.size(), 2U);
  EXPECT_EQ(table.take_pending(k_kernel).program, nullptr) << "once";
}

TEST_F(Table, StoresAPendingBuildThatWasLaunchedWhenItsProgramEnds) {
  const auto program = table.find(k_program).program;
  set_pending({{{}, ""}});
  table.add_kernel(k_kernel, program, nullptr, "k");
  table.note_launch(k_kernel, "");
  EXPECT_EQ(table.release(k_program)->due.program, nullptr);
  EXPECT_EQ(table.release_kernel(k_kernel).due.program, program);
}

TEST_F(Table, ForgetsAPendingBuildThatWasNotLaunched) {
  set_pending({{{}, ""}});
  EXPECT_EQ(table.release(k_program)->due.program, nullptr);
}

TEST_F(Table, StoresAPendingBuildEarlyAfterNewLaunches) {
  const auto program = table.find(k_program).program;
  set_pending({{{}, ""}, "key", true});
  table.add_kernel(k_kernel, program, nullptr, "k");
  EXPECT_FALSE(table.has_new_launches());
  table.note_launch(k_kernel, " 4");
  table.note_launch(k_kernel, " 4");
  ASSERT_TRUE(table.has_new_launches());
  std::vector<DueKeep> launches = table.take_new_launches();
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_FALSE(table.has_new_launches());
  const DueKeep first = table.begin_early_keep(launches[0]);
  EXPECT_EQ(first.program, program);
  EXPECT_EQ(first.launches, 1U);
  EXPECT_EQ(first.time, loader::KeepTime::after_launches);
  EXPECT_EQ(table.begin_early_keep(launches[0]).program, nullptr) << "a thread stores it now";
  table.end_early_keep(first);
  EXPECT_EQ(table.begin_early_keep(launches[0]).program, nullptr) << "it is stored";

  table.note_launch(k_kernel, " 8");
  launches = table.take_new_launches();
  const DueKeep second = table.begin_early_keep(launches[0]);
  EXPECT_EQ(second.launches, 2U);
  EXPECT_EQ(second.time, loader::KeepTime::after_more_launches);
  table.end_early_keep(second);
  EXPECT_EQ(table.release(k_program)->due.program, nullptr);
  EXPECT_EQ(table.release_kernel(k_kernel).due.program, nullptr) << "all launches are stored";
}

TEST_F(Table, StoresAProgramThatHasEndedAfterItsEndOnly) {
  const auto program = table.find(k_program).program;
  set_pending({{{}, ""}, "key", true});
  table.add_kernel(k_kernel, program, nullptr, "k");
  table.note_launch(k_kernel, " 4");
  (void)table.release(k_program);
  EXPECT_EQ(table.release_kernel(k_kernel).due.launches, 1U);
  for (const DueKeep& launch : table.take_new_launches()) {
    EXPECT_EQ(table.begin_early_keep(launch).program, nullptr);
  }
}

TEST_F(Table, IgnoresWhatItDoesNotKnow) {
  EXPECT_EQ(table.find(program_at(0x9000)).program, nullptr);
  retain(program_at(0x9000));
  table.retain_kernel(kernel_at(0x9000));
  EXPECT_EQ(table.release_kernel(kernel_at(0x9000)).held, nullptr);
  EXPECT_FALSE(table.find_kernel(kernel_at(0x9000)).has_value());
  set_constant(program_at(0x9000), 1, {});
}

TEST_F(Table, ReturnsTheLastValueOfAConstant) {
  set_constant(k_program, 3, {std::byte{1}});
  set_constant(k_program, 3, {std::byte{2}});
  EXPECT_EQ(table.constants(table.find(k_program).program).at(3), base::Bytes{std::byte{2}});
}

TEST_F(Table, CountsTheReferencesOfManyThreads) {
  constexpr int k_rounds = 2000;
  std::vector<std::thread> threads;
  for (std::uintptr_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const cl_kernel kernel = kernel_at(0x3000 + 16 * i);
      for (int round = 0; round < k_rounds; ++round) {
        retain(k_program);
        table.add_kernel(kernel, table.find(k_program).program, nullptr, "k");
        (void)table.release(k_program);
        (void)table.release_kernel(kernel);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::uintptr_t i = 0; i < 8; ++i) {
    EXPECT_FALSE(table.find_kernel(kernel_at(0x3000 + 16 * i)).has_value());
  }
  EXPECT_NE(table.find(k_program).program, nullptr);
  EXPECT_TRUE(table.release(k_program).has_value());
  EXPECT_EQ(table.find(k_program).program, nullptr);
}

} // namespace
} // namespace clbin::layer
