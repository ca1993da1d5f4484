#include "format/binary/binary_kind.hpp"
#include "fuzz_check.hpp"
#include "matching/vendor_rules.hpp"

#include <array>

namespace clbin::fuzz {
namespace {

struct Device {
  const char* platform;
  const char* architecture;
  const char* driver;
};

constexpr std::array k_devices{
    Device{"NVIDIA CUDA", "sm_90", "580.159.03"},
    Device{"AMD Accelerated Parallel Processing", "gfx90a:sramecc+:xnack-", "3625.0"},
    Device{"Intel(R) OpenCL Graphics", "12.0.0", "25.13"},
    Device{"rusticl", "", "22.3.6"},
    Device{"Another Platform", "", "1"},
};

bool is_in_a_range(std::uint64_t key, const format::DeviceIdentity& device) {
  for (const matching::KeyRange& range : matching::compatible_key_ranges(device)) {
    if (range.low <= key && key <= range.high) {
      return true;
    }
  }
  return false;
}

void judge(const format::BinaryInfo& info, const Device& row) {
  format::DeviceIdentity device;
  device.platform_name = row.platform;
  device.architecture = row.architecture;
  device.driver_version = row.driver;
  require(!matching::judge_own(info, device).reason.empty(), "a verdict has a reason");
  const matching::Verdict verdict = matching::judge_foreign(info, device);
  require(!verdict.reason.empty(), "a verdict has a reason");
  const std::uint64_t key = format::match_key(info, {});
  require(verdict.fit == matching::Fit::no || is_in_a_range(key, device),
          "what fits lies in a key range");
}

void check_key(const format::BinaryInfo& info) {
  const std::uint64_t key = format::match_key(info, {});
  const format::BinaryInfo again = format::info_from_match_key(key);
  require(again.kind == info.kind, "a match key holds the kind");
  require(format::match_key(again, {}) == key, "a match key that was read is written again");
}

void check_names(std::string_view text) {
  if (const auto info = format::parse_amd_target(text)) {
    const auto again = format::parse_amd_target(format::amd_target_name(*info));
    require(again == info, "a target's name reads back as the target");
  }
  static_cast<void>(matching::newest_ptx(text));
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  const format::BinaryInfo info = format::classify_binary(bytes);
  fuzz::require(!format::describe(info).empty(), "every binary has a description");
  fuzz::check_key(info);
  for (const fuzz::Device& device : fuzz::k_devices) {
    fuzz::judge(info, device);
  }
  fuzz::check_names(base::as_text(bytes));
  return 0;
}
