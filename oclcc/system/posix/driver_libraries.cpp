#include "worker/installed_devices.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <system_error>

namespace oclcc::worker {

namespace {

namespace fs = std::filesystem;

std::string variable_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

bool is_icd_file(const fs::path& path) {
  return path.extension() == ".icd";
}

std::vector<fs::path> icd_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_icd_file(entry->path())) {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// Returns an empty string if there is none.
std::string library_named_in(const fs::path& icd_file) {
  std::ifstream file(icd_file);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.pop_back();
  }
  return line;
}

std::vector<std::string> libraries_named_in(const std::vector<fs::path>& icd_files) {
  std::vector<std::string> libraries;
  for (const fs::path& file : icd_files) {
    std::string library = library_named_in(file);
    if (!library.empty() && std::ranges::find(libraries, library) == libraries.end()) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

} // namespace

std::vector<std::string> installed_driver_libraries() {
  const std::string default_folder = variable_or("OPENCL_VENDOR_PATH", "/etc/OpenCL/vendors");
  const fs::path place = variable_or("OCL_ICD_VENDORS", default_folder.c_str());
  std::error_code error;
  if (fs::is_directory(place, error)) {
    return libraries_named_in(icd_files_in(place));
  }
  if (!is_icd_file(place)) {
    return {place.string()};
  }
  const fs::path in_default_folder = default_folder / place;
  const bool is_bare_name = !place.has_parent_path();
  return libraries_named_in(
      {is_bare_name && fs::exists(in_default_folder, error) ? in_default_folder : place});
}

std::string load_failures(const std::vector<std::string>& libraries) {
  std::string failures;
  for (const std::string& library : libraries) {
    if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr) {
      continue;
    }
    const char* const reason = ::dlerror();
    failures += fmt::format("{}cannot load '{}': {}", failures.empty() ? "" : "; ", library,
                            reason == nullptr ? "unknown reason" : reason);
  }
  return failures;
}

} // namespace oclcc::worker
