// Launches of kernels, which are intercepted in mode `record`, and if the user cache stores
// programs of PoCL.
#include "layer/layer.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <string>

namespace clbin::layer {
namespace {

std::string launch_name(cl_uint dimensions, const std::size_t* local) {
  std::string name;
  for (cl_uint i = 0; local != nullptr && i < dimensions; ++i) {
    name += fmt::format(" {}", local[i]);
  }
  return name;
}

void record_launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* local) noexcept {
  without_exceptions([&] {
    Layer& layer = active_layer();
    if (layer.recorder() == nullptr) {
      layer.builds().keep(layer.programs().note_launch(kernel, launch_name(dimensions, local)));
      return;
    }
    const auto found = layer.programs().find_kernel(kernel);
    if (!found.has_value() || found->recorded == nullptr) {
      return;
    }
    RecordedLaunch launch{*found->recorded, found->name, dimensions, {}};
    if (local != nullptr) {
      launch.local.fill(1);
      std::copy_n(local, std::min<std::size_t>(dimensions, launch.local.size()),
                  launch.local.begin());
    }
    layer.recorder()->record(launch);
  });
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint wait_count,
                                  const cl_event* wait_list, cl_event* event) {
  const cl_int code = active_layer().next().clEnqueueNDRangeKernel(
      queue, kernel, dimensions, offset, global, local, wait_count, wait_list, event);
  if (code == CL_SUCCESS) {
    record_launch(kernel, dimensions, local);
  }
  return code;
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event* wait_list, cl_event* event) {
  const cl_int code =
      active_layer().next().clEnqueueTask(queue, kernel, wait_count, wait_list, event);
  if (code == CL_SUCCESS) {
    const std::size_t one = 1;
    record_launch(kernel, 1, &one);
  }
  return code;
}

} // namespace

void add_launch_calls(cl_icd_dispatch& table) {
  intercept(table.clEnqueueNDRangeKernel, enqueue_kernel);
  intercept(table.clEnqueueTask, enqueue_task);
}

} // namespace clbin::layer
