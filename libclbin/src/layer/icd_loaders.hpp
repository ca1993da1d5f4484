// Which OpenCL ICD loaders the process has. The layer sees what is built through one of them.
#pragma once

#include <string>
#include <vector>

namespace clbin::layer {

// Returns the files of the loaders, in the order in which they were loaded: libraries whose file or
// DT_SONAME is named libOpenCL*, and that are no drivers. Thread-safe.
[[nodiscard]] std::vector<std::string> loaded_icd_loaders();

// Returns the file of the library that contains the address; empty if there is none.
[[nodiscard]] std::string library_of(const void* address);

} // namespace clbin::layer
