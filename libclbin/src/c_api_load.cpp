#include "c_api.hpp"

#include <limits>

using namespace clbin;
using base::ErrorCode;
using base::Result;

namespace {

template <typename Public, typename Internal>
constexpr bool same(Public left, Internal right) {
  return static_cast<std::int64_t>(left) == static_cast<std::int64_t>(right);
}
// Origins, decisions and rules are cast to the public enumerations.
static_assert(same(CLBIN_ORIGIN_NONE, loader::Origin::none));
static_assert(same(CLBIN_ORIGIN_ENTRY, loader::Origin::entry));
static_assert(same(CLBIN_ORIGIN_USER_CACHE, loader::Origin::user_cache));
static_assert(same(CLBIN_ORIGIN_IL, loader::Origin::il));
static_assert(same(CLBIN_ORIGIN_SOURCE, loader::Origin::source));
static_assert(same(CLBIN_DECISION_LOADED, loader::Decision::loaded));
static_assert(same(CLBIN_DECISION_REFUSED, loader::Decision::refused));
static_assert(same(CLBIN_DECISION_NOT_ATTEMPTED, loader::Decision::not_attempted));
static_assert(same(CLBIN_DECISION_UNREADABLE, loader::Decision::unreadable));
static_assert(same(CLBIN_DECISION_ACCEPTED, loader::Decision::accepted));
static_assert(same(CLBIN_DECISION_RECOMPILED, loader::Decision::recompiled));
static_assert(same(CLBIN_RULE_NONE, loader::AttemptRule::none));
static_assert(same(CLBIN_RULE_EXACT_IDENTITY, loader::AttemptRule::exact_identity));
static_assert(same(CLBIN_RULE_COMPATIBLE, loader::AttemptRule::compatible));
static_assert(same(CLBIN_RULE_IL, loader::AttemptRule::il));
static_assert(same(CLBIN_RULE_NOT_COMPATIBLE, loader::AttemptRule::not_compatible));
static_assert(same(CLBIN_RULE_USER_CACHE, loader::AttemptRule::user_cache));
static_assert(same(CLBIN_RULE_RECOMPILED, loader::AttemptRule::recompiled));
static_assert(same(CLBIN_RULE_SEVERAL_DEVICES, loader::AttemptRule::several_devices));
static_assert(same(CLBIN_RULE_SOURCE, loader::AttemptRule::source));
static_assert(std::is_same_v<cl_context, struct _cl_context*>);
static_assert(std::is_same_v<cl_device_id, struct _cl_device_id*>);
static_assert(std::is_same_v<cl_program, struct _cl_program*>);

clbin_attempt public_attempt(const loader::Attempt& attempt, std::uint32_t first_entry) {
  clbin_attempt result{};
  result.struct_size = sizeof(result);
  result.decision = static_cast<clbin_decision>(attempt.decision);
  result.origin = static_cast<clbin_origin>(attempt.origin);
  result.device = attempt.device;
  result.target = attempt.target.c_str();
  result.rule = to_string(attempt.rule).data(); // a literal
  result.reason = attempt.reason.c_str();
  result.stage = attempt.stage.c_str();
  result.driver_log = attempt.driver_log.c_str();
  result.cl_code = attempt.cl_code;
  result.microseconds = attempt.microseconds;
  result.cl_code_name = attempt.cl_code_name.c_str();
  result.entry = attempt.entry == format::k_no_index
                     ? -1
                     : static_cast<std::int32_t>(attempt.entry - first_entry);
  result.rule_number = static_cast<clbin_rule>(attempt.rule);
  return result;
}

} // namespace

Result<opencl::Driver> c_api::IcdDriver::functions(const clbin_load_options& options) {
  if (options.resolve != nullptr) {
    return c_api::resolve_driver(options);
  }
  const std::lock_guard lock(m_mutex);
  if (!m_driver.has_value()) {
    CLBIN_TRY_ASSIGN(m_driver, opencl::open_icd_driver());
  }
  return *m_driver;
}

loader::FallbackPolicy c_api::policy_of(clbin_fallback fallback) {
  switch (fallback) {
  case CLBIN_FALLBACK_NEVER:
    return loader::FallbackPolicy::never;
  case CLBIN_FALLBACK_ALWAYS:
    return loader::FallbackPolicy::always;
  case CLBIN_FALLBACK_IF_NEEDED:
    break;
  }
  return loader::FallbackPolicy::if_needed;
}

std::function<void(const loader::Attempt&)>
c_api::attempt_callback(const clbin_load_options& options, const loader::LoadReport& report) {
  if (options.callback == nullptr) {
    return {};
  }
  return [&options, &report](const loader::Attempt& attempt) {
    const clbin_attempt view = public_attempt(attempt, report.first_entry);
    options.callback(&view, options.callback_data);
  };
}

namespace {

loader::LoadRequest request_of(const char* program, const clbin_load_options& options,
                               std::vector<cl_device_id> devices, bool wants_report,
                               const loader::LoadReport& report) {
  loader::LoadRequest request;
  request.program = program;
  request.variant = options.variant;
  request.extra_options = options.build_options;
  request.constants = options.constants;
  request.fallback = c_api::policy_of(options.fallback);
  request.devices = std::move(devices);
  request.detail = wants_report || options.callback != nullptr
                       ? loader::ReportDetail::every_entry
                       : loader::ReportDetail::attempts_only;
  request.on_attempt = c_api::attempt_callback(options, report);
  return request;
}

Result<opencl::Driver> driver_for(const clbin_bundle& bundle, const clbin_load_options& options) {
  CLBIN_TRY_ASSIGN(opencl::Driver driver, bundle.driver.functions(options));
  return bundle.is_secret() ? opencl::for_secret_programs(driver) : driver;
}

Result<opencl::Program> load(const clbin_bundle& bundle, cl_context context,
                             const loader::LoadRequest& request, const clbin_load_options& options,
                             loader::LoadReport& report) {
  report.program = request.program;
  report.variant = c_api::variant_or_default(request.variant.c_str());
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, driver_for(bundle, options));
  return loader::load_program(driver, bundle.reader, bundle.cache, context, request, report);
}

} // namespace

Result<std::vector<cl_device_id>> c_api::devices_of(const cl_device_id* devices,
                                                    std::size_t count) {
  if (count == 0 || count > std::numeric_limits<cl_uint>::max()) {
    return base::fail(ErrorCode::invalid_argument, "'device_count' is {}", count);
  }
  std::vector<cl_device_id> result(devices, devices + count);
  if (std::find(result.begin(), result.end(), nullptr) != result.end()) {
    return base::fail(ErrorCode::invalid_argument, "one of 'devices' is NULL");
  }
  return result;
}

Result<opencl::Driver> c_api::resolve_driver(const clbin_load_options& options) {
  return opencl::resolve_driver(
      [&](const char* name) { return options.resolve(name, options.resolve_data); });
}

const char* clbin_rule_name(clbin_rule rule) {
  const auto number = static_cast<std::uint32_t>(rule); // any, if from a caller of another version
  return number > CLBIN_RULE_SOURCE
             ? ""
             : loader::to_string(static_cast<loader::AttemptRule>(rule)).data(); // a literal
}

clbin_load_options* clbin_load_options_create(void) {
  return new (std::nothrow) clbin_load_options;
}

void clbin_load_options_free(clbin_load_options* options) {
  delete options;
}

clbin_status clbin_load_options_set_variant(clbin_load_options* options, const char* variant) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    options->variant = c_api::text_or_empty(variant);
    return {};
  });
}

clbin_status clbin_load_options_set_build_options(clbin_load_options* options,
                                                  const char* build_options) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    options->build_options = c_api::text_or_empty(build_options);
    return {};
  });
}

clbin_status clbin_load_options_set_specialization_constant(clbin_load_options* options,
                                                            uint32_t id, size_t size_bytes,
                                                            const void* value) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    CLBIN_TRY(c_api::require(value, "value"));
    constexpr std::size_t k_largest_scalar = 16;
    if (size_bytes == 0 || size_bytes > k_largest_scalar) {
      return base::fail(ErrorCode::invalid_argument, "specialisation constant {} of {} bytes", id,
                        size_bytes);
    }
    const auto* const bytes = static_cast<const std::byte*>(value);
    std::erase_if(options->constants, [id](const opencl::SpecializationConstant& constant) {
      return constant.id == id;
    });
    options->constants.push_back({id, base::Bytes(bytes, bytes + size_bytes)});
    return {};
  });
}

clbin_status clbin_load_options_set_fallback(clbin_load_options* options, clbin_fallback fallback) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    if (fallback != CLBIN_FALLBACK_IF_NEEDED && fallback != CLBIN_FALLBACK_NEVER &&
        fallback != CLBIN_FALLBACK_ALWAYS) {
      return base::fail(ErrorCode::invalid_argument, "'fallback' is {}",
                        static_cast<int>(fallback));
    }
    options->fallback = fallback;
    return {};
  });
}

clbin_status clbin_load_options_set_resolver(clbin_load_options* options,
                                             clbin_resolve_function resolve, void* user_data) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    options->resolve = resolve;
    options->resolve_data = user_data;
    return {};
  });
}

clbin_status clbin_load_options_set_callback(clbin_load_options* options,
                                             clbin_attempt_callback callback, void* user_data) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(options, "options"));
    options->callback = callback;
    options->callback_data = user_data;
    return {};
  });
}

clbin_status clbin_load(const clbin_bundle* bundle, struct _cl_context* context,
                        struct _cl_device_id* device, const char* program,
                        const clbin_load_options* options, struct _cl_program** result,
                        clbin_report** report, clbin_error** error) {
  return clbin_load_devices(bundle, context, &device, 1, program, options, result, report, error);
}

clbin_status clbin_load_devices(const clbin_bundle* bundle, struct _cl_context* context,
                                struct _cl_device_id* const* devices, size_t device_count,
                                const char* program, const clbin_load_options* options,
                                struct _cl_program** result, clbin_report** report,
                                clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    if (report != nullptr) {
      *report = nullptr;
    }
    CLBIN_TRY(c_api::require(result, "result"));
    *result = nullptr;
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(context, "context"));
    CLBIN_TRY(c_api::require(devices, "devices"));
    CLBIN_TRY(c_api::require(program, "program"));
    CLBIN_TRY_ASSIGN(auto device_list, c_api::devices_of(devices, device_count));
    const clbin_load_options defaults;
    const clbin_load_options& chosen = options == nullptr ? defaults : *options;
    auto made = std::make_unique<clbin_report>();
    const loader::LoadRequest request =
        request_of(program, chosen, std::move(device_list), report != nullptr, made->report);
    Result<opencl::Program> loaded = load(*bundle, context, request, chosen, made->report);
    if (report != nullptr) {
      made->text = loader::describe(made->report);
      *report = made.release();
    }
    if (!loaded) {
      return tl::unexpected(std::move(loaded.error()));
    }
    *result = loaded->take();
    return {};
  });
}

clbin_origin clbin_report_origin(const clbin_report* report) {
  return report == nullptr ? CLBIN_ORIGIN_NONE : static_cast<clbin_origin>(report->report.origin);
}

uint64_t clbin_report_microseconds(const clbin_report* report) {
  return report == nullptr ? 0 : report->report.microseconds;
}

size_t clbin_report_attempt_count(const clbin_report* report) {
  return report == nullptr ? 0 : report->report.attempts.size();
}

clbin_status clbin_report_attempt(const clbin_report* report, size_t index,
                                  clbin_attempt* attempt) {
  return c_api::guarded(nullptr, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(report, "report"));
    CLBIN_TRY(c_api::require(attempt, "attempt"));
    const std::size_t size = attempt->struct_size;
    if (index >= report->report.attempts.size() || size < sizeof(size) ||
        size > c_api::k_max_struct_bytes) {
      return base::fail(ErrorCode::invalid_argument, "no attempt {}, or no struct_size", index);
    }
    const clbin_attempt view =
        public_attempt(report->report.attempts[index], report->report.first_entry);
    const std::size_t known = std::min(size, sizeof(view));
    std::memset(attempt, 0, size);
    std::memcpy(attempt, &view, known);
    attempt->struct_size = size;
    return {};
  });
}

const char* clbin_report_program(const clbin_report* report) {
  return report == nullptr ? "" : report->report.program.c_str();
}

const char* clbin_report_variant(const clbin_report* report) {
  return report == nullptr ? "" : report->report.variant.c_str();
}

size_t clbin_report_device_count(const clbin_report* report) {
  return report == nullptr ? 0 : report->report.devices.size();
}

const char* clbin_report_device(const clbin_report* report, size_t index) {
  return index < clbin_report_device_count(report) ? report->report.devices[index].c_str()
                                                   : nullptr;
}

size_t clbin_report_warning_count(const clbin_report* report) {
  return report == nullptr ? 0 : report->report.warnings.size();
}

const char* clbin_report_warning(const clbin_report* report, size_t index) {
  return index < clbin_report_warning_count(report) ? report->report.warnings[index].c_str()
                                                    : nullptr;
}

const char* clbin_report_json(const clbin_report* report) {
  if (report == nullptr) {
    return nullptr;
  }
  const clbin_status status = c_api::guarded(nullptr, [&]() -> Result<void> {
    std::call_once(report->json_made, [&] { report->json = loader::report_json(report->report); });
    return {};
  });
  return status == CLBIN_SUCCESS ? report->json.c_str() : nullptr;
}

const char* clbin_report_text(const clbin_report* report) {
  return report == nullptr ? "" : report->text.c_str();
}

void clbin_report_free(clbin_report* report) {
  delete report;
}
