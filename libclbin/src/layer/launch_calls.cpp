// Launches of kernels, which are intercepted in mode `record`, and if the user cache stores
// programs of PoCL. Then also functions in which the application waits for its launches: it may
// keep its programs until it ends, when it is too late to ask PoCL for their binaries.
#include "layer/chosen_size.hpp"
#include "layer/layer.hpp"

#include <tuple>

namespace clbin::layer {
namespace {

constexpr std::size_t k_wide_grid = 65535; // work-items in a dimension; doc/drivers.md

bool is_any_at_least(std::size_t least, const std::size_t* numbers, cl_uint dimensions) {
  return numbers != nullptr && std::any_of(numbers, numbers + std::min(dimensions, 3U),
                                           [&](std::size_t number) { return number >= least; });
}

bool has_offset(const UnsizedLaunch& call) {
  return is_any_at_least(1, call.offset, call.dimensions);
}

// Launches for which PoCL needs the same code have one name. Of a call that the driver has not seen
// yet: `dimensions` and the sizes must be valid.
std::string launch_name(const cl_icd_dispatch& next, const UnsizedLaunch& call,
                        const std::size_t* local) {
  const auto chosen = local == nullptr ? chosen_local_size(next, call) : std::nullopt;
  const std::size_t* const size = chosen.has_value() ? chosen->data() : local;
  std::string name;
  for (cl_uint i = 0; size != nullptr && i < call.dimensions; ++i) {
    name += fmt::format(" {}", size[i]);
  }
  if (has_offset(call)) {
    name += " with an offset";
  }
  return is_any_at_least(k_wide_grid, call.global, call.dimensions) ? name + " in a wide grid"
                                                                    : name;
}

// Also records the local size that the driver chose, because binaries are specialized for it.
void record_launch(Layer& layer, const UnsizedLaunch& call, const std::size_t* local) {
  const auto found = layer.programs.find_kernel(call.kernel);
  if (!found.has_value() || found->recorded == nullptr) {
    return;
  }
  const std::string& program = found->recorded->program;
  format::RecordedLaunch launch{
      found->recorded->variant, found->name, call.dimensions, {}, has_offset(call)};
  if (local != nullptr) {
    launch.local_size.fill(1);
    std::copy_n(local, std::min<std::size_t>(call.dimensions, launch.local_size.size()),
                launch.local_size.begin());
  }
  layer.recorder->record(program, launch);
  const auto chosen = local == nullptr ? chosen_local_size(layer.next, call) : std::nullopt;
  if (chosen.has_value()) {
    std::copy(chosen->begin(), chosen->end(), launch.local_size.begin());
    layer.recorder->record(program, launch);
  }
}

// Launches with `enqueue`, which receives the event, and records the data of the launch if they are
// to be recorded.
template <typename Enqueue>
cl_int launch_with_data(Layer& layer, const LaunchCall& call, cl_event* event,
                        const Enqueue& enqueue) noexcept {
  DataRecorder::LaunchHandle data;
  without_exceptions([&] {
    const auto kernel =
        layer.data == nullptr ? std::nullopt : layer.programs.find_kernel(call.kernel);
    if (kernel.has_value() && kernel->recorded != nullptr) {
      data = layer.data->begin(call, *kernel);
    }
  });
  if (data == nullptr) {
    return enqueue(event);
  }
  cl_event own = nullptr;
  const cl_int code = enqueue(event == nullptr ? &own : event);
  if (code == CL_SUCCESS) {
    without_exceptions([&] { layer.data->end(std::move(data), event == nullptr ? own : *event); });
  }
  if (code == CL_SUCCESS && own != nullptr) {
    (void)layer.next.clReleaseEvent(own);
  }
  return code;
}

// Launches with `enqueue`, which receives the event. The launch always has one, unless launches are
// recorded: the layer wants to know when it ends. The driver makes an event of every launch,
// whether or not somebody asks for it.
template <typename Enqueue>
cl_int launch(const LaunchCall& call, cl_event* event, const Enqueue& enqueue) noexcept {
  Layer& layer = active_layer();
  const std::size_t* const local = call.local;
  if (layer.recorder != nullptr) {
    const cl_int code = launch_with_data(layer, call, event, enqueue);
    if (code == CL_SUCCESS) {
      without_exceptions([&] { record_launch(layer, call, local); });
    }
    return code;
  }
  keep_repeated(layer, call.kernel);
  layer.launches.begin();
  std::optional<std::string> name; // std::nullopt: nobody waits for launches of the program
  without_exceptions([&] {
    const bool has_sizes = call.dimensions >= 1 && call.dimensions <= 3 && call.global != nullptr;
    if (has_sizes && layer.programs.awaits_launches(call.kernel)) {
      name = launch_name(layer.next, call, local);
    }
  });
  cl_event begun = nullptr; // with a reference of the layer
  const cl_int code = enqueue(event == nullptr ? &begun : event);
  if (code != CL_SUCCESS) {
    begun = nullptr;
  } else if (event != nullptr && layer.next.clRetainEvent(*event) == CL_SUCCESS) {
    begun = *event;
  }
  without_exceptions([&] {
    if (code == CL_SUCCESS && name.has_value()) {
      layer.programs.note_launch(call.kernel, *name);
    }
  });
  without_exceptions([&] { layer.launches.end(begun); });
  return code;
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint wait_count,
                                  const cl_event* wait_list, cl_event* event) {
  return launch({{queue, kernel, dimensions, offset, global}, local, wait_count, wait_list}, event,
                [&](cl_event* own) {
                  return active_layer().next.clEnqueueNDRangeKernel(
                      queue, kernel, dimensions, offset, global, local, wait_count, wait_list, own);
                });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event* wait_list, cl_event* event) {
  const std::size_t one = 1;
  return launch(
      {{queue, kernel, 1, nullptr, &one}, &one, wait_count, wait_list}, event, [&](cl_event* own) {
        return active_layer().next.clEnqueueTask(queue, kernel, wait_count, wait_list, own);
      });
}

constexpr std::size_t k_always = 0; // position of the parameter cl_bool that says whether it waits

// The layer's function for a member of the table.
template <auto Member, std::size_t Blocking>
struct Waiting;
template <typename Result, typename... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*Member)(Arguments...), std::size_t Blocking>
struct Waiting<Member, Blocking> {
  static Result CL_API_CALL call(Arguments... arguments) {
    const Result result = (active_layer().next.*Member)(arguments...);
    bool has_waited = true;
    if constexpr (Blocking != k_always) {
      has_waited = std::get<Blocking>(std::tie(arguments...)) != CL_FALSE;
    }
    if (has_waited) {
      after_wait(active_layer());
    }
    return result;
  }
};

template <auto Member, std::size_t Blocking = k_always>
void intercept_waiting(cl_icd_dispatch& table) {
  intercept(table.*Member, &Waiting<Member, Blocking>::call);
}

} // namespace

void add_launch_calls(cl_icd_dispatch& table) {
  intercept(table.clEnqueueNDRangeKernel, enqueue_kernel);
  intercept(table.clEnqueueTask, enqueue_task);
}

void add_wait_calls(cl_icd_dispatch& table) {
  intercept_waiting<&cl_icd_dispatch::clFinish>(table);
  intercept_waiting<&cl_icd_dispatch::clWaitForEvents>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueReadBuffer, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueReadBufferRect, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueReadImage, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueWriteBuffer, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueWriteBufferRect, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueWriteImage, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueMapBuffer, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueMapImage, 2>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueSVMMap, 1>(table);
  intercept_waiting<&cl_icd_dispatch::clEnqueueSVMMemcpy, 1>(table);
}

void RunningLaunches::begin() {
  std::unique_lock lock(m_mutex);
  m_resumed.wait(lock, [this] { return !m_is_paused; });
  ++m_beginning;
}

void RunningLaunches::end(cl_event event) {
  const std::scoped_lock lock(m_mutex);
  if (m_events.size() >= m_next_check) {
    forget_ended_locked();
    m_next_check = std::max<std::size_t>(64, 2 * m_events.size());
  }
  if (event != nullptr) {
    m_events.push_back(event);
  }
  --m_beginning;
}

void RunningLaunches::forget_ended() {
  const std::scoped_lock lock(m_mutex);
  forget_ended_locked();
}

RunningLaunches::Pause RunningLaunches::try_pause() {
  const std::scoped_lock lock(m_mutex);
  if (m_is_paused || m_beginning != 0) {
    return nullptr;
  }
  forget_ended_locked();
  if (!m_events.empty()) {
    return nullptr;
  }
  m_is_paused = true;
  return Pause(this);
}

void RunningLaunches::resume() noexcept {
  {
    const std::scoped_lock lock(m_mutex);
    m_is_paused = false;
  }
  m_resumed.notify_all();
}

bool RunningLaunches::has_ended(cl_event event) const {
  cl_int status = CL_QUEUED;
  const cl_int code = m_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof(status), &status, nullptr);
  return code != CL_SUCCESS || status <= CL_COMPLETE; // negative: an error
}

void RunningLaunches::forget_ended_locked() {
  const auto ended = std::partition(m_events.begin(), m_events.end(),
                                    [this](cl_event event) { return !has_ended(event); });
  std::for_each(ended, m_events.end(), [this](cl_event event) { m_next.clReleaseEvent(event); });
  m_events.erase(ended, m_events.end());
}

} // namespace clbin::layer
