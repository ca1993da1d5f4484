#include "layer/running_launches.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

namespace {

using clbin::layer::RunningLaunches;

cl_event event_at(std::size_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): is never dereferenced
  return reinterpret_cast<cl_event>(address);
}

// The driver's events: their states, until they are released.
std::map<cl_event, cl_int>& states() {
  static std::map<cl_event, cl_int> events;
  return events;
}

cl_int CL_API_CALL event_info(cl_event event, cl_event_info name, std::size_t size, void* value,
                              std::size_t* /*size_ret*/) {
  EXPECT_EQ(name, static_cast<cl_event_info>(CL_EVENT_COMMAND_EXECUTION_STATUS));
  EXPECT_EQ(size, sizeof(cl_int));
  if (states().count(event) == 0) {
    return CL_INVALID_EVENT;
  }
  *static_cast<cl_int*>(value) = states().at(event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL release_event(cl_event event) {
  EXPECT_EQ(states().erase(event), 1U);
  return CL_SUCCESS;
}

class Launches : public ::testing::Test {
protected:
  Launches() {
    states().clear();
    table.clGetEventInfo = event_info;
    table.clReleaseEvent = release_event;
  }
  void launch(cl_event event, cl_int state) {
    launches.begin();
    states()[event] = state;
    launches.end(event);
  }

  cl_icd_dispatch table{};
  RunningLaunches launches{table};
};

TEST_F(Launches, PauseWhenEachHasEnded) {
  EXPECT_NE(launches.try_pause(), nullptr);
  launch(event_at(1), CL_QUEUED);
  launch(event_at(2), CL_COMPLETE);
  EXPECT_EQ(launches.try_pause(), nullptr);
  EXPECT_EQ(states().count(event_at(2)), 0U) << "its event is released";
  for (const cl_int running : {CL_SUBMITTED, CL_RUNNING}) {
    states()[event_at(1)] = running;
    EXPECT_EQ(launches.try_pause(), nullptr);
  }
  states()[event_at(1)] = CL_OUT_OF_RESOURCES;
  EXPECT_NE(launches.try_pause(), nullptr) << "it has ended with an error";
  EXPECT_TRUE(states().empty());
}

TEST_F(Launches, DoNotPauseWhileTheDriverIsToldOfOne) {
  launches.begin();
  EXPECT_EQ(launches.try_pause(), nullptr);
  launches.end(nullptr); // the driver has refused it
  EXPECT_NE(launches.try_pause(), nullptr);
}

TEST_F(Launches, PauseForOneThreadAtATime) {
  const RunningLaunches::Pause pause = launches.try_pause();
  ASSERT_NE(pause, nullptr);
  EXPECT_EQ(launches.try_pause(), nullptr);
}

TEST_F(Launches, WaitForTheEndOfAPause) {
  RunningLaunches::Pause pause = launches.try_pause();
  ASSERT_NE(pause, nullptr);
  std::atomic<bool> is_trying{false};
  std::atomic<bool> has_ended{false};
  std::atomic<bool> began_early{false};
  std::thread other([&] {
    is_trying = true;
    launches.begin();
    began_early = !has_ended;
    launches.end(nullptr);
  });
  while (!is_trying) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // it would have begun by now
  has_ended = true;
  pause.reset();
  other.join();
  EXPECT_FALSE(began_early);
  EXPECT_NE(launches.try_pause(), nullptr);
}

TEST_F(Launches, ReleaseTheEventsOfThoseThatHaveEnded) {
  launch(event_at(1), CL_COMPLETE);
  launch(event_at(2), CL_RUNNING);
  launches.forget_ended();
  EXPECT_EQ(states(), (std::map<cl_event, cl_int>{{event_at(2), CL_RUNNING}}));
}

TEST_F(Launches, KeepFewEventsThoughNobodyWaits) {
  launch(event_at(1), CL_RUNNING);
  for (std::size_t i = 2; i < 10'000; ++i) {
    launch(event_at(i), CL_COMPLETE);
    ASSERT_LE(states().size(), 65U);
  }
}

} // namespace
