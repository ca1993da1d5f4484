#include "output/launchers.hpp"

#include "bundles/bundle_summary.hpp"
#include "format/bundle/read_limits.hpp"
#include "format/bundle/shared_text.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <tl/expected.hpp>

namespace oclcc {

using format::KernelReflection;

namespace {

constexpr std::string_view k_head =
    R"(// Made by oclcc --emit=hpp. Each class launches one kernel; oclcc(1), LAUNCHERS.
// clang-format off
#pragma once

#include <clbin/launch.hpp>

)";

// No driver accepts as many.
constexpr std::size_t k_max_arguments = 1024;
constexpr std::size_t k_max_identifier_bytes = 1024;

struct Parameter {
  ParameterType type;
  std::string name; // as the source has it; may be empty
};

// The combined information of all compilers about a kernel.
struct Signature {
  std::string text; // as reported by one of them
  std::vector<Parameter> parameters;
  std::array<std::uint64_t, 3> required_size{}; // zeros: none, or they differ
};

using Tellings = std::vector<const KernelReflection*>;

std::map<std::string, Tellings> kernels_of(const format::ProgramInput& program) {
  std::map<std::string, Tellings> kernels;
  for (const format::EntryInput& entry : program.entries) {
    for (const KernelReflection& kernel : entry.kernels) {
      kernels[kernel.name].push_back(&kernel);
    }
  }
  return kernels;
}

// PoCL's headers rename an argument to "_cl_all" if it has the name of a built-in function.
std::string own_name(std::string_view name) {
  constexpr std::string_view k_pocl_prefix = "_cl_";
  return std::string(name.starts_with(k_pocl_prefix) ? name.substr(k_pocl_prefix.size()) : name);
}

std::vector<Parameter> parameters_of(const KernelReflection& kernel) {
  std::vector<Parameter> parameters;
  for (const format::KernelArgument& argument : *kernel.arguments) {
    parameters.push_back({parameter_type(argument), own_name(argument.name)});
  }
  return parameters;
}

bool same_types(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  return std::ranges::equal(
      a, b, [](const Parameter& x, const Parameter& y) { return x.type == y.type; });
}

// Of a signature in a message.
std::string shown(std::string signature) {
  if (signature.size() > k_max_identifier_bytes) {
    signature.resize(k_max_identifier_bytes);
    signature += "...";
  }
  return signature;
}

// Or why there is none.
tl::expected<Signature, std::string> signature_of(const Tellings& tellings) {
  std::optional<Signature> signature;
  for (const KernelReflection* const kernel : tellings) {
    if (!kernel->arguments) {
      continue;
    }
    std::vector<Parameter> parameters = parameters_of(*kernel);
    if (!signature) {
      signature = Signature{kernel_signature(*kernel), std::move(parameters),
                            kernel->required_work_group_size};
      continue;
    }
    if (!same_types(signature->parameters, parameters)) {
      return tl::unexpected(fmt::format("its arguments differ: {} and {}", shown(signature->text),
                                        shown(kernel_signature(*kernel))));
    }
    if (signature->required_size != kernel->required_work_group_size) {
      signature->required_size = {};
    }
  }
  if (!signature) {
    return tl::unexpected<std::string>("no compiler reported its arguments");
  }
  if (signature->parameters.size() > k_max_arguments) {
    return tl::unexpected(fmt::format("it has more than {} arguments", k_max_arguments));
  }
  for (const Parameter& parameter : signature->parameters) {
    if (parameter.name.size() > k_max_identifier_bytes) {
      return tl::unexpected(
          fmt::format("the name of an argument has more than {} bytes", k_max_identifier_bytes));
    }
    if (parameter.type.form == ParameterForm::not_supported) {
      return tl::unexpected(fmt::format(
          "its argument '{}' is not a value, buffer, image or sampler", parameter.name));
    }
  }
  return std::move(*signature);
}

// A comment line must not end in a backslash or contain a line break.
std::string comment_text(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\\' || c == 0x7f; },
      '?');
  return text;
}

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    literal += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return literal + "\"";
}

struct WrittenParameters {
  std::string template_line; // empty: no template
  std::string list;          // with a comma in front of each
  std::string settings;      // a statement a line
};

WrittenParameters write_parameters(const std::vector<Parameter>& parameters,
                                   const std::string& class_name) {
  WrittenParameters written;
  std::set<std::string> taken = {"queue", "launch", "m_kernel", class_name};
  std::string templates;
  std::string conditions; // after all parameters, because they have defaults
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const std::string name = cpp_identifier(
        parameter.name.empty() ? fmt::format("argument{}", i) : parameter.name, taken);
    std::string type = parameter.type.type;
    std::string setter = "set_argument";
    if (parameter.type.form != ParameterForm::plain) {
      const std::string own = cpp_identifier(fmt::format("Type{}", i), taken);
      const bool by_value = parameter.type.form == ParameterForm::any_struct;
      templates += fmt::format("{}typename {}", templates.empty() ? "" : ", ", own);
      conditions += by_value ? fmt::format(", clbin::launcher_v1::IfStruct<{}> = 0", own) : "";
      type = by_value ? fmt::format("const {}&", own)
             : parameter.type.form == ParameterForm::any_local
                 ? fmt::format("clbin::Local<{}>", own)
                 : fmt::format("const clbin::Buffer<{}>&", own);
      setter = by_value ? "set_struct" : setter;
    }
    written.list += fmt::format(",\n                       {} {}", type, name);
    written.settings += fmt::format("    clbin::launcher_v1::{}(m_kernel(), {}, {}, {});\n", setter,
                                    i, string_literal(parameter.name), name);
  }
  written.template_line =
      templates.empty() ? "" : fmt::format("  template <{}{}>\n", templates, conditions);
  return written;
}

std::string launcher_text(const std::string& kernel, const Signature& signature,
                          const std::string& class_name) {
  const WrittenParameters parameters = write_parameters(signature.parameters, class_name);
  const auto& size = signature.required_size;
  std::string text = fmt::format("// kernel void {}\n", comment_text(signature.text));
  if (size[0] != 0) {
    text += fmt::format("// in work-groups of {}x{}x{}\n", size[0], size[1], size[2]);
  }
  text += fmt::format("class {} {{\npublic:\n", class_name);
  text += fmt::format("  explicit {}(const cl::Program& program)\n"
                      "      : m_kernel(clbin::launcher_v1::create_kernel(program, {}, {})) {{}}\n",
                      class_name, string_literal(kernel), signature.parameters.size());
  text += parameters.template_line;
  text += fmt::format("  cl::Event operator()(const cl::CommandQueue& queue,\n"
                      "                       const clbin::Launch& launch{}) {{\n{}",
                      parameters.list, parameters.settings);
  text += fmt::format("    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, "
                      "{{{}, {}, {}}});\n  }}\n",
                      size[0], size[1], size[2]);
  text += "\n  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }\n"
          "\nprivate:\n  cl::Kernel m_kernel;\n};\n";
  return text;
}

tl::expected<Signature, std::string> launchable(const std::string& name, const Tellings& tellings) {
  if (name.size() > k_max_identifier_bytes) {
    return tl::unexpected(fmt::format("its name has more than {} bytes", k_max_identifier_bytes));
  }
  return signature_of(tellings);
}

Result<void> append_program(const format::ProgramInput& program, std::set<std::string>& namespaces,
                            std::uint64_t max_bytes, LauncherHeader& header) {
  std::string text;
  std::set<std::string> classes = {"kernel", "m_kernel"}; // the members of launchers
  for (const auto& [name, tellings] : kernels_of(program)) {
    const auto signature = launchable(name, tellings);
    if (!signature) {
      header.left_out.push_back(fmt::format("program '{}': kernel '{}' has no launcher: {}",
                                            format::told(program.name), format::told(name),
                                            signature.error()));
      continue;
    }
    text += "\n" + launcher_text(name, *signature, cpp_identifier(name, classes));
    if (text.size() > max_bytes - std::min<std::uint64_t>(max_bytes, header.text.size())) {
      return fail(ErrorCode::limit_exceeded, "its launchers have more than {} bytes", max_bytes);
    }
  }
  const std::string space = cpp_identifier(program.name, namespaces);
  header.text += fmt::format("// program '{0}'\nnamespace kernels::{1} {{\n{2}\n}} // namespace "
                             "kernels::{1}\n",
                             comment_text(program.name), space, text);
  return {};
}

} // namespace

Result<LauncherHeader> launcher_header(const format::BundleInput& bundle, std::uint64_t max_bytes) {
  std::map<std::string, const format::ProgramInput*> programs;
  for (const format::ProgramInput& program : bundle.programs) {
    programs.emplace(program.name, &program);
  }
  LauncherHeader header;
  header.text = k_head;
  std::set<std::string> namespaces;
  std::string_view separator;
  for (const auto& [name, program] : programs) {
    header.text += separator;
    CLBIN_TRY(append_program(*program, namespaces, max_bytes, header));
    separator = "\n";
  }
  return header;
}

namespace {

// The kernels in the manifests, by program.
Result<void> add_reflection(const format::BundleReader& bundle, format::ReadBudget& budget,
                            std::map<std::string, format::ProgramInput>& programs) {
  std::set<std::string> read; // the variants of a program share a manifest
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(i));
    if (!read.insert(group.program).second) {
      continue;
    }
    CLBIN_TRY_ASSIGN(format::Manifest manifest, bundle.read_manifest(group, &budget));
    format::ProgramInput& program = programs[group.program];
    program.name = group.program;
    for (format::ManifestEntry& row : manifest.entries) {
      format::EntryInput entry;
      entry.variant = std::move(row.variant);
      entry.kernels = std::move(row.kernels);
      program.entries.push_back(std::move(entry));
    }
  }
  return {};
}

} // namespace

bool are_bundles(const std::vector<Input>& inputs) {
  return std::ranges::all_of(inputs, [](const Input& input) { return is_bundle(input.path); });
}

Result<std::string> launcher_text(const format::BundleInput& bundle, std::uint64_t max_bytes,
                                  Reporter& reporter) {
  CLBIN_TRY_ASSIGN(LauncherHeader header, launcher_header(bundle, max_bytes));
  for (const std::string& reason : header.left_out) {
    reporter.warning(reason);
  }
  return std::move(header.text);
}

Result<std::string> launchers_of_bundles(const std::vector<Input>& inputs, const BundleKeys& keys,
                                         Reporter& reporter) {
  std::vector<format::BundleReader> bundles;
  std::uint64_t total_bytes = 0;
  for (const Input& input : inputs) {
    CLBIN_TRY_ASSIGN(format::BundleReader bundle, open_readable_bundle(input.path, keys));
    total_bytes += bundle.total_bytes();
    bundles.push_back(std::move(bundle));
  }
  // Less than a listing may take, because text is made of it.
  format::ReadBudget budget(format::limit_for_file(total_bytes, 24ULL << 20U, 8),
                            format::ReadBudget::for_bundle(total_bytes).raw_limit());
  std::map<std::string, format::ProgramInput> programs;
  for (const auto& input : inputs) {
    const format::BundleReader& bundle = bundles[static_cast<std::size_t>(&input - inputs.data())];
    CLBIN_TRY(named(add_reflection(bundle, budget, programs), input.path));
  }
  format::BundleInput contents;
  for (auto& [name, program] : programs) {
    contents.programs.push_back(std::move(program));
  }
  return launcher_text(contents, format::limit_for_file(total_bytes, 16ULL << 20U, 4), reporter);
}

} // namespace oclcc
