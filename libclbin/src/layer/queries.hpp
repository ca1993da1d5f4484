// Queries of the driver, and answers to those of the application.
#pragma once

#include "base/byte_codec.hpp"

#include <CL/cl_icd.h>

#include <span>
#include <string>
#include <vector>

namespace clbin::layer {

// Answers a query as the specification requires.
[[nodiscard]] cl_int answer_bytes(base::ByteView bytes, std::size_t size, void* value,
                                  std::size_t* size_ret) noexcept;
[[nodiscard]] cl_int answer_text(const std::string& text, std::size_t size, void* value,
                                 std::size_t* size_ret) noexcept;
template <typename T>
[[nodiscard]] cl_int answer_value(const T& answer, std::size_t size, void* value,
                                  std::size_t* size_ret) noexcept {
  return answer_bytes(std::as_bytes(std::span(&answer, 1)), size, value, size_ret);
}

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

[[nodiscard]] std::vector<cl_device_id> context_devices(const cl_icd_dispatch& next,
                                                        cl_context context);
[[nodiscard]] std::vector<cl_device_id> program_devices(const cl_icd_dispatch& next,
                                                        cl_program program);

} // namespace clbin::layer
