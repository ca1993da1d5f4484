#include "offline/ir_metadata.hpp"

#include "offline/text_lines.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::AccessQualifier;
using clbin::format::AddressSpace;
using clbin::format::KernelArgument;
using clbin::format::KernelReflection;

namespace {

std::optional<unsigned> leading_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// LLVM writes bytes that are not printable, quotes and backslashes as two hexadecimal digits.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const bool is_escape =
        text[i] == '\\' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3;
    if (is_escape) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

AddressSpace address_space_of(std::uint64_t number) {
  switch (number) { // of OpenCL, whatever the target's are
  case 1:
    return AddressSpace::global;
  case 2:
    return AddressSpace::constant;
  case 3:
    return AddressSpace::local;
  default:
    return AddressSpace::private_;
  }
}

AccessQualifier access_of(std::string_view word) {
  if (word == "read_only") {
    return AccessQualifier::read_only;
  }
  if (word == "write_only") {
    return AccessQualifier::write_only;
  }
  return word == "read_write" ? AccessQualifier::read_write : AccessQualifier::none;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) {
      return true;
    }
    words.remove_prefix(std::min(first.size() + 1, words.size()));
  }
  return false;
}

void add_qualifiers(std::string_view words, KernelArgument& argument) {
  argument.is_const = has_word(words, "const");
  argument.is_restrict = has_word(words, "restrict");
  argument.is_volatile = has_word(words, "volatile");
  argument.is_pipe = has_word(words, "pipe");
}

} // namespace

std::string_view ir_symbol(std::string_view text) {
  return text.substr(0, text.starts_with('"') ? text.find('"', 1) + 1 : text.find('('));
}

unsigned IrKernel::node(const std::string& which) const {
  const auto found = nodes.find(which);
  return found == nodes.end() ? k_no_node : found->second;
}

IrNodes::IrNodes(std::string_view ir) {
  while (!ir.empty()) {
    const std::string_view line = take_line(ir);
    const std::size_t start = line.find("!{");
    if (!line.starts_with('!') || start == std::string_view::npos) {
      continue;
    }
    if (const auto number = leading_number(line.substr(1))) {
      const std::string_view rest = line.substr(start + 2);
      m_nodes.emplace(*number, rest.substr(0, rest.rfind('}')));
    }
  }
}

std::vector<std::string> IrNodes::strings(unsigned node) const {
  std::vector<std::string> strings;
  std::string_view rest = content(node);
  for (std::size_t start = rest.find("!\""); start != std::string_view::npos;
       start = rest.find("!\"")) {
    rest.remove_prefix(start + 2);
    const std::size_t end = std::min(rest.find('"'), rest.size());
    strings.push_back(unescaped(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return strings;
}

std::vector<std::uint64_t> IrNodes::numbers(unsigned node) const {
  std::vector<std::uint64_t> numbers;
  std::string_view rest = content(node);
  constexpr std::string_view k_type = "i32 ";
  for (std::size_t start = rest.find(k_type); start != std::string_view::npos;
       start = rest.find(k_type)) {
    rest.remove_prefix(start + k_type.size());
    numbers.push_back(leading_number(rest).value_or(0));
  }
  return numbers;
}

std::string_view IrNodes::content(unsigned node) const {
  const auto found = m_nodes.find(node);
  return found == m_nodes.end() ? std::string_view() : found->second;
}

unsigned IrNodes::first_unused() const noexcept {
  return m_nodes.empty() ? 0 : m_nodes.rbegin()->first + 1;
}

namespace {

// Reads "NAME(…) … !kernel_arg_type !7 … {".
IrKernel read_kernel(std::string_view rest) {
  IrKernel kernel;
  kernel.symbol = ir_symbol(rest);
  kernel.name = kernel.symbol;
  std::erase(kernel.name, '"');
  for (std::size_t mark = rest.find(" !"); mark != std::string_view::npos; mark = rest.find(" !")) {
    rest.remove_prefix(mark + 2);
    const std::string name(rest.substr(0, rest.find(' ')));
    if (const std::size_t number = rest.find(" !"); number == name.size()) {
      kernel.nodes.emplace(name,
                           leading_number(rest.substr(number + 2)).value_or(IrKernel::k_no_node));
    }
  }
  return kernel;
}

} // namespace

std::vector<IrKernel> kernels_in(std::string_view ir) {
  std::vector<IrKernel> kernels;
  while (!ir.empty()) {
    const std::string_view line = take_line(ir);
    if (!line.starts_with("define ")) {
      continue;
    }
    for (const std::string_view convention : k_kernel_conventions) {
      if (const std::size_t at = line.find(convention); at != std::string_view::npos) {
        kernels.push_back(read_kernel(line.substr(at + convention.size())));
      }
    }
  }
  return kernels;
}

Result<KernelReflection> reflect(const IrKernel& kernel, const IrNodes& nodes) {
  KernelReflection reflection;
  reflection.name = kernel.name;
  const auto names = nodes.strings(kernel.node("kernel_arg_name"));
  const auto types = nodes.strings(kernel.node("kernel_arg_type"));
  const auto access = nodes.strings(kernel.node("kernel_arg_access_qual"));
  const auto qualifiers = nodes.strings(kernel.node("kernel_arg_type_qual"));
  const auto spaces = nodes.numbers(kernel.node("kernel_arg_addr_space"));
  for (const std::size_t count : {types.size(), access.size(), qualifiers.size(), spaces.size()}) {
    if (count != names.size()) {
      return fail(ErrorCode::damaged,
                  "the compiler describes {} and {} arguments of the kernel '{}'", names.size(),
                  count, kernel.name);
    }
  }
  auto& arguments = reflection.arguments.emplace();
  for (std::size_t i = 0; i < names.size(); ++i) {
    KernelArgument argument;
    argument.name = names[i];
    argument.type_name = types[i];
    argument.address_space = address_space_of(spaces[i]);
    argument.access = access_of(access[i]);
    add_qualifiers(qualifiers[i], argument);
    arguments.push_back(std::move(argument));
  }
  reflection.argument_count = static_cast<std::uint32_t>(names.size());
  const auto sizes = nodes.numbers(kernel.node("reqd_work_group_size"));
  if (sizes.size() == 3) {
    std::copy(sizes.begin(), sizes.end(), reflection.required_work_group_size.begin());
  }
  return reflection;
}

} // namespace oclcc::offline
