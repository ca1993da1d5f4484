// Reads the reflection of kernels from compiled code, for any bytes.
#include "format/binary/binary_kernels.hpp"
#include "format/binary/kernel_metadata.hpp"
#include "format/binary/spirv_features.hpp"
#include "fuzz_check.hpp"

#include <algorithm>
#include <span>

namespace clbin::fuzz {
namespace {

void check_kernels(const std::vector<format::KernelReflection>& kernels) {
  for (const format::KernelReflection& kernel : kernels) {
    require(!kernel.name.empty(), "a kernel has a name");
    require(!kernel.arguments || kernel.arguments->size() == kernel.argument_count,
            "each argument is counted");
  }
  const bool is_sorted =
      std::is_sorted(kernels.begin(), kernels.end(),
                     [](const format::KernelReflection& a, const format::KernelReflection& b) {
                       return a.name < b.name;
                     });
  require(is_sorted, "kernels ascend by name");
}

template <typename T>
void check_error(const base::Result<T>& result) {
  require(result.has_value() || !result.error().message.empty(), "an error has a message");
}

void check_spirv(base::ByteView bytes) {
  check_error(format::read_spirv_features(bytes));
  const auto module = format::read_spirv_module(bytes);
  check_error(module);
  if (module) {
    check_kernels(module->kernels);
    for (const format::SpecConstant& constant : module->spec_constants) {
      require(constant.size_bytes > 0 && constant.size_bytes <= 8, "a constant has a size");
    }
  }
}

void check_read(const base::Result<std::vector<format::KernelReflection>>& kernels) {
  check_error(kernels);
  if (kernels) {
    check_kernels(*kernels);
  }
}

void check_ptx(std::string_view text) {
  const auto compiled = format::read_ptx_kernels(text);
  check_error(compiled);
  std::vector<format::KernelReflection> kernels;
  for (const format::PtxKernel& kernel : compiled.value_or(std::vector<format::PtxKernel>())) {
    kernels.push_back(kernel.reflection);
  }
  check_kernels(kernels);
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  fuzz::check_spirv(bytes);
  fuzz::check_read(format::read_amd_kernels(bytes));
  fuzz::check_read(format::read_zebin_kernels(bytes));
  fuzz::check_read(format::read_cubin_kernels(bytes));
  fuzz::check_ptx(base::as_text(bytes));
  fuzz::check_error(format::read_kernel_codes(bytes));
  fuzz::check_error(format::parse_block_yaml(base::as_text(bytes)));
  return 0;
}
