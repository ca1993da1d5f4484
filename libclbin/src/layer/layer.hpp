// The layer between an application and the next layer or ICD loader: what its functions share, and
// the functions that ICD loaders call: cl_loader_layers 1.0 (CL/cl_layer.h) and 1.0.1.
#pragma once

#include "layer/queries.hpp"
#include "layer/recorder.hpp"
#include "layer/running_launches.hpp"

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

// Thread-safe: members that are not constant are so themselves, or guarded as they say.
struct Layer {
  // `next_functions` contains the functions of the next layer; unknown ones are null.
  // `loader_file` is that of the ICD loader that uses the layer; empty if it is not known. Opens
  // the bundles of the settings. A problem with one is reported.
  Layer(const cl_icd_dispatch& next_functions, LayerSettings given_settings,
        const cache::CacheSettings& cache, std::string loader_file);

  const cl_icd_dispatch next;
  const cl_icd_dispatch table; // the functions of the layer
  const LayerSettings settings;
  const LayerLog log;
  const opencl::Driver driver; // of `next`
  loader::BuilderState builder;
  ProgramTable programs;
  const std::unique_ptr<Recorder> recorder; // null unless the mode is `record`
  const std::unique_ptr<DataRecorder> data; // null unless data of launches are recorded, too
  RunningLaunches launches;                 // if the user cache stores programs of PoCL
  std::mutex postponed_mutex;
  std::vector<DueKeep> postponed; // each with a reference to the driver's program
  std::atomic<bool> has_postponed{false};
  const std::string loader;
  std::atomic<bool> has_reported_loader{false};
  std::mutex extensions_mutex;
  // The functions of drivers that the application asked for by name.
  std::map<std::pair<cl_platform_id, std::string>, void*> extensions;
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

// Says once, on standard error and in the log, that the process has an ICD loader whose builds
// the layer does not see: `other`, or any that is loaded now. Empty: look for one.
void report_second_loader(Layer& layer, std::string other) noexcept;

// ---- Builds ------------------------------------------------------------------------------------

using ProgramCallback = void(CL_CALLBACK*)(cl_program, void*);

// The arguments of clBuildProgram.
struct BuildCall {
  cl_program program = nullptr;
  cl_uint count = 0;
  const cl_device_id* devices = nullptr;
  const char* options = nullptr;
  ProgramCallback callback = nullptr;
  void* user_data = nullptr;
};

// Returns whether clBuildProgram or clCompileProgram rejected its arguments and did nothing.
[[nodiscard]] bool is_argument_error(cl_int code) noexcept;
// clBuildProgram for a program that is in the table: a binary of a bundle or the user cache, or
// else the driver's own build.
[[nodiscard]] cl_int build(Layer& layer, const ProgramView& view, const BuildCall& call) noexcept;
// clCompileProgram in mode `strict`. Returns CL_COMPILE_PROGRAM_FAILURE.
[[nodiscard]] cl_int refuse_compile(Layer& layer, const ProgramView& view,
                                    const BuildCall& call) noexcept;
// Says that mode `strict` refuses to link the program.
void report_refused_link(const Layer& layer, const ProgramView& view, cl_int code) noexcept;
// Lets the driver build a program that has a substitute. Not for mode `strict`.
void build_natively(const Layer& layer, const ProgramView& view) noexcept;
// Stores the binary of a program that PoCL has built and launched: now, or once no launch runs.
// Call it before the driver's release of the program or of its last kernel.
void keep(Layer& layer, DueKeep due) noexcept;
// Call it before a launch. Stores the binary if launches of the kernel only repeat themselves.
void keep_repeated(Layer& layer, cl_kernel kernel) noexcept;
// Stores the binaries of programs that were launched for the first time, unless a launch runs. Call
// it on a thread of the application, after a call that has waited.
void after_wait(Layer& layer) noexcept;
// Releases what has left the table of programs.
void release(const Layer& layer, const Ended& ended) noexcept;
// Records that the program is what the driver has made of it, without a substitute.
void drop_substitute(Layer& layer, const ProgramView& view) noexcept;

// ---- The table of functions --------------------------------------------------------------------

// Adds a program of IL to the table of programs.
void track_il(cl_program program, cl_context context, const void* il, std::size_t length) noexcept;

// Replace the functions of `table` that the layer intercepts. Functions that are null stay null.
void add_program_calls(cl_icd_dispatch& table);
void add_kernel_calls(cl_icd_dispatch& table);
void add_argument_calls(cl_icd_dispatch& table);
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

} // namespace clbin::layer

#define CLBIN_LAYER_EXPORT extern "C" __attribute__((visibility("default"))) CL_API_ENTRY
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(
    cl_uint entry_count, const cl_icd_dispatch* target, cl_uint* entry_count_ret,
    const cl_icd_dispatch** table_ret, const cl_layer_properties* properties);
// Passes all further calls on. Calls no driver, because drivers may have been unloaded.
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clDeinitLayer();
