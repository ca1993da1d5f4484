#include "opencl/process_end.hpp"

#include "base/system/process.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

namespace clbin::opencl {

namespace {

struct Work {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_ending = false;
  int running = 0;
  std::int64_t process = 0; // of the last begin(): a forked child has none of the threads
};

// Never destroyed, so that it can be used until the end.
Work& work() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): exit() knows no object
  static auto* const state = new Work;
  return *state;
}

// What the calling thread does: it must not wait for itself if the driver calls exit().
int& own_work() noexcept {
  static thread_local int count = 0;
  return count;
}

void end_work() noexcept {
  constexpr std::chrono::seconds k_longest_wait{30};
  if (base::are_other_threads_gone()) {
    return;
  }
  Work& state = work();
  std::unique_lock lock(state.mutex);
  state.is_ending = true;
  if (state.process == base::process_id() && own_work() == 0) {
    (void)state.changed.wait_for(lock, k_longest_wait, [&] { return state.running == 0; });
  }
}

// exit() destroys the thread-local objects of its thread before it calls any handler: also before
// those that LLVM registers while it compiles, which the handlers below would follow.
struct MainThreadEnd {
  MainThreadEnd() = default;
  MainThreadEnd(MainThreadEnd&&) = delete; // and no copies
  ~MainThreadEnd() {
    if (base::is_main_thread()) {
      end_work();
    }
  }
};

} // namespace

// Handlers run in the reverse order of their registration, before what existed then is destroyed.
void watch_process_end() {
  (void)std::atexit(end_work);
  [[maybe_unused]] static thread_local const MainThreadEnd end;
}

DriverWork begin_driver_work() {
  if (base::are_other_threads_gone()) {
    return nullptr;
  }
  Work& state = work();
  const std::scoped_lock lock(state.mutex);
  if (state.is_ending) {
    return nullptr;
  }
  if (state.process != base::process_id()) {
    state.process = base::process_id();
    state.running = 0;
  }
  ++state.running;
  ++own_work();
  return DriverWork(&state);
}

void EndDriverWork::operator()(void* /*work*/) const noexcept {
  Work& state = work();
  const std::scoped_lock lock(state.mutex);
  --state.running;
  --own_work();
  state.changed.notify_all();
}

} // namespace clbin::opencl
