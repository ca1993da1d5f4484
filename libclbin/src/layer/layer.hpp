// The layer between an application and the next layer or ICD loader: what its functions share.
#pragma once

#include "layer/layer_log.hpp"
#include "layer/layer_settings.hpp"
#include "layer/program_builds.hpp"
#include "layer/program_table.hpp"
#include "layer/queries.hpp"
#include "layer/recorder.hpp"

#include <CL/cl_layer.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
  [[nodiscard]] const LayerLog& log() const noexcept { return m_log; }
  [[nodiscard]] ProgramTable& programs() noexcept { return m_programs; }
  [[nodiscard]] ProgramBuilds& builds() noexcept { return m_builds; }
  // Null unless the mode is `record`.
  [[nodiscard]] Recorder* recorder() noexcept { return m_recorder.get(); }

  // Says once, on standard error and in the log, that the process has an ICD loader whose builds
  // the layer does not see: `other`, or any that is loaded now. Empty: look for one.
  void report_second_loader(std::string other) noexcept;

  // Releases what has left the table.
  void release(const Ended& ended) const;

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

// Calls `body`; an exception, which no function of OpenCL may throw, ends it and is ignored. The
// caller has then done what the driver alone would do.
template <typename Body>
void without_exceptions(const Body& body) noexcept {
  try {
    body();
  } catch (...) { // NOLINT(bugprone-empty-catch): out of memory; the layer stays out of the way
  }
}

// Adds a program of IL to the table of programs.
void track_il(cl_program program, cl_context context, const void* il, std::size_t length) noexcept;

// Replace the functions of `table` that the layer intercepts. Functions that are null stay null.
void add_program_calls(cl_icd_dispatch& table);
void add_program_answers(cl_icd_dispatch& table);
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

} // namespace clbin::layer
