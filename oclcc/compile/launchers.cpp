#include "compile/launchers.hpp"

#include "listing/bundle_summary.hpp"
#include "source/directive_scanner.hpp"

#include <sstream>

namespace oclcc {

using format::KernelReflection;

namespace {

// ---- Types of parameters ------------------------------------------------------------------------

constexpr std::array<std::string_view, 20> k_qualifiers = {
    "const",        "volatile",   "restrict",     "__restrict",  "global",
    "__global",     "local",      "__local",      "constant",    "__constant",
    "private",      "__private",  "read_only",    "__read_only", "write_only",
    "__write_only", "read_write", "__read_write", "generic",     "__generic"};

using TypePair = std::pair<std::string_view, std::string_view>; // of OpenCL C, and of the host

constexpr TypePair k_scalar_types[] = {
    {"char", "char"},
    {"signed char", "char"},
    {"uchar", "uchar"},
    {"unsigned char", "uchar"},
    {"short", "short"},
    {"ushort", "ushort"},
    {"unsigned short", "ushort"},
    {"int", "int"},
    {"signed int", "int"},
    {"uint", "uint"},
    {"unsigned int", "uint"},
    {"unsigned", "uint"},
    {"long", "long"},
    {"signed long", "long"},
    {"ulong", "ulong"},
    {"unsigned long", "ulong"},
    {"float", "float"},
    {"double", "double"},
    {"half", "half"},
    {"atomic_int", "int"},
    {"atomic_uint", "uint"},
    {"atomic_long", "long"},
    {"atomic_ulong", "ulong"},
    {"atomic_float", "float"},
    {"atomic_double", "double"},
    {"int8_t", "char"},
    {"uint8_t", "uchar"},
    {"int16_t", "short"},
    {"uint16_t", "ushort"},
    {"int32_t", "int"},
    {"uint32_t", "uint"},
    {"int64_t", "long"},
    {"uint64_t", "ulong"},
};

constexpr TypePair k_object_types[] = {
    {"image1d_t", "cl::Image1D"},
    {"image1d_buffer_t", "cl::Image1DBuffer"},
    {"image1d_array_t", "cl::Image1DArray"},
    {"image2d_t", "cl::Image2D"},
    {"image2d_array_t", "cl::Image2DArray"},
    {"image2d_depth_t", "cl::Image2D"},
    {"image2d_array_depth_t", "cl::Image2DArray"},
    {"image3d_t", "cl::Image3D"},
    {"sampler_t", "cl::Sampler"},
};

// Returns null if the type is not one of `types`.
const TypePair* find_type(std::span<const TypePair> types, std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypePair::first);
  return found == types.end() ? nullptr : &*found;
}

struct Spelling {
  std::string base;               // "unsigned int"
  std::vector<std::string> words; // of base
  std::size_t stars = 0;
  bool is_name = true; // of words only: no brackets
};

Spelling spelling_of(std::string_view type_name) {
  Spelling spelling;
  std::string spaced;
  for (const char c : type_name) {
    spelling.stars += c == '*' ? 1 : 0;
    spelling.is_name =
        spelling.is_name && std::string_view("()[]<>{}&").find(c) == std::string::npos;
    spaced += c == '*' ? ' ' : c;
  }
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    if (std::ranges::find(k_qualifiers, word) == k_qualifiers.end()) {
      spelling.base += (spelling.base.empty() ? "" : " ") + word;
      spelling.words.push_back(word);
    }
  }
  return spelling;
}

// Returns "cl_float4"; std::nullopt if C++ has no such type.
std::optional<std::string> host_type(const std::string& base) {
  if (const TypePair* const scalar = find_type(k_scalar_types, base)) {
    return fmt::format("cl_{}", scalar->second);
  }
  for (const std::string_view lanes : {"16", "2", "3", "4", "8"}) {
    const std::string_view lane = std::string_view(base).substr(0, base.size() - lanes.size());
    const TypePair* const scalar =
        base.ends_with(lanes) ? find_type(k_scalar_types, lane) : nullptr;
    // cl_half2 is missing from older headers.
    if (scalar != nullptr && scalar->second != "half" &&
        scalar->first.find_first_of(" _") == std::string::npos) {
      return fmt::format("cl_{}{}", scalar->second, lanes);
    }
  }
  return std::nullopt;
}

ParameterType pointer_type(const Spelling& spelling, format::AddressSpace space) {
  const bool local = space == format::AddressSpace::local;
  if (!spelling.is_name || spelling.base == "void" || spelling.stars > 1) {
    return {ParameterForm::plain, local ? "clbin::LocalBytes" : "const cl::Buffer&"};
  }
  const auto host = host_type(spelling.base);
  if (!host) {
    return {local ? ParameterForm::any_local : ParameterForm::any_buffer, {}};
  }
  return {ParameterForm::plain, local ? fmt::format("clbin::Local<{}>", *host)
                                      : fmt::format("const clbin::Buffer<{}>&", *host)};
}

// Whether C++, macros of compilers and of the C library, or launchers themselves use the name.
bool is_keyword(const std::string& word) {
  static const std::set<std::string> words = {
      "linux",  "unix",  "i386",  "NULL",    "EOF", "assert", "errno", "stdin", "stdout",
      "stderr", "major", "minor", "makedev", "I",   "cl",     "clbin", "std",   "kernels"};
  return embed::is_cpp_keyword(word) || words.contains(word);
}

// "image2d_msaa_t": not a struct called "image_params".
bool is_image(std::string_view base) {
  constexpr std::string_view k_start = "image";
  return base.size() > k_start.size() + 1 && base.starts_with(k_start) &&
         base[k_start.size()] >= '1' && base[k_start.size()] <= '3' &&
         base[k_start.size() + 1] == 'd' && base.ends_with("_t");
}

bool is_not_supported(const Spelling& spelling) {
  constexpr std::array<std::string_view, 5> k_words = {"pipe", "queue_t", "clk_event_t", "event_t",
                                                       "reserve_id_t"};
  return spelling.words.empty() ||
         std::find_first_of(spelling.words.begin(), spelling.words.end(), k_words.begin(),
                            k_words.end()) != spelling.words.end();
}

} // namespace

ParameterType parameter_type(const format::KernelArgument& argument) {
  const Spelling spelling = spelling_of(argument.type_name);
  if (argument.is_pipe || is_not_supported(spelling)) {
    return {ParameterForm::not_supported};
  }
  if (const TypePair* const object = find_type(k_object_types, spelling.base)) {
    return {ParameterForm::plain, fmt::format("const {}&", object->second)};
  }
  if (is_image(spelling.base)) {
    return {ParameterForm::plain, "const cl::Image&"};
  }
  // An array parameter is a pointer. A driver may omit its star; only its address space shows it.
  if (spelling.stars != 0 || argument.address_space != format::AddressSpace::private_) {
    return pointer_type(spelling, argument.address_space);
  }
  const auto host = host_type(spelling.base);
  return host ? ParameterType{ParameterForm::plain, fmt::format("clbin::Value<{}>", *host)}
              : ParameterType{ParameterForm::any_struct};
}

std::string cpp_identifier(std::string_view name, std::set<std::string>& taken) {
  std::string identifier(name);
  std::ranges::replace_if(
      identifier, [](char c) { return !clbin::source::is_identifier(c); }, '_');
  if (identifier.empty() || (identifier.front() >= '0' && identifier.front() <= '9')) {
    identifier.insert(0, "_");
  }
  // A bundle can have any number of equal names: after some underscores, numbers.
  constexpr int k_max_underscores = 8;
  int underscores = 0;
  std::size_t number = taken.size();
  std::string candidate = identifier;
  while (is_keyword(candidate) || !taken.insert(candidate).second) {
    if (underscores++ < k_max_underscores) {
      candidate += '_';
    } else {
      candidate = fmt::format("{}_{}", identifier, number);
      number = 2 * number + 1; // a bundle cannot contain names for many of these numbers
    }
  }
  return candidate;
}

// ---- Launchers ----------------------------------------------------------------------------------

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

// Of a signature in a message.
std::string shown(std::string signature) {
  if (signature.size() > k_max_identifier_bytes) {
    signature.resize(k_max_identifier_bytes);
    signature += "...";
  }
  return signature;
}

// Or why there is none.
tl::expected<Signature, std::string> signature_of(const std::string& name,
                                                  const Tellings& tellings) {
  if (name.size() > k_max_identifier_bytes) {
    return tl::unexpected(fmt::format("its name has more than {} bytes", k_max_identifier_bytes));
  }
  std::optional<Signature> signature;
  for (const KernelReflection* const kernel : tellings) {
    if (!kernel->arguments) {
      continue;
    }
    std::vector<Parameter> parameters = parameters_of(*kernel);
    if (!signature) {
      signature = Signature{clbin::listing::kernel_signature(*kernel), std::move(parameters),
                            kernel->required_work_group_size};
      continue;
    }
    if (!std::ranges::equal(signature->parameters, parameters, {}, &Parameter::type,
                            &Parameter::type)) {
      return tl::unexpected(fmt::format("its arguments differ: {} and {}", shown(signature->text),
                                        shown(clbin::listing::kernel_signature(*kernel))));
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

Result<void> append_program(const format::ProgramInput& program, std::set<std::string>& namespaces,
                            std::uint64_t max_bytes, LauncherHeader& header) {
  std::string text;
  std::set<std::string> classes = {"kernel", "m_kernel"}; // the members of launchers
  for (const auto& [name, tellings] : kernels_of(program)) {
    const auto signature = signature_of(name, tellings);
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
  for (const format::BundleReader& bundle : bundles) {
    CLBIN_TRY(named(add_reflection(bundle, budget, programs), bundle.name()));
  }
  format::BundleInput contents;
  for (auto& [name, program] : programs) {
    contents.programs.push_back(std::move(program));
  }
  return launcher_text(contents, format::limit_for_file(total_bytes, 16ULL << 20U, 4), reporter);
}

} // namespace oclcc
