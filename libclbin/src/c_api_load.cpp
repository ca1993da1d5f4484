#include "c_api.hpp"

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
static_assert(same(CLBIN_RULE_NONE, loader::Rule::none));
static_assert(same(CLBIN_RULE_EXACT_IDENTITY, loader::Rule::exact_identity));
static_assert(same(CLBIN_RULE_COMPATIBLE, loader::Rule::compatible));
static_assert(same(CLBIN_RULE_IL, loader::Rule::il));
static_assert(same(CLBIN_RULE_NOT_COMPATIBLE, loader::Rule::not_compatible));
static_assert(same(CLBIN_RULE_USER_CACHE, loader::Rule::user_cache));
static_assert(same(CLBIN_RULE_RECOMPILED, loader::Rule::recompiled));
static_assert(same(CLBIN_RULE_SEVERAL_DEVICES, loader::Rule::several_devices));
static_assert(same(CLBIN_RULE_SOURCE, loader::Rule::source));
static_assert(same(CLBIN_RULE_SAME_PROCESS, loader::Rule::same_process));
static_assert(same(CLBIN_FALLBACK_IF_NEEDED, loader::FallbackPolicy::if_needed));
static_assert(same(CLBIN_FALLBACK_NEVER, loader::FallbackPolicy::never));
static_assert(same(CLBIN_FALLBACK_ALWAYS, loader::FallbackPolicy::always));
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

Result<std::vector<opencl::SpecializationConstant>> constants_of(const clbin_load_options& given) {
  std::vector<opencl::SpecializationConstant> constants;
  if (given.constant_count != 0) {
    CLBIN_TRY(c_api::require(given.constants, "constants"));
  }
  for (std::size_t i = 0; i < given.constant_count; ++i) {
    const clbin_specialization_constant& constant = given.constants[i];
    CLBIN_TRY(c_api::require(constant.value, "constants[i].value"));
    constexpr std::size_t k_largest_scalar = 16;
    if (constant.size_bytes == 0 || constant.size_bytes > k_largest_scalar) {
      return base::fail(ErrorCode::invalid_argument, "specialisation constant {} of {} bytes",
                        constant.id, constant.size_bytes);
    }
    const auto* const bytes = static_cast<const std::byte*>(constant.value);
    std::erase_if(constants, [&](const opencl::SpecializationConstant& earlier) {
      return earlier.id == constant.id;
    });
    constants.push_back({constant.id, base::Bytes(bytes, bytes + constant.size_bytes)});
  }
  return constants;
}

} // namespace

Result<c_api::LoadOptions> c_api::load_options_of(const clbin_load_options* options) {
  LoadOptions copy;
  if (options == nullptr) {
    return copy;
  }
  CLBIN_TRY_ASSIGN(copy.given, copy_sized(options, "clbin_load_options"));
  const clbin_load_options& given = copy.given;
  CLBIN_TRY(check_enumerator(given.fallback, CLBIN_FALLBACK_ALWAYS, "fallback"));
  copy.request.fallback = static_cast<loader::FallbackPolicy>(given.fallback);
  CLBIN_TRY_ASSIGN(copy.request.constants, constants_of(given));
  copy.request.variant = text_or_empty(given.variant);
  copy.request.extra_options = text_or_empty(given.build_options);
  if (given.library != nullptr && given.resolve != nullptr) {
    return base::fail(ErrorCode::invalid_argument, "'library' and 'resolve' are both set");
  }
  CLBIN_TRY(check_switch(given.store, "store"));
  copy.request.store =
      given.store == CLBIN_SWITCH_OFF ? loader::StorePolicy::drop : loader::StorePolicy::keep;
  return copy;
}

Result<opencl::Driver> c_api::IcdDriver::functions(const LoadOptions& options,
                                                   opencl::TableUse use) {
  const clbin_load_options& given = options.given;
  if (given.resolve != nullptr) {
    return opencl::resolve_driver(
        [&](const char* name) { return given.resolve(name, given.resolve_user_data); }, use,
        "the caller's 'resolve'");
  }
  if (given.library != nullptr) {
    return opencl::driver_of_library(given.library, use);
  }
  const std::lock_guard lock(m_mutex);
  if (!m_driver.has_value()) {
    CLBIN_TRY_ASSIGN(m_driver, opencl::open_icd_driver());
  }
  return *m_driver;
}

void c_api::hand_over(std::unique_ptr<clbin_report> made, clbin_report** report) {
  if (report != nullptr) {
    made->text = loader::describe(made->report);
    made->devices = pointers_to(made->report.devices);
    made->warnings = pointers_to(made->report.warnings);
    *report = made.release();
  }
}

void c_api::set_reporting(loader::LoadRequest& request, const LoadOptions& options,
                          bool wants_report, const loader::LoadReport& report) {
  const clbin_load_options& given = options.given;
  request.detail = wants_report || given.callback != nullptr ? loader::ReportDetail::every_entry
                                                             : loader::ReportDetail::attempts_only;
  if (given.callback != nullptr) {
    request.on_attempt = [&given, &report](const loader::Attempt& attempt) {
      const clbin_attempt view = public_attempt(attempt, report.first_entry);
      given.callback(&view, given.callback_user_data);
    };
  }
}

namespace {

Result<opencl::Program> load(const clbin_bundle& bundle, cl_context context,
                             const loader::LoadRequest& request, const c_api::LoadOptions& options,
                             loader::LoadReport& report) {
  report.program = request.program;
  report.variant = c_api::variant_or_default(request.variant.c_str());
  CLBIN_TRY_ASSIGN(const opencl::Driver functions, bundle.driver.functions(options));
  const opencl::Driver driver =
      bundle.is_secret() ? opencl::for_secret_programs(functions) : functions;
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

clbin_status clbin_load(const clbin_bundle* bundle, struct _cl_context* context,
                        struct _cl_device_id* const* devices, size_t device_count,
                        const char* program, const clbin_load_options* options,
                        struct _cl_program** result, clbin_report** report, clbin_error** error) {
  if (report != nullptr) {
    *report = nullptr;
  }
  return c_api::guarded_make(error, result, "result", [&]() -> Result<opencl::Program> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(context, "context"));
    CLBIN_TRY(c_api::require(devices, "devices"));
    CLBIN_TRY(c_api::require(program, "program"));
    CLBIN_TRY_ASSIGN(auto device_list, c_api::devices_of(devices, device_count));
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    auto made = std::make_unique<clbin_report>();
    loader::LoadRequest request = chosen.request;
    request.program = program;
    request.devices = std::move(device_list);
    c_api::set_reporting(request, chosen, report != nullptr, made->report);
    Result<opencl::Program> loaded = load(*bundle, context, request, chosen, made->report);
    c_api::hand_over(std::move(made), report);
    return loaded;
  });
}

clbin_status clbin_report_get(const clbin_report* report, clbin_report_info* info) {
  if (report == nullptr) {
    return CLBIN_ERROR_INVALID_ARGUMENT;
  }
  clbin_report_info view{};
  view.origin = static_cast<clbin_origin>(report->report.origin);
  view.microseconds = report->report.microseconds;
  view.program = report->report.program.c_str();
  view.variant = report->report.variant.c_str();
  view.devices = report->devices.data();
  view.device_count = report->devices.size();
  view.warnings = report->warnings.data();
  view.warning_count = report->warnings.size();
  view.attempt_count = report->report.attempts.size();
  return c_api::fill(info, view);
}

clbin_status clbin_report_attempt(const clbin_report* report, size_t index,
                                  clbin_attempt* attempt) {
  if (report == nullptr || index >= report->report.attempts.size()) {
    return CLBIN_ERROR_INVALID_ARGUMENT;
  }
  return c_api::fill(attempt,
                     public_attempt(report->report.attempts[index], report->report.first_entry));
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
