#include "base/system/process.hpp"
#include "loader/run_time_program.hpp"
#include "opencl/process_end.hpp"

#include <condition_variable>
#include <system_error>

namespace clbin::loader {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_quiet_time{1};
constexpr std::chrono::seconds k_closing_time{5};
// What PoCL takes for the binary of a program: 0.1 to 0.3 seconds a kernel (doc/drivers.md).
constexpr std::chrono::milliseconds k_time_of_kernel{300};
// exit() waits for a binary that is being taken (opencl/process_end.hpp).
constexpr std::size_t k_most_kernels = 64;
constexpr std::size_t k_most_waiting = 256;
constexpr std::size_t k_most_waiting_bytes = 64U << 20U;

// A request that does not borrow its source.
struct Waiting {
  opencl::Driver driver;
  cl_context context;      // exists as long as the program
  opencl::Program program; // the application's
  std::size_t kernel_count;
  std::size_t text_bytes;
  std::vector<std::string> strings;
  RunTimeRequest request; // without strings

  [[nodiscard]] RunTimeRequest take_request() {
    request.source.strings.assign(strings.begin(), strings.end());
    return std::move(request);
  }
};

Waiting waiting_of(const opencl::Driver& driver, cl_context context,
                   const RunTimeRequest& request) {
  Waiting made{driver, context, {}, 0, 0, {}, {}};
  made.request.devices = request.devices;
  made.request.source.options = request.source.options;
  made.request.source.label = request.source.label;
  made.request.kernels = request.kernels;
  for (const std::string_view text : request.source.strings) {
    made.strings.emplace_back(text);
    made.text_bytes += text.size();
  }
  return made;
}

} // namespace

struct PoclKeeping::Work {
  explicit Work(BuilderState& of) : builder(of) {}

  void start() {
    if (is_running) {
      return;
    }
    if (thread.joinable()) {
      thread.join(); // nothing waited any more
    }
    thread = base::start_background_thread([this] { run(); });
    is_running = true;
  }

  void run() noexcept {
    std::unique_lock lock(mutex);
    while (!waiting.empty()) {
      const Clock::time_point moment = last_added + k_quiet_time;
      if (!closing_end.has_value() && Clock::now() < moment) {
        changed.wait_until(lock, moment);
        continue;
      }
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      text_bytes -= next.text_bytes;
      const bool has_time = !closing_end.has_value() ||
                            Clock::now() + next.kernel_count * k_time_of_kernel <= *closing_end;
      lock.unlock();
      end(next, has_time);
      lock.lock();
    }
    is_running = false;
  }

  // Without memory, the next process builds the program again.
  void end(Waiting& one, bool has_time) const noexcept {
    const opencl::DriverWork work = opencl::begin_driver_work();
    if (work == nullptr) {
      (void)one.program.release(); // the driver may have been destroyed
      return;
    }
    opencl::watch_process_end(); // the application's launches may have compiled
    try {
      if (has_time) {
        keep(one);
      }
    } catch (const std::exception&) {
    }
    one.program = {};
    opencl::watch_process_end(); // PoCL's compiler may have created more
  }

  void keep(Waiting& one) const {
    LoadReport report;
    auto program =
        RunTimeProgram::begin(one.driver, builder, one.context, one.take_request(), report);
    if (!program.has_value()) {
      return;
    }
    (*program)->keep_copy(KeepTime::after_launches);
    builder.cache().stores.drain(); // exit() waits for it
    for (const std::string& warning : report.warnings) {
      builder.add_warning(warning);
    }
  }

  BuilderState& builder;
  const std::int64_t owner = base::process_id();
  std::mutex mutex; // guards the following
  std::condition_variable changed;
  std::deque<Waiting> waiting; // oldest first
  std::size_t text_bytes = 0;
  Clock::time_point last_added;
  std::optional<Clock::time_point> closing_end; // set by the destructor
  std::thread thread;
  bool is_running = false;
  std::map<std::string, std::once_flag> first_programs; // by source
};

PoclKeeping::PoclKeeping(BuilderState& builder) : m_work(std::make_unique<Work>(builder)) {}

PoclKeeping::~PoclKeeping() {
  if (m_work->owner != base::process_id() || base::are_other_threads_gone()) {
    (void)m_work.release(); // its mutex, thread and driver belong to the parent
    return;
  }
  {
    const std::lock_guard lock(m_work->mutex);
    m_work->closing_end = Clock::now() + k_closing_time;
  }
  m_work->changed.notify_all();
  if (m_work->thread.joinable()) {
    m_work->thread.join();
  }
}

void PoclKeeping::take_once(const std::string& source, const std::function<void()>& take) {
  std::once_flag* flag = nullptr;
  {
    const std::lock_guard lock(m_work->mutex);
    flag = &m_work->first_programs[source]; // stays where it is
  }
  std::call_once(*flag, take);
}

std::string PoclKeeping::add(const opencl::Driver& driver, cl_context context,
                             const RunTimeRequest& request, cl_program program) {
  Work& work = *m_work;
  if (work.owner != base::process_id()) {
    return {}; // drivers do not work in a forked child
  }
  Waiting made = waiting_of(driver, context, request);
  const auto names = opencl::program_kernel_names(driver, program);
  made.kernel_count = names.has_value() ? names->size() : 0;
  if (made.kernel_count > k_most_kernels) {
    return fmt::format(
        "PoCL would compile its {} kernels again for that, for about {} seconds", made.kernel_count,
        std::chrono::ceil<std::chrono::seconds>(made.kernel_count * k_time_of_kernel).count());
  }
  opencl::watch_process_end();
  const std::lock_guard lock(work.mutex);
  if (work.waiting.size() >= k_most_waiting ||
      made.text_bytes > k_most_waiting_bytes - work.text_bytes) {
    return "too many programs of PoCL wait for that";
  }
  if (driver.RetainProgram(program) != CL_SUCCESS) {
    return {}; // a driver that cannot do so has other problems
  }
  made.program = opencl::Program(program, driver.ReleaseProgram);
  work.text_bytes += made.text_bytes;
  work.waiting.push_back(std::move(made));
  work.last_added = Clock::now();
  try {
    work.start();
  } catch (const std::system_error&) {
    work.text_bytes -= work.waiting.back().text_bytes;
    work.waiting.pop_back();
    return "no thread can be created";
  }
  return {};
}

} // namespace clbin::loader
