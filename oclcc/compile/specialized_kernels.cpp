#include "compile/compile_steps.hpp"

#include <fmt/format.h>
#include <set>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::KernelReflection;

namespace {

std::vector<const KernelReflection*> all_kernels(const Job& job) {
  std::vector<const KernelReflection*> kernels;
  for (const UnitResult& result : job.results) {
    if (result.reply) {
      for (const KernelReflection& kernel : result.reply->kernels) {
        kernels.push_back(&kernel);
      }
    }
  }
  return kernels;
}

tl::unexpected<clbin::base::Error>
unknown_kernel(const Specialization& wanted, const std::vector<const KernelReflection*>& kernels) {
  std::set<std::string> names;
  for (const KernelReflection* const kernel : kernels) {
    names.insert(kernel->name);
  }
  return fail(ErrorCode::invalid_argument,
              "'--specialize {}={}': there is no kernel '{}'; there {} {}", wanted.kernel,
              to_string(wanted.size), wanted.kernel, names.size() == 1 ? "is" : "are",
              names.empty() ? "none" : fmt::format("'{}'", fmt::join(names, "', '")));
}

Result<void> require_kernel(const Specialization& wanted,
                            const std::vector<const KernelReflection*>& kernels) {
  const GroupSize* required = nullptr;
  for (const KernelReflection* const kernel : kernels) {
    if (kernel->name != wanted.kernel) {
      continue;
    }
    required = &kernel->required_work_group_size;
    if ((*required)[0] == 0 || *required == wanted.size) {
      return {};
    }
  }
  if (required == nullptr) {
    return unknown_kernel(wanted, kernels);
  }
  return fail(ErrorCode::invalid_argument,
              "'--specialize {}={}': the kernel requires work-groups of {}", wanted.kernel,
              to_string(wanted.size), to_string(*required));
}

} // namespace

Result<void> require_specialized_kernels(const Job& job) {
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (is_left_to_source(job, unit)) {
      return {}; // its kernels are not known
    }
  }
  const std::vector<const KernelReflection*> kernels = all_kernels(job);
  for (const Specialization& specialization : job.specializations) {
    CLBIN_TRY(require_kernel(specialization, kernels));
  }
  return {};
}

} // namespace oclcc
