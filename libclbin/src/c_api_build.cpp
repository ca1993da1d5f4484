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

// Replaces the directory by that of the caller, which turns the cache on.
Result<void> set_folder(cache::CacheSettings& settings, const char* cache_dir) {
  settings.folder = cache_dir;
  if (!settings.folder.is_absolute()) {
    return base::fail(ErrorCode::invalid_argument, "'cache_dir' is '{}', not an absolute path",
                      cache_dir);
  }
  settings.warning.clear(); // there is no home directory
  settings.use = cache::CacheUse::on;
  return {};
}

Result<cache::CacheSettings> settings_of(const clbin_builder_options& options) {
  auto settings = cache::CacheSettings::from_environment(
      cache::this_process(), options.cache_dir != nullptr ? cache::CacheOnPocl::yes //
                                                          : cache::CacheOnPocl::no);
  CLBIN_TRY(c_api::check_switch(options.cache, "cache"));
  CLBIN_TRY(c_api::check_switch(options.cache_on_pocl, "cache_on_pocl"));
  CLBIN_TRY(c_api::check_switch(options.reuse, "reuse"));
  if (options.cache_dir != nullptr) {
    CLBIN_TRY(set_folder(settings, options.cache_dir));
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
    auto paths = loader::listed_paths(process.variable(variable).value_or(""));
    if (paths.size() > loader::k_most_listed_bundles) {
      builder->state.add_warning(
          fmt::format("{} names more than {} bundles: the others are not used", variable,
                      loader::k_most_listed_bundles));
      paths.resize(loader::k_most_listed_bundles);
    }
    for (const std::filesystem::path& path : paths) {
      if (const Result<void> added = add_file(*builder, path.c_str(), options); !added) {
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
      CLBIN_TRY(set_folder(settings, cache_dir));
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
    CLBIN_TRY_ASSIGN(request.devices, c_api::devices_of(devices, device_count));
    CLBIN_TRY_ASSIGN(request.source, source_of(source, chosen));
    request.fallback = chosen.request.fallback;
    request.store = chosen.request.store;
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
    c_api::hand_over(std::move(made), report);
    return built;
  });
}
