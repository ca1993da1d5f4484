#include "matching/variant_choice.hpp"

#include <fmt/format.h>

namespace clbin::matching {

using format::Nearness;

namespace {

constexpr std::size_t k_max_told_variants = 8;

std::string where_measured(Nearness nearness, const format::MeasuredDevice& device) {
  switch (nearness) {
  case Nearness::driver:
    return "on this device with this driver";
  case Nearness::device:
    return "on this device with another driver";
  case Nearness::architecture:
    return fmt::format("on another {}", format::plain_architecture(device));
  case Nearness::vendor:
    return "on other devices of this vendor and type";
  case Nearness::any:
    break;
  }
  return "on other devices";
}

// Returns why a launch of the variant would fail, as a sentence; otherwise an empty text.
std::string why_unfit(const format::RankedGroup& ranked, const LaunchLimits& limits) {
  if (ranked.work_items > limits.work_items) {
    return fmt::format("variant '{}' is passed over: it requires work-groups of {} work-items, and "
                       "the device allows {}",
                       format::told(ranked.group.variant), ranked.work_items, limits.work_items);
  }
  if (ranked.local_bytes > limits.local_bytes) {
    return fmt::format("variant '{}' is passed over: it requires {} bytes of local memory, and the "
                       "device has {}",
                       format::told(ranked.group.variant), ranked.local_bytes, limits.local_bytes);
  }
  return {};
}

} // namespace

base::Result<MeasuredChoice> choose_measured(const format::BundleReader& bundle,
                                             std::string_view program, const DeviceLimits& limits) {
  MeasuredChoice choice;
  if (!bundle.has_rankings()) {
    return choice;
  }
  for (const Nearness nearness : format::k_from_near_to_far) {
    const auto key = format::ranking_key(nearness, program, limits.device);
    if (!key) {
      continue;
    }
    const bool is_this_device = nearness <= Nearness::device;
    CLBIN_TRY_ASSIGN(auto ranking, bundle.ranked_groups(program, *key));
    if (!ranking) {
      continue;
    }
    for (format::RankedGroup& ranked : *ranking) {
      std::string why = why_unfit(ranked, is_this_device ? limits.of_others : limits.of_all);
      if (why.empty()) {
        choice.groups.push_back(std::move(ranked.group));
      } else if (choice.passed_over.size() < format::k_max_ranked) {
        choice.passed_over.push_back(std::move(why));
      }
    }
    if (ranking->empty() || !choice.groups.empty()) {
      choice.where = where_measured(nearness, limits.device);
      return choice;
    }
  }
  return choice;
}

std::string measured_reason(const MeasuredChoice& choice, const format::GroupView& group) {
  const auto& groups = choice.groups;
  const auto place = std::ranges::find(groups, group.index, &format::GroupView::index);
  if (place == groups.end()) {
    return {};
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(groups.size(), k_max_told_variants); ++i) {
    const bool is_last = i + 1 == groups.size();
    names += fmt::format("{}'{}'",
                         i == 0    ? ""
                         : is_last ? " and "
                                   : ", ",
                         format::told(groups[i].variant));
  }
  if (groups.size() > k_max_told_variants) {
    names += fmt::format(" and {} more", groups.size() - k_max_told_variants);
  }
  return fmt::format("which was the fastest{} of {}, measured {}",
                     place == groups.begin() ? "" : " that loads", names, choice.where);
}

} // namespace clbin::matching
