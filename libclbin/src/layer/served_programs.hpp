// What the layer asks libclbin for: binaries of bundles and of the user cache, by what is built.
#pragma once

#include "layer/layer_log.hpp"
#include "layer/layer_settings.hpp"
#include "layer/program_table.hpp"
#include "layer/recorder.hpp"
#include "loader/run_time_program.hpp"

#include <CL/cl_icd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::layer {

class ServedPrograms;

// One build. Used by one thread; borrows the program and the ServedPrograms.
class ServedBuild {
public:
  // The build options after the rules of the configuration.
  [[nodiscard]] const std::string& options() const noexcept { return m_options; }
  // "program 0123… (kernel 'add') with options '-DX=1' for 'DEVICE'"
  [[nodiscard]] std::string description() const;
  // The digest of the program, and its normalized options. Differs if a header has changed.
  [[nodiscard]] std::string key() const;
  // Why the program was not served.
  [[nodiscard]] std::string why_not() const;

  // Returns a program made from a binary; std::nullopt if there is none that the driver accepts.
  [[nodiscard]] std::optional<loader::ServedProgram> serve();
  // "served from a bundle", "built from the IL of a bundle" or "served from the user cache", after
  // serve().
  [[nodiscard]] std::string_view outcome() const noexcept;
  // Stores the binaries of a program that the driver has built with options(), before it returns.
  void keep(cl_program program, loader::KeepTime time);
  // As keep(), of a program that the driver builds from the same source for that. The context must
  // exist; the application's program need not.
  void keep_copy(loader::KeepTime time);
  // Returns whether a device is one of PoCL.
  [[nodiscard]] bool is_on_pocl() const;
  // What mode `record` writes about such a program. std::nullopt: it cannot be identified.
  [[nodiscard]] std::optional<RecordedBuild> recorded_build(cl_program program) const;

private:
  friend ServedPrograms;
  explicit ServedBuild(ServedPrograms& shared) : m_shared(shared) {}
  void add_recorded_entry(RecordedBuild& build, cl_program program, cl_device_id device) const;

  ServedPrograms& m_shared;
  const TrackedProgram* m_tracked = nullptr;
  std::vector<cl_device_id> m_devices;
  std::string m_options;
  bool m_has_constants = false;
  loader::LoadReport m_report;
  std::optional<loader::RunTimeProgram> m_program;
};

// Thread-safe.
class ServedPrograms {
public:
  // Opens the bundles of the settings. A problem with one is reported.
  ServedPrograms(const cl_icd_dispatch& next, const LayerSettings& settings, const LayerLog& log,
                 const cache::CacheSettings& cache);

  // opencl_call, invalid_argument: nothing can be said about the program.
  [[nodiscard]] base::Result<std::unique_ptr<ServedBuild>>
  prepare(const TrackedProgram& program, const std::map<cl_uint, base::Bytes>& constants,
          const std::vector<cl_device_id>& devices, const std::string& options);

private:
  friend ServedBuild;
  [[nodiscard]] base::Result<void> begin(ServedBuild& build, const TrackedProgram& program,
                                         const std::map<cl_uint, base::Bytes>& constants,
                                         const std::string& options);

  opencl::Driver m_driver;
  const LayerSettings& m_settings;
  const LayerLog& m_log;
  loader::BuilderState m_builder;
};

// " (kernel 'add')", by which a person recognizes a program in the log: the first kernel that the
// source declares, or the first one of the IL. Empty if none is found.
[[nodiscard]] std::string kernel_in_parentheses(const TrackedProgram& program);

// The functions that libclbin needs, from a dispatch table. Missing ones are null.
[[nodiscard]] opencl::Driver driver_of(const cl_icd_dispatch& table);

} // namespace clbin::layer
