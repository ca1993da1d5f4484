// OpenCL C's types as C++ sees them, for launchers; and names as C++ takes them.
#pragma once

#include "format/bundle.hpp"

#include <set>
#include <string>
#include <string_view>

namespace oclcc {

enum class ParameterForm : std::uint8_t {
  plain,         // `type` is the parameter's type
  any_struct,    // by value, of a type that only the caller has
  any_buffer,    // a buffer of such
  any_local,     // local memory of such
  not_supported, // pipes, queues, events
};

struct ParameterType {
  ParameterForm form = ParameterForm::plain;
  std::string type{}; // "clbin::Value<cl_float4>", "const clbin::Buffer<cl_int>&"
  friend bool operator==(const ParameterType&, const ParameterType&) = default;
};

// However a driver spells the argument's type: "float*", "__global float *", "unsigned int".
[[nodiscard]] ParameterType parameter_type(const clbin::format::KernelArgument& argument);

// `name` as an identifier that is none of `taken`, to which it is added: other letters become '_',
// and keywords of C++ and names that are taken get a '_' at the end.
[[nodiscard]] std::string cpp_identifier(std::string_view name, std::set<std::string>& taken);

} // namespace oclcc
