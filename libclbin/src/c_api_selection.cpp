// Which device there is, and which entry of a bundle fits it: for callers that load programs
// themselves.
#include "c_api.hpp"

#include "base/text.hpp"
#include "matching/variant_choice.hpp"
#include "opencl/device_query.hpp"

#include <fmt/format.h>

using namespace clbin;
using base::ErrorCode;
using base::Result;

struct clbin_selection {
  base::Bytes bytes;
  format::SharedText options;
  std::string format_text;
  loader::Rule rule = loader::Rule::none;
  format::SharedNames kernels;
  std::vector<const char*> kernel_pointers;
};

namespace {

// The object that clbin_identity_query returns. Its public members point into its other members.
struct QueriedIdentity : clbin_identity {
  format::DeviceIdentity device;
  std::string opencl_c_version_lines;
  std::string il_version_lines;
};

std::vector<std::string> lines_of(const char* text) {
  const auto lines = base::words_between("\n", text == nullptr ? "" : text);
  return {lines.begin(), lines.end()};
}

// The texts of an identity, in C and in C++.
struct IdentityText {
  const char* clbin_identity::*view;
  std::string format::DeviceIdentity::*text;
};
constexpr IdentityText k_identity_texts[] = {
    {&clbin_identity::platform_name, &format::DeviceIdentity::platform_name},
    {&clbin_identity::platform_version, &format::DeviceIdentity::platform_version},
    {&clbin_identity::vendor, &format::DeviceIdentity::vendor},
    {&clbin_identity::device_name, &format::DeviceIdentity::device_name},
    {&clbin_identity::driver_version, &format::DeviceIdentity::driver_version},
    {&clbin_identity::device_version, &format::DeviceIdentity::device_version},
    {&clbin_identity::architecture, &format::DeviceIdentity::architecture},
};

void fill_view(QueriedIdentity& queried) {
  const format::DeviceIdentity& identity = queried.device;
  queried.opencl_c_version_lines = fmt::format("{}", fmt::join(identity.opencl_c_versions, "\n"));
  queried.il_version_lines = fmt::format("{}", fmt::join(identity.il_versions, "\n"));
  clbin_identity& view = queried;
  view.struct_size = sizeof(view);
  for (const IdentityText& member : k_identity_texts) {
    view.*member.view = (identity.*member.text).c_str();
  }
  view.opencl_c_versions = queried.opencl_c_version_lines.c_str();
  view.il_versions = queried.il_version_lines.c_str();
  view.vendor_id = identity.vendor_id;
  view.address_bits = identity.address_bits;
}

format::DeviceIdentity identity_of(const clbin_identity& given) {
  format::DeviceIdentity identity;
  for (const IdentityText& member : k_identity_texts) {
    identity.*member.text = c_api::text_or_empty(given.*member.view);
  }
  identity.opencl_c_versions = lines_of(given.opencl_c_versions);
  identity.il_versions = lines_of(given.il_versions);
  identity.vendor_id = given.vendor_id;
  identity.address_bits = given.address_bits;
  if (format::device_family(identity) == format::DeviceFamily::pocl) {
    identity.vendor_id = 0; // as opencl::query_identity does
  }
  return identity;
}

// A bundle, and the variant to select from in it.
struct Selected {
  std::shared_ptr<const format::BundleReader> bundle;
  format::GroupView group;
};

// Returns the variant in the bundle, and in the packs that have binaries for the device. Adds why
// packs cannot be used to `unusable`.
Result<std::vector<Selected>> groups_of(const clbin_bundle& bundle,
                                        const format::DeviceIdentity& identity,
                                        const std::string& program, const std::string& variant,
                                        std::vector<base::Error>& unusable) {
  const format::BundleReader& reader = bundle.reader;
  CLBIN_TRY_ASSIGN(auto group, reader.find_group(program, variant));
  std::vector<Selected> groups;
  groups.push_back({{std::shared_ptr<void>(), &reader}, std::move(group)});
  if (bundle.packs == nullptr) {
    return groups;
  }
  for (loader::PackSet::Pack& pack : bundle.packs->packs_for(identity)) {
    if (pack.bundle == nullptr) {
      unusable.push_back(std::move(pack.error));
      continue;
    }
    auto in_pack = pack.bundle->find_group(program, variant);
    if (in_pack) {
      groups.push_back({std::move(pack.bundle), *std::move(in_pack)});
    } else if (in_pack.error().code != ErrorCode::no_such_program &&
               in_pack.error().code != ErrorCode::no_such_variant) {
      unusable.push_back(
          base::add_context(std::move(in_pack.error()), fmt::format("pack '{}'", pack.name))
              .value());
    }
  }
  return groups;
}

Result<std::unique_ptr<clbin_selection>> selection_of(const format::BundleReader& reader,
                                                      matching::Candidate& candidate,
                                                      format::ReadBudget& budget) {
  auto selection = std::make_unique<clbin_selection>();
  CLBIN_TRY_ASSIGN(selection->bytes, matching::read_candidate(reader, candidate, &budget));
  selection->options = std::move(candidate.entry.options);
  selection->format_text = format::describe(candidate.entry);
  selection->rule = candidate.rule;
  selection->kernels = std::move(candidate.entry.kernels);
  selection->kernel_pointers = c_api::pointers_to(selection->kernels);
  return selection;
}

// Returns the best candidate that can be read. If there is none, returns the error of the best one.
Result<std::unique_ptr<clbin_selection>> select(const clbin_bundle& bundle,
                                                const format::DeviceIdentity& identity,
                                                const std::string& program,
                                                const std::string& variant) {
  std::vector<base::Error> failures;
  CLBIN_TRY_ASSIGN(const auto groups, groups_of(bundle, identity, program, variant, failures));
  std::vector<matching::Candidate> candidates;
  std::vector<format::ReadBudget> budgets;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    const auto& [reader, group] = groups[i];
    auto ranked = matching::rank_candidates(*reader, group, identity);
    budgets.push_back(reader->budget());
    if (!ranked && i == 0) {
      return tl::unexpected(std::move(ranked.error()));
    }
    if (!ranked) {
      failures.push_back(std::move(ranked.error()));
      continue;
    }
    for (matching::Candidate& one : *ranked) {
      one.bundle = i;
      candidates.push_back(std::move(one));
    }
  }
  // The caller has no quarantine for a binary that can crash the driver.
  std::erase_if(candidates, [](const matching::Candidate& one) { return one.is_of_series; });
  matching::sort_by_rank(candidates);
  loader::OptionsChecker options;
  std::optional<base::Error> first_damage;
  for (matching::Candidate& candidate : candidates) {
    format::ReadBudget& budget = budgets[candidate.bundle];
    if (budget.is_raw_spent()) {
      continue; // another pack may have one
    }
    const Result<void> is_safe = options.check(candidate.entry.options);
    auto selection = is_safe ? selection_of(*groups[candidate.bundle].bundle, candidate, budget)
                             : tl::unexpected(is_safe.error());
    if (selection) {
      return selection;
    }
    first_damage = first_damage.value_or(selection.error());
  }
  if (first_damage.has_value()) {
    return tl::unexpected(*first_damage);
  }
  return base::fail(ErrorCode::no_matching_entry,
                    "no entry of program '{}', variant '{}', matches '{}'{}", program, variant,
                    identity.device_name,
                    failures.empty() ? "" : ", and " + failures.front().message);
}

} // namespace

clbin_status clbin_select(const clbin_bundle* bundle, const clbin_identity* identity,
                          const char* program, const char* variant, clbin_selection** selection,
                          clbin_error** error) {
  using Made = Result<std::unique_ptr<clbin_selection>>;
  return c_api::guarded_make(error, selection, "selection", [&]() -> Made {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(identity, "identity"));
    CLBIN_TRY(c_api::require(program, "program"));
    CLBIN_TRY_ASSIGN(const clbin_identity given, c_api::copy_sized(identity, "clbin_identity"));
    return select(*bundle, identity_of(given), program, c_api::variant_or_default(variant));
  });
}

void clbin_selection_free(clbin_selection* selection) {
  delete selection;
}

clbin_status clbin_selection_get(const clbin_selection* selection, clbin_selection_info* info) {
  if (selection == nullptr) {
    return CLBIN_ERROR_INVALID_ARGUMENT;
  }
  clbin_selection_info view{};
  view.data = selection->bytes.data();
  view.size_bytes = selection->bytes.size();
  view.format = selection->format_text.c_str();
  view.options = selection->options.c_str();
  view.rule = to_string(selection->rule).data(); // a literal
  view.rule_number = static_cast<clbin_rule>(selection->rule);
  view.kernels = selection->kernel_pointers.data();
  view.kernel_count = selection->kernel_pointers.size();
  return c_api::fill(info, view);
}

clbin_status clbin_identity_query(struct _cl_device_id* device, const clbin_load_options* options,
                                  clbin_identity** identity, clbin_error** error) {
  using Queried = Result<std::unique_ptr<QueriedIdentity>>;
  return c_api::guarded_make(error, identity, "identity", [&]() -> Queried {
    CLBIN_TRY(c_api::require(device, "device"));
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    CLBIN_TRY_ASSIGN(const opencl::Driver driver,
                     c_api::IcdDriver().functions(chosen, opencl::TableUse::identity));
    auto queried = std::make_unique<QueriedIdentity>();
    CLBIN_TRY_ASSIGN(queried->device, opencl::query_identity(driver, device));
    fill_view(*queried);
    return queried;
  });
}

void clbin_identity_free(clbin_identity* identity) {
  delete static_cast<QueriedIdentity*>(identity);
}

clbin_status clbin_recommended_size(const clbin_bundle* bundle, struct _cl_device_id* device,
                                    const char* program, const char* variant, const char* kernel,
                                    const size_t* global_size, size_t dimensions,
                                    const clbin_load_options* options, size_t* local_size,
                                    clbin_error** error) {
  const bool has_sizes = dimensions >= 1 && dimensions <= std::tuple_size_v<format::GroupSize>;
  if (local_size != nullptr && has_sizes) {
    std::fill_n(local_size, dimensions, 0);
  }
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(device, "device"));
    CLBIN_TRY(c_api::require(program, "program"));
    CLBIN_TRY(c_api::require(kernel, "kernel"));
    CLBIN_TRY(c_api::require(local_size, "local_size"));
    CLBIN_TRY_ASSIGN(const auto launch_size,
                     c_api::launch_size_of(global_size, dimensions, "global_size"));
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    CLBIN_TRY_ASSIGN(const opencl::Driver driver,
                     c_api::IcdDriver().functions(chosen, opencl::TableUse::identity));
    CLBIN_TRY_ASSIGN(const auto group,
                     bundle->reader.find_group(program, c_api::variant_or_default(variant)));
    CLBIN_TRY_ASSIGN(const auto identity, opencl::query_identity(driver, device));
    const auto type = opencl::device_value<cl_device_type>(driver, device, CL_DEVICE_TYPE);
    const auto most =
        opencl::device_value<std::size_t>(driver, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const matching::PlannedLaunch launch{kernel, launch_size, most.value_or(1)};
    CLBIN_TRY_ASSIGN(const format::GroupSize size,
                     matching::recommended_size(bundle->reader, group,
                                                format::measured_device(identity, type.value_or(0)),
                                                launch));
    std::copy_n(size.begin(), dimensions, local_size);
    return {};
  });
}
