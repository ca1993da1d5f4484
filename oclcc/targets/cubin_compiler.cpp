#include "targets/offline_compiler.hpp"

#include "targets/clang_front_end.hpp"

#include <charconv>
#include <mutex>

namespace oclcc::offline {

namespace {

constexpr const char* k_ptx_file = "kernel.assembled.ptx";
constexpr const char* k_cubin_file = "kernel.cubin";
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
std::string_view without_nuls(std::string_view ptx) {
  return ptx.substr(0, ptx.find_last_not_of('\0') + 1); // npos + 1 is 0
}

class PtxasCompiler final : public Compiler {
public:
  PtxasCompiler(std::filesystem::path tool, std::vector<std::string> architectures,
                worker::WorkerSettings settings, std::chrono::seconds timeout)
      : m_tools{{"ptxas", std::move(tool)}}, m_architectures(std::move(architectures)),
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
      if (format::classify_binary(*unit.binary).kind != format::BinaryKind::ptx) {
        result.state = UnitResult::State::skipped;
        return result;
      }
      BuildReply& reply = result.reply.emplace();
      reply.kernels = unit.kernels;
      if (const auto built = m_compiler.assemble(unit, reply); !built) {
        reply.error = built.error().message;
      }
      return result;
    }

  private:
    PtxasCompiler& m_compiler;
  };

  // Sets the version of ptxas and the binary in `reply`.
  [[nodiscard]] Result<void> assemble(const Unit& unit, BuildReply& reply) {
    const std::string& architecture = m_architectures[unit.target];
    if (!architecture.starts_with("sm_")) {
      return fail(ErrorCode::internal,
                  "a cubin requires the device's compute capability, but its driver reports '{}'",
                  architecture);
    }
    CLBIN_TRY_ASSIGN(const auto session,
                     ToolSession::start(m_tools, m_settings, m_timeout, "ptxas-"));
    CLBIN_TRY_ASSIGN(reply.tools["ptxas"], version(session));
    CLBIN_TRY(session.write_input("kernel.ptx", without_nuls(base::as_text(*unit.binary))));
    CLBIN_TRY(
        session.run_step("ptxas", {"-arch=" + architecture, "kernel.ptx", "-o", k_cubin_file}));
    CLBIN_TRY_ASSIGN(reply.binary,
                     base::read_whole_file(session.folder() / k_cubin_file, k_max_cubin_bytes));
    return {};
  }

  // Returns "13.0.88", or the error of the first call.
  [[nodiscard]] Result<std::string> version(const ToolSession& session) {
    const std::lock_guard lock(m_mutex);
    if (!m_version) {
      m_version = print_version(session, "ptxas").map(ptxas_version_in);
    }
    return *m_version;
  }

  ToolPaths m_tools;
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

std::vector<ToolRow> cubin_tools(const OfflineTarget& target) {
  std::vector<ToolRow> rows = k_nvptx_compiler.tools_for(ptx_target(target));
  // That of Debian 13 knows no higher ones.
  const bool is_old = capability_of(target.architecture) <= 90 && target.architecture != "sm_88";
  const Words versions = is_old ? Words{"13.0", "12.4"} : Words{"13.0"};
  for (ToolRow& row : rows) {
    row.tools.push_back({"ptxas", "ptxas", "nvidia-cuda-toolkit", ptxas_folders(), versions});
  }
  return rows;
}

std::string cubin_preparation(const OfflineTarget& target) {
  return k_nvptx_compiler.preparation_of(ptx_target(target));
}

Result<base::Bytes> prepare_cubin(const ToolSession& session, const OfflineTarget& target) {
  return k_nvptx_compiler.prepare(session, ptx_target(target));
}

Result<void> compile_cubin(const ToolSession& session, const FamilyRequest& request,
                           BuildReply& reply) {
  FamilyRequest ptx = request;
  ptx.target = ptx_target(request.target);
  CLBIN_TRY(k_nvptx_compiler.compile(session, ptx, reply));
  if (reply.binary.empty()) {
    return {}; // the source has errors
  }
  CLBIN_TRY(session.write_input(k_ptx_file, base::as_text(reply.binary)));
  reply.binary.clear(); // no PTX is left if ptxas fails
  CLBIN_TRY(session.run_step(
      "ptxas", {"-arch=" + request.target.architecture, k_ptx_file, "-o", k_cubin_file}));
  CLBIN_TRY_ASSIGN(auto cubin, session.read_output("ptxas", k_cubin_file));
  if (format::classify_binary(cubin).kind != format::BinaryKind::cubin) {
    return fail(ErrorCode::internal, "ptxas wrote a file that is not a cubin");
  }
  reply.binary = std::move(cubin);
  return {};
}

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

const FamilyCompiler k_cubin_compiler = {cubin_tools, compile_cubin, cubin_preparation,
                                         prepare_cubin};

} // namespace oclcc::offline
