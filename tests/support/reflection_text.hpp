// Prints kernels as text, for readable expectations.
#pragma once

#include "model/bundle.hpp"

#include <string>
#include <vector>

namespace clbin::test {

// Returns for example "constant const uchar4* table", "global write_only image2d_t out", "private
// int count".
[[nodiscard]] inline std::string argument_text(const format::KernelArgument& argument) {
  static constexpr const char* k_spaces[] = {"private", "global", "local", "constant"};
  static constexpr const char* k_access[] = {"", " read_only", " write_only", " read_write"};
  std::string text = k_spaces[static_cast<std::size_t>(argument.address_space)];
  text += k_access[static_cast<std::size_t>(argument.access)];
  text += argument.is_pipe ? " pipe" : "";
  text += argument.is_const ? " const" : "";
  text += argument.is_restrict ? " restrict" : "";
  text += argument.is_volatile ? " volatile" : "";
  return text + " " + argument.type_name + " " + argument.name;
}

// Returns an empty list if the arguments of `kernel` are not known.
[[nodiscard]] inline std::vector<std::string>
argument_texts(const format::KernelReflection& kernel) {
  std::vector<std::string> texts;
  for (const format::KernelArgument& argument :
       kernel.arguments.value_or(std::vector<format::KernelArgument>{})) {
    texts.push_back(argument_text(argument));
  }
  return texts;
}

} // namespace clbin::test
