#include "terminal/kernel_text.hpp"

#include <fmt/core.h>

namespace oclcc {

namespace format = clbin::format;

namespace {

std::string argument_text(const format::KernelArgument& argument) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) {
      text += (text.empty() ? "" : " ") + std::string(word);
    }
  };
  if (argument.address_space != format::AddressSpace::private_) {
    add(name_of(argument.address_space));
  }
  add(argument.access == format::AccessQualifier::none ? "" : name_of(argument.access));
  add(argument.is_pipe ? "pipe" : "");
  add(argument.is_const ? "const" : "");
  add(argument.is_volatile ? "volatile" : "");
  add(argument.type_name);
  add(argument.is_restrict ? "restrict" : "");
  add(argument.name);
  return text;
}

std::string work_group_text(const format::KernelReflection& kernel) {
  std::string text;
  const auto& size = kernel.required_work_group_size;
  if (size[0] != 0) {
    text += fmt::format(" of {}x{}x{}", size[0], size[1], size[2]);
  }
  if (kernel.max_work_group_size) {
    text += fmt::format("{} at most {}", text.empty() ? "" : ",", *kernel.max_work_group_size);
  }
  if (kernel.preferred_multiple) {
    text += fmt::format("{} best in multiples of {}", text.empty() ? "" : ",",
                        *kernel.preferred_multiple);
  }
  std::string specialized;
  for (const auto& code : kernel.specialized_sizes) {
    specialized += fmt::format("{}{}x{}x{}", specialized.empty() ? " specialized for " : ", ",
                               code[0], code[1], code[2]);
  }
  if (!specialized.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", specialized);
  }
  return text.empty() ? text : "work-group" + text;
}

// "16x16" for two dimensions
std::string local_size_text(const format::RecordedLaunch& launch) {
  if (launch.local_size[0] == 0) {
    return fmt::format("NULL in {} dimension{}", launch.dimensions,
                       launch.dimensions == 1 ? "" : "s");
  }
  std::string text = std::to_string(launch.local_size[0]);
  for (std::uint32_t i = 1; i < launch.dimensions; ++i) {
    text += fmt::format("x{}", launch.local_size[i]);
  }
  return text;
}

} // namespace

std::string kernel_signature(const format::KernelReflection& kernel) {
  if (!kernel.arguments) {
    return kernel.argument_count
               ? fmt::format("{}({} arguments)", kernel.name, *kernel.argument_count)
               : kernel.name + "(...)";
  }
  std::string arguments;
  for (const format::KernelArgument& argument : *kernel.arguments) {
    arguments += (arguments.empty() ? "" : ", ") + argument_text(argument);
  }
  return fmt::format("{}({})", kernel.name, arguments);
}

std::vector<std::string> launch_texts(const std::vector<clbin::format::RecordedLaunch>& launches) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const bool is_next = i == 0 || launches[i].kernel != launches[i - 1].kernel;
    const std::string size =
        local_size_text(launches[i]) + (launches[i].has_offset ? " with an offset" : "");
    if (is_next) {
      texts.push_back(fmt::format("{}: {}", launches[i].kernel, size));
    } else {
      texts.back() += ", " + size;
    }
  }
  return texts;
}

std::string build_text(const clbin::format::RecordedBuild& build) {
  const bool is_offline = build.target.origin == format::TargetOrigin::offline;
  std::string text = is_offline ? build.target.spec
                                : fmt::format("{} ({})", build.target.identity.device_name,
                                              build.target.identity.platform_name);
  std::string_view separator = ": ";
  for (const std::string& kernel : build.kernels) {
    text += fmt::format("{}{}", separator, kernel);
    separator = ", ";
  }
  return text;
}

std::vector<std::string> kernel_facts(const format::KernelReflection& kernel) {
  std::vector<std::string> facts;
  if (std::string work_group = work_group_text(kernel); !work_group.empty()) {
    facts.push_back(std::move(work_group));
  }
  if (kernel.local_bytes) {
    facts.push_back(fmt::format("{} bytes of local memory", *kernel.local_bytes));
  }
  if (kernel.private_bytes) {
    facts.push_back(fmt::format("{} bytes of private memory", *kernel.private_bytes));
  }
  for (const auto& [name, value] : kernel.vendor) {
    facts.push_back(fmt::format("{} {}", name, value));
  }
  return facts;
}

} // namespace oclcc
