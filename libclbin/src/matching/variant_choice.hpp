// Which variant of a program, and which size of work-groups of its kernels, was the fastest on a
// device, by the measurements in a bundle.
#pragma once

#include "format/bundle/bundle_reader.hpp"

namespace clbin::matching {

struct LaunchLimits {
  std::uint64_t work_items = ~std::uint64_t{0};  // of a work-group
  std::uint64_t local_bytes = ~std::uint64_t{0}; // of local memory
};

// The first device of a load, and the limits of its devices.
struct DeviceLimits {
  format::MeasuredDevice device;
  LaunchLimits of_all{};
  LaunchLimits of_others{}; // without the first
};

struct MeasuredChoice {
  std::vector<format::GroupView> groups{}; // best first; empty if no measurement decides
  // Which devices were measured, as a phrase: "on another sm_90".
  std::string where{};
  // If the size of the problem decides, which launches of these devices count, as a phrase: "in
  // launches of 512x512, the nearest to 500x500".
  std::string launches{};
  std::vector<std::string> passed_over{}; // why the device cannot launch a variant, as sentences
  std::string size_warning{};             // why the size does not decide; a sentence
};

// Looks for variants that were ranked on the device itself, then on ever more distant ones. Leaves
// out those that need more than the limits; variants that were measured on the first device fit it.
// If none was good there, no other device decides. Errors: those of the reader, and damaged.
//
// Without a size, reads only tables. With one, reads the manifest, and ranks the variants like the
// writer of the bundle, but of each kernel that was measured in as many dimensions, on each device,
// only by the launches whose class has the nearest number of work-items. If there is no such
// kernel, or the manifest cannot be read, the size does not decide.
[[nodiscard]] base::Result<MeasuredChoice> choose_measured(const format::BundleReader& bundle,
                                                           std::string_view program,
                                                           const DeviceLimits& limits,
                                                           const format::LaunchSize& size = {});

// Returns why a load uses the variant, as a phrase: "which was the fastest of 'a' and 'b', measured
// on this device with this driver". Empty if measurements do not rank it.
[[nodiscard]] std::string measured_reason(const MeasuredChoice& choice,
                                          const format::GroupView& group);

// A launch that is to come.
struct PlannedLaunch {
  std::string_view kernel;
  format::LaunchSize size{};        // which is known
  std::uint64_t max_work_items = 0; // of a work-group on the device
};
// Returns the size of work-groups that was the fastest of those that divide the launch, in launches
// of the variant whose class has the nearest number of work-items, and of several such classes in
// that of the launch itself, if it is one: on the device itself, otherwise
// on the nearest devices (Nearness), by the mean of the times in relation to the best of each
// device. All 0: the driver's choice, or nothing was measured. Reads the manifest. Errors: those of
// the reader.
[[nodiscard]] base::Result<format::GroupSize> recommended_size(const format::BundleReader& bundle,
                                                               const format::GroupView& group,
                                                               const format::MeasuredDevice& device,
                                                               const PlannedLaunch& launch);

} // namespace clbin::matching
