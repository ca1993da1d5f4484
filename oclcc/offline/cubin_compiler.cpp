#include "offline/offline_compiler.hpp"

#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"
#include "offline/clang_front_end.hpp"
#include "offline/tools.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

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
std::string ptxas_version_in(std::string_view text) {
  const std::size_t start = text.find(", V");
  if (start == std::string_view::npos) {
    return std::string(text.substr(0, text.find('\n')));
  }
  const std::string_view rest = text.substr(start + 3);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

// The driver appends a NUL to PTX, which ptxas rejects.
ByteView without_nuls(ByteView ptx) {
  while (!ptx.empty() && ptx.back() == std::byte{0}) {
    ptx = ptx.first(ptx.size() - 1);
  }
  return ptx;
}

class PtxasCompiler final : public Compiler {
public:
  PtxasCompiler(std::filesystem::path tool, std::vector<std::string> architectures,
                worker::WorkerSettings settings, std::chrono::seconds timeout)
      : m_tool(std::move(tool)), m_architectures(std::move(architectures)),
        m_settings(std::move(settings)), m_timeout(timeout) {}

  [[nodiscard]] std::unique_ptr<CompilerSession>
  start_session(std::uint32_t /*lane*/, std::stop_token /*useless*/) override {
    return std::make_unique<Session>(*this);
  }

private:
  class Session final : public CompilerSession {
  public:
    explicit Session(PtxasCompiler& compiler) : m_compiler(compiler) {}

    [[nodiscard]] UnitResult build(const Unit& unit) override {
      UnitResult result;
      if (clbin::format::classify_binary(*unit.binary).kind != clbin::format::BinaryKind::ptx) {
        result.state = UnitResult::State::skipped;
        return result;
      }
      BuildReply& reply = result.reply.emplace();
      reply.kernels = unit.kernels;
      if (auto cubin = m_compiler.assemble(*unit.binary, unit.target, reply)) {
        reply.binary = *std::move(cubin);
      } else {
        reply.error = cubin.error().message;
      }
      return result;
    }

  private:
    PtxasCompiler& m_compiler;
  };

  // Sets the version of ptxas in `reply`.
  [[nodiscard]] Result<Bytes> assemble(ByteView ptx, std::size_t target, BuildReply& reply) {
    const std::string& architecture = m_architectures[target];
    if (!architecture.starts_with("sm_")) {
      return fail(ErrorCode::internal,
                  "a cubin requires the device's compute capability, but its driver reports '{}'",
                  architecture);
    }
    CLBIN_TRY_ASSIGN(const auto folder,
                     clbin::base::TemporaryFolder::create(m_settings.home->path(), "ptxas-"));
    CLBIN_TRY_ASSIGN(reply.tools["ptxas"], version(folder.path()));
    CLBIN_TRY(clbin::base::write_output_file(folder.path() / "kernel.ptx", without_nuls(ptx)));
    CLBIN_TRY_ASSIGN(const ToolRun run,
                     run_tool(m_tool, {"-arch=" + architecture, "kernel.ptx", "-o", "kernel.cubin"},
                              folder.path(), m_settings, m_timeout));
    if (run.exit_status != 0) {
      return fail(ErrorCode::internal, "{}", failure_text("ptxas", run));
    }
    return clbin::base::read_whole_file(folder.path() / "kernel.cubin", k_max_cubin_bytes);
  }

  // Returns "13.0.88", or the error of the first call. `folder` is used as for run_tool.
  [[nodiscard]] Result<std::string> version(const std::filesystem::path& folder) {
    const std::lock_guard lock(m_mutex);
    if (!m_version) {
      m_version = ask_version(folder);
    }
    return *m_version;
  }

  [[nodiscard]] Result<std::string> ask_version(const std::filesystem::path& folder) const {
    CLBIN_TRY_ASSIGN(const ToolRun run,
                     run_tool(m_tool, {"--version"}, folder, m_settings, m_timeout));
    if (run.exit_status != 0) {
      return fail(ErrorCode::no_device, "{}",
                  failure_text(fmt::format("'{} --version'", m_tool.string()), run));
    }
    return ptxas_version_in(run.output);
  }

  std::filesystem::path m_tool;
  std::vector<std::string> m_architectures;
  worker::WorkerSettings m_settings;
  std::chrono::seconds m_timeout;
  std::mutex m_mutex;
  std::optional<Result<std::string>> m_version;
};

// Where NVIDIA's packages put ptxas, without adding the folder to PATH.
std::vector<std::filesystem::path> ptxas_folders() {
  return {"/usr/local/cuda/bin", "/opt/cuda/bin"};
}

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

Result<std::filesystem::path> find_ptxas() {
  auto tool = find_tool("ptxas", ptxas_folders());
  if (!tool) {
    return fail(ErrorCode::no_device,
                "'--emit-cubin' needs ptxas, which is not in PATH; install Debian's package "
                "nvidia-cuda-toolkit, or NVIDIA's CUDA toolkit");
  }
  return *std::move(tool);
}

std::shared_ptr<Compiler> make_ptxas_compiler(std::filesystem::path tool,
                                              std::vector<std::string> architectures,
                                              const worker::WorkerSettings& settings,
                                              std::chrono::seconds timeout) {
  return std::make_shared<PtxasCompiler>(std::move(tool), std::move(architectures), settings,
                                         timeout);
}

const FamilyCompiler& cubin_compiler() {
  static const CubinCompiler k_compiler;
  return k_compiler;
}

} // namespace oclcc::offline
