// Requests are compared with all that the builder has made, text by text: comparing 100 KiB takes 2
// microseconds, and a digest of them 50 times longer. The length of the text rules out nearly all.
#include "base/system/process.hpp"
#include "loader/run_time_program.hpp"
#include "opencl/process_end.hpp"

namespace clbin::loader {

namespace {

constexpr std::size_t k_most_programs = 1024;
constexpr std::size_t k_most_text_bytes = 64U << 20U;

// A program that was not checked must not serve a request that checks known answers.
bool can_be_reused(const RunTimeRequest& request) {
  return request.answers == nullptr && request.fallback == FallbackPolicy::if_needed &&
         request.source.il.empty() && request.source.headers.empty() &&
         request.source.constants.empty();
}

std::size_t text_bytes_of(const RunTimeSource& source) {
  std::size_t bytes = 0;
  for (const std::string_view text : source.strings) {
    bytes += text.size();
  }
  return bytes;
}

bool is_text_of(std::string_view text, const RunTimeSource& source) {
  if (text.size() != text_bytes_of(source)) {
    return false;
  }
  return std::ranges::all_of(source.strings, [&](std::string_view part) {
    const bool is_equal = text.substr(0, part.size()) == part;
    text.remove_prefix(part.size());
    return is_equal;
  });
}

} // namespace

struct LivePrograms::Live {
  cl_context context;
  std::vector<cl_device_id> devices;
  std::string text;
  std::string options;
  std::string driver_options; // as the driver reports them
  LoadReport report;          // of the call that made the program, without attempts and warnings
  opencl::Program program;    // which retains the context, so that no other has its address

  // The application may have built the program once more, with other options.
  [[nodiscard]] bool is_unchanged(const opencl::Driver& driver) const {
    return opencl::build_options(driver, program.get(), devices.front()) == driver_options;
  }
};

LivePrograms::LivePrograms() : m_owner(base::process_id()) {}

// Drivers do not work in a forked child.
LivePrograms::~LivePrograms() {
  const opencl::DriverWork work = opencl::begin_driver_work();
  if (work == nullptr || m_owner != base::process_id()) {
    for (const auto& live : m_all) {
      (void)live->program.release();
    }
  }
}

opencl::Program LivePrograms::find(const opencl::Driver& driver, cl_context context,
                                   const RunTimeRequest& request, LoadReport& report) const {
  if (!can_be_reused(request) || m_owner != base::process_id()) {
    return {};
  }
  const Stopwatch stopwatch;
  // The driver is not called with the lock: it may be compiling for another thread.
  std::vector<std::shared_ptr<const Live>> equal;
  {
    const std::lock_guard lock(m_mutex);
    std::ranges::copy_if(m_all, std::back_inserter(equal), [&](const auto& live) {
      return live->context == context && live->devices == request.devices &&
             live->options == request.source.options && is_text_of(live->text, request.source);
    });
  }
  const auto found =
      std::ranges::find_if(equal, [&](const auto& live) { return live->is_unchanged(driver); });
  if (found == equal.end() || driver.RetainProgram((*found)->program.get()) != CL_SUCCESS) {
    return {};
  }
  opencl::Program program((*found)->program.get(), driver.ReleaseProgram);
  report = (*found)->report;
  report.program = request.source.label.empty() ? report.program : request.source.label;
  Attempt attempt{.origin = report.origin,
                  .decision = Decision::loaded,
                  .rule = Rule::same_process,
                  .reason = "this process has made it before",
                  .microseconds = stopwatch.microseconds()};
  report.microseconds = attempt.microseconds;
  if (request.on_attempt) {
    request.on_attempt(attempt);
  }
  report.attempts.push_back(std::move(attempt));
  return program;
}

void LivePrograms::add(const opencl::Driver& driver, cl_context context,
                       const RunTimeRequest& request, const LoadReport& report,
                       cl_program program) {
  if (!can_be_reused(request) || text_bytes_of(request.source) > k_most_text_bytes ||
      m_owner != base::process_id() || driver.RetainProgram(program) != CL_SUCCESS) {
    return;
  }
  auto live =
      std::make_shared<Live>(Live{context,
                                  request.devices,
                                  {},
                                  request.source.options,
                                  opencl::build_options(driver, program, request.devices.front()),
                                  report,
                                  opencl::Program(program, driver.ReleaseProgram)});
  live->report.warnings.clear();
  live->report.attempts.clear();
  for (const std::string_view text : request.source.strings) {
    live->text += text;
  }
  opencl::watch_process_end();
  std::vector<std::shared_ptr<Live>> dropped; // released without the lock
  const std::lock_guard lock(m_mutex);
  m_text_bytes += live->text.size();
  m_all.push_back(std::move(live));
  while (m_all.size() > k_most_programs || m_text_bytes > k_most_text_bytes) {
    m_text_bytes -= m_all.front()->text.size();
    dropped.push_back(std::move(m_all.front()));
    m_all.pop_front();
  }
}

} // namespace clbin::loader
