// Measurements: what one variant of a program did in one launch on one device.
#pragma once

#include "model/device.hpp"
#include "model/kernel.hpp"

namespace clbin::format {

enum class DeviceType : std::uint8_t { unknown, cpu, gpu, accelerator, custom };
constexpr std::array<std::string_view, 5> names_of(DeviceType /*unused*/) {
  return {"unknown", "cpu", "gpu", "accelerator", "custom"};
}
// `type` is a CL_DEVICE_TYPE; of its bits, the least that is known decides.
[[nodiscard]] constexpr DeviceType device_type(std::uint64_t type) noexcept {
  constexpr std::pair<std::uint64_t, DeviceType> k_bits[]{{1U << 1U, DeviceType::cpu},
                                                          {1U << 2U, DeviceType::gpu},
                                                          {1U << 3U, DeviceType::accelerator},
                                                          {1U << 4U, DeviceType::custom}};
  for (const auto& [bit, known] : k_bits) {
    if ((type & bit) != 0) {
      return known;
    }
  }
  return DeviceType::unknown;
}

// What decides on which other devices a measurement counts. The texts are those of DeviceIdentity.
// The platform is a part of it, because two drivers of one processor prefer different variants.
struct MeasuredDevice {
  DeviceType type = DeviceType::unknown;
  std::string platform_name;
  std::string vendor;
  std::string device_name;
  std::string architecture; // empty if unknown
  std::string driver_version;
  friend auto operator<=>(const MeasuredDevice&, const MeasuredDevice&) = default;
};
CLBIN_VISIT(MeasuredDevice, type, platform_name, vendor, device_name, architecture, driver_version);
// `type` is a CL_DEVICE_TYPE.
[[nodiscard]] inline MeasuredDevice measured_device(const DeviceIdentity& identity,
                                                    std::uint64_t type) {
  return {device_type(type),    identity.platform_name, identity.vendor,
          identity.device_name, identity.architecture,  identity.driver_version};
}

// All but `measured` are refusals: such a variant is never chosen where it was refused.
enum class MeasurementOutcome : std::uint8_t { measured, wrong_result, failed, crashed, timed_out };
constexpr std::array<std::string_view, 5> names_of(MeasurementOutcome /*unused*/) {
  return {"measured", "wrong_result", "failed", "crashed", "timed_out"};
}

// The kernel and the sizes make the class of a launch. Its program is that of the manifest.
struct Measurement {
  std::string variant; // a name in ProgramInput::variants, "default" unless named
  std::string kernel;
  std::uint32_t dimensions = 0; // 1, 2 or 3
  GroupSize global_size{};      // work-items; 1 for a dimension that the launch does not have
  GroupSize local_size{};       // likewise. All 0: NULL was passed, and the driver chose.
  MeasuredDevice device;
  MeasurementOutcome outcome = MeasurementOutcome::measured;
  std::string reason;          // of a refusal; a line for people
  std::uint64_t median_ns = 0; // of one launch; not 0 if measured, 0 if refused
  std::uint64_t spread_ns = 0; // between the first and the third quartile
  std::uint32_t rounds = 0;    // launches that were measured; not 0 if measured
  // 64 lower-case hexadecimal digits: digest_of(encode_source_package()) of the program. Empty if
  // the bundle that was measured did not contain the source.
  std::string source;
  friend auto operator<=>(const Measurement&, const Measurement&) = default;
};
CLBIN_VISIT(Measurement, variant, kernel, dimensions, global_size, local_size, device, outcome,
            reason, median_ns, spread_ns, rounds, source);

} // namespace clbin::format
