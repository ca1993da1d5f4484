#include "offline/offline_compiler.hpp"

#include "command_line/options.hpp"
#include "offline/clang_front_end.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace oclcc::offline {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

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
  std::string_view version;
  while (version.empty() && !text.empty()) {
    const std::string_view line = take_line(text);
    // clang notes there what variables such as CCC_OVERRIDE_OPTIONS change.
    const bool is_note = line.starts_with("###");
    version = is_note ? std::string_view() : version_in_line(line);
  }
  return std::string(version);
}

// In a folder of its own.
constexpr const char* k_shared_file = "prepared";

// Libraries have no command to ask.
bool is_library(std::string_view tool) {
  return tool == "libclc" || tool == "rocm-device-libs";
}

// Another version makes other bytes, hence it must be chosen, and not only installed.
Result<void> require_tested(const OfflineJob& job, const std::string& tool,
                            const std::string& version) {
  const auto tested = job.tested_versions.find(tool);
  if (tested == job.tested_versions.end() ||
      std::any_of(tested->second.begin(), tested->second.end(),
                  [&](const std::string& beginning) { return version.starts_with(beginning); })) {
    return {};
  }
  return fail(ErrorCode::no_device, "{} is of version {}, and {} {} tested; '--tool {}={}' uses it",
              tool, version, fmt::join(tested->second, ", "),
              tested->second.size() == 1 ? "is" : "are", tool,
              job.tools.find(tool)->second.string());
}

std::string key_of_shared(const OfflineJob& job) {
  const std::string name = family_compiler(job.target.family).preparation_of(job.target);
  const auto clang = job.tools.find("clang");
  return clang == job.tools.end() ? name : fmt::format("{}\n{}", name, clang->second.string());
}

} // namespace

const FamilyCompiler& family_compiler(OfflineFamily family) {
  switch (family) {
  case OfflineFamily::nvptx:
    return nvptx_compiler();
  case OfflineFamily::cubin:
    return cubin_compiler();
  case OfflineFamily::amdgcn:
    return amdgcn_compiler();
  case OfflineFamily::intel:
    return intel_compiler();
  case OfflineFamily::spirv:
    break;
  }
  return spirv_compiler();
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
  return job;
}

Result<void> require_known_tools(const ToolPaths& given) {
  std::set<std::string> known;
  for (const OfflineTarget& target : known_targets()) {
    for (const ToolRow& row : family_compiler(target.family).tools_for(target)) {
      for (const ToolRow::Tool& tool : row.tools) {
        known.insert(tool.name);
      }
    }
  }
  for (const auto& [name, path] : given) {
    if (known.find(name) == known.end()) {
      return fail(ErrorCode::invalid_argument, "'--tool {}={}': the tools are {}", name,
                  path.string(), fmt::join(known, ", "));
    }
  }
  return {};
}

Result<std::string> FamilyCompiler::print_version(const ToolSession& session,
                                                  std::string_view tool) const {
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run(tool, {"--version"}));
  if (run.exit_status != 0) {
    return fail(ErrorCode::internal, "{}",
                failure_text(fmt::format("'{} --version'", session.path(tool).string()), run));
  }
  return run.output;
}

std::string FamilyCompiler::preparation_of(const OfflineTarget& /*target*/) const {
  return {};
}

Result<Bytes> FamilyCompiler::prepare(const ToolSession& /*session*/,
                                      const OfflineTarget& /*target*/) const {
  return Bytes();
}

ToolSession::ToolSession(const ToolPaths& tools, std::filesystem::path folder,
                         const worker::WorkerSettings& settings, std::chrono::seconds timeout)
    : m_tools(tools), m_folder(std::move(folder)), m_settings(settings), m_timeout(timeout) {}

const std::filesystem::path& ToolSession::path(std::string_view tool) const {
  return m_tools.find(tool)->second;
}

Result<ToolRun> ToolSession::run(std::string_view tool,
                                 const std::vector<std::string>& arguments) const {
  return run_tool(path(tool), arguments, m_folder, m_settings, m_timeout);
}

Result<void> ToolSession::write_input(const char* name, std::string_view text) const {
  return clbin::base::write_output_file(m_folder / name, clbin::base::as_bytes(text));
}

Result<Bytes> ToolSession::read_output(std::string_view tool, const char* name) const {
  constexpr std::uint64_t k_max_output_bytes = 1ULL << 30U;
  auto bytes = clbin::base::read_whole_file(m_folder / name, k_max_output_bytes);
  if (bytes) {
    return bytes;
  }
  if (bytes.error().code == ErrorCode::file_not_found) {
    return fail(ErrorCode::internal, "{} wrote no file", tool);
  }
  return fail(ErrorCode::internal, "cannot read the output of {}: {}", tool, bytes.error().message);
}

class OfflineCompiler::Session final : public CompilerSession {
public:
  explicit Session(OfflineCompiler& compiler) : m_compiler(compiler) {}

  [[nodiscard]] UnitResult build(const Unit& unit) override {
    UnitResult result;
    BuildReply& reply = result.reply.emplace();
    if (const auto built = compile(unit, reply); !built) {
      reply.error = built.error().message;
    }
    return result;
  }

private:
  [[nodiscard]] Result<void> compile(const Unit& unit, BuildReply& reply) {
    const OfflineJob& job = m_compiler.m_jobs[unit.target];
    CLBIN_TRY_ASSIGN(const auto folder, clbin::base::TemporaryFolder::create(
                                            m_compiler.m_settings.home->path(), "offline-"));
    for (const auto& [name, path] : job.tools) {
      if (!is_library(name)) {
        CLBIN_TRY_ASSIGN(reply.tools[name], m_compiler.version_of(job, name, folder.path()));
        CLBIN_TRY(require_tested(job, name, reply.tools[name]));
      }
    }
    CLBIN_TRY(write_source_files(*unit.source, folder.path()));
    const ToolSession session(job.tools, folder.path(), m_compiler.m_settings,
                              m_compiler.m_timeout);
    CLBIN_TRY_ASSIGN(const auto shared, m_compiler.shared_file(unit.target));
    return family_compiler(job.target.family)
        .compile(session, shared, job.target, unit.options.words(), reply);
  }

  OfflineCompiler& m_compiler;
};

OfflineCompiler::OfflineCompiler(std::vector<OfflineJob> jobs, worker::WorkerSettings settings,
                                 std::chrono::seconds timeout, SealedFiles kept)
    : m_jobs(std::move(jobs)), m_settings(std::move(settings)), m_timeout(timeout),
      m_kept(std::move(kept)), m_facts(compiler_facts(m_settings)) {
  for (const OfflineJob& job : m_jobs) {
    m_shared[key_of_shared(job)];
  }
}

Result<void> OfflineCompiler::require_tested_tools(std::size_t target) {
  const OfflineJob& job = m_jobs[target];
  if (job.tested_versions.empty()) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const auto folder,
                   clbin::base::TemporaryFolder::create(m_settings.home->path(), "versions-"));
  for (const auto& [tool, versions] : job.tested_versions) {
    CLBIN_TRY_ASSIGN(const std::string version, version_of(job, tool, folder.path()));
    CLBIN_TRY(require_tested(job, tool, version));
  }
  return {};
}

std::unique_ptr<CompilerSession> OfflineCompiler::start_session(std::uint32_t /*lane*/,
                                                                std::stop_token /*useless*/) {
  return std::make_unique<Session>(*this);
}

Result<std::filesystem::path> OfflineCompiler::shared_file(std::size_t target) {
  const OfflineJob& job = m_jobs[target];
  const std::string name = family_compiler(job.target.family).preparation_of(job.target);
  if (name.empty()) {
    return std::filesystem::path();
  }
  Shared& shared = m_shared.at(key_of_shared(job));
  const std::lock_guard lock(shared.mutex);
  if (!shared.folder) {
    shared.folder = prepare(job, name);
  }
  if (!*shared.folder) {
    return tl::unexpected(shared.folder->error()); // each unit would wait for it again
  }
  return (*shared.folder)->path() / k_shared_file;
}

Result<clbin::base::TemporaryFolder> OfflineCompiler::prepare(const OfflineJob& job,
                                                              const std::string& name) const {
  CLBIN_TRY_ASSIGN(auto folder,
                   clbin::base::TemporaryFolder::create(m_settings.home->path(), "shared-"));
  CLBIN_TRY_ASSIGN(const Bytes file, kept_or_made(name, job, "clang", [&] {
                     const ToolSession session(job.tools, folder.path(), m_settings, m_timeout);
                     return family_compiler(job.target.family).prepare(session, job.target);
                   }));
  CLBIN_TRY(clbin::base::write_output_file(folder.path() / k_shared_file, file));
  return folder;
}

template <typename Make>
Result<Bytes> OfflineCompiler::kept_or_made(const std::string& name, const OfflineJob& job,
                                            std::string_view tool, const Make& make) const {
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

Result<std::string> OfflineCompiler::version_of(const OfflineJob& job, const std::string& tool,
                                                const std::filesystem::path& folder) {
  const std::lock_guard lock(m_mutex);
  const ToolSession session(job.tools, folder, m_settings, m_timeout);
  const auto found = m_versions.find(session.path(tool));
  if (found != m_versions.end()) {
    return found->second;
  }
  const auto ask = [&]() -> Result<Bytes> {
    CLBIN_TRY_ASSIGN(const std::string printed,
                     family_compiler(job.target.family).print_version(session, tool));
    const std::string version = version_in(printed);
    const auto bytes = clbin::base::as_bytes(version);
    return Bytes(bytes.begin(), bytes.end());
  };
  const auto version = kept_or_made("version", job, tool, ask);
  return m_versions
      .emplace(session.path(tool), version.map([](const Bytes& bytes) {
        return std::string(clbin::base::as_text(bytes));
      }))
      .first->second;
}

} // namespace oclcc::offline
