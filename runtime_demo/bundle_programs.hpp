// Loads programs from bundles through libclbin.
#pragma once

#include "kernel_catalog.hpp"
#include "opencl_functions.hpp"
#include "result.hpp"

#include <clbin/clbin.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace runtime_demo {

enum class LoadFrom : std::uint8_t { bundle, source };

struct LoadedProgram {
  Owned<cl_program> program{nullptr, nullptr};
  std::string origin; // "entry", "user cache", "IL", "source"
  double milliseconds = 0;
};

class BundlePrograms {
public:
  // file: a file cannot be read. bundle: a file is not a valid bundle.
  [[nodiscard]] static Result<BundlePrograms> open(const std::vector<std::filesystem::path>& paths);

  [[nodiscard]] bool has(const KernelCase& kernel) const;
  // Returns "'x.clbin' has no kernel 'sgemm' (program 'sgemm', variant 'default')".
  [[nodiscard]] std::string describe_missing(const KernelCase& kernel) const;
  [[nodiscard]] std::string names() const;

  // Loads the program of the kernel for one device. `report` receives one line per attempt, even if
  // the load fails.
  [[nodiscard]] Result<LoadedProgram> load(const OpenclLibrary& library, cl_context context,
                                           cl_device_id device, const KernelCase& kernel,
                                           LoadFrom from, std::string& report) const;

private:
  struct OpenBundle {
    std::filesystem::path path;
    std::unique_ptr<clbin_bundle, decltype(&clbin_close)> bundle{nullptr, clbin_close};
    std::unique_ptr<clbin_listing, decltype(&clbin_listing_free)> listing{nullptr,
                                                                          clbin_listing_free};
  };
  [[nodiscard]] static Result<OpenBundle> open_one(const std::filesystem::path& path);
  [[nodiscard]] const OpenBundle* holder_of(const KernelCase& kernel) const;

  std::vector<OpenBundle> m_bundles;
};

} // namespace runtime_demo
