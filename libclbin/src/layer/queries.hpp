// Queries of the driver, and answers to those of the application.
#pragma once

#include "base/byte_codec.hpp"
#include "opencl/driver.hpp"

#include <CL/cl_icd.h>

namespace clbin::layer {

// Calls `body`; an exception, which no function of OpenCL may throw, ends it and is ignored. The
// caller has then done what the driver alone would do.
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

// Asks for a list, such as CL_PROGRAM_DEVICES, with a query of clGetProgramInfo's kind. Empty if it
// fails.
template <typename Item, typename Query>
[[nodiscard]] std::vector<Item> list_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS) {
    return {};
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): items may be handles, which are pointers
  constexpr std::size_t k_item_bytes = sizeof(Item);
  std::vector<Item> items(size / k_item_bytes);
  if (!items.empty() &&
      query(items.size() * k_item_bytes, static_cast<void*>(items.data()), nullptr) != CL_SUCCESS) {
    items.clear();
  }
  return items;
}

// Asks for a text, without what follows its null terminator. Empty if the query fails.
template <typename Query>
[[nodiscard]] std::string text_of(const Query& query) {
  const std::vector<char> text = list_of<char>(query);
  const std::string_view all(text.data(), text.size());
  return std::string(all.substr(0, all.find('\0')));
}

[[nodiscard]] std::vector<cl_device_id> context_devices(const cl_icd_dispatch& next,
                                                        cl_context context);
[[nodiscard]] std::vector<cl_device_id> program_devices(const cl_icd_dispatch& next,
                                                        cl_program program);
// Null if the query fails.
[[nodiscard]] cl_device_id queue_device(const cl_icd_dispatch& next, cl_command_queue queue);

// Returns a function of the table by its name ("clBuildProgram"): one that libclbin calls, or that
// the layer replaces. Null for all others.
[[nodiscard]] void* function_of(const cl_icd_dispatch& table, std::string_view name);
// Returns the functions that libclbin calls. no_opencl: a required one is missing.
[[nodiscard]] base::Result<opencl::Driver> driver_of(const cl_icd_dispatch& table);

} // namespace clbin::layer
