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

bool has_sizes(const UnsizedLaunch& call) {
  return call.dimensions >= 1 && call.dimensions <= 3 && call.global != nullptr;
}

// Also records the local size that the driver chose, because binaries are specialized for it.
void record_launch(Layer& layer, const UnsizedLaunch& call, const std::size_t* local) {
  const auto found = layer.programs().find_kernel(call.kernel);
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
  layer.recorder()->record(program, launch);
  const auto chosen = local == nullptr ? chosen_local_size(layer.next(), call) : std::nullopt;
  if (chosen.has_value()) {
    std::copy(chosen->begin(), chosen->end(), launch.local_size.begin());
    layer.recorder()->record(program, launch);
  }
}

// One launch. It always has an event, unless launches are recorded: the layer wants to know when it
// ends. The driver makes an event of every launch, whether or not somebody asks for it.
class Launch {
public:
  // Borrows everything from the application's call.
  Launch(const UnsizedLaunch& call, const std::size_t* local, cl_event* event) noexcept
      : m_call(call), m_local(local), m_event(event) {
    if (m_layer.recorder() != nullptr) {
      return;
    }
    m_layer.builds().keep_repeated(m_call.kernel);
    m_layer.builds().launches().begin();
    without_exceptions([this] {
      if (has_sizes(m_call) && m_layer.programs().awaits_launches(m_call.kernel)) {
        m_name = launch_name(m_layer.next(), m_call, m_local);
      }
    });
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    if (m_layer.recorder() == nullptr) {
      without_exceptions([this] { m_layer.builds().launches().end(m_begun); });
    }
  }

  // The last parameter of the driver's function.
  [[nodiscard]] cl_event* event() noexcept {
    return m_event == nullptr && m_layer.recorder() == nullptr ? &m_own : m_event;
  }

  void has_begun() noexcept {
    without_exceptions([this] {
      if (m_layer.recorder() != nullptr) {
        record_launch(m_layer, m_call, m_local);
        return;
      }
      if (m_event == nullptr) {
        m_begun = m_own;
      } else if (m_layer.next().clRetainEvent(*m_event) == CL_SUCCESS) {
        m_begun = *m_event;
      }
      if (m_name.has_value()) {
        m_layer.programs().note_launch(m_call.kernel, *m_name);
      }
    });
  }

private:
  Layer& m_layer = active_layer();
  UnsizedLaunch m_call;
  const std::size_t* m_local;
  cl_event* m_event;
  cl_event m_own = nullptr;
  cl_event m_begun = nullptr;        // with a reference of the layer
  std::optional<std::string> m_name; // std::nullopt: nobody waits for launches of the program
};

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint wait_count,
                                  const cl_event* wait_list, cl_event* event) {
  Launch launch({queue, kernel, dimensions, offset, global}, local, event);
  const cl_int code = active_layer().next().clEnqueueNDRangeKernel(
      queue, kernel, dimensions, offset, global, local, wait_count, wait_list, launch.event());
  if (code == CL_SUCCESS) {
    launch.has_begun();
  }
  return code;
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event* wait_list, cl_event* event) {
  const std::size_t one = 1;
  Launch launch({queue, kernel, 1, nullptr, &one}, &one, event);
  const cl_int code =
      active_layer().next().clEnqueueTask(queue, kernel, wait_count, wait_list, launch.event());
  if (code == CL_SUCCESS) {
    launch.has_begun();
  }
  return code;
}

constexpr std::size_t k_always = 0; // position of the parameter cl_bool that says whether it waits

// The layer's function for a member of the table.
template <auto Member, std::size_t Blocking>
struct Waiting;
template <typename Result, typename... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*Member)(Arguments...), std::size_t Blocking>
struct Waiting<Member, Blocking> {
  static Result CL_API_CALL call(Arguments... arguments) {
    const Result result = (active_layer().next().*Member)(arguments...);
    bool has_waited = true;
    if constexpr (Blocking != k_always) {
      has_waited = std::get<Blocking>(std::tie(arguments...)) != CL_FALSE;
    }
    if (has_waited) {
      active_layer().builds().after_wait();
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

} // namespace clbin::layer
