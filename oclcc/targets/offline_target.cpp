#include "targets/offline_target.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

constexpr std::string_view k_all = "all";
constexpr std::string_view k_families[] = {"nvptx", "cubin", "amdgcn", "intel", "spirv"};
constexpr std::string_view k_32_bits = ":32";
constexpr std::pair<std::string_view, std::uint32_t> k_code_objects[] = {
    {":co4", 4}, {":co5", 5}, {":co6", 6}};

// Of compute capability 5.0 and higher: the driver that is current in 2026 supports no older one.
constexpr std::array k_nvptx = {"sm_50",  "sm_52",  "sm_53",  "sm_60",  "sm_61", "sm_62", "sm_70",
                                "sm_72",  "sm_75",  "sm_80",  "sm_86",  "sm_87", "sm_89", "sm_90",
                                "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
// ptxas 13.0 knows no lower ones.
constexpr std::array k_cubin = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
// The first of each major compute capability, whose PTX all others of it accept.
constexpr std::array k_nvptx_major = {"sm_50", "sm_60",  "sm_70",  "sm_80",
                                      "sm_90", "sm_100", "sm_110", "sm_120"};
// clang 15's translator writes up to 1.4, which is also the highest version that a driver here
// lists.
constexpr std::array k_spirv = {"1.0", "1.1", "1.2", "1.3", "1.4"};

struct AmdProcessors {
  std::string_view names;
  std::string_view settings; // AMDGPUUsage, "AMDGPU Processors"; in the order of target IDs
  // 4 is the highest that clang 15 and rocm-device-libs 5.2.3 have in common and that drivers since
  // ROCm 4.2 load. 5 is the default of clang since release 18, which is as old as the drivers of
  // newer processors. Generic ones require 6 (AMDGPUUsage), which drivers since ROCm 6.3 load.
  std::uint32_t code_object = 4;
};

// Those from GFX8 to GFX12 that were sold, without the APUs of GFX8, and the generic ones. gfx940
// and gfx941 were never sold.
constexpr AmdProcessors k_amdgcn[] = {
    {"gfx803", ""},
    {"gfx900 gfx902 gfx904", "xnack"},
    {"gfx906 gfx908", "sramecc xnack"},
    {"gfx909", "xnack"},
    {"gfx90a", "sramecc xnack"},
    {"gfx90c", "xnack"},
    {"gfx942 gfx950", "sramecc xnack", 5},
    {"gfx1010 gfx1011 gfx1012 gfx1013", "xnack"},
    {"gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036", ""},
    {"gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201", "", 5},
    {"gfx9-generic", "xnack", 6},
    {"gfx9-4-generic", "sramecc xnack", 6},
    {"gfx10-1-generic", "xnack", 6},
    {"gfx10-3-generic gfx11-generic gfx12-generic", "", 6},
};

struct IntelProduct {
  const char* name;       // of ocloc
  const char* ip_version; // `ocloc ids NAME`
  Releases compilers{};
};

// Those whose zebins identify one IP version: of dg2 and pvc, ocloc 22.43 writes only a product
// family, which has several. ocloc 24.35 is the last one that knows Gen8 to Gen11.
constexpr Releases k_until_24{0, 24};
constexpr Releases k_from_26{26};
constexpr IntelProduct k_intel[] = {
    {"bdw", "8.0.0", k_until_24},
    {"skl", "9.0.9", k_until_24},
    {"kbl", "9.1.9", k_until_24},
    {"cfl", "9.2.9", k_until_24},
    {"bxt", "9.3.0", k_until_24},
    {"glk", "9.4.0", k_until_24},
    {"icllp", "11.0.0", k_until_24},
    {"lkf", "11.1.0", k_until_24},
    {"ehl", "11.2.0", k_until_24},
    {"tgllp", "12.0.0"},
    {"rkl", "12.1.0"},
    {"adl-s", "12.2.0"},
    {"adl-p", "12.3.0"},
    {"adl-n", "12.4.0"},
    {"dg1", "12.10.0"},
    {"dg2", "12.55.8", k_from_26},
    {"acm-g11", "12.56.5", k_from_26},
    {"acm-g12", "12.57.0", k_from_26},
    {"pvc", "12.60.7", k_from_26},
    {"mtl", "12.70.4", k_from_26},
    {"mtl-h", "12.71.4", k_from_26},
    {"arl-h", "12.74.4", k_from_26},
    {"bmg", "20.1.0", k_from_26},
    {"bmg-g31", "20.2.0", k_from_26},
    {"lnl", "20.4.4", k_from_26},
    {"ptl", "30.0.4", k_from_26},
    {"ptl-u", "30.1.0", k_from_26},
    {"wcl", "30.3.1", k_from_26},
};

const IntelProduct* intel_product(const OfflineTarget& target) {
  const auto* const product = std::ranges::find(k_intel, target.architecture, &IntelProduct::name);
  return target.family != OfflineFamily::intel || product == std::end(k_intel) ? nullptr : product;
}

// Returns each ID, followed by the same ID with the setting off and on.
std::vector<std::string> with_setting(const std::vector<std::string>& ids, std::string_view name) {
  std::vector<std::string> all;
  all.reserve(ids.size() * 3);
  for (const std::string& id : ids) {
    all.push_back(id);
    all.push_back(fmt::format("{}:{}-", id, name));
    all.push_back(fmt::format("{}:{}+", id, name));
  }
  return all;
}

std::vector<OfflineTarget> make_known_targets() {
  std::vector<OfflineTarget> targets;
  targets.reserve(k_nvptx.size() + k_cubin.size() + 2 * k_spirv.size());
  for (const char* architecture : k_nvptx) {
    targets.push_back({OfflineFamily::nvptx, architecture, 64});
  }
  for (const char* architecture : k_cubin) {
    targets.push_back({OfflineFamily::cubin, architecture, 64});
  }
  for (const AmdProcessors& row : k_amdgcn) {
    for (const std::string_view name : base::words_between_spaces(row.names)) {
      std::vector<std::string> ids = {std::string(name)};
      for (const std::string_view setting : base::words_between_spaces(row.settings)) {
        ids = with_setting(ids, setting);
      }
      for (const std::string& id : ids) {
        targets.push_back({OfflineFamily::amdgcn, id, 64});
      }
    }
  }
  for (const IntelProduct& product : k_intel) {
    targets.push_back({OfflineFamily::intel, product.name, 64});
  }
  for (const char* version : k_spirv) {
    targets.push_back({OfflineFamily::spirv, version, 32});
    targets.push_back({OfflineFamily::spirv, version, 64});
  }
  return targets;
}

// What a product ships: one entry, generic or lowest, for each family of devices that loads it.
// Those of Intel load code for one product each, and compile SPIR-V. gfx942 instead of
// gfx9-4-generic, which the release of clang for the others does not have.
constexpr std::string_view k_gpus[] = {"nvptx:sm_50",
                                       "nvptx:sm_70",
                                       "amdgcn:gfx803",
                                       "amdgcn:gfx908",
                                       "amdgcn:gfx90a",
                                       "amdgcn:gfx942",
                                       "amdgcn:gfx9-generic",
                                       "amdgcn:gfx10-1-generic",
                                       "amdgcn:gfx10-3-generic",
                                       "amdgcn:gfx11-generic",
                                       "amdgcn:gfx12-generic",
                                       "spirv:1.2"};

std::vector<OfflineTarget> matching(const auto& is_member) {
  std::vector<OfflineTarget> targets;
  const auto known = known_targets();
  std::ranges::copy_if(known, std::back_inserter(targets), is_member);
  return targets;
}

// Whether the code runs only with certain settings of sramecc or xnack.
bool has_settings(const OfflineTarget& target) {
  return target.architecture.find(':') != std::string::npos;
}

// Whether groups contain the target: code for any settings of one processor that a release of clang
// knows which Debian 13 has, or of a product that Debian 12's ocloc knows.
bool is_in_groups(const OfflineTarget& target) {
  constexpr std::string_view k_newest[] = {"gfx950", "gfx1153"}; // clang 20 and later
  return !has_settings(target) && !is_generic(target) && ocloc_releases(target).has(22) &&
         std::ranges::find(k_newest, target.architecture) == std::end(k_newest);
}

// As a device of the target reports it; of a generic target, which no device reports, its name.
std::string recorded_architecture(const OfflineTarget& target) {
  if (target.family == OfflineFamily::spirv) {
    return {};
  }
  if (target.family != OfflineFamily::intel) {
    return target.architecture;
  }
  const IntelProduct* const product = intel_product(target);
  return product == nullptr ? "" : product->ip_version;
}

bool is_major(const OfflineTarget& target) {
  return target.family == OfflineFamily::nvptx &&
         std::ranges::find(k_nvptx_major, target.architecture) != k_nvptx_major.end();
}

// The targets of one word with its family and without a code object: "spirv:1.2".
std::vector<OfflineTarget> plain_targets_of(std::string_view word) {
  for (const TargetGroup& group : target_groups()) {
    if (group.name == word) {
      return group.targets;
    }
  }
  return matching([&](const OfflineTarget& target) { return spelling_of(target) == word; });
}

// The targets of one word with its family: "amdgcn:gfx906:co5". Those whose processor has this
// version anyway have one spelling. None if one of them cannot have it.
std::vector<OfflineTarget> targets_of(std::string_view word) {
  const auto* const suffix = std::ranges::find_if(
      k_code_objects, [&](const auto& row) { return word.ends_with(row.first); });
  if (suffix == std::end(k_code_objects)) {
    return plain_targets_of(word);
  }
  word.remove_suffix(suffix->first.size());
  std::vector<OfflineTarget> targets = plain_targets_of(word);
  for (OfflineTarget& target : targets) {
    if (target.family != OfflineFamily::amdgcn || (is_generic(target) && suffix->second != 6)) {
      return {};
    }
    target.code_object = suffix->second == code_object_version(target) ? 0 : suffix->second;
  }
  return targets;
}

Result<void> unknown(std::string_view word) {
  const std::string_view family = word.substr(0, word.find(':'));
  if (std::ranges::find(k_families, family) != std::end(k_families)) {
    return fail(ErrorCode::invalid_argument,
                "'--target {}': the family '{}' has no such target; --list-targets lists them",
                word, family);
  }
  return fail(ErrorCode::invalid_argument,
              "'--target {}': a target is a family and an architecture, such as 'nvptx:sm_70' or "
              "'spirv:1.2'; --list-targets lists them",
              word);
}

} // namespace

bool is_generic(const OfflineTarget& target) {
  return target.architecture.find("-generic") != std::string::npos;
}

std::string_view to_string(OfflineFamily family) noexcept {
  return k_families[static_cast<std::size_t>(family)];
}

std::string spelling_of(const OfflineTarget& target) {
  return fmt::format("{}:{}{}{}", to_string(target.family), target.architecture,
                     target.address_bits == 32 ? k_32_bits : "",
                     target.code_object == 0 ? "" : fmt::format(":co{}", target.code_object));
}

std::uint32_t code_object_version(const OfflineTarget& target) {
  if (target.code_object != 0) {
    return target.code_object;
  }
  const std::string_view processor =
      std::string_view(target.architecture).substr(0, target.architecture.find(':'));
  const auto* const row = std::ranges::find_if(k_amdgcn, [&](const AmdProcessors& processors) {
    const auto names = base::words_between_spaces(processors.names);
    return std::ranges::find(names, processor) != names.end();
  });
  return row == std::end(k_amdgcn) ? 0 : row->code_object;
}

unsigned capability_of(std::string_view architecture) {
  architecture.remove_prefix(std::min(std::string_view("sm_").size(), architecture.size()));
  return base::take_number<unsigned>(architecture).value_or(0);
}

Releases ocloc_releases(const OfflineTarget& target) {
  const IntelProduct* const product = intel_product(target);
  return product == nullptr ? Releases() : product->compilers;
}

format::Target recorded_target(const OfflineTarget& target) {
  format::Target recorded;
  recorded.origin = format::TargetOrigin::offline;
  recorded.spec = spelling_of(target);
  recorded.identity.address_bits = target.address_bits;
  recorded.identity.architecture = recorded_architecture(target);
  return recorded;
}

std::span<const OfflineTarget> known_targets() {
  static const std::vector<OfflineTarget> k_targets = make_known_targets();
  return k_targets;
}

std::vector<OfflineTarget> in_order(const std::vector<OfflineTarget>& targets) {
  std::vector<OfflineTarget> ordered;
  for (OfflineTarget target : known_targets()) {
    for (const std::uint32_t version : {0U, 4U, 5U, 6U}) {
      target.code_object = version;
      if (std::ranges::find(targets, target) != targets.end()) {
        ordered.push_back(target);
      }
    }
  }
  return ordered;
}

std::vector<TargetGroup> target_groups() {
  const auto is_in_all = [](const OfflineTarget& target) {
    switch (target.family) {
    case OfflineFamily::amdgcn:
    case OfflineFamily::intel:
      return is_in_groups(target);
    case OfflineFamily::spirv: // one version serves: drivers of OpenCL 2.1 and later accept 1.2
      return target.architecture == "1.2" && target.address_bits == 64;
    default:
      return is_major(target);
    }
  };
  const auto is_in_gpus = [](const OfflineTarget& target) {
    return std::ranges::find(k_gpus, spelling_of(target)) != std::end(k_gpus);
  };
  std::vector<TargetGroup> groups = {{std::string(k_all), matching(is_in_all)},
                                     {"gpus", matching(is_in_gpus)}};
  for (const OfflineFamily family :
       {OfflineFamily::nvptx, OfflineFamily::cubin, OfflineFamily::amdgcn, OfflineFamily::intel,
        OfflineFamily::spirv}) {
    groups.push_back(
        {fmt::format("{}:{}", to_string(family), k_all), matching([&](const OfflineTarget& target) {
           return target.family == family && target.address_bits == 64 && is_in_groups(target);
         })});
    if (family == OfflineFamily::nvptx) {
      groups.push_back({"nvptx:all-major", matching(is_major)});
    }
  }
  return groups;
}

Result<std::vector<OfflineTarget>> parse_targets(std::string_view specification) {
  const std::string_view family = specification.substr(0, specification.find(':'));
  std::vector<OfflineTarget> found;
  for (std::size_t start = 0; start <= specification.size();) {
    const std::size_t end = std::min(specification.find(',', start), specification.size());
    const std::string_view part = specification.substr(start, end - start);
    // Parts after a comma have the family of the first: "spirv:1.0,1.2".
    const std::string word = start == 0 ? std::string(part) : fmt::format("{}:{}", family, part);
    const std::vector<OfflineTarget> targets = targets_of(word);
    if (targets.empty()) {
      CLBIN_TRY(unknown(word));
    }
    found.insert(found.end(), targets.begin(), targets.end());
    start = end + 1;
  }
  return in_order(found);
}

} // namespace oclcc::offline
