#include "offline/ptxas.hpp"

#include "base/file_io.hpp"
#include "offline/tool_process.hpp"

#include <string_view>

namespace oclcc::offline {

using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::uint64_t k_max_cubin_bytes = 1ULL << 30U;

// Returns "13.0.88" for "Cuda compilation tools, release 13.0, V13.0.88"; the whole text if its
// format differs.
std::string version_in(std::string_view text) {
  const std::size_t start = text.find(", V");
  if (start == std::string_view::npos) {
    return std::string(text.substr(0, text.find('\n')));
  }
  const std::string_view rest = text.substr(start + 3);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n\t");
  return end == std::string_view::npos ? "" : text.substr(0, end + 1);
}

} // namespace

Result<Ptxas> find_ptxas(const std::filesystem::path& folder, std::chrono::seconds timeout) {
  const auto tool = find_tool("ptxas", {"/usr/local/cuda/bin", "/opt/cuda/bin"});
  if (!tool) {
    return fail(ErrorCode::no_device,
                "'--emit-cubin' needs ptxas, which is not in PATH; install Debian's package "
                "nvidia-cuda-toolkit, or NVIDIA's CUDA toolkit");
  }
  CLBIN_TRY_ASSIGN(const ToolRun run, run_tool(*tool, {"--version"}, folder, timeout));
  if (run.exit_status != 0) {
    return fail(ErrorCode::no_device, "'{} --version' ended with {}: {}", tool->string(),
                run.exit_status, trimmed(run.output));
  }
  return Ptxas{*tool, version_in(run.output)};
}

Result<Bytes> assemble(const Ptxas& ptxas, ByteView ptx, const std::string& architecture,
                       const std::filesystem::path& folder, std::chrono::seconds timeout) {
  if (!architecture.starts_with("sm_")) {
    return fail(ErrorCode::internal,
                "a cubin requires the device's compute capability, but its driver reports '{}'",
                architecture);
  }
  // The driver appends a NUL to PTX, which ptxas rejects.
  while (!ptx.empty() && ptx.back() == std::byte{0}) {
    ptx = ptx.first(ptx.size() - 1);
  }
  CLBIN_TRY(clbin::base::write_output_file(folder / "kernel.ptx", ptx));
  CLBIN_TRY_ASSIGN(const ToolRun run,
                   run_tool(ptxas.tool,
                            {"-arch=" + architecture, "kernel.ptx", "-o", "kernel.cubin"}, folder,
                            timeout));
  if (run.exit_status != 0) {
    return fail(ErrorCode::internal, "ptxas ended with {}: {}", run.exit_status,
                trimmed(run.output));
  }
  return clbin::base::read_whole_file(folder / "kernel.cubin", k_max_cubin_bytes);
}

} // namespace oclcc::offline
