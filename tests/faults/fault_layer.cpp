// An OpenCL layer (CL/cl_layer.h) over the real drivers, for OPENCL_LAYERS. Passes on every call
// except for the faults of the scenario (fault_scenario.hpp), and logs the calls. Log lines:
//
//   PID FUNCTION [NAME] [origin=…] [device='PLATFORM / DEVICE']… -> passed|FAULT code=N
//
// A crash or a hang is logged before it happens.

#include "faults/intercepted_call.hpp"

#define CLBIN_LAYER_EXPORT extern "C" __attribute__((visibility("default")))

CLBIN_LAYER_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name,
                                                                  std::size_t size, void* value,
                                                                  std::size_t* size_ret) {
  if (name == CL_LAYER_API_VERSION) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return clbin::faults::give_bytes(&version, sizeof version, size, value, size_ret);
  }
  if (name == CL_LAYER_NAME) {
    return clbin::faults::give_text("clbin-faults", size, value, size_ret);
  }
  return CL_INVALID_VALUE;
}

CLBIN_LAYER_EXPORT CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint num_entries, const cl_icd_dispatch* target_dispatch, cl_uint* num_entries_ret,
            const cl_icd_dispatch** layer_dispatch_ret) {
  using clbin::faults::layer;
  constexpr cl_uint k_entries = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (target_dispatch == nullptr || num_entries_ret == nullptr || layer_dispatch_ret == nullptr ||
      num_entries < k_entries) {
    return CL_INVALID_VALUE;
  }
  layer().next = target_dispatch;
  layer().table = *target_dispatch;
  clbin::faults::add_device_calls(layer().table);
  clbin::faults::add_program_calls(layer().table);
  clbin::faults::add_program_answers(layer().table);
  clbin::faults::add_kernel_calls(layer().table);
  layer().state.load();
  *num_entries_ret = k_entries;
  *layer_dispatch_ret = &layer().table;
  return CL_SUCCESS;
}

// For tests: reads the scenario again, and counts calls from 1 again.
CLBIN_LAYER_EXPORT void clbin_faults_reload() {
  clbin::faults::layer().state.load();
}
