#include "bundles/bundle_change.hpp"

#include "base/file_io.hpp"
#include "input/bundle_file.hpp"
#include "input/input_files.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace oclcc {

namespace {

// A file that a mode reads and replaces. If several processes do that at the same time, none of
// them discards what another one has written.

// changed: the file is not the one that was opened, or was written since.
enum class Replacement : std::uint8_t { done, changed };

// Not thread-safe.
class ReplacedFile {
public:
  // Call it before the file is read. Does not fail: if `path` is not a regular file that can be
  // opened, replace() checks nothing.
  [[nodiscard]] static ReplacedFile open(const std::filesystem::path& path);
  // Of an output that replaces no input: replace() checks nothing.
  [[nodiscard]] static ReplacedFile none() { return ReplacedFile({}); }

  // Calls `commit`, which renames a new file to the path, unless the file has changed. Locks the
  // file meanwhile (flock), so that the replacements of several processes follow one another. Waits
  // at most 3 seconds for the lock, because every process that can open the file can lock it, and
  // does without it if the file system has no locks. Errors: those of `commit`.
  [[nodiscard]] Result<Replacement> replace(const std::function<Result<void>()>& commit);

private:
  explicit ReplacedFile(std::filesystem::path path) : m_path(std::move(path)) {}
  [[nodiscard]] bool is_unchanged() const noexcept;

  std::filesystem::path m_path;
  base::FileDescriptor m_file; // open if there is something to check
  struct stat m_before {};
};

constexpr std::chrono::seconds k_max_wait(3);
constexpr std::chrono::milliseconds k_between_looks(5);

bool is_same(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

// The lock ends when the file is closed.
void lock(int file) {
  const auto end = std::chrono::steady_clock::now() + k_max_wait;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() >= end) {
      return;
    }
    std::this_thread::sleep_for(k_between_looks);
  }
}

ReplacedFile ReplacedFile::open(const std::filesystem::path& path) {
  ReplacedFile file(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return file;
  }
  file.m_file = base::FileDescriptor(base::open_retrying(path.c_str(), O_RDONLY));
  if (file.m_file.is_open() && ::fstat(file.m_file.number(), &file.m_before) != 0) {
    (void)file.m_file.close();
  }
  return file;
}

Result<Replacement> ReplacedFile::replace(const std::function<Result<void>()>& commit) {
  if (m_file.is_open()) {
    lock(m_file.number());
    if (!is_unchanged()) {
      return Replacement::changed;
    }
  }
  CLBIN_TRY(commit());
  return Replacement::done;
}

bool ReplacedFile::is_unchanged() const noexcept {
  struct stat opened {};
  struct stat there {};
  return ::fstat(m_file.number(), &opened) == 0 && is_same(opened, m_before) &&
         ::stat(m_path.c_str(), &there) == 0 && is_same(there, m_before);
}

constexpr int k_max_attempts = 100; // each fails only because another process has succeeded

Result<void> check_places(const Options& options, NameOutput output) {
  const std::string mode = mode_spelling(options.mode);
  if (options.output && options.inputs.size() > 1) {
    return fail(ErrorCode::invalid_argument,
                "'-o' accepts the output of '{}' for one bundle, but {} are given", mode,
                options.inputs.size());
  }
  for (const Input& input : options.inputs) {
    if (!options.output && input.path == "-") {
      return fail(ErrorCode::invalid_argument,
                  "'{}' cannot replace standard input: name an output with '-o'", mode);
    }
    std::error_code ignored;
    if (!options.output && std::filesystem::is_fifo(output(input.path), ignored)) {
      return fail(ErrorCode::invalid_argument,
                  "'{}' cannot replace '{}', which is a pipe: name an output with '-o'", mode,
                  output(input.path).string());
    }
  }
  return check_output(options);
}

// Drops the bytes, which are written.
void finish_change(BundleChange& change, const std::filesystem::path& output) {
  change.output = output == "-" ? "<stdout>" : output.string();
  change.total_bytes = change.result.bytes.size();
  change.result.bytes = {};
}

bool replaces(const std::filesystem::path& output, const std::filesystem::path& input) {
  std::error_code ignored; // of a file that does not exist
  return input != "-" && std::filesystem::equivalent(input, output, ignored);
}

// Starts again if another process has replaced the input meanwhile.
Result<BundleChange> change_one(const std::filesystem::path& path,
                                const std::filesystem::path& output, const ChangeFile& change) {
  for (int attempt = 0; attempt < k_max_attempts; ++attempt) {
    ReplacedFile file = replaces(output, path) ? ReplacedFile::open(path) : ReplacedFile::none();
    CLBIN_TRY_ASSIGN(BundleChange changed, named(change(path), path));
    changed.inputs = {bundle_name(path)};
    CLBIN_TRY_ASSIGN(base::OutputFile written, base::OutputFile::open(output));
    CLBIN_TRY(written.append(changed.result.bytes));
    CLBIN_TRY_ASSIGN(const Replacement replacement,
                     file.replace([&written] { return written.commit(); }));
    if (replacement == Replacement::done) {
      finish_change(changed, output);
      return changed;
    }
  }
  return fail(ErrorCode::file_write, "cannot replace {}: other processes changed it {} times",
              base::in_quotes(output), k_max_attempts);
}

std::string hidden_text(const format::StripResult& result) {
  const bool one = result.hidden_count == 1;
  const std::string payloads = one ? "1 removed payload remains"
                                   : fmt::format("{} removed payloads remain", result.hidden_count);
  const std::string dependents =
      result.hidden_dependents == 1 ? "1 kept payload is"
                                    : fmt::format("{} kept payloads are", result.hidden_dependents);
  const std::string_view them = one ? "it" : "them";
  return fmt::format("{} hidden in it ({} bytes), because {} compressed against {}; '--repack' "
                     "removes {}",
                     payloads, result.hidden_stored_bytes, dependents, them, them);
}

void note_change(const BundleChange& change, Reporter& reporter) {
  for (const std::string& dropped : change.result.dropped_names) {
    reporter.note(fmt::format("{}: {} is empty and was removed", change.output, dropped));
  }
  if (change.result.hidden_count != 0) {
    reporter.note(fmt::format("{}: {}", change.output, hidden_text(change.result)));
  }
  for (const std::string& note : change.notes) {
    reporter.note(fmt::format("{}: {}", change.output, note));
  }
}

JsonValue change_json(const BundleChange& change) {
  const format::StripResult& result = change.result;
  return {JsonObject{
      {"inputs", strings_json(change.inputs)},
      {"output", {change.output}},
      {"total_bytes", {change.total_bytes}},
      {"dropped_entries", {result.dropped_entries}},
      {"nothing_left_of", strings_json(result.dropped_names)},
      {"hidden_payloads", {result.hidden_count}},
      {"hidden_stored_bytes", {result.hidden_stored_bytes}},
      {"hidden_dependents", {result.hidden_dependents}},
      {"removed_signatures", {std::uint64_t{change.removed_signatures}}},
  }};
}

std::string changes_json(const std::vector<BundleChange>& changes,
                         const std::vector<Error>& errors) {
  JsonArray items;
  for (const BundleChange& change : changes) {
    items.push_back(change_json(change));
  }
  return report_json({{"bundles", {std::move(items)}}, {"errors", errors_json(errors)}});
}

Result<std::optional<format::Encryption>>
encryption_of_change(const Options& options, const trust::EncryptionRequest& request,
                     const format::BundleReader& bundle) {
  if (options.mode == Mode::decrypt) {
    return std::nullopt;
  }
  const format::BundleReader* const input = &bundle;
  return trust::encryption_of_output(request, {&input, 1});
}

} // namespace

ListFormat format_of_errors(const Options& options) {
  return options.output == "-" ? ListFormat::text : options.list_format;
}

Result<void> check_output(const Options& options) {
  if (options.list_format == ListFormat::json && options.output == "-") {
    return fail(ErrorCode::invalid_argument,
                "'--json' and '-o -' would both write to standard output");
  }
  return options.output ? require_other_files({&*options.output, 1}, trust::files_of_keys(options))
                        : Result<void>();
}

Result<void> count_removed_signatures(BundleChange& change, const format::BundleReader& input) {
  CLBIN_TRY_ASSIGN(const auto records, input.signature_records());
  if (change.removed_signatures == 0 && !records.empty()) {
    change.notes.emplace_back(k_signatures_removed);
  }
  change.removed_signatures += records.size();
  return {};
}

Result<void> write_change(BundleChange& change, const std::filesystem::path& output) {
  CLBIN_TRY(base::write_output_file(output, change.result.bytes));
  finish_change(change, output);
  return {};
}

ExitCode tell_changes(const std::vector<BundleChange>& changes, const std::vector<Error>& errors,
                      ListFormat format, Reporter& reporter) {
  if (format == ListFormat::json) {
    if (!reporter.print(changes_json(changes, errors))) {
      return ExitCode::file;
    }
  } else {
    for (const BundleChange& change : changes) {
      note_change(change, reporter);
    }
  }
  return report_errors(errors, reporter);
}

ExitCode change_bundles(const Options& options, const ChangeBundle& change, Reporter& reporter) {
  const auto keys = trust::read_decryption_keys(options, reporter);
  const auto request = trust::EncryptionRequest::read(options, reporter);
  if (!keys || !request) {
    return tell_changes({}, {keys ? request.error() : keys.error()}, format_of_errors(options),
                        reporter);
  }
  const auto change_file = [&](const std::filesystem::path& path) -> Result<BundleChange> {
    CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_readable_bundle(path, *keys));
    CLBIN_TRY_ASSIGN(const auto encryption, encryption_of_change(options, *request, bundle));
    BundleChange changed;
    CLBIN_TRY_ASSIGN(changed.result, change(bundle, trust::pointer_to(encryption)));
    CLBIN_TRY(count_removed_signatures(changed, bundle));
    return changed;
  };
  return change_files(options, change_file, k_in_place, reporter);
}

ExitCode change_files(const Options& options, const ChangeFile& change, NameOutput output,
                      Reporter& reporter) {
  if (const auto checked = check_places(options, output); !checked) {
    return tell_changes({}, {checked.error()}, ListFormat::text, reporter);
  }
  std::vector<BundleChange> changes;
  std::vector<Error> errors;
  for (const Input& input : options.inputs) {
    auto done = change_one(input.path, options.output.value_or(output(input.path)), change);
    if (done) {
      changes.push_back(std::move(*done));
    } else {
      errors.push_back(std::move(done.error()));
    }
  }
  return tell_changes(changes, errors, options.list_format, reporter);
}

} // namespace oclcc
