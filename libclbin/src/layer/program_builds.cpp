// What clBuildProgram does, and when the binaries of PoCL's programs are stored.
#include "layer/served_build.hpp"
#include "opencl/process_end.hpp"

namespace clbin::layer {
namespace {

constexpr std::string_view k_built = "built";
constexpr std::string_view k_refused = "refused by mode 'strict'";

struct Attempt {
  std::unique_ptr<ServedBuild> served;
  std::vector<cl_device_id> of_context;
  bool covers_all_builds = true; // no other device has a build that must stay usable
};

// What mode `strict` refuses.
struct Refusal {
  cl_int code = CL_SUCCESS;
  std::string_view action; // "build"
  std::string_view reason; // empty: that of the attempt
};

bool contains(const std::vector<cl_device_id>& devices, cl_device_id device) {
  return std::ranges::find(devices, device) != devices.end();
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

std::string unknown_program(const ProgramView& view) {
  return fmt::format("a program{} that cannot be identified", kernel_in_parentheses(*view.program));
}

cl_int pass_on(const Layer& layer, const BuildCall& call, const char* options) noexcept {
  return layer.next.clBuildProgram(call.program, call.count, call.devices, options, call.callback,
                                   call.user_data);
}

// Passes on what the layer cannot handle. Mode `strict` returns `refusal` instead, because some
// drivers build what OpenCL rejects.
cl_int pass_on_unless_strict(const Layer& layer, const ProgramView& view, const BuildCall& call,
                             cl_int refusal, std::string_view reason) noexcept {
  if (layer.settings.mode != Mode::strict) {
    return pass_on(layer, call, call.options);
  }
  // Most drivers return the same, so that standard error is not told.
  without_exceptions([&] {
    layer.log.write(fmt::format("{} with {}: a program{}: {}", k_refused,
                                opencl::cl_error_name(refusal),
                                kernel_in_parentheses(*view.program), reason));
  });
  return refusal;
}

void report_refusal(const Layer& layer, std::string_view action, std::string_view subject,
                    cl_int code, std::string_view reason) {
  layer.log.write(
      fmt::format("{} with {}: {}: {}", k_refused, opencl::cl_error_name(code), subject, reason));
  report_problem(fmt::format("mode 'strict' refuses to {} {}: {}", action, subject, reason));
}

// Fails a build in mode `strict`, and says why: in the log, on standard error, and in the build log
// of the program, also for devices that are not those of the context. Returns the code.
cl_int refuse(Layer& layer, const ProgramView& view, const BuildCall& call,
              const base::Result<Attempt>& attempt, const Refusal& refusal) noexcept {
  without_exceptions([&] {
    const ServedBuild* const build = attempt.has_value() ? attempt->served.get() : nullptr;
    const std::string subject = build != nullptr ? build->description() : unknown_program(view);
    const std::string reason = !refusal.reason.empty() ? std::string(refusal.reason)
                               : build != nullptr      ? build->why_not()
                                                       : attempt.error().message;
    std::vector<cl_device_id> devices =
        build != nullptr ? build->arguments.devices : distinct_devices(call);
    if (devices.empty()) {
      devices = program_devices(layer.next, call.program);
    }
    (void)layer.programs.set_build(
        view.program,
        Substitute::refusal({std::move(devices), text_or_empty(call.options)},
                            fmt::format("libclbin_layer: mode 'strict' refuses to {} {}: {}",
                                        refusal.action, subject, reason)),
        std::nullopt);
    report_refusal(layer, refusal.action, subject, refusal.code, reason);
  });
  if (call.callback != nullptr) {
    call.callback(call.program, call.user_data);
  }
  return refusal.code;
}

// A driver that calls the callback from a thread of its own may still be building.
bool is_built(const Layer& layer, cl_program program, const std::vector<cl_device_id>& devices) {
  return std::ranges::all_of(devices, [&](cl_device_id device) {
    cl_build_status status = CL_BUILD_NONE;
    return layer.next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS,
                                            sizeof(status), &status, nullptr) == CL_SUCCESS &&
           status == CL_BUILD_SUCCESS;
  });
}

// Returns whether the program is built for no other device of its context. One program of the layer
// can only replace all builds of the application's program.
bool covers_all_builds(const Layer& layer, const ProgramView& view,
                       const std::vector<cl_device_id>& devices,
                       const std::vector<cl_device_id>& of_context) {
  return std::ranges::all_of(of_context, [&](cl_device_id device) {
    return contains(devices, device) ||
           (!(view.has_program() && contains(view.substitute->devices(), device)) &&
            !is_built(layer, view.program->handle, {device}));
  });
}

// opencl_call, invalid_argument: nothing can be said about the program or its devices.
base::Result<Attempt> prepare(Layer& layer, const ProgramView& view, const BuildCall& call) {
  Attempt attempt;
  attempt.of_context = context_devices(layer.next, view.program->context);
  const auto& of_context = attempt.of_context;
  if (of_context.empty()) {
    return base::fail(base::ErrorCode::opencl_call,
                      "the driver does not list the devices of the context");
  }
  BuildArguments arguments{distinct_devices(call), text_or_empty(call.options),
                           layer.programs.constants(view.program)};
  if (arguments.devices.empty()) {
    arguments.devices = of_context;
  }
  for (const cl_device_id device : arguments.devices) {
    if (std::ranges::count(of_context, device) != 1) {
      return base::fail(base::ErrorCode::invalid_argument, "a device is not one of the context");
    }
  }
  attempt.covers_all_builds = covers_all_builds(layer, view, arguments.devices, of_context);
  CLBIN_TRY_ASSIGN(attempt.served,
                   ServedBuild::prepare(layer, *view.program, std::move(arguments)));
  return attempt;
}

// As prepare(). After an error, the driver decides, which is logged, or mode `strict` refuses.
base::Result<Attempt> prepared(Layer& layer, const ProgramView& view,
                               const BuildCall& call) noexcept {
  base::Result<Attempt> attempt = tl::unexpected(base::Error{base::ErrorCode::out_of_memory, {}});
  without_exceptions([&] {
    attempt = prepare(layer, view, call);
    if (!attempt.has_value() && layer.settings.mode != Mode::strict) {
      layer.log.write(
          fmt::format("passed on: {}: {}", unknown_program(view), attempt.error().message));
    }
  });
  return attempt;
}

void log_build(const ServedBuild& served, std::string_view outcome, cl_int code) {
  const LayerLog& log = served.layer.log;
  if (!log.is_on()) {
    return;
  }
  const std::string result =
      code == CL_SUCCESS ? std::string() : fmt::format(" with {}", opencl::cl_error_name(code));
  const std::string reason = outcome == k_built ? served.why_not() : std::string();
  log.write(fmt::format("{}{}: {}{}{}", outcome, result, served.description(),
                        reason.empty() ? "" : ": ", reason));
}

bool serve(const ProgramView& view, const Attempt& attempt) {
  ServedBuild& build = *attempt.served;
  std::optional<loader::ServedProgram> served = build.program->serve();
  if (!served.has_value()) {
    return false;
  }
  const bool is_for_all = build.arguments.devices.size() == attempt.of_context.size();
  auto substitute = std::make_shared<const Substitute>(*std::move(served), build.arguments,
                                                       is_for_all ? std::string() : build.key());
  (void)build.layer.programs.set_build(view.program, std::move(substitute), std::nullopt);
  log_build(build, build.outcome(), CL_SUCCESS);
  return true;
}

// Serves a build for another device of a program that is served already: one program for all of
// these devices, if their builds have the same options.
bool serve_all(Layer& layer, const ProgramView& view, const Attempt& attempt) {
  const BuildArguments& arguments = attempt.served->arguments;
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
  if (!covers_all_builds(layer, view, all.devices, attempt.of_context)) {
    return false;
  }
  auto served = ServedBuild::prepare(layer, *view.program, std::move(all));
  return served.has_value() && serve(view, {*std::move(served), attempt.of_context});
}

// Builds the source with the options that rules changed, in a program that is then released, and
// returns the driver's code: not every driver can build a program again after a build of it has
// failed (Intel's CPU runtime). IL is not built: the build itself decides.
cl_int try_options(const ProgramView& view, const ServedBuild& build) noexcept {
  cl_int code = CL_SUCCESS;
  without_exceptions([&] {
    if (!view.program->text.empty()) {
      code =
          opencl::build_from_strings(build.layer.driver, view.program->context,
                                     build.arguments.devices, {view.program->text}, build.options)
              .code;
    }
  });
  return code;
}

void keep_or_record(Layer& layer, const ProgramView& view, ServedBuild& served) {
  const cl_program handle = view.program->handle;
  if (layer.recorder != nullptr) {
    std::optional<RecordedBuild> build = served.recorded_build(handle);
    if (!build.has_value()) {
      layer.log.write(fmt::format("not recorded: {}: {}", served.why_not(), served.description()));
      return;
    }
    const auto names = std::make_shared<const RecordedNames>(
        RecordedNames{build->program.name, build->program.variants.front().name,
                      build->program.variants.front().options});
    layer.programs.change(handle, [&](TrackedProgram& program) { program.recorded = names; });
    layer.recorder->record(*std::move(build));
    return;
  }
  if (layer.settings.mode != Mode::serve) {
    served.keep(handle, loader::KeepTime::after_build);
  }
  if (layer.settings.mode == Mode::cache && layer.settings.caches_pocl &&
      served.program->is_on_pocl()) {
    opencl::watch_process_end();
    // A copy of the program is stored early, because PoCL returns the first binary of a program for
    // ever. The copy contains what PoCL's own cache has of the first program.
    const bool is_early =
        layer.builder.settings().of_pocl == cache::PoclCache::on && view.program->il.empty();
    const auto pending =
        std::make_shared<PendingKeep>(PendingKeep{served.arguments, served.key(), is_early});
    layer.programs.change(handle, [&](TrackedProgram& program) { program.pending = pending; });
  }
}

cl_int build_by_driver(Layer& layer, const ProgramView& view, const BuildCall& call,
                       Attempt* attempt) noexcept {
  ServedBuild* served = attempt == nullptr ? nullptr : attempt->served.get();
  bool is_changed = served != nullptr && served->options != served->arguments.options;
  const cl_int trial = is_changed ? try_options(view, *served) : CL_SUCCESS;
  if (trial != CL_SUCCESS) {
    // No configuration makes a build fail that would succeed without it.
    without_exceptions([&] { log_build(*served, "failed with changed options", trial); });
    is_changed = false;
    served = nullptr;
  }
  if (served != nullptr && !attempt->covers_all_builds) {
    build_natively(layer, view);
  }
  // The callback may ask for the driver's own build.
  (void)layer.programs.set_build(view.program, nullptr, std::nullopt);
  cl_int code = pass_on(layer, call, is_changed ? served->options.c_str() : call.options);
  if (is_argument_error(code)) {
    without_exceptions(
        [&] { (void)layer.programs.set_build(view.program, view.substitute, view.own_options); });
    return code;
  }
  if (served == nullptr) {
    return code;
  }
  without_exceptions([&] {
    if (is_changed) {
      (void)layer.programs.set_build(view.program, nullptr, served->arguments.options);
    }
    log_build(*served, code == CL_SUCCESS ? k_built : "failed", code);
    if (code == CL_SUCCESS && is_built(layer, call.program, served->arguments.devices)) {
      keep_or_record(layer, view, *served);
    }
  });
  return code;
}

cl_int build_held(Layer& layer, const ProgramView& view, const BuildCall& call) noexcept {
  base::Result<Attempt> attempt = prepared(layer, view, call);
  bool is_served = false;
  without_exceptions([&] {
    if (attempt.has_value() && layer.settings.mode != Mode::record) {
      is_served =
          attempt->covers_all_builds ? serve(view, *attempt) : serve_all(layer, view, *attempt);
    }
  });
  if (is_served) {
    if (call.callback != nullptr) {
      call.callback(call.program, call.user_data);
    }
    return CL_SUCCESS;
  }
  if (layer.settings.mode == Mode::strict) {
    return refuse(layer, view, call, attempt, {CL_BUILD_PROGRAM_FAILURE, "build", {}});
  }
  return build_by_driver(layer, view, call, attempt.has_value() ? &*attempt : nullptr);
}

// Stores the binary of `program`, or of a copy if it is null, unless a header has changed or the
// process is ending.
void keep_by(Layer& layer, const DueKeep& due, cl_program program) {
  auto served = ServedBuild::prepare(layer, *due.program, due.pending->arguments);
  if (!served.has_value()) {
    return;
  }
  const auto log = [&](std::string_view what) {
    layer.log.write(fmt::format("{}: {}", what, (*served)->description()));
  };
  if ((*served)->key() != due.pending->key) {
    return log("not kept, because a header has changed");
  }
  const opencl::DriverWork work = opencl::begin_driver_work();
  if (work == nullptr) {
    return log("not kept, because the process is ending");
  }
  (*served)->keep(program, due.time);
  opencl::watch_process_end(); // PoCL's compiler may have created more
  const bool is_replaced = due.time == loader::KeepTime::after_more_launches;
  log(fmt::format("{} after {} launches", is_replaced ? "replaced what was kept" : "kept",
                  due.launches));
}

// Stores what keep() has put off. Only in a pause.
void keep_postponed(Layer& layer) {
  const std::vector<DueKeep> postponed = [&] {
    const std::scoped_lock lock(layer.postponed_mutex);
    layer.has_postponed = false;
    return std::exchange(layer.postponed, {});
  }();
  for (const DueKeep& due : postponed) {
    without_exceptions([&] { keep_by(layer, due, due.program->handle); });
    (void)layer.next.clReleaseProgram(due.program->handle);
  }
}

void keep_early(Layer& layer, const DueKeep& launch) {
  const DueKeep due = layer.programs.begin_early_keep(launch);
  if (due.program != nullptr) {
    without_exceptions([&] { keep_by(layer, due, nullptr); });
    layer.programs.end_early_keep(due);
  }
}

} // namespace

// A call with such an error leaves the program as it was (OpenCL 3.0, 5.8.2).
bool is_argument_error(cl_int code) noexcept {
  return code == CL_INVALID_VALUE || code == CL_INVALID_DEVICE || code == CL_INVALID_PROGRAM ||
         code == CL_INVALID_OPERATION;
}

cl_int build(Layer& layer, const ProgramView& view, const BuildCall& call) noexcept {
  switch (layer.programs.build_turn(call.program)) {
  case BuildTurn::has_substitute_kernels:
    return CL_INVALID_OPERATION; // as for a program with kernels of its own (OpenCL 3.0, 5.8.2)
  case BuildTurn::has_kernels:
    return pass_on_unless_strict(layer, view, call, CL_INVALID_OPERATION,
                                 "it has kernels, which OpenCL does not allow");
  case BuildTurn::free:
    break;
  }
  if ((call.count == 0) != (call.devices == nullptr) ||
      (call.callback == nullptr && call.user_data != nullptr)) {
    return pass_on_unless_strict(layer, view, call, CL_INVALID_VALUE,
                                 "OpenCL does not allow these arguments");
  }
  if (const cl_int code = layer.next.clRetainProgram(call.program); code != CL_SUCCESS) {
    return pass_on_unless_strict(layer, view, call, code, "the driver does not retain it");
  }
  layer.programs.begin_build(view.program);
  const cl_int code = build_held(layer, view, call);
  release(layer, layer.programs.end_build(view.program));
  return code;
}

cl_int refuse_compile(Layer& layer, const ProgramView& view, const BuildCall& call) noexcept {
  const base::Result<Attempt> attempt = prepared(layer, view, call);
  const std::string_view reason =
      "no bundle and no cache serves programs that are compiled separately";
  return refuse(layer, view, call, attempt,
                {CL_COMPILE_PROGRAM_FAILURE, "compile", attempt.has_value() ? reason : ""});
}

void report_refused_link(const Layer& layer, const ProgramView& view, cl_int code) noexcept {
  without_exceptions([&] {
    report_refusal(layer, "link", "a program" + kernel_in_parentheses(*view.program), code,
                   "no bundle and no cache serves programs that are linked");
  });
}

void build_natively(const Layer& layer, const ProgramView& view) noexcept {
  if (!view.has_program()) {
    return;
  }
  const std::vector<cl_device_id>& devices = view.substitute->devices();
  (void)layer.next.clBuildProgram(view.program->handle, static_cast<cl_uint>(devices.size()),
                                  devices.data(), view.substitute->options().c_str(), nullptr,
                                  nullptr);
}

void drop_substitute(Layer& layer, const ProgramView& view) noexcept {
  if (layer.next.clRetainProgram(view.program->handle) != CL_SUCCESS) {
    return;
  }
  layer.programs.begin_build(view.program);
  (void)layer.programs.set_build(view.program, nullptr, std::nullopt);
  release(layer, layer.programs.end_build(view.program));
}

void release(const Layer& layer, const Ended& ended) noexcept {
  for (cl_uint i = 0; i < ended.holds; ++i) {
    (void)layer.next.clReleaseProgram(ended.held);
  }
}

void keep(Layer& layer, DueKeep due) noexcept {
  if (due.program == nullptr) {
    return;
  }
  without_exceptions([&] {
    const std::scoped_lock lock(layer.postponed_mutex);
    layer.postponed.reserve(layer.postponed.size() + 1);
    if (layer.next.clRetainProgram(due.program->handle) == CL_SUCCESS) {
      layer.postponed.push_back(std::move(due));
      layer.has_postponed = true;
    }
  });
  after_wait(layer);
}

void keep_repeated(Layer& layer, cl_kernel kernel) noexcept {
  without_exceptions([&] {
    // Most launches are of programs that are stored: for them, a shared lock is enough.
    if (!layer.programs.awaits_launches(kernel) || !layer.programs.only_repeats(kernel)) {
      return;
    }
    const RunningLaunches::Pause pause = layer.launches.try_pause();
    if (pause == nullptr) {
      return;
    }
    const DueKeep due = layer.programs.take_pending(kernel);
    if (due.program != nullptr) {
      keep_by(layer, due, due.program->handle);
    }
  });
}

void after_wait(Layer& layer) noexcept {
  layer.launches.forget_ended();
  if (!layer.programs.has_new_launches() && !layer.has_postponed) {
    return;
  }
  without_exceptions([&] {
    const RunningLaunches::Pause pause = layer.launches.try_pause();
    if (pause == nullptr) {
      return;
    }
    opencl::watch_process_end();
    keep_postponed(layer);
    for (const DueKeep& launch : layer.programs.take_new_launches()) {
      keep_early(layer, launch);
    }
  });
}

} // namespace clbin::layer
