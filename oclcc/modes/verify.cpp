#include "command_line/modes.hpp"

#include "listing/bundle_summary.hpp"
#include "modes/entry_trials.hpp"
#include "targets/patterns.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/bundle_signing.hpp"

namespace oclcc {

namespace matching = clbin::matching;

namespace {

// One entry on one device.
struct Run {
  format::SharedText program;
  format::SharedText variant;
  std::string target;
  std::string_view device; // its name, which TrialDevices has
  std::string failure{};   // empty: it loads, and computes what is known
  std::size_t device_number = 0;
  format::EntryView entry{};
  std::uint32_t right_count = 0;  // known answers that it gives
  std::string why_not_launched{}; // a known answer; of the first
};

struct Verdict {
  std::string file;
  std::optional<Error> error{};
  base::Digest root{};
  bool is_locked = false; // the contents of an encrypted bundle were not checked
  std::uint32_t entry_count = 0;
  std::uint32_t idle_count = 0; // entries that match no device of this machine
  std::uint32_t il_count = 0;   // IL entries that a device supports; not run
  std::vector<Run> runs{};
};

// The plan for one bundle.
struct Plan {
  TrialPlan trials;
  format::TextBudget texts; // of what is printed of runs
  std::vector<Run> runs;
  std::vector<std::pair<std::size_t, std::size_t>> tried{}; // run, trial
  std::set<std::string> programs{};                         // whose manifests were read
  std::map<std::pair<std::string, std::string>, std::vector<format::KnownAnswer>>
      answers{};                   // by program and variant
  std::set<std::uint32_t> blobs{}; // entries that share one are one candidate
  std::set<std::uint32_t> il_blobs{};
};

Result<void> plan_run(const matching::Candidate& candidate, std::size_t device, Run run,
                      Plan& plan) {
  const Result<std::size_t> trial = plan.trials.add(candidate, device);
  if (!trial && trial.error().code != ErrorCode::unsafe_options) {
    return tl::unexpected(trial.error());
  }
  if (trial) {
    plan.tried.emplace_back(plan.runs.size(), *trial);
  } else {
    run.failure = trial.error().message;
  }
  plan.blobs.insert(candidate.entry.blob);
  plan.runs.push_back(std::move(run));
  return {};
}

// The variants of a program share a manifest.
Result<void> read_answers(const format::BundleReader& bundle, const format::GroupView& group,
                          Plan& plan) {
  if (!plan.programs.insert(group.program).second) {
    return {};
  }
  CLBIN_TRY_ASSIGN(format::Manifest manifest, bundle.read_manifest(group));
  for (format::KnownAnswer& answer : manifest.answers) {
    std::vector<format::KnownAnswer>& known = plan.answers[{group.program, answer.variant}];
    known.push_back(std::move(answer));
  }
  return {};
}

Result<void> plan_group(const format::BundleReader& bundle, const format::GroupView& group,
                        const TrialDevices& devices, Plan& plan) {
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    const format::DeviceIdentity& identity = devices.all()[device].identity;
    CLBIN_TRY_ASSIGN(const auto candidates, matching::rank_candidates(bundle, group, identity));
    CLBIN_TRY_ASSIGN(const auto il, matching::rank_il(bundle, group, identity));
    for (const matching::Candidate& candidate : il) {
      plan.il_blobs.insert(candidate.entry.blob);
    }
    for (const matching::Candidate& candidate : candidates) {
      Run run{group.program, group.variant, target_name(candidate.entry.target),
              identity.device_name};
      run.device_number = device;
      run.entry = candidate.entry;
      CLBIN_TRY(plan.texts.take(sizeof(Run) + group.program.size() + group.variant.size() +
                                run.target.size()));
      CLBIN_TRY(plan_run(candidate, device, std::move(run), plan));
    }
  }
  return {};
}

// Launches what is known of the variant with the binary of an entry that loads.
class Examination {
public:
  Examination(const format::BundleReader& bundle, const TrialDevices& devices)
      : m_bundle(bundle), m_proved(bundle), m_devices(devices), m_workers(devices.all().size()) {}

  Result<void> examine(Run& run, std::span<const format::KnownAnswer> answers) {
    CLBIN_TRY_ASSIGN(const base::Bytes binary, m_proved.read(run.entry.blob));
    for (format::KnownAnswer answer : answers) {
      if (!has_kernel(run.entry, answer.kernel)) { // for example of double
        note_unchecked(run, fmt::format("the entry has no kernel '{}'", answer.kernel));
        continue;
      }
      auto request = launch_of(answer);
      format::ReadBudget budget = m_bundle.budget();
      CLBIN_TRY_ASSIGN(request.data, m_bundle.read_data(answer, budget));
      request.binary = binary;
      request.binary_options = run.entry.options;
      CLBIN_TRY_ASSIGN(run.failure, failure_of(run, answer, std::move(request)));
      if (!run.failure.empty()) {
        return {};
      }
    }
    return {};
  }

private:
  // An imported entry may not record its kernels.
  static bool has_kernel(const format::EntryView& entry, const std::string& name) {
    return entry.kernels.empty() || std::ranges::find(entry.kernels, name) != entry.kernels.end();
  }

  static void note_unchecked(Run& run, std::string why) {
    run.why_not_launched = run.why_not_launched.empty() ? std::move(why) : run.why_not_launched;
  }

  LaunchingWorker& worker_of(std::size_t device) {
    std::unique_ptr<LaunchingWorker>& worker = m_workers[device];
    if (worker == nullptr) {
      worker = m_devices.launching_worker(device);
    }
    return *worker;
  }

  // Returns an empty text if the result is right, or if the driver refuses to start the launch,
  // whose work-groups may be too large for the device.
  Result<std::string> failure_of(Run& run, const format::KnownAnswer& answer,
                                 worker::LaunchRequest request) {
    LaunchingWorker& worker = worker_of(run.device_number);
    auto reply = worker.launch(std::move(request));
    if (worker.error()) {
      return tl::unexpected(*worker.error());
    }
    const std::string launch = fmt::format("kernel '{}' with {} work-items", answer.kernel,
                                           size_text(answer.global_size, answer.dimensions));
    if (!reply && reply.error().failed_call == "clEnqueueNDRangeKernel") {
      note_unchecked(run, fmt::format("{}: {}", launch, reply.error().reason));
      return std::string();
    }
    const auto results = reply ? results_of(answer.arguments, std::move(reply->buffers))
                               : tl::unexpected(std::move(reply.error()));
    if (!results) {
      return fmt::format("{}: {}", launch, results.error().reason);
    }
    if (const auto difference = format::difference_of_answer(answer, *results)) {
      return fmt::format("{} computes a wrong result: {}", launch, *difference);
    }
    ++run.right_count;
    return std::string();
  }

  const format::BundleReader& m_bundle;
  format::ProvedBlobs m_proved;
  const TrialDevices& m_devices;
  std::vector<std::unique_ptr<LaunchingWorker>> m_workers; // by device; null until it is needed
};

Result<void> examine(const format::BundleReader& bundle, const TrialDevices& devices, Plan& plan) {
  Examination examination(bundle, devices);
  for (Run& run : plan.runs) {
    const auto known = plan.answers.find({run.program, run.variant});
    if (run.failure.empty() && known != plan.answers.end()) {
      CLBIN_TRY(examination.examine(run, known->second));
    }
  }
  return {};
}

Result<void> run_entries(const format::BundleReader& bundle, TrialDevices& devices,
                         Verdict& verdict) {
  CLBIN_TRY(devices.find());
  Plan plan{TrialPlan(bundle), format::TextBudget(bundle.total_bytes()), {}};
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(i));
    CLBIN_TRY(read_answers(bundle, group, plan));
    CLBIN_TRY(plan_group(bundle, group, devices, plan));
  }
  const std::vector<Trial> trials = devices.carry_out(std::move(plan.trials), verdict.file);
  for (const auto& [run, number] : plan.tried) {
    const Trial& trial = trials[number];
    const std::string log = trial.driver_log.substr(0, trial.driver_log.find('\n'));
    plan.runs[run].failure = trial.decision == Trial::Decision::loaded ? ""
                             : log.empty()                             ? trial.outcome
                                           : fmt::format("{}: {}", trial.outcome, log);
  }
  CLBIN_TRY(examine(bundle, devices, plan));
  verdict.runs = std::move(plan.runs);
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    CLBIN_TRY_ASSIGN(const format::EntryView entry, bundle.entry(i));
    if (!plan.blobs.contains(entry.blob)) {
      ++(plan.il_blobs.contains(entry.blob) ? verdict.il_count : verdict.idle_count);
    }
  }
  return {};
}

// What --public-key and --decrypt-key name.
struct Keys {
  std::vector<trust::TrustedKey> trusted;
  BundleKeys decryption;
};

Result<Keys> read_keys(const Options& options, Reporter& reporter) {
  Keys keys;
  CLBIN_TRY_ASSIGN(keys.trusted, trust::read_public_keys(options.public_keys));
  CLBIN_TRY_ASSIGN(keys.decryption, trust::read_decryption_keys(options, reporter));
  return keys;
}

// Checks the signature file beside a bundle before anything of the bundle is parsed. Returns
// std::nullopt for a document, of which nothing else can be checked.
Result<std::optional<format::BundleReader>>
open_with_signature_file(const std::filesystem::path& path, const Keys& keys) {
  if (path == "-") {
    return refused("'--detached' needs a file with a name, not standard input");
  }
  CLBIN_TRY_ASSIGN(base::Bytes bytes, base::read_whole_file(path, k_max_whole_bundle_bytes));
  CLBIN_TRY(trust::check_detached(bytes, trust::detached_name(path), keys.trusted));
  if (trust::is_document(bytes)) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(format::BundleReader bundle,
                   format::BundleReader::open(base::owning_source(std::move(bytes), path.string()),
                                              {}, format::TrailingBytes::refuse));
  CLBIN_TRY(keys.decryption.unlock(bundle));
  return bundle;
}

Result<std::optional<format::BundleReader>>
open_as_required(const std::filesystem::path& path, const Options& options, const Keys& keys) {
  if (keys.trusted.empty()) {
    return open_bundle(path, keys.decryption);
  }
  if (options.signature_form == SignatureForm::detached) {
    return named(open_with_signature_file(path, keys), path);
  }
  format::SignaturePolicy policy = trust::signature_policy(keys.trusted);
  policy.least_counter = options.least_counter;
  return open_bundle(path, keys.decryption, &policy);
}

Result<void> verify_all(const format::BundleReader& bundle, Verdict& verdict) {
  CLBIN_TRY_ASSIGN(const Verified verified, verify_bundle(bundle));
  verdict.is_locked = verified == Verified::all_but_contents;
  CLBIN_TRY_ASSIGN(const auto records, bundle.signature_records());
  return format::check_every_signature(bundle.root_digest(), records);
}

Verdict verify_one(const std::filesystem::path& path, const Options& options, RunPolicy run,
                   const Keys& keys, TrialDevices& devices) {
  Verdict verdict;
  verdict.file = bundle_name(path);
  const auto opened = open_as_required(path, options, keys);
  if (!opened) {
    verdict.error = opened.error();
    return verdict;
  }
  const std::optional<format::BundleReader>& bundle = *opened;
  if (!bundle) {
    return verdict;
  }
  verdict.root = bundle->root_digest();
  verdict.entry_count = bundle->entry_count();
  Result<void> done = verify_all(*bundle, verdict);
  if (done && run == RunPolicy::yes) {
    done = require_contents(*bundle);
    done = done ? run_entries(*bundle, devices, verdict) : done;
  }
  if (!done) {
    verdict.error = named_error(std::move(done.error()), path);
  }
  return verdict;
}

// Runs the entries of a directory of packs, whose files were verified.
Verdict run_together(const std::filesystem::path& path, const Keys& keys, TrialDevices& devices) {
  Verdict verdict;
  verdict.file = bundle_name(path);
  const auto bundle = open_readable_bundle(path, keys.decryption);
  const Result<void> done = bundle ? run_entries(*bundle, devices, verdict)
                                   : Result<void>(tl::unexpected(bundle.error()));
  verdict.entry_count = bundle ? bundle->entry_count() : 0;
  if (!done) {
    verdict.error = named_error(done.error(), path);
  }
  return verdict;
}

void tell(const Verdict& verdict, RunPolicy policy, Reporter& reporter) {
  if (verdict.error) {
    reporter.error(*verdict.error);
    return;
  }
  if (verdict.is_locked) {
    reporter.warning(fmt::format("{}: {}", verdict.file, k_contents_not_checked));
  }
  for (const Run& run : verdict.runs) {
    const std::string text =
        fmt::format("{}: program '{}', variant '{}', entry for {} on '{}'", verdict.file,
                    run.program, run.variant, run.target, run.device);
    if (!run.why_not_launched.empty()) {
      reporter.note(
          fmt::format("{}: a known answer was not checked: {}", text, run.why_not_launched));
    }
    if (run.failure.empty()) {
      reporter.verbose(run.right_count == 0
                           ? text + ": loads"
                           : fmt::format("{}: loads, and gives {} known answer{}", text,
                                         run.right_count, run.right_count == 1 ? "" : "s"));
    } else {
      reporter.error(fmt::format("{}: {}", text, run.failure));
    }
  }
  const auto note = [&](std::uint32_t count, std::string_view what) {
    if (policy == RunPolicy::yes && count != 0) {
      reporter.note(fmt::format("{}: {} of {} entries {}: not run", verdict.file, count,
                                verdict.entry_count, what));
    }
  };
  note(verdict.idle_count, "match no device of this machine");
  note(verdict.il_count, "contain IL that a driver of this machine would build");
  reporter.verbose(fmt::format("{}: sound, {} entries", verdict.file, verdict.entry_count));
}

void write_json(const Verdict& verdict, JsonStream& document) {
  const std::vector<Error> errors =
      verdict.error ? std::vector{*verdict.error} : std::vector<Error>();
  document.begin_object();
  document.member("contents_checked", {!verdict.error && !verdict.is_locked});
  document.member("entries", {std::uint64_t{verdict.entry_count}});
  document.member("entries_not_run", {std::uint64_t{verdict.idle_count} + verdict.il_count});
  document.member("errors", errors_json(errors));
  document.member("file", {verdict.file});
  document.array_member("runs", verdict.runs, [&](const Run& run) {
    document.value({JsonObject{
        {"program", {run.program}},
        {"variant", {run.variant}},
        {"target", {run.target}},
        {"device", {std::string(run.device)}},
        {"loads", {run.failure.empty()}},
        {"failure", {run.failure}},
        {"right_answers", {std::uint64_t{run.right_count}}},
    }});
  });
  document.end();
}

ExitCode status_of(const Verdict& verdict) {
  if (verdict.error) {
    return exit_code_of(verdict.error->code);
  }
  const bool all_load =
      std::ranges::all_of(verdict.runs, [](const Run& run) { return run.failure.empty(); });
  return all_load ? ExitCode::success : k_entry_does_not_load;
}

} // namespace

Result<ExitCode> verify(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  const auto keys = read_keys(options, reporter);
  if (!keys) {
    reporter.error(keys.error()); // once, and in JSON for each bundle
  }
  TrialDevices devices(options, context.workers, reporter);
  const bool is_json = options.list_format == ListFormat::json;
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  ExitCode status = ExitCode::success;
  const auto add = [&](const Verdict& verdict) {
    if (keys) {
      tell(verdict, options.run, reporter);
    }
    if (is_json) {
      write_json(verdict, document.stream());
    }
    status = status == ExitCode::success ? status_of(verdict) : status;
  };
  for (const Input& input : options.inputs) {
    const auto files = keys ? bundle_files(input.path) : tl::unexpected(keys.error());
    if (!files) {
      add(Verdict{.file = bundle_name(input.path),
                  .error = keys ? named_error(files.error(), input.path) : keys.error()});
      continue;
    }
    const RunPolicy of_files = has_packs(input.path) ? RunPolicy::no : options.run;
    bool are_sound = true;
    for (const BundleFile& file : *files) {
      Verdict verdict = verify_one(file.path, options, of_files, *keys, devices);
      if (const auto checked = check_root(file, verdict.root); !checked && !verdict.error) {
        verdict.error = checked.error();
      }
      add(verdict);
      are_sound = are_sound && !verdict.error;
    }
    if (of_files != options.run && are_sound) { // the base has the known answers
      add(run_together(input.path, *keys, devices));
    }
  }
  return !is_json || document.finish() ? status : ExitCode::file;
}

} // namespace oclcc
