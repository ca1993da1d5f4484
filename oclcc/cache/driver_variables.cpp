#include "cache/driver_variables.hpp"

#include <algorithm>
#include <span>
#include <unistd.h>

namespace oclcc {

using clbin::format::DeviceFamily;

namespace {

struct Prefix {
  DeviceFamily family;
  std::string_view start;
};

constexpr Prefix k_prefixes[] = {
    {DeviceFamily::pocl, "POCL_"},      {DeviceFamily::oclgrind, "OCLGRIND_"},
    {DeviceFamily::nvidia, "CUDA_"},    {DeviceFamily::amd, "AMD_"},
    {DeviceFamily::amd, "GPU_"},        {DeviceFamily::amd, "HSA_"},
    {DeviceFamily::amd, "ROC"},         {DeviceFamily::intel, "IGC_"},
    {DeviceFamily::intel, "NEO"},       {DeviceFamily::intel, "CL_CONFIG_"},
    {DeviceFamily::rusticl, "MESA_"},   {DeviceFamily::rusticl, "RUSTICL_"},
    {DeviceFamily::rusticl, "LP_"},     {DeviceFamily::rusticl, "GALLIUM_"},
    {DeviceFamily::rusticl, "GALLIVM"}, {DeviceFamily::rusticl, "CLC_"},
    {DeviceFamily::rusticl, "NIR_"},    {DeviceFamily::rusticl, "AMD_"},
    {DeviceFamily::rusticl, "RADV_"},   {DeviceFamily::clvk, "CLVK_"},
    {DeviceFamily::clvk, "CLSPV_"},
};

// Libraries between oclcc and every driver.
constexpr std::string_view k_for_all[] = {"OPENCL_LAYERS", "LD_PRELOAD", "LD_AUDIT",
                                          "LD_LIBRARY_PATH"};

// Those that load code whatever the compiler. Keys contain their values, but not that code.
constexpr std::string_view k_unshared[] = {"OPENCL_LAYERS", "LD_PRELOAD", "LD_AUDIT"};

// Of clang, lld and llvm-spirv, which pass these names to getenv when they build for an offline
// target. Each is a whole name, or a prefix if it ends in '_'. CPATH and C_INCLUDE_PATH have no
// effect on OpenCL C.
constexpr std::string_view k_of_tools[] = {
    "CCC_",         "CC_",        "CLANG_",     "LLVM_",         "LLD_",
    "FORCE_CLANG_", "FORCE_LLD_", "AS_SECURE_", "COMPILER_PATH",
};

// Each is a whole name, or a prefix if it ends in '_'.
constexpr std::string_view k_harmless[] = {
    "POCL_CACHE_DIR",
    "POCL_KERNEL_CACHE",
    "POCL_DEBUG",
    "POCL_DEVICES",
    "CUDA_CACHE_",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "GPU_DEVICE_ORDINAL",
    "ROCR_VISIBLE_DEVICES",
    "RUSTICL_ENABLE",
    "MESA_SHADER_CACHE_",
    // Directories and versions of the toolkit, which the driver does not read.
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDA_VERSION",
};

bool fits(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('_') ? name.starts_with(pattern) : name == pattern;
}

bool is_harmless(std::string_view name) {
  return std::any_of(std::begin(k_harmless), std::end(k_harmless),
                     [name](std::string_view pattern) { return fits(name, pattern); });
}

bool is_read_by_tools(std::string_view name) {
  return std::any_of(std::begin(k_of_tools), std::end(k_of_tools),
                     [name](std::string_view pattern) { return fits(name, pattern); });
}

bool is_read_by(std::string_view name, DeviceFamily family) {
  return std::any_of(std::begin(k_prefixes), std::end(k_prefixes), [&](const Prefix& prefix) {
    return prefix.family == family && name.starts_with(prefix.start);
  });
}

bool is_for_all(std::string_view name) {
  return std::ranges::find(k_for_all, name) != std::end(k_for_all);
}

bool is_for_driver(std::string_view name, DeviceFamily family) {
  return is_for_all(name) || (is_read_by(name, family) && !is_harmless(name));
}

} // namespace

std::vector<Variable> process_environment() {
  std::vector<Variable> variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text = *line;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.push_back(
          {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
    }
  }
  const auto by_name = [](const Variable& a, const Variable& b) { return a.name < b.name; };
  const auto same_name = [](const Variable& a, const Variable& b) { return a.name == b.name; };
  std::stable_sort(variables.begin(), variables.end(), by_name);
  variables.erase(std::unique(variables.begin(), variables.end(), same_name), variables.end());
  return variables;
}

std::vector<Variable> driver_variables(const std::vector<Variable>& environment,
                                       DeviceFamily family) {
  std::vector<Variable> chosen;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(chosen),
               [family](const Variable& variable) { return is_for_driver(variable.name, family); });
  return chosen;
}

std::vector<Variable> tool_variables(const std::vector<Variable>& environment,
                                     DeviceFamily family) {
  std::vector<Variable> chosen;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(chosen),
               [family](const Variable& variable) {
                 return is_for_driver(variable.name, family) || is_read_by_tools(variable.name);
               });
  return chosen;
}

bool chooses_libraries(const Variable& variable) {
  return is_for_all(variable.name);
}

std::optional<std::string> unshared_variable(const std::vector<Variable>& environment) {
  const auto found = std::ranges::find_if(environment, [](const Variable& variable) {
    return !variable.value.empty() &&
           std::ranges::find(k_unshared, variable.name) != std::end(k_unshared);
  });
  return found == environment.end() ? std::nullopt : std::optional(found->name);
}

} // namespace oclcc
