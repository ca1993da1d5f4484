// RAII over clbin.h, for C++17 and later. Header-only: defines no symbols of its own.
//
//     auto bundle = clbin::Bundle::open("kernels.clbin");
//     cl_program program = bundle.load(context, device, "matmul");
//
// Include clbin/opencl.hpp instead to pass cl::Context and cl::Device and to receive cl::Program.
// Every failure throws clbin::Error or std::bad_alloc. clbin.h documents the thread-safety, the
// ownership and the treatment of untrusted input. No declaration depends on the order of includes.
#ifndef CLBIN_CLBIN_HPP
#define CLBIN_CLBIN_HPP

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "clbin.hpp requires C++17 or later: compile with -std=c++17"
#else
#define CLBIN_HAS_CPP_API 1

#include "clbin/clbin.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace clbin {

// Why a call failed. what() is one line; after CLBIN_ERROR_BUILD_FAILED, the build log follows.
class Error : public std::runtime_error {
public:
  Error(clbin_status status, const std::string& message, std::int32_t opencl_code = 0,
        std::string stage = {}, std::string build_log = {})
      : std::runtime_error(message), m_status(status), m_opencl_code(opencl_code),
        m_stage(std::move(stage)), m_build_log(std::move(build_log)) {}
  [[nodiscard]] clbin_status status() const noexcept { return m_status; }
  // Returns the code of the OpenCL call that failed, such as CL_BUILD_PROGRAM_FAILURE; 0 if none
  // did.
  [[nodiscard]] std::int32_t opencl_code() const noexcept { return m_opencl_code; }
  // Returns the name of that call; empty for those of launchers and clbin::Buffer.
  [[nodiscard]] const std::string& stage() const noexcept { return m_stage; }
  [[nodiscard]] const std::string& build_log() const noexcept { return m_build_log; }
  [[nodiscard]] std::string_view status_name() const noexcept {
    return clbin_status_name(m_status);
  }

private:
  clbin_status m_status;
  std::int32_t m_opencl_code;
  std::string m_stage;
  std::string m_build_log;
};

namespace detail {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

template <typename Object, auto Free>
using Handle = std::unique_ptr<Object, Deleter<Free>>;

inline std::string text(const char* value) {
  return value == nullptr ? "" : value;
}

inline std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    result.emplace_back(line);
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  }
  return result;
}

// Throws if `status` is a failure. `error` may be null.
inline void check(clbin_status status, const clbin_error* error = nullptr) {
  if (status == CLBIN_ERROR_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (status != CLBIN_SUCCESS) {
    throw Error(status, error == nullptr ? clbin_status_name(status) : clbin_error_message(error),
                clbin_error_opencl_code(error), clbin_error_stage(error),
                clbin_error_build_log(error));
  }
}

// Calls a function of clbin.h, whose last parameter is a clbin_error**, and throws its error.
template <typename Function, typename... Arguments>
void call(const Function& function, const Arguments&... arguments) {
  clbin_error* raw_error = nullptr;
  const clbin_status status = function(arguments..., &raw_error);
  const Handle<clbin_error, clbin_error_free> error(raw_error);
  check(status, raw_error);
}

// Returns the object that such a function stores through the parameter before the error.
template <typename Object, typename Function, typename... Arguments>
Object* made(const Function& function, const Arguments&... arguments) {
  Object* object = nullptr;
  call(function, arguments..., &object);
  return object;
}

// Returns a struct that `function` fills.
template <typename Struct, typename Function>
Struct filled(const Function& function) {
  Struct result{};
  result.struct_size = sizeof(result);
  check(function(&result));
  return result;
}

// Returns what `fill` says about an object, or zeros if `object` is null.
template <typename Object, typename Info>
Info info_of(clbin_status (*fill)(const Object*, Info*), const Object* object) noexcept {
  Info info{};
  info.struct_size = sizeof(info);
  static_cast<void>(fill(object, &info));
  return info;
}

template <typename Range>
using ElementOf =
    std::remove_const_t<std::remove_pointer_t<decltype(std::data(std::declval<const Range&>()))>>;

// Specialised by clbin/opencl.hpp for cl::Context.
template <typename Context>
struct OpenClBinding;

} // namespace detail

// Refers to consecutive objects that it does not own. Converts from arrays, containers and
// std::span, and, in C++20, to std::span<const T>.
template <typename T>
class View {
public:
  using value_type = T;
  using const_iterator = const T*;

  constexpr View() noexcept = default;
  constexpr View(const T* data, std::size_t size) noexcept : m_data(data), m_size(size) {}
  template <typename Range, std::enable_if_t<std::is_same_v<detail::ElementOf<Range>, T> &&
                                                 !std::is_same_v<Range, View>,
                                             int> = 0>
  constexpr View(const Range& range) noexcept // NOLINT: implicit, as std::span
      : m_data(std::data(range)), m_size(std::size(range)) {}

  [[nodiscard]] constexpr const T* data() const noexcept { return m_data; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return m_size; }
  [[nodiscard]] constexpr bool empty() const noexcept { return m_size == 0; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return m_data; }
  [[nodiscard]] constexpr const T* end() const noexcept { return m_data + m_size; }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const { return m_data[index]; }

private:
  const T* m_data = nullptr;
  std::size_t m_size = 0;
};

// ---- Contents ---------------------------------------------------------------------------------

struct Argument {
  std::string name;
  std::string type;
};

struct Kernel {
  std::string name;
  std::optional<std::size_t> argument_count;               // std::nullopt if unknown
  std::vector<Argument> arguments;                         // empty if unknown
  std::array<std::uint64_t, 3> required_work_group_size{}; // work-items; all 0: none
};

struct Entry {
  std::string platform;
  std::string device;
  std::string driver_version;
  std::string target_spec; // of an offline target; otherwise empty
  std::string format;      // "PTX 7.5 for sm_50"
  std::string options;
  std::string raw_digest; // 64 hexadecimal digits
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::vector<Kernel> kernels;
  std::string extensions; // that -cl-ext requested for it, separated by spaces
};

// One variant of one program.
struct Group {
  std::string program;
  std::string variant;
  std::string options;
  bool has_source = false;
  std::vector<Entry> entries;
  std::string required; // extensions that it requires of a device, separated by spaces
};

// ---- Selecting without OpenCL -----------------------------------------------------------------

// Identifies a device; see clbin_identity.
struct Identity {
  std::string platform_name;
  std::string platform_version;
  std::string vendor;
  std::string device_name;
  std::string driver_version;
  std::string device_version;
  std::vector<std::string> opencl_c_versions;
  std::vector<std::string> il_versions;
  std::string architecture;
  std::uint32_t vendor_id = 0;
  std::uint32_t address_bits = 0;
};

namespace detail {

// Calls `visit` with each text of two identities, C++ and C.
template <typename Cpp, typename C, typename Visit>
void for_each_text(Cpp& identity, C& raw, const Visit& visit) {
  visit(identity.platform_name, raw.platform_name);
  visit(identity.platform_version, raw.platform_version);
  visit(identity.vendor, raw.vendor);
  visit(identity.device_name, raw.device_name);
  visit(identity.driver_version, raw.driver_version);
  visit(identity.device_version, raw.device_version);
  visit(identity.architecture, raw.architecture);
}

} // namespace detail

// Why an entry was chosen or attempted; see clbin_rule.
enum class Rule {
  none = CLBIN_RULE_NONE,
  exact_identity = CLBIN_RULE_EXACT_IDENTITY,
  compatible = CLBIN_RULE_COMPATIBLE,
  il = CLBIN_RULE_IL,
  not_compatible = CLBIN_RULE_NOT_COMPATIBLE,
  user_cache = CLBIN_RULE_USER_CACHE,
  recompiled = CLBIN_RULE_RECOMPILED,
  several_devices = CLBIN_RULE_SEVERAL_DEVICES,
  source = CLBIN_RULE_SOURCE,
  same_process = CLBIN_RULE_SAME_PROCESS
};

// The best entry for a device. Its bytes have been checked and decompressed.
class Selection {
public:
  explicit Selection(clbin_selection* selection) : m_selection(selection) {}

  // The bytes are valid as long as this object, and remain valid if it is moved.
  [[nodiscard]] View<std::byte> data() const noexcept {
    const clbin_selection_info found = info();
    return {static_cast<const std::byte*>(found.data), found.size_bytes};
  }
  [[nodiscard]] std::string options() const { return detail::text(info().options); }
  [[nodiscard]] std::string format() const { return detail::text(info().format); }
  [[nodiscard]] std::string rule() const { return detail::text(info().rule); }
  [[nodiscard]] Rule rule_number() const noexcept { return static_cast<Rule>(info().rule_number); }
  [[nodiscard]] std::vector<std::string> kernels() const {
    const clbin_selection_info found = info();
    return {found.kernels, found.kernels + found.kernel_count};
  }

private:
  [[nodiscard]] clbin_selection_info info() const noexcept {
    return detail::info_of(clbin_selection_get, m_selection.get());
  }

  detail::Handle<clbin_selection, clbin_selection_free> m_selection;
};

// ---- Loading ----------------------------------------------------------------------------------

enum class Fallback {
  if_needed = CLBIN_FALLBACK_IF_NEEDED,
  never = CLBIN_FALLBACK_NEVER,
  always = CLBIN_FALLBACK_ALWAYS
};

enum class Answers {
  never = CLBIN_ANSWERS_NEVER,
  once = CLBIN_ANSWERS_ONCE,
  always = CLBIN_ANSWERS_ALWAYS
};

enum class Origin {
  none = CLBIN_ORIGIN_NONE,
  entry = CLBIN_ORIGIN_ENTRY,
  user_cache = CLBIN_ORIGIN_USER_CACHE,
  il = CLBIN_ORIGIN_IL,
  source = CLBIN_ORIGIN_SOURCE
};

enum class Decision {
  loaded = CLBIN_DECISION_LOADED,
  refused = CLBIN_DECISION_REFUSED,
  not_attempted = CLBIN_DECISION_NOT_ATTEMPTED,
  unreadable = CLBIN_DECISION_UNREADABLE,
  accepted = CLBIN_DECISION_ACCEPTED,
  recompiled = CLBIN_DECISION_RECOMPILED,
  wrong_answer = CLBIN_DECISION_WRONG_ANSWER
};

// One step of a load; see clbin_attempt.
struct Attempt {
  Decision decision = Decision::not_attempted;
  Origin origin = Origin::none;
  std::uint32_t device = 0;
  std::string target;
  std::string rule; // the text of rule_number
  Rule rule_number = Rule::none;
  std::string reason;
  std::string stage;
  std::string driver_log;
  std::int32_t cl_code = 0;
  std::string cl_code_name;         // empty if no OpenCL call was made
  std::optional<std::size_t> entry; // index in Group::entries; std::nullopt: not from the bundle
  std::uint64_t microseconds = 0;
  std::string pack; // that contains the entry; empty if none does
};

namespace detail {

inline Attempt to_attempt(const clbin_attempt& from) {
  Attempt attempt;
  attempt.decision = static_cast<Decision>(from.decision);
  attempt.origin = static_cast<Origin>(from.origin);
  attempt.device = from.device;
  attempt.target = text(from.target);
  attempt.rule = text(from.rule);
  attempt.rule_number = static_cast<Rule>(from.rule_number);
  attempt.reason = text(from.reason);
  attempt.stage = text(from.stage);
  attempt.driver_log = text(from.driver_log);
  attempt.cl_code = from.cl_code;
  attempt.cl_code_name = text(from.cl_code_name);
  attempt.pack = text(from.pack);
  if (from.entry >= 0) {
    attempt.entry = static_cast<std::size_t>(from.entry);
  }
  attempt.microseconds = from.microseconds;
  return attempt;
}

} // namespace detail

// Records what a load did, including a load that failed. Empty until it is passed to a load.
class Report {
public:
  [[nodiscard]] Origin origin() const noexcept { return static_cast<Origin>(info().origin); }
  [[nodiscard]] std::uint64_t microseconds() const noexcept { return info().microseconds; }
  [[nodiscard]] std::vector<Attempt> attempts() const {
    std::vector<Attempt> attempts;
    for (std::size_t i = 0; i < info().attempt_count; ++i) {
      attempts.push_back(detail::to_attempt(detail::filled<clbin_attempt>(
          [&](clbin_attempt* filled) { return clbin_report_attempt(m_report.get(), i, filled); })));
    }
    return attempts;
  }
  [[nodiscard]] std::string program() const { return detail::text(info().program); }
  [[nodiscard]] std::string variant() const { return detail::text(info().variant); }
  // Returns by which measurements the variant was chosen, and where the extensions are that it
  // requires; empty if neither made the choice.
  [[nodiscard]] std::string variant_reason() const { return detail::text(info().variant_reason); }
  // Returns the extensions that -cl-ext requested for the program, separated by spaces.
  [[nodiscard]] std::string extensions() const { return detail::text(info().extensions); }
  // Returns "PLATFORM / DEVICE / DRIVER VERSION" for each device.
  [[nodiscard]] std::vector<std::string> devices() const {
    const clbin_report_info found = info();
    return {found.devices, found.devices + found.device_count};
  }
  [[nodiscard]] std::vector<std::string> warnings() const {
    const clbin_report_info found = info();
    return {found.warnings, found.warnings + found.warning_count};
  }
  // Returns one line of JSON. libclbin(3), Reports, lists its members.
  [[nodiscard]] std::string json() const { return detail::text(clbin_report_json(m_report.get())); }
  // Returns text for people, with one line for each attempt.
  [[nodiscard]] std::string text() const { return detail::text(clbin_report_text(m_report.get())); }

  void reset(clbin_report* report) noexcept { m_report.reset(report); }

private:
  [[nodiscard]] clbin_report_info info() const noexcept {
    return detail::info_of(clbin_report_get, m_report.get());
  }

  detail::Handle<clbin_report, clbin_report_free> m_report;
};

namespace detail {

// Like made(), for a function that also takes a clbin_report**, which is null without `report`.
template <typename Function, typename... Arguments>
_cl_program* made_with_report(Report* report, const Function& function,
                              const Arguments&... arguments) {
  _cl_program* program = nullptr;
  call([&](clbin_error** error) {
    clbin_report* raw_report = nullptr;
    const clbin_status status =
        function(arguments..., &program, report == nullptr ? nullptr : &raw_report, error);
    if (report != nullptr) {
      report->reset(raw_report);
    }
    return status;
  });
  return program;
}

} // namespace detail

// Options of a load. Every setter returns the object.
class LoadOptions {
public:
  LoadOptions& variant(const std::string& name) {
    m_state->variant = name;
    m_state->options.variant = m_state->variant.c_str();
    return *this;
  }
  // Chooses the variant that was the fastest for problems of about this size, of 1 to 3 dimensions.
  // See clbin_load_options.
  LoadOptions& problem_size(const std::vector<std::size_t>& size) {
    m_state->problem_size = size;
    m_state->options.problem_size = m_state->problem_size.data();
    m_state->options.problem_dimensions = size.size();
    return *this;
  }
  // Adds build options that are known only at run time to those of the variant. See
  // clbin_load_options.
  LoadOptions& build_options(const std::string& options) {
    m_state->build_options = options;
    m_state->options.build_options = m_state->build_options.c_str();
    return *this;
  }
  // Sets a specialization constant of SPIR-V by its SpecId, and replaces an earlier value of `id`.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  LoadOptions& specialization_constant(std::uint32_t id, T value) {
    State& state = *m_state;
    std::memcpy(state.values.emplace_back().data(), &value, sizeof(value));
    state.constants.push_back({id, sizeof(value), state.values.back().data()});
    state.options.constants = state.constants.data();
    state.options.constant_count = state.constants.size();
    return *this;
  }
  // Does not store what is built in the user cache.
  LoadOptions& do_not_store() {
    m_state->options.store = CLBIN_SWITCH_OFF;
    return *this;
  }
  LoadOptions& fallback(Fallback policy) {
    m_state->options.fallback = static_cast<clbin_fallback>(policy);
    return *this;
  }
  // Checks known answers; `limit_ms`: clbin_load_options.answers_ms.
  LoadOptions& check_answers(Answers when, std::uint32_t limit_ms = 0) {
    m_state->options.answers = clbin_check_answers(static_cast<clbin_answers>(when));
    m_state->options.answers_ms = limit_ms;
    return *this;
  }
  // Sets the function that returns the addresses of OpenCL functions instead of the ICD loader.
  LoadOptions& resolver(clbin_resolve_function resolve, void* user_data) {
    m_state->options.resolve = resolve;
    m_state->options.resolve_user_data = user_data;
    return *this;
  }
  // Sets the library, from dlopen, whose OpenCL functions are called instead of the ICD loader's.
  LoadOptions& library(void* handle) {
    m_state->options.library = handle;
    return *this;
  }
  // `callback` is called after every attempt, on the loading thread. It must not throw.
  LoadOptions& on_attempt(std::function<void(const Attempt&)> callback) {
    m_state->callback = std::move(callback);
    m_state->options.callback = [](const clbin_attempt* attempt, void* user_data) noexcept {
      (*static_cast<Callback*>(user_data))(detail::to_attempt(*attempt));
    };
    m_state->options.callback_user_data = &m_state->callback;
    return *this;
  }

  // For functions of clbin.h. Valid until this object changes or ends.
  [[nodiscard]] const clbin_load_options* get() const noexcept { return &m_state->options; }

private:
  using Callback = std::function<void(const Attempt&)>;
  // What `options` points to, at addresses that a move keeps.
  struct State {
    State() { options.struct_size = sizeof(options); }

    clbin_load_options options{};
    std::string variant;
    std::string build_options;
    std::vector<std::size_t> problem_size;
    std::vector<clbin_specialization_constant> constants;
    std::list<std::array<unsigned char, 16>> values;
    Callback callback;
  };
  std::unique_ptr<State> m_state = std::make_unique<State>();
};

// Asks a device for its identity, as a load does. Only the resolver of `options` is used.
[[nodiscard]] inline Identity query_identity(_cl_device_id* device,
                                             const LoadOptions& options = LoadOptions()) {
  const detail::Handle<clbin_identity, clbin_identity_free> raw(
      detail::made<clbin_identity>(clbin_identity_query, device, options.get()));
  Identity identity;
  detail::for_each_text(identity, *raw,
                        [](std::string& to, const char* from) { to = detail::text(from); });
  identity.opencl_c_versions = detail::lines(raw->opencl_c_versions);
  identity.il_versions = detail::lines(raw->il_versions);
  identity.vendor_id = raw->vendor_id;
  identity.address_bits = raw->address_bits;
  return identity;
}

// An Ed25519 public key.
using PublicKey = std::array<std::uint8_t, 32>;

// Reads a public key file of minisign, or its second line ("RW…"): clbin_public_key_from_text.
[[nodiscard]] inline PublicKey public_key(const std::string& text) {
  PublicKey key{};
  detail::call(clbin_public_key_from_text, text.c_str(), key.data());
  return key;
}

// The options of a bundle that must be signed; see clbin_open_options.
//
//     auto bundle = clbin::Bundle::open("kernels.clbin",
//                                       clbin::SignedOptions(clbin::public_key("RW…")));
class SignedOptions {
public:
  explicit SignedOptions(const PublicKey& trusted)
      : SignedOptions(std::vector<PublicKey>{trusted}) {}
  explicit SignedOptions(std::vector<PublicKey> trusted) : m_keys(std::move(trusted)) {
    m_options.struct_size = sizeof(m_options);
  }

  // The least counter that is accepted.
  SignedOptions& set_least_counter(std::uint64_t counter) {
    m_options.least_counter = counter;
    return *this;
  }
  // Lets loads use the user cache, whose entries nobody signed.
  SignedOptions& allow_unsigned_builds() {
    m_options.unsigned_builds = CLBIN_SWITCH_ON;
    return *this;
  }
  // Limits and other options; get() sets the members that concern signatures.
  [[nodiscard]] clbin_open_options& others() noexcept { return m_options; }
  // For functions of clbin.h. Valid until this object changes or ends.
  [[nodiscard]] const clbin_open_options* get() {
    static_assert(sizeof(PublicKey) == 32, "consecutive keys have no gaps");
    m_options.public_keys = m_keys.empty() ? nullptr : m_keys.front().data();
    m_options.public_key_count = m_keys.size();
    m_options.signature_policy = CLBIN_SIGNATURES_REQUIRED;
    return &m_options;
  }

private:
  std::vector<PublicKey> m_keys;
  clbin_open_options m_options{};
};

// Reads a key file of oclcc --keygen; see clbin_key_from_text. The caller overwrites both.
inline void read_key(const std::string& text, clbin_key& key) {
  key.struct_size = sizeof(key);
  detail::call(clbin_key_from_text, text.c_str(), &key);
}

// Which key opens an encrypted bundle; see clbin_key_request.
struct KeyRequest {
  using Bytes = std::array<std::uint8_t, 32>;
  Bytes key_id{};
  std::vector<Bytes> recipients; // X25519 public keys
};

// The options of a bundle that may be encrypted; see clbin_open_options.
//
//     const auto key = [&](const clbin::KeyRequest&, clbin_key& key) {
//       return clbin_key_from_text(licence.key_text(), &key, nullptr);
//     };
//     auto bundle = clbin::Bundle::open("kernels.clbin", clbin::EncryptedOptions(key));
class EncryptedOptions {
public:
  // Stores a key and returns 0, or any other number if there is none. It must not throw. See
  // clbin_key_function.
  using KeyFunction = std::function<int(const KeyRequest& request, clbin_key& key)>;
  explicit EncryptedOptions(KeyFunction key)
      : m_key(std::make_shared<KeyFunction>(std::move(key))) {
    m_options.struct_size = sizeof(m_options);
  }

  // Lets loads use the user cache, whose entries are not encrypted.
  EncryptedOptions& allow_decrypted_builds() {
    m_options.decrypted_builds = CLBIN_SWITCH_ON;
    return *this;
  }
  // The bundle must also be signed. Replaces all options but those of this class by `others`.
  EncryptedOptions& require(SignedOptions others) {
    const clbin_switch decrypted_builds = m_options.decrypted_builds;
    m_signed = std::make_shared<SignedOptions>(std::move(others));
    m_options = *m_signed->get();
    m_options.decrypted_builds = decrypted_builds;
    return *this;
  }
  // Limits and other options; get() sets the members that concern keys.
  [[nodiscard]] clbin_open_options& others() noexcept { return m_options; }
  // For functions of clbin.h. Valid until this object changes or ends.
  [[nodiscard]] const clbin_open_options* get() {
    m_options.key = [](const clbin_key_request* request, clbin_key* key, void* user_data) noexcept {
      return ask(*static_cast<const KeyFunction*>(user_data), *request, *key);
    };
    m_options.key_user_data = m_key.get();
    return &m_options;
  }

private:
  static int ask(const KeyFunction& function, const clbin_key_request& raw, clbin_key& key) {
    KeyRequest request;
    request.recipients.resize(raw.recipient_count);
    std::memcpy(request.key_id.data(), raw.key_id, request.key_id.size());
    for (std::size_t i = 0; i < raw.recipient_count; ++i) {
      KeyRequest::Bytes& recipient = request.recipients[i];
      std::memcpy(recipient.data(), raw.recipients + i * recipient.size(), recipient.size());
    }
    return function(request, key);
  }

  // Shared by copies, because m_options refers to them.
  std::shared_ptr<KeyFunction> m_key;
  std::shared_ptr<SignedOptions> m_signed; // owns the public keys; null if none are required
  clbin_open_options m_options{};
};

namespace detail {

// Any of the options of a bundle. Lives as long as a call that opens one.
class OpenOptions {
public:
  // NOLINTBEGIN(google-explicit-constructor): these are what callers pass.
  OpenOptions(const clbin_open_options* options) : m_options(options) {}
  OpenOptions(SignedOptions options) : m_signed(std::move(options)), m_options(m_signed->get()) {}
  OpenOptions(EncryptedOptions options)
      : m_encrypted(std::move(options)), m_options(m_encrypted->get()) {}
  // NOLINTEND(google-explicit-constructor)
  OpenOptions(OpenOptions&&) = delete; // and no copies

  [[nodiscard]] const clbin_open_options* get() const noexcept { return m_options; }

private:
  std::optional<SignedOptions> m_signed;
  std::optional<EncryptedOptions> m_encrypted;
  const clbin_open_options* m_options;
};

} // namespace detail

// What Bundle::warm did, in numbers of variants; see clbin_warmed.
struct Warmed {
  std::size_t from_entries = 0;
  std::size_t from_user_cache = 0;
  std::size_t built = 0;
  std::size_t unsuitable = 0;
  std::size_t remaining = 0; // not begun in time
};

// A bundle, open. Movable; const functions may be called from many threads at once.
class Bundle {
public:
  // `options` are a const clbin_open_options*, SignedOptions if the bundle must be signed, or
  // EncryptedOptions if it may be encrypted.
  using Options = const detail::OpenOptions&;

  [[nodiscard]] static Bundle open(const std::string& path, Options options = nullptr) {
    return Bundle(detail::made<clbin_bundle>(clbin_open, path.c_str(), options.get()));
  }

  // Opens a folder of a base and packs, as oclcc --split writes it.
  [[nodiscard]] static Bundle open_set(const std::string& folder, Options options = nullptr) {
    return Bundle(detail::made<clbin_bundle>(clbin_open_set, folder.c_str(), options.get()));
  }

  // Copies only what signatures cover: `bytes` must outlive the bundle and must not change.
  [[nodiscard]] static Bundle from_memory(View<std::byte> bytes, Options options = nullptr) {
    return from_memory(bytes.data(), bytes.size(), options);
  }
  [[nodiscard]] static Bundle from_memory(const void* data, std::size_t size_bytes,
                                          Options options = nullptr) {
    return Bundle(detail::made<clbin_bundle>(clbin_open_memory, data, size_bytes, options.get()));
  }

  // Opens a bundle of `size_bytes` bytes that `read` reads: it reads `size` bytes at `offset` into
  // `buffer` and returns 0, or any other number on failure. It must not throw, and must be
  // thread-safe if several threads use the bundle. See clbin_open_callback.
  using ReadFunction = std::function<int(std::uint64_t offset, void* buffer, std::size_t size)>;
  [[nodiscard]] static Bundle from_callback(ReadFunction read, std::uint64_t size_bytes,
                                            Options options = nullptr) {
    auto owned = std::make_unique<ReadFunction>(std::move(read));
    const auto forward = [](std::uint64_t offset, void* buffer, std::size_t size,
                            void* user_data) noexcept {
      return (*static_cast<ReadFunction*>(user_data))(offset, buffer, size);
    };
    Bundle bundle(detail::made<clbin_bundle>(clbin_open_callback, clbin_read_function(forward),
                                             owned.get(), size_bytes, options.get()));
    bundle.m_read = std::move(owned);
    return bundle;
  }
  // Returns whether the path that was opened still leads to the same, unchanged file; if not, open
  // it again. See clbin_is_current.
  [[nodiscard]] bool is_current() const noexcept { return clbin_is_current(m_bundle.get()) != 0; }

  // Reads the whole bundle and checks every digest and every rule of clbin(5).
  void verify() const { detail::call(clbin_verify, m_bundle.get()); }

  // Returns the highest counter by a trusted key, or 0 if there is none. The bundle must have been
  // opened with SignedOptions. See clbin_counter.
  [[nodiscard]] std::uint64_t counter() const {
    std::uint64_t number = 0;
    detail::call(clbin_counter, m_bundle.get(), &number);
    return number;
  }

  [[nodiscard]] std::vector<Group> list() const {
    const detail::Handle<clbin_listing, clbin_listing_free> listing(
        detail::made<clbin_listing>(clbin_list, m_bundle.get()));
    std::vector<Group> groups;
    for (std::size_t group = 0; group < clbin_listing_group_count(listing.get()); ++group) {
      groups.push_back(list_group(listing.get(), group));
    }
    return groups;
  }

  // Writes the contents as JSON: the document of "oclcc --info --json". `write` accepts one part of
  // the document after another; it returns 0, or any other number on failure, and must not throw.
  // If a part of the bundle is invalid, writes what can be read, and then throws. See
  // clbin_list_json.
  using WriteFunction = std::function<int(std::string_view text)>;
  void list_json(const WriteFunction& write) const {
    const auto forward = [](const char* text, std::size_t size, void* user_data) noexcept {
      return (*static_cast<const WriteFunction*>(user_data))(std::string_view(text, size));
    };
    void* const user_data = const_cast<WriteFunction*>(&write); // forward does not change it
    detail::call(clbin_list_json, m_bundle.get(), clbin_write_function(forward), user_data);
  }
  // Returns the same document. Throws if a part of the bundle is invalid.
  [[nodiscard]] std::string list_json() const {
    std::string document;
    bool has_memory = true;
    const WriteFunction append = [&](std::string_view text) {
      try {
        document += text;
      } catch (const std::bad_alloc&) {
        has_memory = false;
      }
      return has_memory ? 0 : 1;
    };
    try {
      list_json(append);
    } catch (const Error&) {
      if (!has_memory) {
        throw std::bad_alloc();
      }
      throw;
    }
    return document;
  }

  // Makes no OpenCL call.
  [[nodiscard]] Selection select(const Identity& identity, const std::string& program,
                                 const std::string& variant = "") const {
    const std::string c_versions = join_lines(identity.opencl_c_versions);
    const std::string il_versions = join_lines(identity.il_versions);
    clbin_identity raw{};
    raw.struct_size = sizeof(raw);
    detail::for_each_text(identity, raw,
                          [](const std::string& from, const char*& to) { to = from.c_str(); });
    raw.opencl_c_versions = c_versions.c_str();
    raw.il_versions = il_versions.c_str();
    raw.vendor_id = identity.vendor_id;
    raw.address_bits = identity.address_bits;
    return Selection(detail::made<clbin_selection>(clbin_select, m_bundle.get(), &raw,
                                                   program.c_str(), variant.c_str()));
  }

  // Returns the size of work-groups that was the fastest for such a launch; empty: pass NULL. See
  // clbin_recommended_size.
  [[nodiscard]] std::vector<std::size_t>
  recommended_size(_cl_device_id* device, const std::string& program, const std::string& kernel,
                   View<std::size_t> global_size, const std::string& variant = "",
                   const LoadOptions& options = LoadOptions()) const {
    std::vector<std::size_t> local_size(global_size.size());
    detail::call(clbin_recommended_size, m_bundle.get(), device, program.c_str(), variant.c_str(),
                 kernel.c_str(), global_size.data(), global_size.size(), options.get(),
                 local_size.data());
    if (local_size.front() == 0) {
      local_size.clear();
    }
    return local_size;
  }

  // Returns a program that is ready for clCreateKernel. The caller releases it with
  // clReleaseProgram. `report`, if not null, is also filled if the load fails.
  [[nodiscard]] _cl_program* load(_cl_context* context, _cl_device_id* device,
                                  const std::string& program,
                                  const LoadOptions& options = LoadOptions(),
                                  Report* report = nullptr) const {
    return load(context, View<_cl_device_id*>(&device, 1), program, options, report);
  }

  // Returns one program for several devices of one context.
  [[nodiscard]] _cl_program* load(_cl_context* context, View<_cl_device_id*> devices,
                                  const std::string& program,
                                  const LoadOptions& options = LoadOptions(),
                                  Report* report = nullptr) const {
    return detail::made_with_report(report, clbin_load, m_bundle.get(), context, devices.data(),
                                    devices.size(), program.c_str(), options.get());
  }

  // The same for cl::Context, and cl::Device or a std::vector of them: returns a cl::Program.
  // Requires clbin/opencl.hpp.
  template <typename Context, typename Devices = typename detail::OpenClBinding<Context>::Devices,
            typename Binding = detail::OpenClBinding<Context>,
            typename Program = typename Binding::Program>
  [[nodiscard]] Program load(const Context& context, const Devices& devices,
                             const std::string& program, const LoadOptions& options = LoadOptions(),
                             Report* report = nullptr) const {
    return Program(
        load(Binding::handle(context), Binding::handles(devices), program, options, report));
  }

  // Does for one device what the first start of an application would do, so that the next start
  // builds nothing. "" means every program. After `limit_ms` milliseconds, no further variant
  // begins; 0: no limit. Throws the error of the first variant that failed, after the others were
  // loaded. See clbin_warm.
  Warmed warm(_cl_context* context, _cl_device_id* device, const std::string& program = "",
              const LoadOptions& options = LoadOptions(), std::uint32_t limit_ms = 0) const {
    clbin_warmed raw{};
    raw.struct_size = sizeof(raw);
    detail::call(clbin_warm, m_bundle.get(), context, device, program.c_str(), options.get(),
                 limit_ms, &raw);
    return {raw.from_entries, raw.from_user_cache, raw.built, raw.unsuitable, raw.remaining};
  }

  [[nodiscard]] const clbin_bundle* get() const noexcept { return m_bundle.get(); }

private:
  explicit Bundle(clbin_bundle* bundle) : m_bundle(bundle) {}

  static std::string join_lines(const std::vector<std::string>& words) {
    std::string lines;
    for (const std::string& word : words) {
      lines += word;
      lines += '\n';
    }
    return lines;
  }

  static Kernel list_kernel(const clbin_listing* listing, std::size_t group, std::size_t entry,
                            std::size_t index) {
    const auto raw = detail::filled<clbin_kernel>([&](clbin_kernel* filled) {
      return clbin_listing_kernel(listing, group, entry, index, filled);
    });
    Kernel kernel;
    kernel.name = raw.name;
    std::copy_n(raw.required_work_group_size, 3, kernel.required_work_group_size.begin());
    if (raw.argument_count < 0) {
      return kernel;
    }
    kernel.argument_count = static_cast<std::size_t>(raw.argument_count);
    for (std::size_t i = 0; i < *kernel.argument_count; ++i) {
      const auto argument = detail::filled<clbin_argument>([&](clbin_argument* filled) {
        return clbin_listing_argument(listing, group, entry, index, i, filled);
      });
      if (argument.name == nullptr || argument.type == nullptr) {
        break;
      }
      kernel.arguments.push_back({argument.name, argument.type});
    }
    return kernel;
  }

  static Entry list_entry(const clbin_listing* listing, std::size_t group, std::size_t index) {
    const auto raw = detail::filled<clbin_entry>(
        [&](clbin_entry* filled) { return clbin_listing_entry(listing, group, index, filled); });
    Entry entry{raw.platform,     raw.device,  raw.driver_version, raw.target_spec,
                raw.format,       raw.options, raw.raw_digest,     raw.raw_bytes,
                raw.stored_bytes, {},          raw.extensions};
    for (std::size_t i = 0; i < raw.kernel_count; ++i) {
      entry.kernels.push_back(list_kernel(listing, group, index, i));
    }
    return entry;
  }

  static Group list_group(const clbin_listing* listing, std::size_t index) {
    const auto raw = detail::filled<clbin_group>(
        [&](clbin_group* filled) { return clbin_listing_group(listing, index, filled); });
    Group group{raw.program, raw.variant, raw.options, raw.has_source != 0, {}, raw.required};
    for (std::size_t i = 0; i < raw.entry_count; ++i) {
      group.entries.push_back(list_entry(listing, index, i));
    }
    return group;
  }

  detail::Handle<clbin_bundle, clbin_close> m_bundle;
  std::unique_ptr<ReadFunction> m_read; // what m_bundle reads with; null unless from_callback
};

// ---- Source known only at run time ------------------------------------------------------------

// A header of clCompileProgram, by the name in #include.
struct Header {
  std::string name;
  std::string text;
};

// A program, as an application passes it to OpenCL; see clbin_source. Strings and IL are borrowed.
struct Source {
  Source() = default;
  // Not explicit: source text is the usual case.
  // NOLINTBEGIN(google-explicit-constructor)
  Source(std::string_view text, std::string build_options = {})
      : strings{text}, options(std::move(build_options)) {}
  Source(const char* text, std::string build_options = {})
      : Source(std::string_view(text), std::move(build_options)) {}
  Source(const std::string& text, std::string build_options = {})
      : Source(std::string_view(text), std::move(build_options)) {}
  Source(std::string&& text, std::string build_options = {}) = delete; // text that soon ends
  // NOLINTEND(google-explicit-constructor)

  std::vector<std::string_view> strings; // of clCreateProgramWithSource
  View<std::byte> il;                    // of clCreateProgramWithIL, if `strings` is empty
  std::vector<Header> headers;
  std::string options;
  std::string label; // what stays the same if the source changes; may be empty
};

namespace detail {

// A clbin_source that borrows from a Source.
class RawSource {
public:
  explicit RawSource(const Source& source) {
    for (const std::string_view text : source.strings) {
      m_strings.push_back(text.empty() ? "" : text.data());
      m_lengths.push_back(text.size());
    }
    for (const Header& header : source.headers) {
      m_names.push_back(header.name.c_str());
      m_texts.push_back(header.text.c_str());
    }
    m_source.struct_size = sizeof(m_source);
    m_source.strings = m_strings.data();
    m_source.lengths = m_lengths.data();
    m_source.string_count = m_strings.size();
    m_source.il = source.il.data();
    m_source.il_bytes = source.il.size();
    m_source.header_names = m_names.data();
    m_source.header_texts = m_texts.data();
    m_source.header_count = m_names.size();
    m_source.options = source.options.c_str();
    m_source.label = source.label.c_str();
  }
  RawSource(RawSource&&) = delete; // and no copies

  [[nodiscard]] const clbin_source* get() const noexcept { return &m_source; }

private:
  std::vector<const char*> m_strings;
  std::vector<std::size_t> m_lengths;
  std::vector<const char*> m_names;
  std::vector<const char*> m_texts;
  clbin_source m_source{};
};

// `builder` may be null.
inline _cl_program* build(const clbin_builder* builder, _cl_context* context,
                          View<_cl_device_id*> devices, const Source& source,
                          const LoadOptions& options, Report* report) {
  const RawSource raw(source);
  return made_with_report(report, clbin_build, builder, context, devices.data(), devices.size(),
                          raw.get(), options.get());
}

} // namespace detail

enum class Presence { required = CLBIN_FILE_REQUIRED, optional = CLBIN_FILE_OPTIONAL };

// Cache settings, bundles and a writing thread for any number of builds. Movable; const functions
// may be called from many threads at once. The destructor blocks until what was built is stored.
class Builder {
public:
  explicit Builder(const clbin_builder_options* options = nullptr)
      : m_builder(detail::made<clbin_builder>(clbin_builder_create, options)) {}

  // The bundle must outlive the builder.
  void add_bundle(const Bundle& bundle) const {
    detail::call(clbin_builder_add_bundle, m_builder.get(), bundle.get());
  }

  // Opens and owns a bundle; a missing optional file is a warning in reports. See
  // clbin_builder_add_file.
  void add_file(const std::string& path, Presence presence = Presence::required,
                Bundle::Options options = nullptr) const {
    detail::call(clbin_builder_add_file, m_builder.get(), path.c_str(), options.get(),
                 static_cast<clbin_presence>(presence));
  }
  // Adds the bundles that an environment variable names; see clbin_builder_add_files_of.
  void add_files_of(const std::string& variable, Bundle::Options options = nullptr) const {
    detail::call(clbin_builder_add_files_of, m_builder.get(), variable.c_str(), options.get());
  }

  // Returns a program that is ready for clCreateKernel; see clbin_build. The caller releases it
  // with clReleaseProgram. `report`, if not null, is also filled if the build fails.
  [[nodiscard]] _cl_program* build(_cl_context* context, _cl_device_id* device,
                                   const Source& source, const LoadOptions& options = LoadOptions(),
                                   Report* report = nullptr) const {
    return build(context, View<_cl_device_id*>(&device, 1), source, options, report);
  }
  [[nodiscard]] _cl_program* build(_cl_context* context, View<_cl_device_id*> devices,
                                   const Source& source, const LoadOptions& options = LoadOptions(),
                                   Report* report = nullptr) const {
    return detail::build(m_builder.get(), context, devices, source, options, report);
  }
  // The same for cl::Context, and cl::Device or a std::vector of them: returns a cl::Program.
  // Requires clbin/opencl.hpp.
  template <typename Context, typename Devices = typename detail::OpenClBinding<Context>::Devices,
            typename Binding = detail::OpenClBinding<Context>,
            typename Program = typename Binding::Program>
  [[nodiscard]] Program build(const Context& context, const Devices& devices, const Source& source,
                              const LoadOptions& options = LoadOptions(),
                              Report* report = nullptr) const {
    return Program(
        build(Binding::handle(context), Binding::handles(devices), source, options, report));
  }

  [[nodiscard]] const clbin_builder* get() const noexcept { return m_builder.get(); }

private:
  detail::Handle<clbin_builder, clbin_builder_free> m_builder;
};

// Empties the user cache; see clbin_clear_cache.
inline void clear_cache(const std::optional<std::string>& cache_dir = std::nullopt) {
  detail::call(clbin_clear_cache, cache_dir ? cache_dir->c_str() : nullptr);
}

// Builds with the default settings, as a new Builder does, and stores before it returns.
[[nodiscard]] inline _cl_program* build(_cl_context* context, _cl_device_id* device,
                                        const Source& source,
                                        const LoadOptions& options = LoadOptions(),
                                        Report* report = nullptr) {
  return detail::build(nullptr, context, View<_cl_device_id*>(&device, 1), source, options, report);
}
[[nodiscard]] inline _cl_program* build(_cl_context* context, View<_cl_device_id*> devices,
                                        const Source& source,
                                        const LoadOptions& options = LoadOptions(),
                                        Report* report = nullptr) {
  return detail::build(nullptr, context, devices, source, options, report);
}
// Requires clbin/opencl.hpp.
template <typename Context, typename Devices = typename detail::OpenClBinding<Context>::Devices,
          typename Binding = detail::OpenClBinding<Context>,
          typename Program = typename Binding::Program>
[[nodiscard]] Program build(const Context& context, const Devices& devices, const Source& source,
                            const LoadOptions& options = LoadOptions(), Report* report = nullptr) {
  return Builder().build(context, devices, source, options, report);
}

} // namespace clbin

#endif // C++17
#endif
