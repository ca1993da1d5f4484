#include "faults/remaining_kernels.hpp"

#include "faults/intercepted_call.hpp"

namespace clbin::faults {

namespace {

std::string without_kernel(const std::string& names, const std::string& lost) {
  std::string kept;
  std::size_t begin = 0;
  while (begin <= names.size() && !names.empty()) {
    const std::size_t end = std::min(names.find(';', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    if (name != lost) {
      kept += kept.empty() ? name : ";" + name;
    }
    begin = end + 1;
  }
  return kept;
}

} // namespace

std::string remaining_kernel_names(cl_program program, const std::vector<Rule>& lost) {
  std::string names = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, value, size_ret);
  });
  for (const Rule& rule : lost) {
    names = without_kernel(names, *rule.kernel);
  }
  return names;
}

} // namespace clbin::faults
