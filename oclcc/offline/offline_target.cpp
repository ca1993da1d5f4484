#include "offline/offline_target.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::string_view k_all = "all";
constexpr std::string_view k_all_major = "all-major";
constexpr std::string_view k_32_bits = ":32";

// Of compute capability 5.0 and higher: the driver that is current in 2026 supports no older one.
constexpr std::array k_nvptx = {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
                                "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"};
// ptxas 13.0 knows no lower ones.
constexpr std::array k_cubin = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
// The first of each major compute capability, whose PTX all others of it accept.
constexpr std::array k_nvptx_major = {"sm_50", "sm_60", "sm_70", "sm_80", "sm_90"};
// clang 15's translator writes up to 1.4, which is also the highest version that a driver here
// lists.
constexpr std::array k_spirv = {"1.0", "1.1", "1.2", "1.3", "1.4"};

std::vector<OfflineTarget> make_known_targets() {
  std::vector<OfflineTarget> targets;
  targets.reserve(k_nvptx.size() + k_cubin.size() + 2 * k_spirv.size());
  for (const char* architecture : k_nvptx) {
    targets.push_back({OfflineFamily::nvptx, architecture, 64});
  }
  for (const char* architecture : k_cubin) {
    targets.push_back({OfflineFamily::cubin, architecture, 64});
  }
  for (const char* version : k_spirv) {
    targets.push_back({OfflineFamily::spirv, version, 32});
    targets.push_back({OfflineFamily::spirv, version, 64});
  }
  return targets;
}

std::vector<OfflineTarget> matching(const auto& is_member) {
  std::vector<OfflineTarget> targets;
  const auto known = known_targets();
  std::copy_if(known.begin(), known.end(), std::back_inserter(targets), is_member);
  return targets;
}

std::vector<OfflineTarget> of_family(OfflineFamily family) {
  return matching([&](const OfflineTarget& target) {
    return target.family == family && target.address_bits == 64;
  });
}

bool is_major(const OfflineTarget& target) {
  return target.family == OfflineFamily::nvptx &&
         std::find(k_nvptx_major.begin(), k_nvptx_major.end(), target.architecture) !=
             k_nvptx_major.end();
}

// By default, one SPIR-V version serves: 1.2, which drivers of OpenCL 2.1 and later accept.
bool is_default_spirv(const OfflineTarget& target) {
  return target.family == OfflineFamily::spirv && target.architecture == "1.2" &&
         target.address_bits == 64;
}

} // namespace

std::string_view to_string(OfflineFamily family) noexcept {
  switch (family) {
  case OfflineFamily::nvptx:
    return "nvptx";
  case OfflineFamily::cubin:
    return "cubin";
  case OfflineFamily::spirv:
    return "spirv";
  }
  return "";
}

std::string spelling_of(const OfflineTarget& target) {
  return fmt::format("{}:{}{}", to_string(target.family), target.architecture,
                     target.address_bits == 32 ? k_32_bits : "");
}

clbin::format::Target recorded_target(const OfflineTarget& target) {
  clbin::format::Target recorded;
  recorded.origin = clbin::format::TargetOrigin::offline;
  recorded.spec = spelling_of(target);
  recorded.identity.address_bits = target.address_bits;
  if (target.family != OfflineFamily::spirv) {
    recorded.identity.architecture = target.architecture;
  }
  return recorded;
}

std::span<const OfflineTarget> known_targets() {
  static const std::vector<OfflineTarget> k_targets = make_known_targets();
  return k_targets;
}

std::vector<TargetGroup> target_groups() {
  const std::string_view nvptx = to_string(OfflineFamily::nvptx);
  const std::string_view spirv = to_string(OfflineFamily::spirv);
  return {
      {std::string(k_all), matching([](const OfflineTarget& target) {
         return is_major(target) || is_default_spirv(target);
       })},
      {fmt::format("{}:{}", nvptx, k_all), of_family(OfflineFamily::nvptx)},
      {fmt::format("{}:{}", nvptx, k_all_major), matching(is_major)},
      {fmt::format("{}:{}", to_string(OfflineFamily::cubin), k_all),
       of_family(OfflineFamily::cubin)},
      {fmt::format("{}:{}", spirv, k_all), of_family(OfflineFamily::spirv)},
  };
}

namespace {

// The targets of one word with its family: "spirv:1.2".
std::vector<OfflineTarget> targets_of(std::string_view word) {
  for (const TargetGroup& group : target_groups()) {
    if (group.name == word) {
      return group.targets;
    }
  }
  return matching([&](const OfflineTarget& target) { return spelling_of(target) == word; });
}

Result<void> unknown(std::string_view word) {
  const std::string_view family = word.substr(0, word.find(':'));
  const auto targets = known_targets();
  const bool is_family = std::any_of(targets.begin(), targets.end(), [&](const auto& target) {
    return to_string(target.family) == family;
  });
  if (is_family) {
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
  return matching([&](const OfflineTarget& target) {
    return std::find(found.begin(), found.end(), target) != found.end();
  });
}

} // namespace oclcc::offline
