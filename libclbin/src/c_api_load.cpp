#include "c_api.hpp"

using namespace clbin;
using base::ErrorCode;
using base::Result;

struct clbin_builder {
  clbin_builder(const cache::CacheSettings& of_user_cache,
                const cache::CacheSettings& of_quarantine, loader::UnsignedSource unsigned_source,
                clbin_signature_policy chosen_policy, loader::Reuse reuse)
      : policy(chosen_policy), state(of_user_cache, of_quarantine, unsigned_source, reuse) {}

  clbin_signature_policy policy;
  mutable loader::BuilderState state; // thread-safe
  mutable c_api::IcdDriver driver;
};

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
static_assert(same(CLBIN_DECISION_WRONG_ANSWER, loader::Decision::wrong_answer));
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
  result.entry = attempt.entry == format::k_no_index || !attempt.pack.empty()
                     ? -1
                     : static_cast<std::int32_t>(attempt.entry - first_entry);
  result.rule_number = static_cast<clbin_rule>(attempt.rule);
  result.pack = attempt.pack.c_str();
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
  if (given.problem_dimensions != 0) {
    CLBIN_TRY_ASSIGN(copy.request.problem_size,
                     launch_size_of(given.problem_size, given.problem_dimensions, "problem_size"));
  }
  if (given.library != nullptr && given.resolve != nullptr) {
    return base::fail(ErrorCode::invalid_argument, "'library' and 'resolve' are both set");
  }
  CLBIN_TRY(check_switch(given.store, "store"));
  copy.request.store =
      given.store == CLBIN_SWITCH_OFF ? loader::StorePolicy::drop : loader::StorePolicy::keep;
  if (given.answers != nullptr && given.answers->check.examine == nullptr) {
    return base::fail(ErrorCode::invalid_argument,
                      "'answers' is of a number that is no enumerator of clbin_answers");
  }
  copy.request.answers = given.answers == nullptr ? nullptr : &given.answers->check;
  if (given.answers_ms != 0) {
    copy.request.answers_limit = std::chrono::milliseconds(given.answers_ms);
  }
  return copy;
}

Result<format::LaunchSize> c_api::launch_size_of(const std::size_t* size, std::size_t dimensions,
                                                 std::string_view parameter) {
  CLBIN_TRY(require(size, parameter));
  format::LaunchSize result{static_cast<std::uint32_t>(dimensions), {1, 1, 1}};
  if (dimensions == 0 || dimensions > result.items.size() ||
      std::find(size, size + dimensions, 0) != size + dimensions) {
    return base::fail(ErrorCode::invalid_argument,
                      "'{}' must have 1 to 3 dimensions, and at least one work-item in each",
                      parameter);
  }
  std::copy_n(size, dimensions, result.items.begin());
  return result;
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

Result<opencl::Driver> c_api::IcdDriver::functions(const LoadOptions& options,
                                                   opencl::TableUse use) {
  const clbin_load_options& given = options.given;
  if (use == opencl::TableUse::programs && given.answers != nullptr) {
    use = opencl::TableUse::launches;
  }
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

namespace {

// Completes a report and stores it in `*report`, unless `report` is null.
void hand_over(std::unique_ptr<clbin_report> made, clbin_report** report) {
  if (report != nullptr) {
    made->text = loader::describe(made->report);
    made->devices = c_api::pointers_to(made->report.devices);
    made->warnings = c_api::pointers_to(made->report.warnings);
    *report = made.release();
  }
}

// invalid_argument: there is none, or one is null.
Result<std::vector<cl_device_id>> devices_of(const cl_device_id* devices, std::size_t count) {
  if (count == 0 || count > std::numeric_limits<cl_uint>::max()) {
    return base::fail(ErrorCode::invalid_argument, "'device_count' is {}", count);
  }
  std::vector<cl_device_id> result(devices, devices + count);
  if (std::ranges::find(result, nullptr) != result.end()) {
    return base::fail(ErrorCode::invalid_argument, "one of 'devices' is NULL");
  }
  return result;
}

Result<opencl::Program> load(const clbin_bundle& bundle, cl_context context,
                             const loader::LoadRequest& request, const c_api::LoadOptions& options,
                             loader::LoadReport& report) {
  report.program = request.program;
  report.variant = c_api::variant_or_default(request.variant.c_str());
  CLBIN_TRY_ASSIGN(const opencl::Driver functions, bundle.driver.functions(options));
  const opencl::Driver driver =
      bundle.is_secret() ? opencl::for_secret_programs(functions) : functions;
  return loader::load_program(driver, bundle.reader, bundle.cache, context, request, report,
                              bundle.packs.get());
}

Result<cache::CacheSettings> settings_of(const clbin_builder_options& options) {
  auto settings = cache::CacheSettings::from_environment(
      cache::this_process(), options.cache_dir != nullptr ? cache::CacheOnPocl::yes //
                                                          : cache::CacheOnPocl::no);
  CLBIN_TRY(c_api::check_switch(options.cache, "cache"));
  CLBIN_TRY(c_api::check_switch(options.cache_on_pocl, "cache_on_pocl"));
  CLBIN_TRY(c_api::check_switch(options.reuse, "reuse"));
  if (options.cache_dir != nullptr) {
    CLBIN_TRY(c_api::set_folder(settings, options.cache_dir));
  }
  if (options.cache == CLBIN_SWITCH_OFF) {
    settings.use = cache::CacheUse::off;
    settings.why_off = "the caller has switched it off";
  } else if (!settings.folder.empty() && options.cache == CLBIN_SWITCH_ON) {
    settings.use = cache::CacheUse::on;
  }
  if (options.cache_on_pocl != CLBIN_SWITCH_DEFAULT) {
    settings.on_pocl =
        options.cache_on_pocl == CLBIN_SWITCH_ON ? cache::CacheOnPocl::yes : cache::CacheOnPocl::no;
  }
  if (options.cache_max_bytes != 0) {
    settings.max_bytes = options.cache_max_bytes;
  }
  return settings;
}

Result<std::unique_ptr<clbin_builder>> make_builder(const clbin_builder_options* given) {
  clbin_builder_options options{};
  if (given != nullptr) {
    CLBIN_TRY_ASSIGN(options, c_api::copy_sized(given, "clbin_builder_options"));
  }
  CLBIN_TRY_ASSIGN(const cache::CacheSettings settings, settings_of(options));
  CLBIN_TRY_ASSIGN(const loader::UnsignedSource unsigned_builds,
                   c_api::unsigned_builds_of(options.signature_policy, options.unsigned_builds));
  return std::make_unique<clbin_builder>(
      unsigned_builds == loader::UnsignedSource::refused
          ? c_api::without_user_cache(settings, c_api::k_unsigned_entries)
          : settings,
      settings, unsigned_builds, options.signature_policy,
      options.reuse == CLBIN_SWITCH_OFF ? loader::Reuse::off : loader::Reuse::on);
}

Result<void> copy_headers(const clbin_source& given, loader::RunTimeSource& source) {
  if (given.header_count == 0) {
    return {};
  }
  CLBIN_TRY(c_api::require(given.header_names, "header_names"));
  CLBIN_TRY(c_api::require(given.header_texts, "header_texts"));
  for (std::size_t i = 0; i < given.header_count; ++i) {
    CLBIN_TRY(c_api::require(given.header_names[i], "header_names[i]"));
    CLBIN_TRY(c_api::require(given.header_texts[i], "header_texts[i]"));
    source.headers.push_back({given.header_names[i], given.header_names[i], given.header_texts[i]});
  }
  return {};
}

// Borrows strings and IL.
Result<loader::RunTimeSource> source_of(const clbin_source* pointer,
                                        const c_api::LoadOptions& options) {
  CLBIN_TRY_ASSIGN(const clbin_source given, c_api::copy_sized(pointer, "clbin_source"));
  loader::RunTimeSource source;
  if (given.string_count != 0) {
    CLBIN_TRY(c_api::require(given.strings, "strings"));
  }
  for (std::size_t i = 0; i < given.string_count; ++i) {
    CLBIN_TRY(c_api::require(given.strings[i], "strings[i]"));
    const bool has_length = given.lengths != nullptr && given.lengths[i] != 0;
    source.strings.emplace_back(given.strings[i],
                                has_length ? given.lengths[i] : std::strlen(given.strings[i]));
  }
  if (given.il_bytes != 0) {
    CLBIN_TRY(c_api::require(given.il, "il"));
    source.il = base::ByteView(static_cast<const std::byte*>(given.il), given.il_bytes);
  }
  CLBIN_TRY(copy_headers(given, source));
  source.options =
      opencl::joined_options(c_api::text_or_empty(given.options), options.request.extra_options);
  source.label = c_api::text_or_empty(given.label);
  source.constants = options.request.constants;
  return source;
}

Result<opencl::Program> build(const clbin_builder& builder, const c_api::LoadOptions& options,
                              cl_context context, loader::RunTimeRequest request,
                              loader::LoadReport& report) {
  loader::BuilderState& state = builder.state;
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, builder.driver.functions(options));
  if (const auto* const live = state.live_programs(); live != nullptr) {
    if (auto known = live->find(driver, context, request, report)) {
      report.warnings = state.warnings();
      return known;
    }
  }
  const loader::FallbackPolicy fallback = request.fallback;
  CLBIN_TRY_ASSIGN(auto program, loader::RunTimeProgram::begin(driver, state, context,
                                                               std::move(request), report));
  if (auto served = program->serve()) {
    program->remember(served->program.get());
    return std::move(served->program);
  }
  if (fallback == loader::FallbackPolicy::never) {
    return base::fail(ErrorCode::no_matching_entry,
                      "no entry of the builder's bundles serves this source and these options, "
                      "and the program may not be built");
  }
  Result<opencl::Program> built = program->build();
  if (built) {
    program->keep(built->get());
    program->keep_on_pocl(built->get());
    program->remember(built->get());
  }
  return built;
}

// `bundle` keeps itself alive, or the caller does.
Result<void> add_to(const clbin_builder& builder,
                    const std::shared_ptr<const clbin_bundle>& bundle) {
  if (builder.policy == CLBIN_SIGNATURES_REQUIRED && !bundle->reader.is_trusted()) {
    return base::fail(ErrorCode::not_signed,
                      "'{}' was opened without requiring a signature, which the builder requires",
                      bundle->reader.name());
  }
  if (bundle->reader.is_locked()) {
    return base::fail(ErrorCode::encrypted, "'{}' is encrypted, and was opened without a key",
                      bundle->reader.name());
  }
  builder.state.add_bundle(std::shared_ptr<const format::BundleReader>(bundle, &bundle->reader),
                           bundle->decrypted_builds);
  return {};
}

Result<void> add_file(const clbin_builder& builder, const char* path,
                      const clbin_open_options* options) {
  CLBIN_TRY_ASSIGN(std::shared_ptr<const clbin_bundle> bundle, c_api::open_file(path, options));
  return add_to(builder, bundle);
}

} // namespace

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
    CLBIN_TRY_ASSIGN(auto device_list, devices_of(devices, device_count));
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    auto made = std::make_unique<clbin_report>();
    loader::LoadRequest request = chosen.request;
    request.program = program;
    request.devices = std::move(device_list);
    c_api::set_reporting(request, chosen, report != nullptr, made->report);
    Result<opencl::Program> loaded = load(*bundle, context, request, chosen, made->report);
    hand_over(std::move(made), report);
    return loaded;
  });
}

clbin_status clbin_builder_create(const clbin_builder_options* options, clbin_builder** builder,
                                  clbin_error** error) {
  return c_api::guarded_make(error, builder, "builder", [&] { return make_builder(options); });
}

clbin_status clbin_builder_add_bundle(const clbin_builder* builder, const clbin_bundle* bundle,
                                      clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(builder, "builder"));
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    // The caller keeps the bundle open.
    return add_to(*builder, std::shared_ptr<const clbin_bundle>(std::shared_ptr<void>(), bundle));
  });
}

clbin_status clbin_builder_add_file(const clbin_builder* builder, const char* path,
                                    const clbin_open_options* options, clbin_presence presence,
                                    clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(builder, "builder"));
    CLBIN_TRY(c_api::require(path, "path"));
    CLBIN_TRY(c_api::check_enumerator(presence, CLBIN_FILE_OPTIONAL, "presence"));
    Result<void> added = add_file(*builder, path, options);
    if (!added && added.error().code == ErrorCode::file_not_found &&
        presence == CLBIN_FILE_OPTIONAL) {
      builder->state.add_warning(fmt::format("there is no optional bundle '{}'", path));
      return {};
    }
    return added;
  });
}

clbin_status clbin_builder_add_files_of(const clbin_builder* builder, const char* variable,
                                        const clbin_open_options* options, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(builder, "builder"));
    CLBIN_TRY(c_api::require(variable, "variable"));
    CLBIN_TRY(c_api::check_open_options(options));
    const cache::ProcessEnvironment process = cache::this_process();
    if (process.rights != cache::Rights::plain) {
      return {};
    }
    auto paths = base::paths_in(process.variable(variable).value_or(""));
    if (paths.size() > loader::k_most_listed_bundles) {
      builder->state.add_warning(
          fmt::format("{} names more than {} bundles: the others are not used", variable,
                      loader::k_most_listed_bundles));
      paths.resize(loader::k_most_listed_bundles);
    }
    for (const std::filesystem::path& path : paths) {
      if (const Result<void> added = add_file(*builder, base::name_of(path).c_str(), options);
          !added) {
        builder->state.add_warning(fmt::format("{}: {}", variable, added.error().message));
      }
    }
    return {};
  });
}

clbin_status clbin_clear_cache(const char* cache_dir, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    auto settings = cache::CacheSettings::of_folder(cache::this_process());
    if (cache_dir != nullptr) {
      CLBIN_TRY(c_api::set_folder(settings, cache_dir));
    }
    if (settings.folder.empty()) {
      return base::fail(ErrorCode::file_not_found, "there is no user cache: {}", settings.warning);
    }
    return cache::KeyedStore(settings, cache::CacheKind::user).clear();
  });
}

void clbin_builder_free(clbin_builder* builder) {
  delete builder;
}

clbin_status clbin_build(const clbin_builder* builder, struct _cl_context* context,
                         struct _cl_device_id* const* devices, size_t device_count,
                         const clbin_source* source, const clbin_load_options* options,
                         struct _cl_program** result, clbin_report** report, clbin_error** error) {
  if (report != nullptr) {
    *report = nullptr;
  }
  return c_api::guarded_make(error, result, "result", [&]() -> Result<opencl::Program> {
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    CLBIN_TRY(c_api::require(context, "context"));
    CLBIN_TRY(c_api::require(devices, "devices"));
    CLBIN_TRY(c_api::require(source, "source"));
    auto made = std::make_unique<clbin_report>();
    loader::RunTimeRequest request;
    CLBIN_TRY_ASSIGN(request.devices, devices_of(devices, device_count));
    CLBIN_TRY_ASSIGN(request.source, source_of(source, chosen));
    request.fallback = chosen.request.fallback;
    request.store = chosen.request.store;
    request.answers = chosen.request.answers;
    request.answers_limit = chosen.request.answers_limit;
    request.examination = loader::Examination::after_a_miss;
    c_api::set_reporting(request, chosen, report != nullptr, made->report);
    std::unique_ptr<const clbin_builder> own; // writes what is pending when it is destroyed
    if (builder == nullptr) {
      clbin_builder_options once{};
      once.struct_size = sizeof(once);
      once.reuse = CLBIN_SWITCH_OFF; // there is no second call
      CLBIN_TRY_ASSIGN(own, make_builder(&once));
    }
    Result<opencl::Program> built = build(builder == nullptr ? *own : *builder, chosen, context,
                                          std::move(request), made->report);
    hand_over(std::move(made), report);
    return built;
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
  view.extensions = report->report.extensions.c_str();
  view.variant_reason = report->report.variant_reason.c_str();
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
