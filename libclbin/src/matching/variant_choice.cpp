#include "matching/variant_choice.hpp"

#include <fmt/format.h>

namespace clbin::matching {

using format::GroupSize;
using format::Measurement;
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

bool can_launch(const Measurement& measured, const PlannedLaunch& launch) {
  if (measured.kernel != launch.kernel || measured.dimensions != launch.dimensions ||
      measured.outcome != format::MeasurementOutcome::measured) {
    return false;
  }
  const GroupSize& local = measured.local_size;
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i] != 0 && launch.global_size[i] % local[i] != 0) {
      return false;
    }
  }
  return format::items_of(local) <= launch.max_work_items;
}

// Of the launches whose numbers of work-items are the nearest to that of `launch`.
void keep_nearest(std::vector<const Measurement*>& all, const PlannedLaunch& launch) {
  const auto wanted = static_cast<double>(format::items_of(launch.global_size));
  const auto distance = [&](const Measurement* one) {
    const auto items = static_cast<double>(format::items_of(one->global_size));
    return std::max(items / wanted, wanted / items);
  };
  const Measurement* const nearest = *std::ranges::min_element(all, {}, distance);
  std::erase_if(all,
                [&](const Measurement* one) { return one->global_size != nearest->global_size; });
}

// Of the sizes that were measured on all devices.
GroupSize fastest_size(const std::vector<const Measurement*>& all) {
  std::map<GroupSize, std::vector<const Measurement*>> sizes;
  std::set<format::MeasuredDevice> devices;
  for (const Measurement* one : all) {
    sizes[one->local_size].push_back(one);
    devices.insert(one->device);
  }
  std::erase_if(sizes, [&](const auto& size) { return size.second.size() < devices.size(); });
  std::map<format::MeasuredDevice, std::uint64_t> best;
  for (const auto& [size, times] : sizes) {
    for (const Measurement* one : times) {
      const auto place = best.try_emplace(one->device, one->median_ns).first;
      place->second = std::min(place->second, one->median_ns);
    }
  }
  const auto slowness = [&](const auto& size) {
    double sum = 0;
    for (const Measurement* one : size.second) {
      sum += static_cast<double>(one->median_ns) / static_cast<double>(best.at(one->device));
    }
    return sum;
  };
  const auto fastest = std::ranges::min_element(sizes, {}, slowness);
  return fastest == sizes.end() ? GroupSize() : fastest->first;
}

} // namespace

base::Result<GroupSize> recommended_size(const format::BundleReader& bundle,
                                         const format::GroupView& group,
                                         const format::MeasuredDevice& device,
                                         const PlannedLaunch& launch) {
  CLBIN_TRY_ASSIGN(const auto manifest, bundle.read_manifest(group));
  for (const Nearness nearness : format::k_from_near_to_far) {
    const auto key = format::ranking_key(nearness, group.program, device);
    std::vector<const Measurement*> found;
    for (const Measurement& one : manifest.measurements) {
      if (key && one.variant == std::string_view(group.variant) && can_launch(one, launch) &&
          format::ranking_key(nearness, group.program, one.device) == key) {
        found.push_back(&one);
      }
    }
    if (!found.empty()) {
      keep_nearest(found, launch);
      return fastest_size(found);
    }
  }
  return GroupSize();
}

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
