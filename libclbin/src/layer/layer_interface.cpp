#include "layer/layer_interface.hpp"

#include "layer/icd_loaders.hpp"
#include "layer/layer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace clbin::layer {
namespace {

// The functions of a dispatch table have no parameter through which a layer could find its state:
// the interface forces one global object. It is never destroyed, because drivers and threads of the
// application may still run when the process exits.
struct Process {
  std::mutex mutex;
  std::vector<std::unique_ptr<Layer>> layers; // one for each loader that has used the library
  std::atomic<Layer*> layer{nullptr};         // what intercepted functions use
  const cl_icd_dispatch* target = nullptr;
  std::vector<std::unique_ptr<cl_icd_dispatch>> passive; // tables that pass everything on
};

Process& this_process() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
  static auto* const process = new Process;
  return *process;
}

constexpr std::size_t k_known_functions = sizeof(cl_icd_dispatch) / sizeof(void*);

// Copies the functions that both sides know.
cl_icd_dispatch known_functions(const cl_icd_dispatch& target, std::size_t count) {
  cl_icd_dispatch table{};
  std::memcpy(static_cast<void*>(&table), static_cast<const void*>(&target), count * sizeof(void*));
  return table;
}

// Returns whether the ICD loader that initialised the layer is still in the process.
bool is_loaded(const cl_icd_dispatch* target) {
  return !library_of(target).empty();
}

const cl_icd_dispatch& passive_table(const cl_icd_dispatch& next) {
  auto& tables = this_process().passive;
  tables.push_back(std::make_unique<cl_icd_dispatch>(next));
  return *tables.back();
}

// A loader may also be loaded that never asks for layers.
void look_for_a_second_loader() noexcept {
  active_layer().report_second_loader({});
}

// Returns the functions without which the layer passes everything on.
bool is_usable(const cl_icd_dispatch& table) {
  return table.clGetPlatformIDs != nullptr && table.clGetPlatformInfo != nullptr &&
         table.clGetDeviceIDs != nullptr && table.clGetDeviceInfo != nullptr &&
         table.clGetContextInfo != nullptr && table.clCreateProgramWithSource != nullptr &&
         table.clCreateProgramWithBinary != nullptr && table.clRetainProgram != nullptr &&
         table.clReleaseProgram != nullptr && table.clBuildProgram != nullptr &&
         table.clGetProgramInfo != nullptr && table.clGetProgramBuildInfo != nullptr &&
         table.clCreateKernel != nullptr && table.clReleaseKernel != nullptr &&
         table.clGetKernelInfo != nullptr && table.clGetKernelWorkGroupInfo != nullptr;
}

const cl_icd_dispatch& table_for(const cl_icd_dispatch& next, const cl_icd_dispatch* target,
                                 const cache::ProcessEnvironment& environment) {
  Process& process = this_process();
  if (environment.rights == cache::Rights::elevated || !is_usable(next)) {
    return passive_table(next);
  }
  if (process.layer.load() != nullptr && is_loaded(process.target)) {
    if (library_of(target) != library_of(process.target)) {
      process.layer.load()->report_second_loader(library_of(target));
    }
    return passive_table(next);
  }
  SettingsRead read = read_settings(environment);
  for (const std::string& problem : read.problems) {
    report_problem(problem);
  }
  // A layer whose loader is gone is not destroyed, for the same reason as `Process`.
  process.layers.push_back(std::make_unique<Layer>(
      next, std::move(read.settings), cache::CacheSettings::from_environment(environment),
      library_of(target)));
  process.layer.store(process.layers.back().get());
  process.target = target;
  if (process.layers.size() == 1) {
    (void)std::atexit(look_for_a_second_loader);
  }
  return process.layers.back()->table();
}

} // namespace

Layer& active_layer() noexcept {
  return *this_process().layer.load(std::memory_order_acquire);
}

cl_int init_layer(cl_uint entry_count, const cl_icd_dispatch* target, cl_uint* entry_count_ret,
                  const cl_icd_dispatch** table_ret,
                  const cache::ProcessEnvironment& environment) noexcept {
  if (target == nullptr || entry_count_ret == nullptr || table_ret == nullptr) {
    return CL_INVALID_VALUE;
  }
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const std::scoped_lock lock(this_process().mutex);
    const std::size_t count = std::min<std::size_t>(entry_count, k_known_functions);
    *table_ret = &table_for(known_functions(*target, count), target, environment);
    *entry_count_ret = static_cast<cl_uint>(count);
    code = CL_SUCCESS;
  });
  return code;
}

void deinit_layer() noexcept {
  without_exceptions([] {
    const std::scoped_lock lock(this_process().mutex);
    this_process().target = nullptr;
  });
}

} // namespace clbin::layer

CLBIN_LAYER_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, std::size_t size,
                                                     void* value, std::size_t* size_ret) {
  static constexpr char k_name[] = "libclbin_layer";
  if (name == CL_LAYER_API_VERSION) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return clbin::layer::answer_value(version, size, value, size_ret);
  }
  if (name == CL_LAYER_NAME) {
    return clbin::layer::answer_bytes(std::as_bytes(std::span(k_name)), size, value, size_ret);
  }
  return CL_INVALID_VALUE;
}

CLBIN_LAYER_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entry_count,
                                                  const cl_icd_dispatch* target,
                                                  cl_uint* entry_count_ret,
                                                  const cl_icd_dispatch** table_ret) {
  return clbin::layer::init_layer(entry_count, target, entry_count_ret, table_ret,
                                  clbin::cache::this_process());
}

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count, const cl_icd_dispatch* target,
                                             cl_uint* entry_count_ret,
                                             const cl_icd_dispatch** table_ret,
                                             const cl_layer_properties* properties) {
  if (properties != nullptr && *properties != CL_LAYER_PROPERTIES_LIST_END) {
    return CL_INVALID_PROPERTY;
  }
  return clInitLayer(entry_count, target, entry_count_ret, table_ret);
}

cl_int CL_API_CALL clDeinitLayer() {
  clbin::layer::deinit_layer();
  return CL_SUCCESS;
}
