#include "matching/vendor_rules.hpp"

namespace clbin::matching {
namespace {

using format::AmdFeature;
using format::BinaryInfo;
using format::DeviceIdentity;

constexpr std::uint8_t k_prefer_processor = 2;
constexpr std::uint8_t k_prefer_generic = 1;

bool is_same_processor(const BinaryInfo& a, const BinaryInfo& b) {
  return a.arch_major == b.arch_major && a.arch_minor == b.arch_minor &&
         a.arch_stepping == b.arch_stepping;
}

std::string_view to_text(AmdFeature feature) {
  switch (feature) {
  case AmdFeature::off:
    return "off";
  case AmdFeature::on:
    return "on";
  default:
    return "not reported";
  }
}

// Returns true if the object fits the device: an object without a fixed setting runs with either.
bool is_feature_fit(AmdFeature object, AmdFeature device) {
  return object == AmdFeature::any || object == AmdFeature::unsupported || object == device;
}

Verdict refuse_feature(std::string_view name, const BinaryInfo& info, AmdFeature object,
                       AmdFeature device) {
  return refuse("{} requires {} {}, but it is {} on this device", format::describe(info), name,
                to_text(object), to_text(device));
}

} // namespace

// LLVM's isCompatibleTargetID (clang/lib/Basic/TargetID.cpp, review D134546): the processors are
// equal, and each of xnack and sramecc is equal or not fixed in the object. ROCm's driver checks
// the same in clBuildProgram (doc/drivers.md, "Read in sources").
// Generic targets: LLVM's AMDGPUUsage, "AMDGPU Generic Processors".
Verdict judge_amd(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto own = format::parse_amd_target(device.architecture);
  if (!own) {
    return refuse("{} requires a known gfx target, but this device reports '{}'",
                  format::describe(info), device.architecture);
  }
  const bool is_generic = info.arch_stepping == format::k_amd_generic_stepping;
  const auto wanted = is_generic ? format::amd_generic_target(*own) : own;
  if (!wanted || !is_same_processor(info, *wanted)) {
    return refuse("{} does not run on {}", format::describe(info), device.architecture);
  }
  if (!is_feature_fit(info.sramecc, own->sramecc)) {
    return refuse_feature("sramecc", info, info.sramecc, own->sramecc);
  }
  if (!is_feature_fit(info.xnack, own->xnack)) {
    return refuse_feature("xnack", info, info.xnack, own->xnack);
  }
  return accept(is_generic ? k_prefer_generic : k_prefer_processor, "{} runs on {}",
                format::describe(info), device.architecture);
}

std::vector<KeyRange> amd_key_ranges(const DeviceIdentity& device) {
  const auto own = format::parse_amd_target(device.architecture);
  if (!own) {
    return {};
  }
  std::vector<KeyRange> ranges{architecture_range(*own, *own)};
  if (const auto generic = format::amd_generic_target(*own)) {
    ranges.push_back(architecture_range(*generic, *generic));
  }
  return ranges;
}

} // namespace clbin::matching
