#include "format/bundle/measurements.hpp"

#include "base/text.hpp"
#include "format/bundle/known_answers.hpp"

#include <limits>
#include <set>

namespace clbin::format {

namespace {

// Whether `size` is one of a launch in these dimensions: the others have one work-item.
bool is_size(const GroupSize& size, std::uint32_t dimensions) {
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 0 || (i >= dimensions && size[i] != 1)) {
      return false;
    }
  }
  return true;
}

// Of what measurements and known answers have in common.
std::string_view broken_rule_of_launch(const auto& launch) {
  if (launch.kernel.empty() || launch.variant.empty()) {
    return "its kernel or variant is empty";
  }
  if (launch.dimensions < 1 || launch.dimensions > launch.global_size.size()) {
    return "its dimensions are not 1, 2 or 3";
  }
  return is_size(launch.global_size, launch.dimensions) &&
                 (launch.local_size == GroupSize{} || is_size(launch.local_size, launch.dimensions))
             ? ""
             : "its sizes are not those of a launch in its dimensions";
}

bool is_digest_text(std::string_view text) {
  return text.size() == 2 * sizeof(base::Digest::bytes) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Whether the data and properties of an argument are those of its kind. Only recorded launches have
// images, samplers and NULL.
bool is_whole(const LaunchArgument& argument, bool is_of_recorded) {
  const bool is_stored = argument.fill == Fill::stored;
  const bool is_image = argument.kind == ArgumentKind::image;
  if (is_stored ? !is_memory(argument) || !is_digest_text(argument.digest)
                : !argument.digest.empty() || is_image) {
    return false;
  }
  if (is_image) {
    const auto layout = image_layout(argument.properties);
    return layout && layout->type == argument.type && layout->count == argument.count;
  }
  if (argument.kind == ArgumentKind::sampler) {
    return is_of_recorded && argument.properties.size() == 3;
  }
  return argument.properties.empty();
}

// Returns the bytes that an argument needs; 0 if that is none of its kind.
std::uint64_t bytes_of(const LaunchArgument& argument, std::uint64_t limit) {
  switch (argument.kind) {
  case ArgumentKind::number:
    return argument.number.size();
  case ArgumentKind::sampler:
    return 1;
  case ArgumentKind::local:
    return argument.count;
  default:
    return argument.count > limit ? limit + 1 : argument.count * element_bytes(argument.type);
  }
}

bool is_null(const LaunchArgument& argument) {
  return argument.kind == ArgumentKind::buffer && argument.count == 0 && argument.is_constant &&
         argument.fill == Fill::zero;
}

// Whether each result of a recorded launch has the digest of what it leaves, also of numbers.
bool are_recorded_results(const KnownAnswer& answer) {
  auto result = answer.results.begin();
  for (std::size_t index = 0; index < answer.arguments.size(); ++index) {
    if (!is_result(answer.arguments[index])) {
      continue;
    }
    if (result == answer.results.end() || result->argument != index || !result->contents.empty() ||
        !is_digest_text(result->digest)) {
      return false;
    }
    ++result;
  }
  return result == answer.results.end() && !answer.results.empty();
}

// Whether there is one result of each buffer that the launch can change, in their order.
bool are_results(const KnownAnswer& answer) {
  if (is_recorded(answer)) {
    return are_recorded_results(answer);
  }
  std::uint64_t left = k_max_answer_bytes;
  auto result = answer.results.begin();
  for (std::size_t index = 0; index < answer.arguments.size(); ++index) {
    const LaunchArgument& argument = answer.arguments[index];
    if (!is_result(argument)) {
      continue;
    }
    if (result == answer.results.end() || result->argument != index) {
      return false;
    }
    const bool has_contents = is_floating(argument.type);
    const std::uint64_t bytes = has_contents ? argument.count * element_bytes(argument.type) : 0;
    if (result->contents.size() != bytes || bytes > left ||
        (has_contents ? !result->digest.empty() : !is_digest_text(result->digest))) {
      return false;
    }
    left -= bytes;
    ++result;
  }
  return result == answer.results.end() && !answer.results.empty();
}

using LaunchClass = std::tuple<std::string_view, std::uint32_t, GroupSize>;
using Times = std::map<std::string_view, std::uint64_t>; // by variant

// What was measured on one device with one driver.
struct DeviceResults {
  std::map<LaunchClass, Times> times; // the best of all local sizes
  std::set<std::string_view> refused;
  std::uint64_t largest_group = 0; // that was measured, in work-items
  Times smallest_failed;           // the work-items of a work-group, not times
};

// A local size that a device does not accept is no fault of the variant: other ones can serve.
bool excludes_variant(MeasurementOutcome outcome) {
  return outcome != MeasurementOutcome::measured && outcome != MeasurementOutcome::failed;
}

std::map<MeasuredDevice, DeviceResults> by_device(std::span<const Measurement> measurements) {
  std::map<MeasuredDevice, DeviceResults> devices;
  for (const Measurement& one : measurements) {
    DeviceResults& results = devices[one.device];
    if (excludes_variant(one.outcome)) {
      results.refused.insert(one.variant);
    }
    const std::uint64_t items = items_of(one.local_size);
    if (one.outcome == MeasurementOutcome::failed) {
      std::uint64_t& least = results.smallest_failed.try_emplace(one.variant, items).first->second;
      least = std::min(least, items);
    }
    if (one.outcome == MeasurementOutcome::measured) {
      results.largest_group = std::max(results.largest_group, items);
      Times& times = results.times[{one.kernel, one.dimensions, one.global_size}];
      std::uint64_t& best = times.try_emplace(one.variant, one.median_ns).first->second;
      best = std::min(best, one.median_ns);
    }
  }
  return devices;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

// Returns the total of each variant that has a time in every launch.
Times totals_of(const DeviceResults& results) {
  std::map<std::string_view, std::size_t> launches;
  Times totals;
  for (const auto& [launch, times] : results.times) {
    for (const auto& [variant, time] : times) {
      ++launches[variant];
      totals[variant] = saturating_sum(totals[variant], time);
    }
  }
  std::erase_if(totals, [&](const auto& total) {
    return launches[total.first] != results.times.size() || results.refused.contains(total.first);
  });
  return totals;
}

// Returns the variants of which the device launched nothing, because their work-groups are larger
// than all that it launched: this says nothing about devices that allow them.
std::set<std::string_view> too_large_on(const DeviceResults& results) {
  std::set<std::string_view> variants;
  for (const auto& [variant, items] : results.smallest_failed) {
    if (items > results.largest_group && !results.refused.contains(variant)) {
      variants.insert(variant);
    }
  }
  for (const auto& launch : results.times) {
    std::erase_if(variants, [&](const auto& one) { return launch.second.contains(one); });
  }
  return variants;
}

// Returns the binary logarithm of `value`, at least 1, times 2^32. In integers, so that the order
// of variants does not depend on a mathematical library.
std::uint64_t fixed_log2(std::uint64_t value) {
  constexpr unsigned k_fraction_bits = 32;
  std::uint64_t whole = 63;
  std::uint64_t mantissa = std::max<std::uint64_t>(value, 1);
  for (; mantissa >> 63U == 0; mantissa <<= 1U) {
    --whole;
  }
  mantissa >>= 32U; // in [1, 2) with 31 bits behind the point
  std::uint64_t result = whole;
  for (unsigned bit = 0; bit < k_fraction_bits; ++bit) {
    mantissa = mantissa * mantissa >> 31U;
    const std::uint64_t is_two_or_more = mantissa >> 32U;
    mantissa >>= is_two_or_more;
    result = result << 1U | is_two_or_more;
  }
  return result;
}

// The logarithms of the totals of a device, in relation to the least.
Times scores_of(const DeviceResults& results) {
  Times scores = totals_of(results);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (auto& [variant, score] : scores) {
    score = fixed_log2(score);
    least = std::min(least, score);
  }
  for (auto& [variant, score] : scores) {
    score -= least;
  }
  return scores;
}

// The mean scores of variants on several devices. All of these must have measured a variant, apart
// from those for which it is too large.
struct Ranking {
  struct Place {
    std::uint64_t sum = 0;
    std::size_t measured = 0; // on so many devices
    std::size_t too_large = 0;
  };
  std::map<std::string_view, Place> places;
  std::size_t devices = 0;

  void add(const Times& scores, const std::set<std::string_view>& too_large) {
    ++devices;
    for (const auto& [variant, score] : scores) {
      places[variant].sum += score;
      ++places[variant].measured;
    }
    for (const std::string_view variant : too_large) {
      ++places[variant].too_large;
    }
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::tuple<std::uint64_t, bool, std::string_view>> order;
    for (const auto& [variant, place] : places) {
      if (place.measured != 0 && place.measured + place.too_large == devices) {
        order.emplace_back(place.sum / place.measured, variant != k_default_variant, variant);
      }
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), k_max_ranked));
    std::vector<std::string> names(order.size());
    std::ranges::transform(order, names.begin(), [](const auto& place) {
      return std::string(std::get<std::string_view>(place));
    });
    return names;
  }
};

std::uint64_t work_items_of(const KernelReflection& kernel) {
  return items_of(kernel.required_work_group_size);
}
std::uint64_t local_bytes_of(const KernelReflection& kernel) {
  return kernel.local_bytes.value_or(0);
}

std::uint32_t least_need(std::span<const std::vector<KernelReflection>* const> entries,
                         std::uint64_t (*need_of)(const KernelReflection& kernel)) {
  std::uint64_t least = entries.empty() ? 0 : std::numeric_limits<std::uint32_t>::max();
  for (const std::vector<KernelReflection>* kernels : entries) {
    std::uint64_t most = 0;
    for (const KernelReflection& kernel : *kernels) {
      most = std::max(most, need_of(kernel));
    }
    least = std::min(least, most);
  }
  return static_cast<std::uint32_t>(least);
}

} // namespace

std::pair<std::uint32_t, std::uint32_t>
least_needs(std::span<const std::vector<KernelReflection>* const> entries) {
  return {least_need(entries, work_items_of), least_need(entries, local_bytes_of)};
}

std::string_view broken_rule(const Measurement& measurement) {
  const bool is_measured = measurement.outcome == MeasurementOutcome::measured;
  if (const std::string_view rule = broken_rule_of_launch(measurement); !rule.empty()) {
    return rule;
  }
  if (is_measured && (measurement.median_ns == 0 || measurement.rounds == 0)) {
    return "it was measured, but its median_ns or rounds is 0";
  }
  if (is_measured && !measurement.reason.empty()) {
    return "it was measured, but has the reason of a refusal";
  }
  if (!is_measured && (measurement.median_ns != 0 || measurement.spread_ns != 0)) {
    return "it was refused, but has a time";
  }
  return measurement.source.empty() || is_digest_text(measurement.source)
             ? ""
             : "its source is not 64 lower-case hexadecimal digits";
}

std::string_view broken_rule(const KnownAnswer& answer) {
  if (const std::string_view rule = broken_rule_of_launch(answer); !rule.empty()) {
    return rule;
  }
  const bool is_of_recorded = is_recorded(answer);
  std::uint64_t left = is_of_recorded ? k_max_recorded_bytes : k_max_answer_buffer_bytes;
  for (const LaunchArgument& argument : answer.arguments) {
    if (!is_whole(argument, is_of_recorded)) {
      return "the data or properties of an argument are not those of its kind";
    }
    const std::uint64_t bytes = bytes_of(argument, left);
    if ((bytes == 0 && !(is_of_recorded && is_null(argument))) || bytes > left) {
      return is_of_recorded ? "an argument has no bytes, or all of them have more than 1 GiB"
                            : "an argument has no bytes, or all of them have more than 64 MiB";
    }
    left -= bytes;
  }
  const auto tolerance = base::parse_real(answer.tolerance);
  if (!answer.tolerance.empty() && !(tolerance && *tolerance >= 0 && *tolerance <= 1)) {
    return "its tolerance is not a number from 0 to 1";
  }
  return are_results(answer) ? ""
                             : "its results are not those of the buffers that the launch changes";
}

bool replaces(const Measurement& a, const Measurement& b) {
  const auto order = [](const Measurement& one) {
    return std::tuple(~static_cast<unsigned>(one.outcome), ~one.rounds, one.median_ns,
                      one.spread_ns, std::string_view(one.reason), std::string_view(one.source));
  };
  return order(a) < order(b);
}

std::string_view plain_architecture(const MeasuredDevice& device) noexcept {
  return std::string_view(device.architecture).substr(0, device.architecture.find(':'));
}

std::optional<std::uint64_t> ranking_key(Nearness nearness, std::string_view program,
                                         const MeasuredDevice& device) {
  base::Hasher hasher;
  hasher.add_field("clbin-ranking-1").add_u64(static_cast<std::uint64_t>(nearness));
  hasher.add_field(program);
  switch (nearness) {
  case Nearness::driver:
  case Nearness::device:
    hasher.add_u64(static_cast<std::uint64_t>(device.type)).add_field(device.platform_name);
    hasher.add_field(device.vendor).add_field(device.device_name).add_field(device.architecture);
    if (nearness == Nearness::driver) {
      hasher.add_field(device.driver_version);
    }
    break;
  case Nearness::architecture:
    if (device.architecture.empty()) {
      return std::nullopt;
    }
    hasher.add_field(device.platform_name).add_field(plain_architecture(device));
    break;
  case Nearness::vendor:
    hasher.add_u64(static_cast<std::uint64_t>(device.type)).add_field(device.platform_name);
    hasher.add_field(device.vendor);
    break;
  case Nearness::any:
    break;
  }
  return base::leading_u64(hasher.finish());
}

std::map<std::uint64_t, std::vector<std::string>>
rank_variants(std::string_view program, std::span<const Measurement> measurements) {
  std::map<std::uint64_t, Ranking> rankings;
  std::map<std::uint64_t, std::vector<std::string>> names;
  for (const auto& [device, results] : by_device(measurements)) {
    const Times scores = scores_of(results);
    for (const Nearness nearness : k_from_near_to_far) {
      const auto key = ranking_key(nearness, program, device);
      if (key && nearness <= Nearness::device) {
        names.try_emplace(*key); // if it stays empty, other devices must not decide for this one
      }
      if (key && !scores.empty()) {
        rankings[*key].add(scores, too_large_on(results));
      }
    }
  }
  for (const auto& [key, ranking] : rankings) {
    if (auto ranked = ranking.names(); !ranked.empty()) {
      names[key] = std::move(ranked);
    }
  }
  return names;
}

} // namespace clbin::format
