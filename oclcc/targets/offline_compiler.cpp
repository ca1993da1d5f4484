#include "targets/offline_compiler.hpp"

#include "base/text.hpp"
#include "targets/clang_front_end.hpp"
#include "targets/disassembler.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

using base::Bytes;

namespace {

// Returns the first word of `line` that starts with a digit and has a point: "15.0.6".
std::string_view version_in_line(std::string_view line) {
  while (!line.empty()) {
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_not_of("0123456789."));
    if (word.find('.') != std::string_view::npos) {
      return word;
    }
    line.remove_prefix(word.size());
  }
  return {};
}

std::string version_in(std::string_view text) {
  for (const std::string_view line : base::split_lines(text)) {
    // clang notes there what variables such as CCC_OVERRIDE_OPTIONS change.
    const bool is_note = line.starts_with("###");
    if (const std::string_view version = version_in_line(line); !is_note && !version.empty()) {
      return std::string(version);
    }
  }
  return {};
}

// In a folder of its own.
constexpr const char* k_shared_file = "prepared";

// A compiler that does not have the target would only say that it does not know a word.
Result<void> require_known_target(const OfflineJob& job, std::string_view version) {
  std::string_view rest = version;
  const unsigned release = base::take_number<unsigned>(rest).value_or(0);
  if (job.releases.has(release)) {
    return {};
  }
  const bool is_old = release < job.releases.first;
  return fail(ErrorCode::no_device, "requires {} {} or {}, and '{}' is of version {}", job.compiler,
              is_old ? job.releases.first : job.releases.last, is_old ? "later" : "earlier",
              job.tools.find(job.compiler)->second.string(), version);
}

// Another version makes other bytes, hence it must be chosen, and not only installed.
Result<void> require_usable(const OfflineJob& job, const std::string& tool,
                            const std::string& version) {
  if (tool == job.compiler) {
    CLBIN_TRY(require_known_target(job, version));
  }
  const auto tested = job.tested_versions.find(tool);
  if (tested == job.tested_versions.end() ||
      std::ranges::any_of(tested->second, [&](const std::string& beginning) {
        return version.starts_with(beginning);
      })) {
    return {};
  }
  return fail(ErrorCode::no_device, "{} is of version {}, and {} {} tested; '--tool {}={}' uses it",
              tool, version, fmt::join(tested->second, ", "),
              tested->second.size() == 1 ? "is" : "are", tool,
              job.tools.find(tool)->second.string());
}

// Builds with the tools of each target.
class ToolsCompiler final : public OfflineCompiler {
public:
  ToolsCompiler(std::vector<OfflineJob> jobs, worker::WorkerSettings settings,
                std::chrono::seconds timeout, SealedFiles kept)
      : m_jobs(std::move(jobs)), m_settings(std::move(settings)), m_timeout(timeout),
        m_kept(std::move(kept)), m_facts(compiler_facts(m_settings.executable)) {}

  Result<void> require_tested_tools(std::size_t target) override {
    const OfflineJob& job = m_jobs[target];
    if (!job.depends_on_versions()) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const ToolSession session, start_tools(job, "versions-"));
    for (const auto& [tool, path] : job.tools) {
      if (tool == job.compiler || job.tested_versions.find(tool) != job.tested_versions.end()) {
        CLBIN_TRY_ASSIGN(const std::string version, version_of(job, tool, session));
        CLBIN_TRY(require_usable(job, tool, version));
      }
    }
    return {};
  }

private:
  [[nodiscard]] UnitResult build(const Unit& unit) override {
    UnitResult result;
    BuildReply& reply = result.reply.emplace();
    if (const auto built = compile(unit, reply); !built) {
      reply.error = built.error().message;
    }
    return result;
  }

  // What units share whose preparation_of and clang are the same.
  struct Shared {
    std::mutex mutex;
    std::optional<Result<ToolSession>> session; // in whose folder it is
  };

  Result<void> compile(const Unit& unit, BuildReply& reply) {
    const OfflineJob& job = m_jobs[unit.target];
    CLBIN_TRY_ASSIGN(const ToolSession session, start_tools(job, "offline-"));
    for (const auto& [name, path] : job.tools) {
      if (name == "rocm-device-libs") { // a library, which no command asks
        continue;
      }
      CLBIN_TRY_ASSIGN(reply.tools[name], version_of(job, name, session));
      CLBIN_TRY(require_usable(job, name, reply.tools[name]));
      if (const auto program = read_shared_object(path); program && !program->build_id.empty()) {
        reply.tools[name + std::string(k_build_id_suffix)] = program->build_id;
      }
    }
    CLBIN_TRY(write_source_files(*unit.source, session.folder()));
    FamilyRequest request{job.target, unit.options.words()};
    CLBIN_TRY_ASSIGN(request.extensions, requested_extensions(request.options));
    if (!request.extensions.empty()) {
      const std::string checks = extension_checks(request.extensions);
      CLBIN_TRY(session.write_input(k_main_file, checks + unit.source->main.text));
    }
    CLBIN_TRY_ASSIGN(request.shared, shared_file(job, request));
    CLBIN_TRY(family_compiler(job.target.family).compile(session, request, reply));
    return require_extensions(reply);
  }

  Result<ToolSession> start_tools(const OfflineJob& job, std::string_view folder_prefix) const {
    return ToolSession::start(job.tools, m_settings, m_timeout, folder_prefix);
  }

  // Returns the file that such units share, prepared at the first call; empty if there is none.
  // Units that do not share it do not wait for it.
  Result<std::filesystem::path> shared_file(const OfflineJob& job, const FamilyRequest& request) {
    const auto preparation_of = family_compiler(job.target.family).preparation_of;
    if (preparation_of == nullptr) {
      return std::filesystem::path();
    }
    CLBIN_TRY_ASSIGN(const std::string name, preparation_of(request));
    std::unique_lock lock_of_all(m_mutex);
    Shared& shared = m_shared[fmt::format("{}\n{}", name, job.tools.at("clang").string())];
    lock_of_all.unlock();
    const std::lock_guard lock(shared.mutex);
    if (!shared.session) {
      shared.session.emplace(prepare(job, request, name));
    }
    if (!*shared.session) {
      return tl::unexpected(shared.session->error()); // each unit would wait for it again
    }
    return (*shared.session)->folder() / k_shared_file;
  }

  Result<ToolSession> prepare(const OfflineJob& job, const FamilyRequest& request,
                              const std::string& name) const {
    CLBIN_TRY_ASSIGN(ToolSession session, start_tools(job, "shared-"));
    const auto make = [&] { return family_compiler(job.target.family).prepare(session, request); };
    CLBIN_TRY_ASSIGN(const Bytes file, kept_or_made(name, job, "clang", make));
    CLBIN_TRY(session.write_input(k_shared_file, base::as_text(file)));
    return session;
  }

  // Returns what is kept under `name` for a tool of `job`, or makes and keeps it.
  template <typename Make>
  Result<Bytes> kept_or_made(const std::string& name, const OfflineJob& job, std::string_view tool,
                             const Make& make) const {
    std::vector<clbin::cache::Ingredient> facts = job.tool_facts;
    std::erase_if(facts, [&](const auto& fact) { return fact.name != tool; });
    const auto key = preparation_key(name, spelling_of(job.target), facts, m_facts);
    if (SealedFile kept = m_kept.look_up(key); kept.bytes) {
      return *std::move(kept.bytes);
    }
    CLBIN_TRY_ASSIGN(Bytes made, make());
    // Without it, the next run makes it again. The look-ups of units report problems of the cache.
    (void)m_kept.store(key, made);
    return made;
  }

  // Returns the version of a tool of `job`, asked for once per tool.
  Result<std::string> version_of(const OfflineJob& job, const std::string& tool,
                                 const ToolSession& session) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_versions.find(session.path(tool));
    if (found != m_versions.end()) {
      return found->second;
    }
    const auto ask = [&]() -> Result<Bytes> {
      CLBIN_TRY_ASSIGN(const std::string printed,
                       family_compiler(job.target.family).print_version(session, tool));
      return bytes_of(version_in(printed));
    };
    const auto version = kept_or_made("version", job, tool, ask);
    return m_versions
        .emplace(session.path(tool),
                 version.map([](const Bytes& bytes) { return std::string(base::as_text(bytes)); }))
        .first->second;
  }

  std::vector<OfflineJob> m_jobs;
  worker::WorkerSettings m_settings;
  std::chrono::seconds m_timeout;
  SealedFiles m_kept;
  CompilerFacts m_facts;
  std::mutex m_mutex;
  std::map<std::filesystem::path, Result<std::string>> m_versions;
  std::map<std::string, Shared> m_shared; // by preparation_of and the path of clang
};

} // namespace

std::unique_ptr<CompilerSession> StatelessCompiler::start_session(std::uint32_t /*lane*/,
                                                                  std::stop_token /*useless*/) {
  class Session final : public CompilerSession {
  public:
    explicit Session(StatelessCompiler& compiler) : m_compiler(compiler) {}
    [[nodiscard]] UnitResult build(const Unit& unit) override { return m_compiler.build(unit); }

  private:
    StatelessCompiler& m_compiler;
  };
  return std::make_unique<Session>(*this);
}

const FamilyCompiler& family_compiler(OfflineFamily family) {
  switch (family) {
  case OfflineFamily::nvptx:
    return k_nvptx_compiler;
  case OfflineFamily::cubin:
    return k_cubin_compiler;
  case OfflineFamily::amdgcn:
    return k_amdgcn_compiler;
  case OfflineFamily::intel:
    return k_intel_compiler;
  case OfflineFamily::spirv:
    break;
  }
  return k_spirv_compiler;
}

Result<void> require_tools(const std::vector<OfflineTarget>& targets, const ToolPaths& given) {
  std::vector<TargetTools> all;
  all.reserve(targets.size());
  for (const OfflineTarget& target : targets) {
    all.push_back({spelling_of(target), family_compiler(target.family).tools_for(target)});
  }
  return require_tools(all, given, debian_release());
}

Result<OfflineJob> find_job(const OfflineTarget& target, const ToolPaths& given,
                            ToolDigests& digests) {
  static const std::string k_debian = debian_release();
  const auto rows = family_compiler(target.family).tools_for(target);
  OfflineJob job{target, {}, {}};
  CLBIN_TRY_ASSIGN(job.tools, find_tools(spelling_of(target), rows, given, k_debian));
  CLBIN_TRY_ASSIGN(job.tool_facts, digests.ingredients_of(job.tools));
  for (const ToolRow::Tool& tool : rows.front().tools) { // the same in every row
    if (!tool.tested_versions.empty() && given.find(tool.name) == given.end()) {
      job.tested_versions.emplace(tool.name, tool.tested_versions);
    }
  }
  const auto releases_with = family_compiler(target.family).releases_with;
  const ToolRow::Tool& compiler = rows.front().tools.front();
  const bool is_chosen = given.find(compiler.name) != given.end();
  if (releases_with != nullptr && (is_chosen || !compiler.tested_versions.empty())) {
    job.releases = releases_with(target);
    job.compiler = job.releases.are_all() ? "" : compiler.name;
  }
  return job;
}

Result<void> require_known_tools(const ToolPaths& given) {
  std::vector<ToolRow> rows = disassembly_tools();
  for (const OfflineTarget& target : known_targets()) {
    std::ranges::move(family_compiler(target.family).tools_for(target), std::back_inserter(rows));
  }
  std::set<std::string> known;
  for (const ToolRow& row : rows) {
    std::ranges::transform(row.tools, std::inserter(known, known.end()), &ToolRow::Tool::name);
  }
  for (const auto& [name, path] : given) {
    if (known.find(name) == known.end()) {
      return fail(ErrorCode::invalid_argument, "'--tool {}={}': the tools are {}", name,
                  path.string(), fmt::join(known, ", "));
    }
  }
  return {};
}

std::shared_ptr<OfflineCompiler> make_offline_compiler(std::vector<OfflineJob> jobs,
                                                       const worker::WorkerSettings& settings,
                                                       std::chrono::seconds timeout,
                                                       SealedFiles kept) {
  return std::make_shared<ToolsCompiler>(std::move(jobs), settings, timeout, std::move(kept));
}

} // namespace oclcc::offline
