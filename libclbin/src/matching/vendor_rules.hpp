// Rules that decide whether a device binary fits a device: one pure function for each vendor, of
// the properties of both. Also the ranges of match keys that contain the binaries that fit.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "model/device.hpp"

#include <charconv>

namespace clbin::matching {

enum class Fit : std::uint8_t { no, yes };

struct Verdict {
  Fit fit = Fit::no;
  std::uint8_t preference = 0;    // among binaries that fit: higher is better
  std::string reason;             // a sentence with the values of the binary and the device
  bool needs_same_device = false; // it would fit only the device that it was made for
};

template <typename... Args>
[[nodiscard]] Verdict refuse(fmt::format_string<Args...> reason, Args&&... args) {
  return {Fit::no, 0, fmt::format(reason, std::forward<Args>(args)...)};
}
template <typename... Args>
[[nodiscard]] Verdict accept(std::uint8_t preference, fmt::format_string<Args...> reason,
                             Args&&... args) {
  return {Fit::yes, preference, fmt::format(reason, std::forward<Args>(args)...)};
}

// First and last match key, both inclusive.
struct KeyRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// Removes up to `numbers.size()` decimal numbers with dots between them from the start of `text`.
// Returns how many there were; the others keep their values.
template <typename Number, std::size_t size>
std::size_t take_numbers(std::string_view& text, std::array<Number, size>& numbers) {
  std::size_t count = 0;
  for (; count < numbers.size(); ++count) {
    if (count != 0 && !text.starts_with('.')) {
      break;
    }
    const std::string_view rest = text.substr(count == 0 ? 0 : 1);
    const auto [stop, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), numbers[count]);
    if (code != std::errc{}) {
      break;
    }
    text = rest.substr(static_cast<std::size_t>(stop - rest.data()));
  }
  return count;
}

// Returns std::nullopt unless `text` consists of `size` decimal numbers with dots between them.
template <std::size_t size>
std::optional<std::array<std::uint16_t, size>> parse_numbers(std::string_view text) {
  std::array<std::uint16_t, size> numbers{};
  const bool is_version = take_numbers(text, numbers) == size && text.empty();
  return is_version ? std::optional(numbers) : std::nullopt;
}

// For kinds ptx and cubin, on a device of family nvidia.
[[nodiscard]] Verdict judge_nvidia(const format::BinaryInfo& info,
                                   const format::DeviceIdentity& device);

struct PtxVersion {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};
// Returns the newest PTX version that a driver of this version ("580.159.03") is known to accept,
// which OpenCL cannot query; for a newer driver, the newest of the table. std::nullopt for an older
// driver than those of the table, and for a text that is not a version.
[[nodiscard]] std::optional<PtxVersion> newest_ptx(std::string_view driver_version);

// For kind amd_code_object, on a device of family amd.
[[nodiscard]] Verdict judge_amd(const format::BinaryInfo& info,
                                const format::DeviceIdentity& device);

// For kind intel_zebin, on a device of family intel.
[[nodiscard]] Verdict judge_intel(const format::BinaryInfo& info,
                                  const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> intel_key_ranges(const format::DeviceIdentity& device);

// Of the devices of family unknown, such as the GPUs of phones: the part of an identity on which
// their binaries depend, with the other fields empty. Entries of binaries that were brought in
// (oclcc --import) record it, and match every device with the same.
//   device_name     the name; of Adreno "Adreno(TM) 740", which stands in CL_DEVICE_VERSION on
//                   Android
//   driver_version  the version of the compiler; of Adreno "E031.45.02.16", the word behind
//                   "Compiler" or the last one of CL_DRIVER_VERSION; of Mali "v1.r32p1-01eac0.…" of
//                   CL_DEVICE_VERSION, because CL_DRIVER_VERSION is that of OpenCL; otherwise
//                   CL_DRIVER_VERSION
//   architecture    the pointers of the host: "64-bit host"
// The first function shortens the texts of a person, the second one those of a driver, in a process
// like this one; std::nullopt for a device of another family.
[[nodiscard]] format::DeviceIdentity short_identity(std::string_view name, std::string_view driver,
                                                    unsigned host_bits);
[[nodiscard]] std::optional<format::DeviceIdentity>
short_identity(const format::DeviceIdentity& device);
// Returns the identity of the series that a GPU of a phone with this short identity belongs to: the
// same compiler and host, and the name with `x` for all digits of its first number but the first:
// "Adreno(TM) 7xx", "Mali-G6xx" (of "Mali-G610 MC6 r0p0"). An equal one if `shortened` is that of a
// series; std::nullopt for other devices, and for names without such a number. No vendor says that
// a driver takes a binary of another GPU: a Mali driver can crash (Tencent/TNN, issue 878).
[[nodiscard]] std::optional<format::DeviceIdentity>
series_identity(const format::DeviceIdentity& shortened);

// For kind spirv, which is not a device binary but can be built by many drivers.
[[nodiscard]] Verdict judge_il(const format::BinaryInfo& info,
                               const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> il_key_ranges(const format::DeviceIdentity& device);

// For a binary of any kind that was made for this identity.
[[nodiscard]] Verdict judge_own(const format::BinaryInfo& info,
                                const format::DeviceIdentity& device);
// For a binary of any kind that was made for another target.
[[nodiscard]] Verdict judge_foreign(const format::BinaryInfo& info,
                                    const format::DeviceIdentity& device);
// Empty if binaries of the device's family are accepted only for an equal identity.
[[nodiscard]] std::vector<KeyRange> compatible_key_ranges(const format::DeviceIdentity& device);

// Returns the bounds of architecture_range.
[[nodiscard]] format::BinaryInfo bound(format::BinaryKind kind, std::uint16_t arch_major,
                                       std::uint16_t arch_minor, std::uint16_t arch_stepping = 0);
// Returns the keys from the lowest of `first` to the highest of `last`, which are of one kind.
[[nodiscard]] KeyRange architecture_range(const format::BinaryInfo& first,
                                          const format::BinaryInfo& last);

} // namespace clbin::matching
