// Launches that can be repeated: how long one took in a variant on a device, and what it computes.
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

// The size of a launch, or of the problem that an application has.
struct LaunchSize {
  std::uint32_t dimensions = 0; // 1, 2 or 3; 0: unknown
  GroupSize items{};            // work-items; 1 for a dimension that it does not have
};

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

// The type of an element of a buffer, or of a number.
enum class ElementType : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };
constexpr std::array<std::string_view, 11> names_of(ElementType /*unused*/) {
  return {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"};
}
[[nodiscard]] constexpr std::uint64_t element_bytes(ElementType type) noexcept {
  constexpr std::array<std::uint64_t, 11> k_bytes{1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return k_bytes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_floating(ElementType type) noexcept {
  return type >= ElementType::f16;
}

enum class ArgumentKind : std::uint8_t { number, buffer, local, image, sampler };
constexpr std::array<std::string_view, 5> names_of(ArgumentKind /*unused*/) {
  return {"number", "buffer", "local", "image", "sampler"};
}
// What a buffer or an image contains before each launch. `stored`: what the bundle contains.
enum class Fill : std::uint8_t { zero, iota, random, stored };
constexpr std::array<std::string_view, 4> names_of(Fill /*unused*/) {
  return {"zero", "iota", "random", "stored"};
}

// An argument of a launch, without the memory that it needs.
struct LaunchArgument {
  ArgumentKind kind = ArgumentKind::number;
  base::Bytes number{}; // as the kernel receives it
  ElementType type = ElementType::u8;
  Fill fill = Fill::zero;
  // Elements of a buffer or an image, or bytes of local memory. 0 for a buffer: NULL is passed.
  std::uint64_t count = 0;
  std::uint64_t seed = 0;   // of Fill::random
  bool is_constant = false; // no launch changes the buffer
  std::string digest{};     // of Fill::stored: 64 lower-case hexadecimal digits
  // Of an image: object type, channel order, channel type, width, height, depth and layers, and of
  // a sampler: normalized coordinates, addressing and filter, all with the numbers of OpenCL.
  std::vector<std::uint64_t> properties{};
  friend auto operator<=>(const LaunchArgument&, const LaunchArgument&) = default;
};
CLBIN_VISIT(LaunchArgument, kind, number, type, fill, count, seed, is_constant, digest, properties);

// What a launch leaves in the buffer of one argument.
struct ExpectedBuffer {
  std::uint32_t argument = 0; // counted from 0
  base::Bytes contents{};     // of floating-point numbers, which may differ by the tolerance
  std::string digest{};       // of others, and of those that the bundle contains, as above
  friend auto operator<=>(const ExpectedBuffer&, const ExpectedBuffer&) = default;
};
CLBIN_VISIT(ExpectedBuffer, argument, contents, digest);

// A launch of which it is known what it computes. Sizes are those of Measurement, but global_size
// is that of the launch itself.
struct KnownAnswer {
  std::string variant;
  std::string kernel;
  std::uint32_t dimensions = 0;
  GroupSize global_size{};
  GroupSize local_size{}; // all 0: NULL is passed, and the driver chooses
  std::vector<LaunchArgument> arguments{};
  std::string tolerance{};               // a number from 0 to 1; empty: that of the type
  std::string device{};                  // "PLATFORM / DEVICE / DRIVER VERSION" that computed it
  std::vector<ExpectedBuffer> results{}; // of each buffer that the launch can change
  friend auto operator<=>(const KnownAnswer&, const KnownAnswer&) = default;
};
CLBIN_VISIT(KnownAnswer, variant, kernel, dimensions, global_size, local_size, arguments, tolerance,
            device, results);
// Whether an application was seen to make the launch, with data that the bundle contains.
[[nodiscard]] inline bool is_recorded(const KnownAnswer& answer) noexcept {
  return std::ranges::any_of(answer.arguments, [](const LaunchArgument& argument) {
    return argument.fill == Fill::stored;
  });
}

} // namespace clbin::format
