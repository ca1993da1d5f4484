#include "format/binary/binary_kernels.hpp"
#include "targets/clang_front_end.hpp"

namespace oclcc::offline {

namespace {

constexpr const char* k_cubin_file = "kernel.cubin";

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

// Returns the cubin that ptxas makes of `ptx`, in a file of this name.
Result<base::Bytes> run_ptxas(const ToolSession& session, const std::string& architecture,
                              const char* file, std::string_view ptx) {
  CLBIN_TRY(session.write_input(file, ptx));
  CLBIN_TRY(session.run_step("ptxas", {"-arch=" + architecture, file, "-o", k_cubin_file}));
  return session.read_output("ptxas", k_cubin_file);
}

// Adds what the cubin says and the PTX of which it was made does not. Adds nothing if the cubin of
// another ptxas has another layout, which NVIDIA does not document.
void add_resources(BuildReply& reply) {
  auto assembled = format::read_cubin_kernels(reply.binary);
  if (!assembled) {
    return;
  }
  for (format::KernelReflection& kernel : reply.kernels) {
    const auto found = std::ranges::find(*assembled, kernel.name, &format::KernelReflection::name);
    if (found != assembled->end()) {
      // That of the PTX does not contain what sm_90 and higher reserve.
      kernel.local_bytes = kernel.local_bytes ? kernel.local_bytes : found->local_bytes;
      kernel.private_bytes = found->private_bytes;
      kernel.vendor = std::move(found->vendor);
    }
  }
}

class PtxasCompiler final : public StatelessCompiler {
public:
  PtxasCompiler(std::filesystem::path tool, std::vector<std::string> architectures,
                worker::WorkerSettings settings, std::chrono::seconds timeout)
      : m_tools{{"ptxas", std::move(tool)}}, m_architectures(std::move(architectures)),
        m_settings(std::move(settings)), m_timeout(timeout) {}

private:
  [[nodiscard]] UnitResult build(const Unit& unit) override {
    UnitResult result;
    if (format::classify_binary(*unit.binary).kind != format::BinaryKind::ptx) {
      result.state = UnitResult::State::skipped;
      return result;
    }
    BuildReply& reply = result.reply.emplace();
    reply.kernels = unit.kernels;
    if (const auto built = assemble(unit, reply); !built) {
      reply.error = built.error().message;
    }
    return result;
  }

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
    std::string_view ptx = base::as_text(*unit.binary);
    ptx = ptx.substr(0, ptx.find_last_not_of('\0') + 1); // the driver's NUL, which ptxas rejects
    CLBIN_TRY_ASSIGN(reply.binary, run_ptxas(session, architecture, "kernel.ptx", ptx));
    add_resources(reply);
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

// ptxas takes PTX for the same or a lower compute capability: the highest such that is a target, of
// at most 9.0, because PTX of higher ones contains nothing more.
OfflineTarget ptx_target(const OfflineTarget& target) {
  constexpr unsigned k_highest = 90;
  OfflineTarget best{OfflineFamily::nvptx, {}, 64};
  for (const OfflineTarget& known : known_targets()) {
    const unsigned capability = capability_of(known.architecture);
    if (known.family == best.family && capability <= k_highest &&
        capability <= capability_of(target.architecture) &&
        capability > capability_of(best.architecture)) {
      best = known;
    }
  }
  return best;
}

FamilyRequest for_ptx(FamilyRequest request) {
  request.target = ptx_target(request.target);
  return request;
}

std::vector<ToolRow> cubin_tools(const OfflineTarget& target) {
  std::vector<ToolRow> rows = k_nvptx_compiler.tools_for(ptx_target(target));
  // Debian 13's ptxas knows no higher ones; Debian 12's, 11.8, was not tested.
  const bool is_old = capability_of(target.architecture) <= 90 && target.architecture != "sm_88";
  const Words versions = is_old ? Words{"13.0", "12.4"} : Words{"13.0"};
  for (ToolRow& row : rows) {
    const bool has_package = is_old && row.debian == "13";
    row.tools.push_back(
        {"ptxas", "ptxas", has_package ? "nvidia-cuda-toolkit" : "", ptxas_folders(), versions});
  }
  return rows;
}

Result<void> compile_cubin(const ToolSession& session, const FamilyRequest& request,
                           BuildReply& reply) {
  CLBIN_TRY(k_nvptx_compiler.compile(session, for_ptx(request), reply));
  if (reply.binary.empty()) {
    return {}; // the source has errors
  }
  const base::Bytes ptx_bytes = std::exchange(reply.binary, {}); // none is left if ptxas fails
  CLBIN_TRY_ASSIGN(auto cubin, run_ptxas(session, request.target.architecture,
                                         "kernel.assembled.ptx", base::as_text(ptx_bytes)));
  if (format::classify_binary(cubin).kind != format::BinaryKind::cubin) {
    return fail(ErrorCode::internal, "ptxas wrote a file that is not a cubin");
  }
  reply.binary = std::move(cubin);
  add_resources(reply);
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

const FamilyCompiler k_cubin_compiler = {
    cubin_tools, compile_cubin,
    [](const FamilyRequest& request) { return k_nvptx_compiler.preparation_of(for_ptx(request)); },
    [](const ToolSession& session, const FamilyRequest& request) {
      return k_nvptx_compiler.prepare(session, for_ptx(request));
    }};

} // namespace oclcc::offline
