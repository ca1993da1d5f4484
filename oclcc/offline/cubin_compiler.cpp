#include "offline/offline_compiler.hpp"

#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"
#include "offline/clang_front_end.hpp"
#include "offline/ptxas.hpp"

#include <algorithm>
#include <charconv>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr const char* k_ptx_file = "kernel.assembled.ptx";
constexpr const char* k_cubin_file = "kernel.cubin";

// "sm_90" → 90
unsigned capability_of(std::string_view architecture) {
  unsigned capability = 0;
  architecture.remove_prefix(std::min(std::string_view("sm_").size(), architecture.size()));
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), capability);
  return capability;
}

// ptxas takes PTX for the same or a lower compute capability: the highest such that is a target.
OfflineTarget ptx_target(const OfflineTarget& target) {
  OfflineTarget best{OfflineFamily::nvptx, {}, 64};
  for (const OfflineTarget& known : known_targets()) {
    const unsigned capability = capability_of(known.architecture);
    if (known.family == best.family && capability <= capability_of(target.architecture) &&
        capability > capability_of(best.architecture)) {
      best = known;
    }
  }
  return best;
}

class CubinCompiler final : public FamilyCompiler {
public:
  [[nodiscard]] std::vector<ToolRow> tools_for(const OfflineTarget& target) const override {
    std::vector<ToolRow> rows = nvptx_compiler().tools_for(ptx_target(target));
    // That of Debian 13 knows no higher ones.
    const bool is_old = capability_of(target.architecture) <= 90 && target.architecture != "sm_88";
    const std::vector<std::string> versions =
        is_old ? std::vector<std::string>{"13.0", "12.4"} : std::vector<std::string>{"13.0"};
    for (ToolRow& row : rows) {
      row.tools.push_back({"ptxas", "ptxas", "nvidia-cuda-toolkit", ptxas_folders(), versions});
    }
    return rows;
  }

  [[nodiscard]] std::string preparation_of(const OfflineTarget& target) const override {
    return nvptx_compiler().preparation_of(ptx_target(target));
  }

  [[nodiscard]] Result<clbin::base::Bytes> prepare(const ToolSession& session,
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
      return fail(ErrorCode::internal, "ptxas wrote a file that is not a cubin");
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
