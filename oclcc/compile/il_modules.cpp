#include "compile/il_modules.hpp"

#include "format/binary/binary_kernels.hpp"
#include "input/bundle_file.hpp"
#include "input/overwritten_input.hpp"
#include "offline/resolution.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::SpirvModule;

namespace {

constexpr std::uint64_t k_max_module_bytes = 1ULL << 30U;

std::string il_options(const std::vector<std::string>& driver_options) {
  std::vector<std::string> words;
  std::copy_if(driver_options.begin(), driver_options.end(), std::back_inserter(words),
               [](const std::string& word) {
                 return word.starts_with("-cl-") && !word.starts_with("-cl-std=");
               });
  return join_options(words);
}

clbin::format::Target target_of(const SpirvModule& module) {
  clbin::format::Target target;
  target.origin = clbin::format::TargetOrigin::offline;
  target.spec = fmt::format("spirv:{}.{}{}", module.version_major, module.version_minor,
                            module.address_bits == 32 ? ":32" : "");
  target.identity.address_bits = module.address_bits;
  return target;
}

Result<IlProgram> read_il_module(const Input& input, const std::string& options) {
  CLBIN_TRY_ASSIGN(auto bytes, clbin::base::read_whole_file(input.path, k_max_module_bytes));
  CLBIN_TRY_ASSIGN(SpirvModule module, clbin::format::read_spirv_module(bytes));
  if (module.kernels.empty()) {
    return fail(ErrorCode::damaged, "the SPIR-V module has no OpenCL kernel");
  }
  CLBIN_TRY(offline::require_resolved(module.imports));
  IlProgram program{input.path.string(), {}};
  program.program.name = input.program;
  const std::string variant(clbin::format::k_default_variant);
  program.program.variants = {{variant, options}};
  clbin::format::EntryInput entry;
  entry.variant = variant;
  entry.target = target_of(module);
  entry.options = options;
  entry.payload = std::move(bytes);
  entry.kernels = std::move(module.kernels);
  entry.tools = {{"oclcc", OCLCC_VERSION}};
  entry.spec_constants = std::move(module.spec_constants);
  program.program.entries.push_back(std::move(entry));
  return program;
}

} // namespace

bool is_il_module(const std::filesystem::path& path) {
  constexpr std::array k_magic = {std::byte{0x03}, std::byte{0x02}, std::byte{0x23},
                                  std::byte{0x07}};
  const auto start = start_of_file(path, k_magic.size());
  return start &&
         (std::equal(k_magic.begin(), k_magic.end(), start->view().begin(), start->view().end()) ||
          std::equal(k_magic.rbegin(), k_magic.rend(), start->view().begin(), start->view().end()));
}

ExitCode read_il_modules(const Options& options, std::span<const std::filesystem::path> outputs,
                         Reporter& reporter, std::vector<IlProgram>& modules) {
  const std::string module_options = il_options(options.driver_options);
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    if (!is_il_module(input.path)) {
      continue;
    }
    if (const auto others = require_other_files(outputs, {input.path}); !others) {
      reporter.error(others.error());
      status = ExitCode::command_line;
      continue;
    }
    auto module = read_il_module(input, module_options);
    if (!module) {
      reporter.error(named_error(module.error(), input.path));
      status = ExitCode::file;
      continue;
    }
    modules.push_back(*std::move(module));
  }
  return status;
}

} // namespace oclcc
