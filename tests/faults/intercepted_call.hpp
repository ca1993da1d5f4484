// What every intercepted call needs: the layer below, the rules, the log; what the call is about;
// and the faults that any function can have.
#pragma once

#include "faults/call_log.hpp"
#include "faults/scenario_state.hpp"

#include <CL/cl_layer.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::faults {

struct Layer {
  const cl_icd_dispatch* next = nullptr; // the loader, or the layer below
  cl_icd_dispatch table{};
  ScenarioState state;
  CallLog log;
};
// Lives as long as the process: drivers call back until the very end.
[[nodiscard]] Layer& layer();
// Its functions are the real ones.
[[nodiscard]] const cl_icd_dispatch& next();

// `query` takes the size, the place and the place of the size, as clGetDeviceInfo does. Empty where
// it fails.
template <typename Query>
[[nodiscard]] std::string text_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) {
    return {};
  }
  std::string text(size, '\0');
  if (query(size, text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

template <typename Item, typename Query>
[[nodiscard]] std::vector<Item> list_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS) {
    return {};
  }
  std::vector<Item> items(size / sizeof(Item));
  if (!items.empty() && query(size, items.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return items;
}

[[nodiscard]] Subject subject_of(const std::vector<cl_device_id>& devices, ProgramOrigin origin);
[[nodiscard]] Subject subject_of_platform(cl_platform_id platform);
[[nodiscard]] Subject subject_of_context(cl_context context, ProgramOrigin origin);
[[nodiscard]] Subject subject_of_program(cl_program program);
// Of a build for some devices; none: for all of the program's.
[[nodiscard]] Subject subject_of_build(cl_program program, cl_uint count,
                                       const cl_device_id* devices);

void log_call(Call call, const Subject& subject, std::string_view outcome, cl_int code);
// Does what a rule says that lets the call go on; crashes or hangs if one says so, having logged
// it. The rule that lets the call fail, if any.
[[nodiscard]] std::optional<Rule> before(Call call, const Subject& subject);
// Whether a rule wants this call's list the other way round.
[[nodiscard]] bool is_reversed(Call call, const Subject& subject);

// `place` may be null.
void set_code(cl_int* place, cl_int code);
// Answer a query as the specification asks.
cl_int give_bytes(const void* bytes, std::size_t size, std::size_t value_size, void* value,
                  std::size_t* size_ret);
cl_int give_text(const std::string& text, std::size_t value_size, void* value,
                 std::size_t* size_ret);

// The functions of each file, put into the table of the layer.
void add_device_calls(cl_icd_dispatch& table);
void add_program_calls(cl_icd_dispatch& table);
void add_program_answers(cl_icd_dispatch& table);
void add_kernel_calls(cl_icd_dispatch& table);

} // namespace clbin::faults
