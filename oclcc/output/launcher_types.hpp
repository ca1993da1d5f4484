// C++ types for OpenCL C's types, and C++ identifiers, for launchers.
#pragma once

#include "model/bundle.hpp"

#include <set>
#include <string>
#include <string_view>

namespace oclcc {

enum class ParameterForm : std::uint8_t {
  plain,         // `type` is the parameter's type
  any_struct,    // by value, of a type that the caller defines
  any_buffer,    // a buffer of such a type
  any_local,     // local memory of such a type
  not_supported, // pipes, queues, events
};

struct ParameterType {
  ParameterForm form = ParameterForm::plain;
  std::string type{}; // "clbin::Value<cl_float4>", "const clbin::Buffer<cl_int>&"
  friend bool operator==(const ParameterType&, const ParameterType&) = default;
};

// Returns the type of `argument`, in any driver's spelling: "float*", "__global float *", "unsigned
// int".
[[nodiscard]] ParameterType parameter_type(const clbin::format::KernelArgument& argument);

// Returns `name` as an identifier that is not in `taken`, and adds it to `taken`. Other characters
// become '_'; keywords of C++ and taken names get a '_' at the end.
[[nodiscard]] std::string cpp_identifier(std::string_view name, std::set<std::string>& taken);

} // namespace oclcc
