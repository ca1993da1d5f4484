// --emit=hpp: creates a C++ header with a typed launcher for each kernel.
#pragma once

#include "command_line/bundle_file.hpp"

#include <set>

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
[[nodiscard]] ParameterType parameter_type(const format::KernelArgument& argument);

// Returns `name` as an identifier that is not in `taken`, and adds it to `taken`. Other characters
// become '_'; keywords of C++ and taken names get a '_' at the end.
[[nodiscard]] std::string cpp_identifier(std::string_view name, std::set<std::string>& taken);

struct LauncherHeader {
  std::string text;
  // "program 'p': kernel 'k' has no launcher: no compiler reported its arguments"
  std::vector<std::string> left_out;
};

// Returns a header with a class for each kernel, in namespace kernels::PROGRAM. All entries must
// agree on the argument types. Leaves out kernels with more than 1,024 arguments, or with names of
// more than 1,024 bytes. The result is deterministic. Names that are not C++ identifiers are
// converted (cpp_identifier). limit_exceeded: more than `max_bytes` of text.
[[nodiscard]] Result<LauncherHeader> launcher_header(const format::BundleInput& bundle,
                                                     std::uint64_t max_bytes);

// Whether every input is a bundle, by its first bytes. False for standard input.
[[nodiscard]] bool are_bundles(const std::vector<Input>& inputs);

// Returns the header. Warns about each kernel without a launcher. limit_exceeded: more than
// `max_bytes`.
[[nodiscard]] Result<std::string> launcher_text(const format::BundleInput& bundle,
                                                std::uint64_t max_bytes, Reporter& reporter);

// Returns the header for existing bundles. Reads manifests, but no payload. Lists the programs of
// several bundles, and combines the information about the same program. The manifests of all
// bundles are limited together, and the header to 16 MiB plus 4 bytes for each byte of the bundles.
// Reader errors, with the file name.
[[nodiscard]] Result<std::string> launchers_of_bundles(const std::vector<Input>& inputs,
                                                       const BundleKeys& keys, Reporter& reporter);

} // namespace oclcc
