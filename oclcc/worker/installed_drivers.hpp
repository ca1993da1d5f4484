// Lists the drivers that the ICD loader opens, for use after one of them has failed.
#pragma once

#include <string>
#include <vector>

namespace oclcc::worker {

// Returns the platform libraries in the order of their .icd file names, without duplicates: a path
// or a name for dlopen. Reads the files that ocl-icd reads (libOpenCL(7)): OCL_ICD_VENDORS as a
// directory, an .icd file or a library, otherwise OPENCL_VENDOR_PATH, otherwise
// /etc/OpenCL/vendors. Skips unreadable files, as the loader does.
[[nodiscard]] std::vector<std::string> installed_driver_libraries();

// Returns "cannot load 'libpocl.so.2': …; …" for the libraries that the dynamic loader rejects;
// empty if there are none. Loads the drivers: call it in worker processes only.
[[nodiscard]] std::string load_failures(const std::vector<std::string>& libraries);

} // namespace oclcc::worker
