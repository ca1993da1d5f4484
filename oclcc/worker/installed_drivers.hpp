// Which drivers does the ICD loader open? Asked when one of them fails and the others are to be
// asked alone.
#pragma once

#include <string>
#include <vector>

namespace oclcc::worker {

// The platform libraries in the order of their .icd files' names, each once, as the files spell
// them: a path or a name for dlopen. From the files that ocl-icd reads (libOpenCL(7)):
// OCL_ICD_VENDORS as a folder, an .icd file or a library, else OPENCL_VENDOR_PATH, else
// /etc/OpenCL/vendors. What cannot be read is left out, as the loader does.
[[nodiscard]] std::vector<std::string> installed_driver_libraries();

// "cannot load 'libpocl.so.2': …; …" of those that the dynamic loader refuses; empty if none. Loads
// the drivers: for worker processes only.
[[nodiscard]] std::string load_failures(const std::vector<std::string>& libraries);

} // namespace oclcc::worker
