// Loads the program `saxpy` for the first device of each kind of fallback, and prints where it came
// from: load_modes BUNDLE. What it prints is the same on every system.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <clbin/opencl.hpp>
#include <iostream>

namespace {

const char* name_of(clbin::Origin origin) {
  switch (origin) {
  case clbin::Origin::entry:
    return "ENTRY";
  case clbin::Origin::user_cache:
    return "USER_CACHE";
  case clbin::Origin::source:
    return "SOURCE";
  default:
    return "other";
  }
}

void load(const char* path, const char* shown, clbin::Fallback fallback) {
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  clbin::Report report;
  try {
    const auto bundle = clbin::Bundle::open(path);
    const cl::Program program =
        bundle.load(context, device, "saxpy", clbin::LoadOptions().fallback(fallback), &report);
    const cl::Kernel kernel(program, "saxpy");
    std::cout << shown << ": " << name_of(report.origin()) << '\n';
  } catch (const clbin::Error& error) {
    std::cout << shown << ": " << clbin_status_name(static_cast<clbin_status>(error.status()))
              << '\n';
  }
}

} // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: load_modes BUNDLE\n";
    return 2;
  }
  load(argv[1], "never", clbin::Fallback::never);
  load(argv[1], "if needed", clbin::Fallback::if_needed);
  load(argv[1], "again", clbin::Fallback::if_needed);
  load(argv[1], "always", clbin::Fallback::always);
} catch (const cl::Error& error) {
  std::cerr << "load_modes: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
