// Functions in which the application waits for its launches. They are intercepted if the user cache
// stores programs of PoCL: an application may keep its programs until it ends, when it is too late
// to ask PoCL for their binaries.
#include "layer/layer.hpp"

#include <tuple>

namespace clbin::layer {
namespace {

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
