#include "layer/program_builds.hpp"

namespace clbin::layer {
namespace {

constexpr std::string_view k_built = "built";
constexpr std::string_view k_refused = "refused by mode 'strict'";

bool has_valid_arguments(const BuildCall& call) {
  return (call.count == 0) == (call.devices == nullptr) &&
         (call.callback != nullptr || call.user_data == nullptr);
}

bool contains(const std::vector<cl_device_id>& devices, cl_device_id device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

// Some drivers accept a device twice, others reject it.
std::vector<cl_device_id> distinct_devices(const BuildCall& call) {
  std::vector<cl_device_id> devices;
  for (cl_uint i = 0; i < call.count; ++i) {
    if (!contains(devices, call.devices[i])) {
      devices.push_back(call.devices[i]);
    }
  }
  return devices;
}

std::string text_or_empty(const char* options) {
  return options == nullptr ? "" : options;
}

} // namespace

// A call with such an error leaves the program as it was (OpenCL 3.0, 5.8.2).
bool is_argument_error(cl_int code) noexcept {
  return code == CL_INVALID_VALUE || code == CL_INVALID_DEVICE || code == CL_INVALID_PROGRAM ||
         code == CL_INVALID_OPERATION;
}

ProgramBuilds::ProgramBuilds(const cl_icd_dispatch& next, const LayerSettings& settings,
                             const LayerLog& log, const cache::CacheSettings& cache,
                             ProgramTable& programs, Recorder* recorder)
    : m_next(next), m_settings(settings), m_log(log), m_programs(programs), m_recorder(recorder),
      m_services(next, settings, log, cache), m_launches(m_next) {}

void ProgramBuilds::release(const Ended& ended) const noexcept {
  for (cl_uint i = 0; i < ended.holds; ++i) {
    (void)m_next.clReleaseProgram(ended.held);
  }
}

cl_int ProgramBuilds::pass_on(const BuildCall& call, const char* options) const noexcept {
  return m_next.clBuildProgram(call.program, call.count, call.devices, options, call.callback,
                               call.user_data);
}

cl_int ProgramBuilds::pass_on_unless_strict(const ProgramView& view, const BuildCall& call,
                                            cl_int refusal,
                                            std::string_view reason) const noexcept {
  if (m_settings.mode != Mode::strict) {
    return pass_on(call, call.options);
  }
  // Most drivers return the same, so that standard error is not told.
  without_exceptions([&] {
    m_log.write(fmt::format("{} with {}: a program{}: {}", k_refused,
                            opencl::cl_error_name(refusal), kernel_in_parentheses(*view.program),
                            reason));
  });
  return refusal;
}

void ProgramBuilds::report_refusal(std::string_view action, std::string_view subject, cl_int code,
                                   std::string_view reason) const {
  m_log.write(
      fmt::format("{} with {}: {}: {}", k_refused, opencl::cl_error_name(code), subject, reason));
  report_problem(fmt::format("mode 'strict' refuses to {} {}: {}", action, subject, reason));
}

void ProgramBuilds::report_refused_link(const ProgramView& view, cl_int code) const noexcept {
  without_exceptions([&] {
    report_refusal("link", "a program" + kernel_in_parentheses(*view.program), code,
                   "no bundle and no cache serves programs that are linked");
  });
}

cl_int ProgramBuilds::build(const ProgramView& view, const BuildCall& call) noexcept {
  switch (m_programs.build_turn(call.program)) {
  case BuildTurn::has_substitute_kernels:
    return CL_INVALID_OPERATION; // as for a program with kernels of its own (OpenCL 3.0, 5.8.2)
  case BuildTurn::has_kernels:
    return pass_on_unless_strict(view, call, CL_INVALID_OPERATION,
                                 "it has kernels, which OpenCL does not allow");
  case BuildTurn::free:
    break;
  }
  if (!has_valid_arguments(call)) {
    return pass_on_unless_strict(view, call, CL_INVALID_VALUE,
                                 "OpenCL does not allow these arguments");
  }
  if (const cl_int code = m_next.clRetainProgram(call.program); code != CL_SUCCESS) {
    return pass_on_unless_strict(view, call, code, "the driver does not retain it");
  }
  m_programs.begin_build(view.program);
  const cl_int code = build_held(view, call);
  release(m_programs.end_build(view.program));
  return code;
}

cl_int ProgramBuilds::build_held(const ProgramView& view, const BuildCall& call) noexcept {
  base::Result<Attempt> attempt = prepared(view, call);
  bool is_served = false;
  without_exceptions([&] {
    if (attempt.has_value() && m_settings.mode != Mode::record) {
      is_served = attempt->covers_all_builds ? serve(view, *attempt) : serve_all(view, *attempt);
    }
  });
  if (is_served) {
    if (call.callback != nullptr) {
      call.callback(call.program, call.user_data);
    }
    return CL_SUCCESS;
  }
  if (m_settings.mode == Mode::strict) {
    return refuse(view, call, attempt, {CL_BUILD_PROGRAM_FAILURE, "build", {}});
  }
  return build_by_driver(view, call, attempt.has_value() ? &*attempt : nullptr);
}

base::Result<ProgramBuilds::Attempt> ProgramBuilds::prepared(const ProgramView& view,
                                                             const BuildCall& call) noexcept {
  base::Result<Attempt> attempt = tl::unexpected(base::Error{base::ErrorCode::out_of_memory, {}});
  without_exceptions([&] {
    attempt = prepare(view, call);
    if (!attempt.has_value() && m_settings.mode != Mode::strict) {
      m_log.write(fmt::format("passed on: a program{} that cannot be identified: {}",
                              kernel_in_parentheses(*view.program), attempt.error().message));
    }
  });
  return attempt;
}

base::Result<ProgramBuilds::Attempt> ProgramBuilds::prepare(const ProgramView& view,
                                                            const BuildCall& call) {
  Attempt attempt;
  attempt.of_context = context_devices(m_next, view.program->context);
  const auto& of_context = attempt.of_context;
  if (of_context.empty()) {
    return base::fail(base::ErrorCode::opencl_call,
                      "the driver does not list the devices of the context");
  }
  BuildArguments arguments{distinct_devices(call), text_or_empty(call.options),
                           m_programs.constants(view.program)};
  if (arguments.devices.empty()) {
    arguments.devices = of_context;
  }
  for (const cl_device_id device : arguments.devices) {
    if (std::count(of_context.begin(), of_context.end(), device) != 1) {
      return base::fail(base::ErrorCode::invalid_argument, "a device is not one of the context");
    }
  }
  attempt.covers_all_builds = covers_all_builds(view, arguments.devices, of_context);
  CLBIN_TRY_ASSIGN(attempt.served,
                   ServedBuild::prepare(m_services, *view.program, std::move(arguments)));
  return attempt;
}

bool ProgramBuilds::covers_all_builds(const ProgramView& view,
                                      const std::vector<cl_device_id>& devices,
                                      const std::vector<cl_device_id>& of_context) const {
  return std::all_of(of_context.begin(), of_context.end(), [&](cl_device_id device) {
    return contains(devices, device) ||
           (!(view.has_program() && contains(view.substitute->devices(), device)) &&
            !is_built(view.program->handle, {device}));
  });
}

bool ProgramBuilds::serve(const ProgramView& view, Attempt& attempt) {
  std::optional<loader::ServedProgram> served = attempt.served->serve();
  if (!served.has_value()) {
    return false;
  }
  const BuildArguments& arguments = attempt.served->arguments();
  const bool is_for_all = arguments.devices.size() == attempt.of_context.size();
  auto substitute = std::make_shared<const Substitute>(
      *std::move(served), arguments, is_for_all ? std::string() : attempt.served->key());
  (void)m_programs.set_build(view.program, std::move(substitute), std::nullopt);
  log_build(*attempt.served, attempt.served->outcome(), CL_SUCCESS);
  return true;
}

bool ProgramBuilds::serve_all(const ProgramView& view, const Attempt& attempt) {
  const BuildArguments& arguments = attempt.served->arguments();
  // The key differs if a header has changed since the first build.
  if (!view.has_program() || view.substitute->options() != arguments.options ||
      !arguments.constants.empty() || view.substitute->key() != attempt.served->key()) {
    return false;
  }
  BuildArguments all{{}, arguments.options};
  for (const cl_device_id device : attempt.of_context) {
    if (contains(view.substitute->devices(), device) || contains(arguments.devices, device)) {
      all.devices.push_back(device);
    }
  }
  if (!covers_all_builds(view, all.devices, attempt.of_context)) {
    return false;
  }
  auto served = ServedBuild::prepare(m_services, *view.program, std::move(all));
  if (!served.has_value()) {
    return false;
  }
  Attempt together{*std::move(served), attempt.of_context};
  return serve(view, together);
}

cl_int ProgramBuilds::refuse(const ProgramView& view, const BuildCall& call,
                             const base::Result<Attempt>& attempt,
                             const Refusal& refusal) noexcept {
  without_exceptions([&] {
    const ServedBuild* const build = attempt.has_value() ? attempt->served.get() : nullptr;
    const std::string subject = build != nullptr
                                    ? build->description()
                                    : fmt::format("a program{} that cannot be identified",
                                                  kernel_in_parentheses(*view.program));
    const std::string reason = !refusal.reason.empty() ? std::string(refusal.reason)
                               : build != nullptr      ? build->why_not()
                                                       : attempt.error().message;
    std::vector<cl_device_id> devices =
        build != nullptr ? build->arguments().devices : distinct_devices(call);
    if (devices.empty()) {
      devices = program_devices(m_next, call.program);
    }
    (void)m_programs.set_build(
        view.program,
        Substitute::refusal({std::move(devices), text_or_empty(call.options)},
                            fmt::format("libclbin_layer: mode 'strict' refuses to {} {}: {}",
                                        refusal.action, subject, reason)),
        std::nullopt);
    report_refusal(refusal.action, subject, refusal.code, reason);
  });
  if (call.callback != nullptr) {
    call.callback(call.program, call.user_data);
  }
  return refusal.code;
}

cl_int ProgramBuilds::refuse_compile(const ProgramView& view, const BuildCall& call) noexcept {
  const base::Result<Attempt> attempt = prepared(view, call);
  const std::string_view reason =
      "no bundle and no cache serves programs that are compiled separately";
  return refuse(view, call, attempt,
                {CL_COMPILE_PROGRAM_FAILURE, "compile", attempt.has_value() ? reason : ""});
}

cl_int ProgramBuilds::try_options(const ProgramView& view, const ServedBuild& build) noexcept {
  cl_int code = CL_SUCCESS;
  without_exceptions([&] {
    if (!view.program->text.empty()) {
      code = opencl::build_from_strings(m_services.driver, view.program->context,
                                        build.arguments().devices, {view.program->text},
                                        build.options())
                 .code;
    }
  });
  return code;
}

cl_int ProgramBuilds::build_by_driver(const ProgramView& view, const BuildCall& call,
                                      Attempt* attempt) noexcept {
  bool is_changed = attempt != nullptr && attempt->served->has_changed_options();
  const cl_int trial = is_changed ? try_options(view, *attempt->served) : CL_SUCCESS;
  if (trial != CL_SUCCESS) {
    // No configuration makes a build fail that would succeed without it.
    without_exceptions([&] { log_build(*attempt->served, "failed with changed options", trial); });
    is_changed = false;
    attempt = nullptr;
  }
  if (attempt != nullptr && !attempt->covers_all_builds) {
    build_natively(view);
  }
  // The callback may ask for the driver's own build.
  (void)m_programs.set_build(view.program, nullptr, std::nullopt);
  cl_int code = pass_on(call, is_changed ? attempt->served->options().c_str() : call.options);
  if (is_argument_error(code)) {
    without_exceptions(
        [&] { (void)m_programs.set_build(view.program, view.substitute, view.own_options); });
    return code;
  }
  if (attempt == nullptr) {
    return code;
  }
  without_exceptions([&] {
    const BuildArguments& arguments = attempt->served->arguments();
    if (is_changed) {
      (void)m_programs.set_build(view.program, nullptr, arguments.options);
    }
    log_build(*attempt->served, code == CL_SUCCESS ? k_built : "failed", code);
    if (code == CL_SUCCESS && is_built(call.program, arguments.devices)) {
      keep_or_record(view, *attempt->served);
    }
  });
  return code;
}

// A driver that calls the callback from a thread of its own may still be building.
bool ProgramBuilds::is_built(cl_program program, const std::vector<cl_device_id>& devices) const {
  return std::all_of(devices.begin(), devices.end(), [&](cl_device_id device) {
    cl_build_status status = CL_BUILD_NONE;
    return m_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                                        &status, nullptr) == CL_SUCCESS &&
           status == CL_BUILD_SUCCESS;
  });
}

void ProgramBuilds::keep_or_record(const ProgramView& view, ServedBuild& served) {
  if (m_recorder != nullptr) {
    std::optional<RecordedBuild> build = served.recorded_build(view.program->handle);
    if (build.has_value()) {
      m_programs.set_recorded(view.program,
                              {build->program.name, build->program.variants.front().name});
      m_recorder->record(*std::move(build));
    } else {
      m_log.write(fmt::format("not recorded: {}: {}", served.why_not(), served.description()));
    }
    return;
  }
  if (m_settings.mode != Mode::serve) {
    served.keep(view.program->handle, loader::KeepTime::after_build);
  }
  if (m_settings.mode == Mode::cache && m_settings.caches_pocl && served.is_on_pocl()) {
    opencl::watch_process_end();
    m_programs.set_pending(view.program,
                           {served.arguments(), served.key(), early_keep_of(*view.program)});
  }
}

void ProgramBuilds::log_build(const ServedBuild& served, std::string_view outcome,
                              cl_int code) const {
  if (!m_log.is_on()) {
    return;
  }
  const std::string result =
      code == CL_SUCCESS ? std::string() : fmt::format(" with {}", opencl::cl_error_name(code));
  const std::string reason = outcome == k_built ? served.why_not() : std::string();
  m_log.write(fmt::format("{}{}: {}{}{}", outcome, result, served.description(),
                          reason.empty() ? "" : ": ", reason));
}

void ProgramBuilds::keep(DueKeep due) noexcept {
  if (due.program == nullptr) {
    return;
  }
  without_exceptions([&] {
    const std::scoped_lock lock(m_postponed_mutex);
    m_postponed.reserve(m_postponed.size() + 1);
    if (m_next.clRetainProgram(due.program->handle) == CL_SUCCESS) {
      m_postponed.push_back(std::move(due));
      m_has_postponed = true;
    }
  });
  after_wait();
}

void ProgramBuilds::keep_postponed() {
  const std::vector<DueKeep> postponed = [this] {
    const std::scoped_lock lock(m_postponed_mutex);
    m_has_postponed = false;
    return std::exchange(m_postponed, {});
  }();
  for (const DueKeep& due : postponed) {
    without_exceptions([&] { keep_by(due, due.program->handle); });
    (void)m_next.clReleaseProgram(due.program->handle);
  }
}

void ProgramBuilds::keep_repeated(cl_kernel kernel) noexcept {
  without_exceptions([&] {
    // Most launches are of programs that are stored: for them, a shared lock is enough.
    if (!m_programs.awaits_launches(kernel) || !m_programs.only_repeats(kernel)) {
      return;
    }
    const RunningLaunches::Pause pause = m_launches.try_pause();
    if (pause == nullptr) {
      return;
    }
    const DueKeep due = m_programs.take_pending(kernel);
    if (due.program != nullptr) {
      keep_by(due, due.program->handle);
    }
  });
}

void ProgramBuilds::keep_early(const DueKeep& launch) {
  const DueKeep due = m_programs.begin_early_keep(launch);
  if (due.program != nullptr) {
    without_exceptions([&] { keep_by(due, nullptr); });
    m_programs.end_early_keep(due);
  }
}

void ProgramBuilds::keep_by(const DueKeep& due, cl_program program) {
  auto served = ServedBuild::prepare(m_services, *due.program, due.pending->arguments);
  if (!served.has_value()) {
    return;
  }
  if ((*served)->key() != due.pending->key) {
    m_log.write(
        fmt::format("not kept, because a header has changed: {}", (*served)->description()));
    return;
  }
  const opencl::DriverWork work = opencl::begin_driver_work();
  if (work == nullptr) {
    m_log.write(
        fmt::format("not kept, because the process is ending: {}", (*served)->description()));
    return;
  }
  if (program != nullptr) {
    (*served)->keep(program, due.time);
  } else {
    (*served)->keep_copy(due.time);
  }
  opencl::watch_process_end(); // PoCL's compiler may have created more
  m_log.write(fmt::format(
      "{} after {} launches: {}",
      due.time == loader::KeepTime::after_more_launches ? "replaced what was kept" : "kept",
      due.launches, (*served)->description()));
}

void ProgramBuilds::after_wait() noexcept {
  m_launches.forget_ended();
  if (!m_programs.has_new_launches() && !m_has_postponed) {
    return;
  }
  without_exceptions([&] {
    const RunningLaunches::Pause pause = m_launches.try_pause();
    if (pause == nullptr) {
      return;
    }
    opencl::watch_process_end();
    keep_postponed();
    for (const DueKeep& launch : m_programs.take_new_launches()) {
      keep_early(launch);
    }
  });
}

// A copy of the program is stored, because PoCL returns the first binary of a program for ever. The
// copy contains what PoCL's own cache has of the first program.
EarlyKeep ProgramBuilds::early_keep_of(const TrackedProgram& program) const {
  return m_services.builder.settings().of_pocl == cache::PoclCache::on && program.il.empty()
             ? EarlyKeep::yes
             : EarlyKeep::no;
}

void ProgramBuilds::drop_substitute(const ProgramView& view) noexcept {
  if (m_next.clRetainProgram(view.program->handle) != CL_SUCCESS) {
    return;
  }
  m_programs.begin_build(view.program);
  (void)m_programs.set_build(view.program, nullptr, std::nullopt);
  release(m_programs.end_build(view.program));
}

void ProgramBuilds::build_natively(const ProgramView& view) noexcept {
  if (!view.has_program()) {
    return;
  }
  const std::vector<cl_device_id>& devices = view.substitute->devices();
  (void)m_next.clBuildProgram(view.program->handle, static_cast<cl_uint>(devices.size()),
                              devices.data(), view.substitute->options().c_str(), nullptr, nullptr);
}

} // namespace clbin::layer
