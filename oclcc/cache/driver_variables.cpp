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
constexpr std::string_view k_for_all[] = {"OPENCL_LAYERS", "LD_PRELOAD", "LD_LIBRARY_PATH"};

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

bool is_read_by(std::string_view name, DeviceFamily family) {
  return std::any_of(std::begin(k_prefixes), std::end(k_prefixes), [&](const Prefix& prefix) {
    return prefix.family == family && name.starts_with(prefix.start);
  });
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
               [family](const Variable& variable) {
                 return chooses_libraries(variable) ||
                        (is_read_by(variable.name, family) && !is_harmless(variable.name));
               });
  return chosen;
}

bool chooses_libraries(const Variable& variable) {
  return std::find(std::begin(k_for_all), std::end(k_for_all), variable.name) !=
         std::end(k_for_all);
}

} // namespace oclcc
