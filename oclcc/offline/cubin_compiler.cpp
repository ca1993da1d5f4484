#include "offline/cubin_compiler.hpp"

#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"
#include "offline/clang_front_end.hpp"
#include "offline/nvptx_compiler.hpp"
#include "offline/ptxas.hpp"

#include <algorithm>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr const char* k_ptx_file = "kernel.assembled.ptx";
constexpr const char* k_cubin_file = "kernel.cubin";

// The PTX of the highest compute capability that clang knows serves those above it.
OfflineTarget ptx_target(const OfflineTarget& target) {
  OfflineTarget ptx = target;
  ptx.family = OfflineFamily::nvptx;
  const auto known = known_targets();
  if (std::find(known.begin(), known.end(), ptx) == known.end()) {
    ptx.architecture = "sm_90";
  }
  return ptx;
}

class CubinCompiler final : public FamilyCompiler {
public:
  [[nodiscard]] std::vector<ToolRow> tools_for(const OfflineTarget& target) const override {
    std::vector<ToolRow> rows = nvptx_compiler().tools_for(ptx_target(target));
    for (ToolRow& row : rows) {
      row.tools.push_back({"ptxas", "ptxas", "nvidia-cuda-toolkit", ptxas_folders(), "13.0"});
    }
    return rows;
  }

  [[nodiscard]] Result<void> prepare(const ToolSession& session,
                                     const OfflineTarget& target) const override {
    return nvptx_compiler().prepare(session, ptx_target(target));
  }

  [[nodiscard]] Result<void> compile(const ToolSession& session,
                                     const std::filesystem::path& shared,
                                     const OfflineTarget& target,
                                     const std::vector<std::string>& options,
                                     BuildReply& reply) const override {
    CLBIN_TRY(nvptx_compiler().compile(session, shared, ptx_target(target), options, reply));
    if (reply.binary.empty()) {
      return {}; // the source has errors
    }
    CLBIN_TRY(clbin::base::write_output_file(session.folder() / k_ptx_file, reply.binary));
    reply.binary.clear(); // no PTX is left if ptxas fails
    CLBIN_TRY(run_step(session, "ptxas",
                       {"-arch=" + target.architecture, k_ptx_file, "-o", k_cubin_file}));
    CLBIN_TRY_ASSIGN(auto cubin, session.read_output("ptxas", k_cubin_file));
    const auto binary = clbin::format::classify_binary(cubin);
    if (binary.kind != clbin::format::BinaryKind::cubin) {
      return fail(ErrorCode::internal, "ptxas wrote a file that is no cubin");
    }
    reply.binary = std::move(cubin);
    return {};
  }
};

} // namespace

const FamilyCompiler& cubin_compiler() {
  static const CubinCompiler k_compiler;
  return k_compiler;
}

} // namespace oclcc::offline
