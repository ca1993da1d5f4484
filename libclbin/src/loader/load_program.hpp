// Loads a program for one or several devices, and records each attempt in a report.
#pragma once

#include "cache/keyed_store.hpp"
#include "cache/quarantine.hpp"
#include "matching/candidate_ranking.hpp"
#include "opencl/program_build.hpp"

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

// The numbers are those of clbin_fallback in clbin.h.
enum class FallbackPolicy : std::uint8_t { if_needed = 0, never = 1, always = 2 };
// Whether the user cache stores what is built.
enum class StorePolicy : std::uint8_t { keep, drop };

// The origin of a program. The numbers are those of clbin_origin in clbin.h.
enum class Origin : std::uint8_t { none = 0, entry = 1, user_cache = 2, il = 3, source = 4 };
[[nodiscard]] constexpr std::string_view to_string(Origin origin) noexcept {
  constexpr std::string_view k_names[]{"none", "entry", "user cache", "il", "source"};
  return k_names[static_cast<std::size_t>(origin)];
}

enum class Decision : std::uint8_t {
  loaded = 0,        // the chosen attempt
  refused = 1,       // rejected by the driver
  not_attempted = 2, // excluded by a rule; `reason` states which
  unreadable = 3,    // its bytes in the bundle are damaged; the driver did not receive any
  accepted = 4,      // accepted alone for its device, before all devices share a program
  recompiled = 5,    // accepted, but the driver ignored the binary and built the IR beside it
  wrong_answer = 6,  // accepted, but it does not compute what is known (AnswerCheck)
};
[[nodiscard]] constexpr std::string_view to_string(Decision decision) noexcept {
  constexpr std::string_view k_names[]{"loaded",   "refused",    "not attempted", "unreadable",
                                       "accepted", "recompiled", "wrong answer"};
  return k_names[static_cast<std::size_t>(decision)];
}

using matching::Rule;

// Whether the report also lists entries that were not attempted. Their verdicts require reading the
// whole group, so they are never listed if an exact entry was loaded.
enum class ReportDetail : std::uint8_t { attempts_only = 0, every_entry = 1 };

struct Attempt {
  std::uint32_t device = 0;                 // index in the request
  std::uint32_t entry = format::k_no_index; // k_no_index: not a single entry of the bundle
  std::string pack{};                       // the pack that contains the entry; empty: none
  std::string target{};                     // the target of the entry; empty without an entry
  Origin origin = Origin::none;
  Decision decision = Decision::not_attempted;
  Rule rule = Rule::none;
  std::string reason{}; // a sentence
  std::int32_t cl_code = 0;
  std::string cl_code_name{}; // "CL_INVALID_BINARY"; empty if no OpenCL call was made
  std::string stage{};        // "clBuildProgram"
  std::string driver_log{};
  std::uint64_t microseconds = 0; // for reading, checking and the calls of the driver
};

// What the build of a binary reported: its log, and its kernels, sorted by name.
using ProgramDetails = format::ManifestEntry;

struct LoadReport {
  std::string program;
  std::string variant;
  std::string variant_reason; // what was measured, and where the extensions that it requires are,
                              // as phrases; empty if neither made the choice
  std::string extensions;     // requested when the program was compiled, between spaces
  Origin origin = Origin::none;
  std::uint32_t first_entry = 0;     // of the variant, as an index in the bundle
  std::vector<std::string> devices;  // "PLATFORM / DEVICE / DRIVER VERSION", one per device
  std::vector<Attempt> attempts;     // in the order in which they were made or ruled out
  std::vector<std::string> warnings; // at most one about the user cache and the quarantine
  std::uint64_t microseconds = 0;
  bool has_cache_warning = false; // LoadSession::warn_of_cache added one
  bool is_kept = false;           // what was built was passed to the store queue
};

struct LoadSession;

// What a check of known answers found of a program on a device.
struct AnswersFound {
  // none: nothing is known of the variant. unchecked: not all of it could be checked.
  enum class Verdict : std::uint8_t { none, right, wrong, unchecked };
  Verdict verdict = Verdict::none;
  std::string reason{};   // of wrong and unchecked, an unfinished sentence
  bool is_lasting = true; // the next check would find the same
};

// How a load checks known answers.
struct AnswerCheck {
  // once: what was found is in the user cache, and is not checked again there.
  enum class When : std::uint8_t { once = 1, always = 2 };
  When when = When::once;
  // Launches kernels of the program. check_answers, as a pointer: a product that does not check
  // does not contain the code for manifests and launches.
  AnswersFound (*examine)(const LoadSession& session, std::uint32_t device, cl_program program);
};
// Launches what the bundle knows of the variant of the session, on its context, until the limit of
// the request. The driver has the functions of TableUse::launches. Allocates up to twice the memory
// limit of the session besides its budget.
[[nodiscard]] AnswersFound check_answers(const LoadSession& session, std::uint32_t device,
                                         cl_program program);

struct LoadRequest {
  std::string program;
  // Empty: the fastest that was measured, then the best whose requirements are met, then "default".
  std::string variant;
  // With it, the fastest in launches near this size. Does nothing if `variant`, `extra_options` or
  // `constants` is set.
  format::LaunchSize problem_size{};
  // Options known only at run time. If the variant's options followed by these are the options of
  // another variant of the program, that variant is loaded. Otherwise no entry fits, and the
  // program is stored in the user cache after its build.
  std::string extra_options;
  // Constants of SPIR-V, for which only the user cache and IL are used.
  std::vector<opencl::SpecializationConstant> constants;
  FallbackPolicy fallback = FallbackPolicy::if_needed;
  StorePolicy store = StorePolicy::keep;
  // Returns what the user cache stores of a program that was built, on PoCL, too, which otherwise
  // has only its own cache. Empty: the binary of the driver, but none of PoCL.
  std::function<Result<base::Bytes>(cl_program program)> take_binary{};
  // Null: no kernel is launched. With options or constants of the request, nothing is known.
  const AnswerCheck* answers = nullptr;
  std::chrono::milliseconds answers_limit{1000}; // after it, no launch begins
  ReportDetail detail = ReportDetail::every_entry;
  std::vector<cl_device_id> devices; // at least one, without duplicates, all in the context
  std::function<void(const Attempt&)>
      on_attempt; // called for each attempt when it is recorded, on the caller's thread
};

// What the loads of one bundle store on disk. Thread-safe. The destructor blocks until pending
// entries are written.
struct ProgramCache {
  // CacheSettings() disables both the user cache and the quarantine.
  explicit ProgramCache(const cache::CacheSettings& settings) : ProgramCache(settings, settings) {}
  // With separate settings for what executes, and for the record of what crashed.
  ProgramCache(const cache::CacheSettings& of_programs, const cache::CacheSettings& of_quarantine)
      : programs(of_programs, cache::CacheKind::user), quarantine(of_quarantine),
        verdicts(of_programs), stores(programs) {}

  cache::KeyedStore programs;
  cache::Quarantine quarantine;
  cache::Verdicts verdicts;
  cache::StoreQueue stores;
};

// The packs of a base, which are bundles beside it. A pack is opened when a load first needs it,
// and stays open: it may be replaced or removed. Thread-safe.
class PackSet {
public:
  // Opens the pack with this name, with the keys and the limits of the base.
  using OpenPack = std::function<Result<format::BundleReader>(const std::string& name)>;
  // `records`: BundleReader::packs of the base.
  PackSet(std::vector<format::PackRecord> records, OpenPack open)
      : m_records(std::move(records)), m_open(std::move(open)) {}

  struct Pack {
    std::string name;
    std::shared_ptr<const format::BundleReader> bundle; // null: `error` says why
    base::Error error{};
  };
  // Returns the packs that have a binary for the device, each once. The error names the pack:
  // file_not_found: it is not installed; digest_mismatch: it is not the one that the base names;
  // those of OpenPack.
  [[nodiscard]] std::vector<Pack> packs_for(const format::DeviceIdentity& device) const;
  // BundleReader::is_current of all packs that are open.
  [[nodiscard]] bool is_current() const;

private:
  [[nodiscard]] Result<std::shared_ptr<const format::BundleReader>>
  open(const format::PackRecord& record) const;

  std::vector<format::PackRecord> m_records;
  OpenPack m_open;
  mutable std::mutex m_mutex;
  mutable std::map<std::string, std::shared_ptr<const format::BundleReader>> m_opened; // by name
};

// Returns the program, which the caller owns. `report` contains every attempt, also of a failure.
//
// For one device, tries in this order: entries made for it, the user cache, compatible entries
// (best first), IL that the device supports, source. Passes a program built from IL or source to
// the store queue. An entry that the driver recompiles from IR is used if no other binary loads.
//
// For several devices, checks the binary of each device alone, then creates one program from all of
// them. If a device has no binary, builds source for all devices, and passes the binaries of that
// device and the following ones to the store queue. If the driver rejects the binaries together,
// builds source for all devices and stores nothing.
//
// A request that names neither a variant nor options nor constants tries those that were measured
// first, the fastest before the others (matching/variant_choice.hpp). A request that names no
// variant then tries those that require extensions, most first, then by name, before "default". If
// a device lacks one that the variant requires, only entries that were compiled with it (-cl-ext)
// serve, and neither IL nor source is built.
//
// Entries of packs are tried like those of the bundle, in one order. A pack that is not installed,
// or cannot be used, is passed over: the report names it if no entry made for exactly the device
// loads. Without `packs`, the report says that the bundle was opened without them.
//
// Only if_needed uses the user cache. No entry is attempted that ended the process twice in a day.
//
// If the request checks known answers, a binary of each device that does not compute what is known
// is no binary of it (Decision::wrong_answer), and source that is built so is an error.
//
// invalid_argument: there is no device, a device is not in the context or is listed twice, or there
// are constants for several devices. no_such_program, no_such_variant. no_matching_entry: no entry
// fits, and the policy is `never`; or no IL fits, and there are constants. binary_refused: the
// driver rejected entries, entries compute something wrong, or are in quarantine, and the policy is
// `never` or there is no source; or the driver rejected IL with constants. no_source.
// unsafe_options: see recorded_options.hpp. build_failed: the message contains the build log, or
// what the source computes wrong. several_devices_refused: the binaries do not load together, and
// the policy is `never` or there is no source. opencl_call: a query failed. Errors of the reader if
// nothing else loads.
[[nodiscard]] base::Result<opencl::Program>
load_program(const opencl::Driver& driver, const format::BundleReader& bundle, ProgramCache& cache,
             cl_context context, const LoadRequest& request, LoadReport& report,
             const PackSet* packs = nullptr);

// A warm start prepares known answers, too, however long they take.
inline constexpr std::chrono::hours k_warm_answers_limit{1};

// Loads a variant as the first start of an application does, checks what is known of it once, and
// blocks until the user cache contains what was built. Then also checks what is stored, which later
// starts load. The request names the variant and one device, and the user cache is on. Sets
// `answers` of the request.
//
// file_write: what was built is not stored. Those of load_program.
[[nodiscard]] base::Result<void> warm_variant(const opencl::Driver& driver,
                                              const format::BundleReader& bundle,
                                              ProgramCache& cache, cl_context context,
                                              LoadRequest request, LoadReport& report,
                                              const PackSet* packs = nullptr);

// In the schema that clbin_report_json (clbin.h) documents.
[[nodiscard]] std::string report_json(const LoadReport& report);
// For people, with one line per attempt. The log of a driver is indented below its attempt.
[[nodiscard]] std::string describe(const LoadReport& report);

} // namespace clbin::loader
