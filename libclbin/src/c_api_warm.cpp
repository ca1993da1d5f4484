// In a file of its own, as c_api_answers.cpp, because it checks known answers.
#include "c_api.hpp"

#include "listing/launch_compilation.hpp"
#include "loader/load_session.hpp"
#include "opencl/device_query.hpp"

using namespace clbin;
using base::ErrorCode;
using base::Result;

namespace {

// Returns the variants with these names; "" matches each name. no_such_program, no_such_variant.
Result<std::vector<format::GroupView>> groups_to_warm(const format::BundleReader& bundle,
                                                      std::string_view program,
                                                      std::string_view variant) {
  std::vector<format::GroupView> groups;
  bool has_program = program.empty();
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(format::GroupView group, bundle.group(index));
    if (!program.empty() && group.program.str() != program) {
      continue;
    }
    has_program = true;
    if (variant.empty() || group.variant.str() == variant) {
      groups.push_back(std::move(group));
    }
  }
  if (!has_program) {
    return tl::unexpected(bundle.find_group(program, format::k_default_variant).error());
  }
  if (groups.empty() && !variant.empty()) {
    return base::fail(ErrorCode::no_such_variant, "no program has a variant '{}'", variant);
  }
  return groups;
}

Result<void> check_user_cache(const clbin_bundle& bundle) {
  const cache::CacheSettings& settings = bundle.cache.programs.settings();
  if (bundle.cache.programs.is_on()) {
    return {};
  }
  return base::fail(ErrorCode::invalid_argument,
                    "clbin_warm fills the user cache, which is off: {}",
                    settings.warning.empty() ? settings.why_off : settings.warning);
}

class Warming {
public:
  Warming(const clbin_bundle& bundle, cl_context context, cl_device_id device,
          const c_api::LoadOptions& options, const opencl::Driver& driver)
      : m_bundle(bundle), m_context(context), m_device(device), m_options(options),
        m_driver(driver) {}

  // Counts what became of the variant. The errors of loader::warm_variant, unless the device lacks
  // what the variant requires.
  Result<void> warm(const format::GroupView& group, clbin_warmed& counts) const {
    loader::LoadReport report;
    auto done = loader::warm_variant(m_driver, m_bundle.reader, m_bundle.cache, m_context,
                                     request_for(group, report), report, m_bundle.packs.get());
    if (done) {
      ++count_of(report.origin, counts);
      return {};
    }
    if (!is_suitable(group)) {
      ++counts.unsuitable;
      return {};
    }
    ++counts.failed;
    return base::add_context(std::move(done.error()), fmt::format("program '{}', variant '{}'",
                                                                  group.program, group.variant));
  }

  Result<void> check_device() {
    CLBIN_TRY_ASSIGN(const auto identity, opencl::query_identity(m_driver, m_device));
    m_takes_binary = listing::needs_specialization(format::device_family(identity));
    return {};
  }

private:
  [[nodiscard]] loader::LoadRequest request_for(const format::GroupView& group,
                                                const loader::LoadReport& report) const {
    loader::LoadRequest request = m_options.request;
    request.program = group.program.str();
    request.variant = group.variant.str();
    request.devices = {m_device};
    request.fallback = loader::FallbackPolicy::if_needed;
    request.store = loader::StorePolicy::keep;
    if (m_options.given.answers_ms == 0) {
      request.answers_limit = loader::k_warm_answers_limit;
    }
    if (m_takes_binary) { // loads store nothing on PoCL
      request.take_binary = [this](cl_program program) {
        return opencl::program_binary(m_driver, program, m_device);
      };
    }
    c_api::set_reporting(request, m_options, false, report);
    return request;
  }

  static std::size_t& count_of(loader::Origin origin, clbin_warmed& counts) {
    switch (origin) {
    case loader::Origin::entry:
      return counts.from_entries;
    case loader::Origin::user_cache:
      return counts.from_user_cache;
    default:
      return counts.built;
    }
  }

  [[nodiscard]] bool is_suitable(const format::GroupView& group) const {
    return group.required.empty() ||
           loader::lacking_extensions(
               group.required,
               opencl::device_extensions(m_driver, m_device).value_or(std::vector<std::string>()))
               .empty();
  }

  const clbin_bundle& m_bundle;
  cl_context m_context;
  cl_device_id m_device;
  const c_api::LoadOptions& m_options;
  const opencl::Driver& m_driver;
  bool m_takes_binary = false;
};

Result<void> warm_all(Warming& warming, const std::vector<format::GroupView>& groups,
                      std::uint32_t limit_ms, clbin_warmed& counts) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(limit_ms);
  Result<void> first_failure;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (limit_ms != 0 && Clock::now() >= end) {
      counts.remaining = static_cast<std::size_t>(groups.end() - group);
      break;
    }
    Result<void> done = warming.warm(*group, counts);
    if (!done && first_failure) {
      first_failure = std::move(done);
    }
  }
  return first_failure;
}

} // namespace

clbin_status clbin_warm(const clbin_bundle* bundle, struct _cl_context* context,
                        struct _cl_device_id* device, const char* program,
                        const clbin_load_options* options, uint32_t limit_ms, clbin_warmed* warmed,
                        clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(context, "context"));
    CLBIN_TRY(c_api::require(device, "device"));
    CLBIN_TRY(c_api::require(warmed, "warmed"));
    clbin_warmed counts{};
    if (c_api::fill(warmed, counts) != CLBIN_SUCCESS) {
      return base::fail(ErrorCode::invalid_argument,
                        "struct_size of clbin_warmed is {}; set it to sizeof(clbin_warmed)",
                        warmed->struct_size);
    }
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    CLBIN_TRY(check_user_cache(*bundle));
    CLBIN_TRY_ASSIGN(
        const auto groups,
        groups_to_warm(bundle->reader, c_api::text_or_empty(program), chosen.request.variant));
    CLBIN_TRY_ASSIGN(const opencl::Driver driver,
                     bundle->driver.functions(chosen, opencl::TableUse::launches));
    Warming warming(*bundle, context, device, chosen, driver);
    CLBIN_TRY(warming.check_device());
    Result<void> done = warm_all(warming, groups, limit_ms, counts);
    (void)c_api::fill(warmed, counts);
    return done;
  });
}
