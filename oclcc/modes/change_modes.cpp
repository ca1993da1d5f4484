// The modes that make bundles of bundles. A change reads an input and makes the bytes of the output
// in memory; change_files() writes them in place of the input, or to -o, and goes on after an
// error. --merge has several inputs, and --sign-message makes no bundle.
#include "base/system/folder.hpp"
#include "command_line/modes.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/bundle_signing.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <span>
#include <thread>

namespace oclcc {

using format::BundleReader;
using format::Encryption;
using format::StripResult;

namespace {

namespace fs = std::filesystem;

// ---- One way from inputs to output -------------------------------------------------------------

bool is_same(const base::FileStatus& one, const base::FileStatus& other) noexcept {
  return one.device == other.device && one.inode == other.inode &&
         one.size_bytes == other.size_bytes && one.modified == other.modified;
}

// A file that a mode reads and replaces. If several processes do that at the same time, none of
// them discards what another one has written. Not thread-safe.
class ReplacedFile {
public:
  // Call it before the file is read. Does not fail: if `path` is not a regular file that can be
  // opened, nothing is checked.
  explicit ReplacedFile(fs::path path) : m_path(std::move(path)) {
    std::error_code ignored;
    if (!fs::is_regular_file(m_path, ignored)) {
      return;
    }
    auto file = base::open_to_read(m_path, base::MissingWriter::is_the_end);
    const auto before = file ? base::status_of(file->number()) : tl::unexpected(file.error());
    if (before) {
      m_file = *std::move(file);
      m_before = *before;
    }
  }

  // Locks the file (flock) until the end of this object, so that the replacements of several
  // processes follow one another. Waits at most 3 seconds for the lock, because every process that
  // can open the file can lock it, and does without it if the file system has no locks. Returns
  // whether the path is still that of the opened file, which was not written since.
  [[nodiscard]] bool lock_unchanged() {
    if (!m_file.is_open()) {
      return true;
    }
    lock();
    const auto opened = base::status_of(m_file.number());
    const auto there = base::status_of(m_path);
    return opened && is_same(*opened, m_before) && there && is_same(*there, m_before);
  }

private:
  void lock() const {
    constexpr std::chrono::seconds k_max_wait(3);
    constexpr std::chrono::milliseconds k_between_looks(5);
    const auto end = std::chrono::steady_clock::now() + k_max_wait;
    for (;;) {
      const auto is_locked = base::try_lock(m_file.number());
      const bool is_taken = is_locked && !*is_locked;
      if (!is_taken || std::chrono::steady_clock::now() >= end) {
        return;
      }
      std::this_thread::sleep_for(k_between_looks);
    }
  }

  fs::path m_path;
  base::FileDescriptor m_file; // open if there is something to check
  base::FileStatus m_before;
};

// A bundle made of others.
struct BundleChange {
  std::vector<std::string> inputs{};  // as given; "<stdin>" for "-"
  std::string output{};               // "<stdout>" for "-"
  StripResult result{};               // without its bytes once they are written
  std::uint64_t total_bytes = 0;      // of those
  std::size_t removed_signatures = 0; // and counters and vouches
  std::vector<std::string> notes{};
};

// The changes of a run, and the errors, which do not end it.
struct Changes {
  std::vector<BundleChange> done{};
  std::vector<Error> errors{};

  void add(Result<BundleChange> change) {
    if (change) {
      done.push_back(std::move(*change));
    } else {
      errors.push_back(std::move(change.error()));
    }
  }
};

// Drops the bytes, which are written.
void finish_change(BundleChange& change, const fs::path& output) {
  change.output = output == "-" ? "<stdout>" : output.string();
  change.total_bytes = change.result.bytes.size();
  change.result.bytes = {};
}

// Adds the signatures, counters and vouches of an input, which the output does not have.
Result<void> count_removed_signatures(BundleChange& change, const BundleReader& input,
                                      const fs::path& path) {
  CLBIN_TRY_ASSIGN(auto records, input.signature_records());
  if (has_packs(path)) { // the merged bundle has none
    records = signatures_in(path);
  }
  if (change.removed_signatures == 0 && !records.empty()) {
    change.notes.emplace_back(k_signatures_removed);
  }
  change.removed_signatures += records.size();
  return {};
}

std::string hidden_text(const StripResult& result) {
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
  for (const std::string& loser : change.result.removed_losers) {
    reporter.note(fmt::format("{}: {} is nowhere the best and was removed", change.output, loser));
  }
  if (change.result.hidden_count != 0) {
    reporter.note(fmt::format("{}: {}", change.output, hidden_text(change.result)));
  }
  for (const std::string& note : change.notes) {
    reporter.note(fmt::format("{}: {}", change.output, note));
  }
}

JsonObject change_json(const BundleChange& change) {
  const StripResult& result = change.result;
  return {
      {"inputs", strings_json(change.inputs)},
      {"output", {change.output}},
      {"total_bytes", {change.total_bytes}},
      {"dropped_entries", {result.dropped_entries}},
      {"nothing_left_of", strings_json(result.dropped_names)},
      {"removed_losers", strings_json(result.removed_losers)},
      {"hidden_payloads", {result.hidden_count}},
      {"hidden_stored_bytes", {result.hidden_stored_bytes}},
      {"hidden_dependents", {result.hidden_dependents}},
      {"removed_signatures", {std::uint64_t{change.removed_signatures}}},
  };
}

// Prints notes of what a user would not expect, or JSON (oclcc/schema/change.schema.json), then the
// errors. The status is that of the first error.
ExitCode tell(const Changes& changes, ListFormat format, Reporter& reporter) {
  if (format == ListFormat::json) {
    if (!reporter.print(report_json({{"bundles", {array_of(changes.done, change_json)}},
                                     {"errors", errors_json(changes.errors)}}))) {
      return ExitCode::file;
    }
  } else {
    for (const BundleChange& change : changes.done) {
      note_change(change, reporter);
    }
  }
  return report_errors(changes.errors, reporter);
}

// Tells of an error before anything is written: as text if -o is standard output, which cannot be
// that of JSON, too.
ExitCode refuse(const Error& error, const Options& options, Reporter& reporter) {
  return tell({{}, {error}}, options.output == "-" ? ListFormat::text : options.list_format,
              reporter);
}

// Returns the name of the output of `input` if there is no -o.
using NameOutput = fs::path (*)(const fs::path& input);
constexpr NameOutput k_in_place = [](const fs::path& input) { return input; };

// invalid_argument: JSON and a bundle would both go to standard output, or an output is the file of
// a key. A bundle may replace its input, but a signature file may not.
Result<void> check_outputs(const Options& options, NameOutput output) {
  if (options.list_format == ListFormat::json && options.output == "-") {
    return refused("'--json' and '-o -' would both write to standard output");
  }
  std::vector<fs::path> read = trust::files_of_keys(options);
  std::vector<fs::path> written;
  for (const Input& input : options.inputs) {
    written.push_back(options.output.value_or(output(input.path)));
    if (options.signature_form == SignatureForm::detached) {
      read.push_back(input.path);
    }
  }
  return require_other_files(written, read);
}

Result<void> check_places(const Options& options, NameOutput output) {
  const std::string mode = mode_spelling(options.mode);
  if (options.output && options.inputs.size() > 1) {
    return refused("'-o' accepts the output of '{}' for one bundle, but {} are given", mode,
                   options.inputs.size());
  }
  for (const Input& input : options.inputs) {
    if (!options.output && input.path == "-") {
      return refused("'{}' cannot replace standard input: name an output with '-o'", mode);
    }
    std::error_code ignored;
    if (!options.output && fs::is_fifo(output(input.path), ignored)) {
      return refused("'{}' cannot replace '{}', which is a pipe: name an output with '-o'", mode,
                     output(input.path).string());
    }
  }
  return check_outputs(options, output);
}

// Returns the result, and what to tell of it.
using ChangeFile = std::function<Result<BundleChange>(const fs::path& path)>;

// Starts again if another process has replaced the input meanwhile.
Result<BundleChange> change_one(const fs::path& path, const fs::path& output,
                                const ChangeFile& change) {
  constexpr int k_max_attempts = 100; // each fails only because another process has succeeded
  std::error_code ignored;            // of a file that does not exist
  for (int attempt = 0; attempt < k_max_attempts; ++attempt) {
    std::optional<ReplacedFile> replaced;
    if (path != "-" && fs::equivalent(path, output, ignored)) {
      replaced.emplace(path);
    }
    CLBIN_TRY_ASSIGN(BundleChange changed, named(change(path), path));
    changed.inputs = {bundle_name(path)};
    CLBIN_TRY_ASSIGN(base::OutputFile written, base::OutputFile::open(output));
    CLBIN_TRY(written.append(changed.result.bytes));
    if (!replaced || replaced->lock_unchanged()) {
      CLBIN_TRY(written.commit());
      finish_change(changed, output);
      return changed;
    }
  }
  return fail(ErrorCode::file_write, "cannot replace {}: other processes changed it {} times",
              base::in_quotes(output), k_max_attempts);
}

// Changes each input in place, or the only one to -o, tells of it, and goes on after an error: the
// status is that of the first. An input that could not be changed stays as it is.
Result<ExitCode> change_files(const Options& options, const ChangeFile& change, NameOutput output,
                              Reporter& reporter) {
  CLBIN_TRY(check_places(options, output));
  Changes changes;
  for (const Input& input : options.inputs) {
    changes.add(change_one(input.path, options.output.value_or(output(input.path)), change));
  }
  return tell(changes, options.list_format, reporter);
}

// ---- Changes of the contents -------------------------------------------------------------------

struct ChangeKeys {
  BundleKeys decryption;
  trust::EncryptionRequest encryption;
};

// Reads both kinds of keys, and warns about their files, before it returns an error.
Result<ChangeKeys> read_change_keys(const Options& options, Reporter& reporter) {
  auto decryption = trust::read_decryption_keys(options, reporter);
  auto encryption = trust::EncryptionRequest::read(options, reporter);
  if (!decryption || !encryption) {
    return tl::unexpected(decryption ? encryption.error() : decryption.error());
  }
  return ChangeKeys{std::move(*decryption), std::move(*encryption)};
}

// The contents of `bundle` can be read. `encryption` is that of the result; null if it is plain.
using ChangeBundle =
    std::function<Result<StripResult>(const BundleReader& bundle, const Encryption* encryption)>;

// The output is encrypted as the options request, otherwise as its input; with Mode::decrypt, it is
// plain.
Result<ExitCode> change_bundles(const Options& options, const ChangeBundle& change,
                                Reporter& reporter) {
  const auto keys = read_change_keys(options, reporter);
  if (!keys) {
    return refuse(keys.error(), options, reporter);
  }
  const auto change_file = [&](const fs::path& path) -> Result<BundleChange> {
    CLBIN_TRY_ASSIGN(const BundleReader bundle, open_readable_bundle(path, keys->decryption));
    std::optional<Encryption> encryption;
    if (options.mode != Mode::decrypt) {
      CLBIN_TRY_ASSIGN(encryption,
                       trust::encryption_of_output(keys->encryption, std::array{&bundle}));
    }
    BundleChange changed;
    CLBIN_TRY_ASSIGN(changed.result, change(bundle, trust::pointer_to(encryption)));
    CLBIN_TRY(count_removed_signatures(changed, bundle, path));
    return changed;
  };
  return change_files(options, change_file, k_in_place, reporter);
}

Result<void> warn_of_idle_patterns(const BundleReader& bundle, const TargetChoice& choice,
                                   Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const auto idle, idle_patterns(bundle, choice));
  for (const std::string& pattern : idle) {
    CLBIN_TRY_ASSIGN(const std::string targets, list_targets(bundle));
    reporter.warning(
        fmt::format("{}: no target matches '{}'; there are {}", bundle.name(), pattern, targets));
  }
  return {};
}

// The merge of one bundle copies it.
Result<StripResult> copy(const BundleReader& bundle, const Encryption* encryption) {
  StripResult result;
  CLBIN_TRY_ASSIGN(result.bytes, format::merge_bundles(std::array{&bundle}, encryption));
  return result;
}

} // namespace

Result<ExitCode> strip(const Options& options, const ModeContext& context) {
  const TargetChoice choice{options.keep_targets, options.drop_targets};
  format::StripSelection selection;
  selection.keep = [&](const format::EntryView& entry) { return is_chosen(entry.target, choice); };
  if (options.source == SourcePolicy::drop) {
    selection.source = format::KeepSource::no;
  }
  if (options.reflection == ReflectionPolicy::drop) {
    selection.reflection = format::KeepReflection::names_only;
  }
  if (options.measurements == MeasurementPolicy::drop) {
    selection.measurements = format::KeepMeasurements::no;
  }
  if (options.losers == LoserPolicy::drop) {
    selection.losers = format::KeepLosers::no;
  }
  if (options.answers == AnswerPolicy::drop) {
    selection.answers = format::KeepAnswers::no;
  } else if (options.recorded_data == DataPolicy::drop) {
    selection.answers = format::KeepAnswers::only_others;
  }
  const bool drops_parts =
      options.source == SourcePolicy::drop || options.reflection == ReflectionPolicy::drop ||
      options.measurements == MeasurementPolicy::drop || options.losers == LoserPolicy::drop ||
      options.answers == AnswerPolicy::drop || options.recorded_data == DataPolicy::drop;
  if (choice.keep.empty() && choice.drop.empty() && !drops_parts) {
    return refused("'--strip' needs '--keep-target', '--drop-target', '--prune', "
                   "'--strip-source', '--strip-reflection', '--strip-measurements', "
                   "'--strip-answers' or '--strip-data'");
  }
  const auto change = [&](const BundleReader& bundle,
                          const Encryption* encryption) -> Result<StripResult> {
    CLBIN_TRY(warn_of_idle_patterns(bundle, choice, context.reporter));
    return format::strip_bundle(bundle, selection, encryption);
  };
  return change_bundles(options, change, context.reporter);
}

Result<ExitCode> repack(const Options& options, const ModeContext& context) {
  const auto change = [](const BundleReader& bundle,
                         const Encryption* encryption) -> Result<StripResult> {
    StripResult result;
    format::WriteOptions write;
    if (encryption != nullptr) {
      write.encryption = *encryption;
    }
    CLBIN_TRY_ASSIGN(write.spill, base::SpillFile::create());
    CLBIN_TRY_ASSIGN(result.bytes, format::repack_bundle(bundle, write));
    return result;
  };
  return change_bundles(options, change, context.reporter);
}

Result<ExitCode> encrypt(const Options& options, const ModeContext& context) {
  return change_bundles(options, copy, context.reporter);
}

Result<ExitCode> decrypt(const Options& options, const ModeContext& context) {
  const auto change = [](const BundleReader& bundle, const Encryption* encryption) {
    return bundle.is_encrypted() ? copy(bundle, encryption) : refused("it is not encrypted");
  };
  return change_bundles(options, change, context.reporter);
}

// ---- --merge -----------------------------------------------------------------------------------

namespace {

// Harmless, but probably a typing error.
void warn_of_repeated_inputs(const std::vector<Input>& inputs, Reporter& reporter) {
  std::set<fs::path> known;
  for (const Input& input : inputs) {
    std::error_code error;
    const auto path = fs::canonical(input.path, error);
    if (!error && !known.insert(path).second) {
      reporter.warning(fmt::format("'{}' is given twice", input.path.string()));
    }
  }
}

Result<BundleChange> merge_all(const std::vector<BundleReader>& bundles,
                               const trust::EncryptionRequest& request, const Options& options) {
  BundleChange change;
  std::vector<const BundleReader*> pointers;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    pointers.push_back(&bundles[i]);
    change.inputs.push_back(bundles[i].name());
    CLBIN_TRY(count_removed_signatures(change, bundles[i], options.inputs[i].path));
    CLBIN_TRY_ASSIGN(const auto packs, bundles[i].packs());
    if (has_packs(options.inputs[i].path)) {
      constexpr std::size_t k_most_notes = 8;
      for (const format::PackRecord& pack :
           std::span(packs).first(std::min(packs.size(), k_most_notes))) {
        change.notes.push_back(fmt::format(
            "the pack '{}' is not there, and its entries are missing", pack.name.str()));
      }
      if (packs.size() > k_most_notes) {
        change.notes.push_back(
            fmt::format("{} more packs are not there", packs.size() - k_most_notes));
      }
    }
  }
  CLBIN_TRY_ASSIGN(const auto encryption, trust::encryption_of_output(request, pointers));
  if (auto note = trust::note_of_plain_inputs(pointers);
      note && !options.encryption.is_requested()) {
    change.notes.push_back(std::move(*note));
  }
  CLBIN_TRY_ASSIGN(change.result.bytes,
                   format::merge_bundles(pointers, trust::pointer_to(encryption)));
  CLBIN_TRY(base::write_output_file(*options.output, change.result.bytes));
  finish_change(change, *options.output);
  return change;
}

} // namespace

Result<ExitCode> merge(const Options& options, const ModeContext& context) {
  if (!options.output) {
    return refused("'--merge' needs an output: name one with '-o'");
  }
  CLBIN_TRY(check_outputs(options, k_in_place));
  const auto keys = read_change_keys(options, context.reporter);
  if (!keys) {
    return refuse(keys.error(), options, context.reporter);
  }
  warn_of_repeated_inputs(options.inputs, context.reporter);
  // Every input stays open until all are merged, and a plan may have thousands. If the system does
  // not allow as many, opening fails.
  constexpr std::size_t k_other_files = 64;
  base::allow_open_files(options.inputs.size() + k_other_files);
  Changes changes;
  std::vector<BundleReader> bundles;
  for (const Input& input : options.inputs) {
    if (auto bundle = open_readable_bundle(input.path, keys->decryption)) {
      bundles.push_back(std::move(*bundle));
    } else {
      changes.errors.push_back(std::move(bundle.error()));
    }
  }
  if (changes.errors.empty()) {
    changes.add(merge_all(bundles, keys->encryption, options));
  }
  return tell(changes, options.list_format, context.reporter);
}

// ---- Signatures --------------------------------------------------------------------------------

namespace {

void warn_of_locked_contents(Verified verified, const fs::path& path, Reporter& reporter) {
  if (verified == Verified::all_but_contents) {
    reporter.warning(fmt::format("{}: {}", bundle_name(path), k_contents_not_checked));
  }
}

Result<BundleChange> sign_one(const fs::path& path, SignatureForm form, const BundleKeys& keys,
                              trust::BundleSigner& signer, Reporter& reporter) {
  BundleChange change;
  const auto signed_outside = [&](base::ByteView file) -> Result<BundleChange> {
    CLBIN_TRY_ASSIGN(const std::string text, signer.sign_detached(file, path));
    const base::ByteView bytes = base::as_bytes(text);
    change.result.bytes.assign(bytes.begin(), bytes.end());
    return std::move(change);
  };
  const auto start = start_of_file(path, 1);
  if (form == SignatureForm::detached && start && trust::is_document(start->view())) {
    CLBIN_TRY_ASSIGN(const Bytes file, base::read_whole_file(path, k_max_whole_bundle_bytes));
    return signed_outside(file);
  }
  CLBIN_TRY_ASSIGN(const ValidBundle read, read_valid_bundle(path, keys));
  warn_of_locked_contents(read.verified, path, reporter);
  if (form == SignatureForm::detached) {
    return signed_outside(read.bytes);
  }
  CLBIN_TRY_ASSIGN(trust::SignedBundle signed_bundle, signer.sign(read.bytes));
  change.result.bytes = std::move(signed_bundle.bytes);
  if (const auto& before = signed_bundle.replaced_counter) {
    change.notes.push_back(fmt::format("a lower counter replaced {}", *before));
  }
  return change;
}

Result<BundleChange> without_signatures(const fs::path& path) {
  CLBIN_TRY_ASSIGN(const Bytes bundle, base::read_whole_file(path, k_max_whole_bundle_bytes));
  CLBIN_TRY_ASSIGN(trust::RootAndRecords read, trust::read_root_and_records(bundle));
  BundleChange change;
  change.removed_signatures = read.records.size();
  format::remove_signatures(read.records);
  change.removed_signatures -= read.records.size();
  CLBIN_TRY_ASSIGN(change.result.bytes,
                   format::with_trailing_records(bundle, std::move(read.records)));
  return change;
}

} // namespace

Result<ExitCode> sign(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  const NameOutput output =
      options.signature_form == SignatureForm::detached ? trust::detached_name : k_in_place;
  // Before a passphrase is asked for.
  if (const auto checked = check_outputs(options, output); !checked) {
    return refuse(checked.error(), options, reporter);
  }
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys) {
    return refuse(keys.error(), options, reporter);
  }
  auto signer = trust::BundleSigner::open(options, context.workers.stop, reporter);
  if (!signer) {
    return refuse(signer.error(), options, reporter);
  }
  const auto change = [&](const fs::path& path) {
    return sign_one(path, options.signature_form, *keys, *signer, reporter);
  };
  return change_files(options, change, output, reporter);
}

Result<ExitCode> strip_signature(const Options& options, const ModeContext& context) {
  return change_files(options, without_signatures, k_in_place, context.reporter);
}

Result<ExitCode> sign_message(const Options& options, const ModeContext& context) {
  const fs::path output = options.output.value_or("-");
  if (output == "-" && context.reporter.prints_to_terminal()) {
    return refused(
        "cannot write a binary to a terminal: redirect standard output or name a file with -o");
  }
  const fs::path& input = options.inputs.front().path;
  std::vector<fs::path> read = trust::files_of_keys(options);
  read.push_back(input);
  CLBIN_TRY(require_other_files({&output, 1}, read));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, context.reporter));
  CLBIN_TRY(named(require_file(input), input));
  CLBIN_TRY_ASSIGN(const BundleReader bundle, open_bundle(input, keys));
  CLBIN_TRY_ASSIGN(const Verified verified, named(verify_bundle(bundle), input));
  warn_of_locked_contents(verified, input, context.reporter);
  const Bytes message = options.signing.counter ? format::counter_message(bundle.root_digest(),
                                                                          *options.signing.counter)
                                                : format::signature_message(bundle.root_digest());
  CLBIN_TRY(base::write_output_file(output, message));
  return ExitCode::success;
}

} // namespace oclcc
