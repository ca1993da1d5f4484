// Queries of the driver, and answers to those of the application.
#pragma once

#include "opencl/device_query.hpp"

#include <CL/cl_icd.h>

namespace clbin::layer {

// Calls `body`; an exception, which no function of OpenCL may throw, ends it and is ignored.
template <typename Body>
void without_exceptions(const Body& body) noexcept {
  try {
    body();
  } catch (...) { // NOLINT(bugprone-empty-catch): out of memory; the layer stays out of the way
  }
}

// The last three parameters of a query.
struct Answer {
  std::size_t size = 0;
  void* value = nullptr;
  std::size_t* size_ret = nullptr;

  // Answer the query as the specification requires.
  [[nodiscard]] cl_int bytes(base::ByteView bytes) const noexcept;
  [[nodiscard]] cl_int text(const std::string& text) const noexcept {
    return bytes(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  }
  template <typename T>
  [[nodiscard]] cl_int number(const T& number) const noexcept {
    return bytes(std::as_bytes(std::span(&number, 1)));
  }
};

// Empty if the query fails.
template <typename Item, typename Query>
[[nodiscard]] std::vector<Item> list_of(const Query& query) {
  return opencl::ask_list<Item>(query).value_or(std::vector<Item>());
}

[[nodiscard]] std::vector<cl_device_id> context_devices(const cl_icd_dispatch& next,
                                                        cl_context context);
[[nodiscard]] std::vector<cl_device_id> program_devices(const cl_icd_dispatch& next,
                                                        cl_program program);
// Null if the query fails.
[[nodiscard]] cl_device_id queue_device(const cl_icd_dispatch& next, cl_command_queue queue);

// Returns the function ("clBuildProgram") if libclbin calls or the layer replaces it, else null.
[[nodiscard]] void* function_of(const cl_icd_dispatch& table, std::string_view name);
// Returns the functions that libclbin calls. no_opencl: a required one is missing.
[[nodiscard]] base::Result<opencl::Driver> driver_of(const cl_icd_dispatch& table);

} // namespace clbin::layer
