#include "matching/variant_choice.hpp"

#include <fmt/format.h>

namespace clbin::matching {

using format::GroupSize;
using format::LaunchSize;
using format::Measurement;
using format::MeasurementOutcome;
using format::Nearness;

namespace {

constexpr std::size_t k_max_told = 8;

// Returns "a, b and c", or the first of many: "a, b, c and 5 more".
std::string listed(const std::vector<std::string>& texts) {
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), k_max_told); ++i) {
    const bool is_last = i + 1 == texts.size();
    list += i == 0 ? "" : is_last ? " and " : ", ";
    list += texts[i];
  }
  return texts.size() > k_max_told ? fmt::format("{} and {} more", list, texts.size() - k_max_told)
                                   : list;
}

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

// Whether the class of a launch that was measured compares with a size.
bool is_class(const Measurement& one, const LaunchSize& size) {
  return one.outcome == MeasurementOutcome::measured && one.dimensions == size.dimensions;
}

// How far a class is from a size.
std::pair<double, bool> distance(const GroupSize& one, const LaunchSize& size) {
  const auto items = static_cast<double>(format::items_of(one));
  const auto wanted = static_cast<double>(format::items_of(size.items));
  return {std::max(items / wanted, wanted / items), one != size.items};
}

bool can_launch(const Measurement& measured, const PlannedLaunch& launch) {
  if (measured.kernel != launch.kernel || !is_class(measured, launch.size)) {
    return false;
  }
  const GroupSize& local = measured.local_size;
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i] != 0 && launch.size.items[i] % local[i] != 0) {
      return false;
    }
  }
  return format::items_of(local) <= launch.max_work_items;
}

// Of the launches whose numbers of work-items are the nearest to that of `launch`.
void keep_nearest(std::vector<const Measurement*>& all, const PlannedLaunch& launch) {
  const Measurement* const nearest = *std::ranges::min_element(
      all, {}, [&](const Measurement* one) { return distance(one->global_size, launch.size); });
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

// Removes the times of launches that say less about a problem of this size. Keeps those of kernels
// that the device did not launch in as many dimensions, and what was refused.
void keep_nearest(std::vector<Measurement>& all, const LaunchSize& size) {
  std::map<std::tuple<const format::MeasuredDevice&, const std::string&>, GroupSize> nearest;
  for (const Measurement& one : all) {
    if (is_class(one, size)) {
      GroupSize& known =
          nearest.try_emplace(std::tie(one.device, one.kernel), one.global_size).first->second;
      known = std::min(known, one.global_size, [&](const GroupSize& a, const GroupSize& b) {
        return distance(a, size) < distance(b, size);
      });
    }
  }
  std::vector<bool> is_far; // before the first is erased, whose device is a key
  for (const Measurement& one : all) {
    const auto known = nearest.find(std::tie(one.device, one.kernel));
    is_far.push_back(one.outcome == MeasurementOutcome::measured && known != nearest.end() &&
                     (one.dimensions != size.dimensions || one.global_size != known->second));
  }
  std::size_t index = 0;
  std::erase_if(all, [&](const Measurement& /*unused*/) { return is_far[index++]; });
}

// Returns at least the bytes that keep_nearest and rank_variants allocate.
std::uint64_t bytes_to_rank(const std::vector<Measurement>& all) {
  constexpr std::uint64_t k_time_bytes = 256;
  std::uint64_t bytes = all.size() * k_time_bytes;
  std::set<std::tuple<const std::string&, const format::MeasuredDevice&>> ranked;
  for (const Measurement& one : all) {
    if (ranked.insert(std::tie(one.variant, one.device)).second) {
      const format::MeasuredDevice& device = one.device;
      bytes += format::k_from_near_to_far.size() *
               (sizeof(Measurement) + one.variant.size() + device.platform_name.size() +
                device.vendor.size() + device.device_name.size() + device.architecture.size() +
                device.driver_version.size());
    }
  }
  return bytes;
}

// The manifest of a program, without the launches that are far from a size.
struct NearLaunches {
  format::Manifest manifest{};
  std::map<std::uint64_t, std::vector<std::string>> rankings{}; // of variants, by key

  // As BundleReader::ranked_groups, which reads what the writer has ranked.
  base::Result<std::optional<std::vector<format::RankedGroup>>>
  ranked_groups(const format::BundleReader& bundle, std::uint64_t key) const {
    const auto ranking = rankings.find(key);
    if (ranking == rankings.end()) {
      return std::nullopt;
    }
    std::vector<format::RankedGroup> groups;
    for (const std::string& variant : ranking->second) {
      std::vector<const std::vector<format::KernelReflection>*> kernels;
      for (const format::ManifestEntry& entry : manifest.entries) {
        if (entry.variant == variant) {
          kernels.push_back(&entry.kernels);
        }
      }
      const auto [work_items, local_bytes] = format::least_needs(kernels);
      auto group = bundle.find_group(manifest.program, variant);
      if (group) {
        groups.push_back({*std::move(group), work_items, local_bytes});
      } else if (group.error().code != base::ErrorCode::no_such_variant) {
        return tl::unexpected(std::move(group.error()));
      }
    }
    return groups;
  }

  // MeasuredChoice::launches of the devices of a key.
  std::string launches_of(Nearness nearness, std::uint64_t key, const LaunchSize& size) const {
    std::set<GroupSize> classes;
    for (const Measurement& one : manifest.measurements) {
      if (is_class(one, size) &&
          format::ranking_key(nearness, manifest.program, one.device) == key) {
        classes.insert(one.global_size);
      }
    }
    const auto text_of = [&](const GroupSize& items) {
      return fmt::format("{}", fmt::join(std::span(items).first(size.dimensions), "x"));
    };
    std::vector<std::string> texts;
    std::ranges::transform(classes, std::back_inserter(texts), text_of);
    return texts.empty() ? ""
           : texts.size() == 1 && classes.contains(size.items)
               ? fmt::format("in launches of {}", texts.front())
               : fmt::format("in launches of {}, the nearest to {}", listed(texts),
                             text_of(size.items));
  }
};

// Returns std::nullopt if the size is unknown, or no launch compares with it.
base::Result<std::optional<NearLaunches>> read_launches_near(const format::BundleReader& bundle,
                                                             std::string_view program,
                                                             const LaunchSize& size) {
  const std::uint32_t groups = size.dimensions == 0 ? 0 : bundle.group_count();
  for (std::uint32_t index = 0; index < groups; ++index) {
    CLBIN_TRY_ASSIGN(const auto group, bundle.group(index));
    if (group.program != program) {
      continue;
    }
    NearLaunches found;
    format::ReadBudget budget = bundle.budget();
    CLBIN_TRY_ASSIGN(found.manifest, bundle.read_manifest(group, &budget));
    auto& measurements = found.manifest.measurements;
    CLBIN_TRY(budget.take_memory(bytes_to_rank(measurements),
                                 fmt::format("measurements of program '{}'", program)));
    keep_nearest(measurements, size);
    if (std::ranges::none_of(measurements, [&](const auto& one) { return is_class(one, size); })) {
      return std::nullopt;
    }
    found.rankings = format::rank_variants(program, measurements);
    return found;
  }
  return std::nullopt;
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
                                             std::string_view program, const DeviceLimits& limits,
                                             const LaunchSize& size) {
  MeasuredChoice choice;
  if (!bundle.has_rankings()) {
    return choice;
  }
  auto read = read_launches_near(bundle, program, size);
  if (!read) {
    choice.size_warning =
        fmt::format("the problem size did not choose the variant: {}", read.error().message);
  }
  const std::optional<NearLaunches> launches = std::move(read).value_or(std::nullopt);
  for (const Nearness nearness : format::k_from_near_to_far) {
    const auto key = format::ranking_key(nearness, program, limits.device);
    if (!key) {
      continue;
    }
    const bool is_this_device = nearness <= Nearness::device;
    CLBIN_TRY_ASSIGN(auto ranking, launches ? launches->ranked_groups(bundle, *key)
                                            : bundle.ranked_groups(program, *key));
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
      choice.launches = launches ? launches->launches_of(nearness, *key, size) : std::string();
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
  std::vector<std::string> names(groups.size());
  std::ranges::transform(groups, names.begin(), [](const format::GroupView& one) {
    return fmt::format("'{}'", format::told(one.variant));
  });
  return fmt::format("which was the fastest{} of {}{}{}, measured {}",
                     place == groups.begin() ? "" : " that loads", listed(names),
                     choice.launches.empty() ? "" : " ", choice.launches, choice.where);
}

} // namespace clbin::matching
