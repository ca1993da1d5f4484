// The layer between an application and the next layer or ICD loader: what its functions share, and
// the functions that ICD loaders call: cl_loader_layers 1.0 (CL/cl_layer.h) and 1.0.1.
#pragma once

#include "layer/program_builds.hpp"

#include <CL/cl_layer.h>

// Version 1.0.1 of the extension is newer than Debian's headers. Source:
// registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_loader_layers and
// github.com/KhronosGroup/OpenCL-ICD-Loader, include/cl_khr_icd2.h: cl_layer_properties is
// cl_properties, a list ends with 0, and the layer API version is still CL_LAYER_API_VERSION_100.
#ifndef CL_LAYER_PROPERTIES_LIST_END
using cl_layer_properties = cl_properties;
#define CL_LAYER_PROPERTIES_LIST_END (static_cast<cl_layer_properties>(0))
#endif

namespace clbin::layer {

// Thread-safe.
class Layer {
public:
  // `next` contains the functions of the next layer; unknown ones are null.
  // `loader` is the file of the ICD loader that uses the layer; empty if it is not known.
  Layer(const cl_icd_dispatch& next, LayerSettings settings, const cache::CacheSettings& cache,
        std::string loader);

  [[nodiscard]] const cl_icd_dispatch& next() const noexcept { return m_next; }
  // The functions of the layer.
  [[nodiscard]] const cl_icd_dispatch& table() const noexcept { return m_table; }
  [[nodiscard]] const LayerSettings& settings() const noexcept { return m_settings; }
  [[nodiscard]] ProgramTable& programs() noexcept { return m_programs; }
  [[nodiscard]] ProgramBuilds& builds() noexcept { return m_builds; }
  // Null unless the mode is `record`.
  [[nodiscard]] Recorder* recorder() noexcept { return m_recorder.get(); }

  // Says once, on standard error and in the log, that the process has an ICD loader whose builds
  // the layer does not see: `other`, or any that is loaded now. Empty: look for one.
  void report_second_loader(std::string other) noexcept;

  // The functions of drivers that the application asked for by name. Null if it did not.
  void set_extension(cl_platform_id platform, const std::string& name, void* function);
  [[nodiscard]] void* extension(cl_platform_id platform, const std::string& name) const;

private:
  cl_icd_dispatch m_next;
  cl_icd_dispatch m_table;
  LayerSettings m_settings;
  LayerLog m_log;
  ProgramTable m_programs;
  std::unique_ptr<Recorder> m_recorder;
  ProgramBuilds m_builds;
  std::string m_loader;
  std::atomic<bool> m_has_reported_loader{false};
  mutable std::mutex m_extensions_mutex;
  std::map<std::pair<cl_platform_id, std::string>, void*> m_extensions;
};

// The layer of this process. Only functions that init_layer has put into a table call it.
[[nodiscard]] Layer& active_layer() noexcept;

// Returns what `body`, which receives the layer, returns: CL_OUT_OF_HOST_MEMORY after an exception.
template <typename Body>
[[nodiscard]] cl_int guarded(const Body& body) noexcept {
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] { code = body(active_layer()); });
  return code;
}

// Adds a program of IL to the table of programs.
void track_il(cl_program program, cl_context context, const void* il, std::size_t length) noexcept;

// Replace the functions of `table` that the layer intercepts. Functions that are null stay null.
void add_program_calls(cl_icd_dispatch& table);
void add_kernel_calls(cl_icd_dispatch& table);
void add_launch_calls(cl_icd_dispatch& table);
void add_wait_calls(cl_icd_dispatch& table);
void add_extension_calls(cl_icd_dispatch& table);

// Replaces one function, unless the next layer has none.
template <typename Function>
void intercept(Function& slot, Function replacement) {
  if (slot != nullptr) {
    slot = replacement;
  }
}

// What the initialisation functions of both versions do. In a process that has more rights than its
// user, or under a second ICD loader of the process, the layer's table is that of `target`.
// CL_INVALID_VALUE: a pointer is null.
[[nodiscard]] cl_int init_layer(cl_uint entry_count, const cl_icd_dispatch* target,
                                cl_uint* entry_count_ret, const cl_icd_dispatch** table_ret,
                                const cache::ProcessEnvironment& environment) noexcept;
// Passes all further calls on. Calls no driver, because drivers may have been unloaded.
void deinit_layer() noexcept;

} // namespace clbin::layer

#define CLBIN_LAYER_EXPORT extern "C" __attribute__((visibility("default"))) CL_API_ENTRY
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(
    cl_uint entry_count, const cl_icd_dispatch* target, cl_uint* entry_count_ret,
    const cl_icd_dispatch** table_ret, const cl_layer_properties* properties);
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clDeinitLayer();
