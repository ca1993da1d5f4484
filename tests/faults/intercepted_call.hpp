// The parts that every intercepted call uses: the layer below, the rules, the log, the subject of
// the call, and the faults that any function can have.
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
// Exists until the process ends, because drivers call back until then.
[[nodiscard]] Layer& layer();
// The functions of the loader or the layer below.
[[nodiscard]] const cl_icd_dispatch& next();

// `query` has the parameters size, value and size_ret, like clGetDeviceInfo. Returns an empty text
// if it fails.
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
// The subject of a build for these devices, or for all of the program's devices if there are none.
[[nodiscard]] Subject subject_of_build(cl_program program, cl_uint count,
                                       const cl_device_id* devices);

void log_call(Call call, const Subject& subject, std::string_view outcome, cl_int code);
// Injects the faults that let the call continue. If a rule requests a crash or a hang, logs it,
// then crashes or hangs. Returns the rule that lets the call fail, if any.
[[nodiscard]] std::optional<Rule> before(Call call, const Subject& subject);
// Returns whether a rule reverses this call's list.
[[nodiscard]] bool is_reversed(Call call, const Subject& subject);

// `place` may be null.
void set_code(cl_int* place, cl_int code);
// Answers a query as the specification requires.
cl_int give_bytes(const void* bytes, std::size_t size, std::size_t value_size, void* value,
                  std::size_t* size_ret);
cl_int give_text(const std::string& text, std::size_t value_size, void* value,
                 std::size_t* size_ret);

// Adds the functions of each file to the table of the layer.
void add_device_calls(cl_icd_dispatch& table);
void add_program_calls(cl_icd_dispatch& table);
void add_program_answers(cl_icd_dispatch& table);
void add_kernel_calls(cl_icd_dispatch& table);

} // namespace clbin::faults
