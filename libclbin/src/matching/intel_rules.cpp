#include "matching/vendor_rules.hpp"

namespace clbin::matching {
namespace {

using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceIdentity;

constexpr std::uint8_t k_prefer_version = 2;
constexpr std::uint8_t k_prefer_family = 1;

// Architecture, release and revision.
using IpVersion = std::array<std::uint16_t, 3>;

struct Product {
  std::uint16_t family = 0; // PRODUCT_FAMILY
  IpVersion version;
};

// From zebins and `ocloc ids` of Debian 12's ocloc 22.43. DG2 (1270) and PVC (1271) are omitted:
// their numbers cover several IP versions, which the binary does not contain.
constexpr std::array k_products{
    Product{16, {8, 0, 0}},     // bdw
    Product{18, {9, 0, 9}},     // skl
    Product{19, {9, 1, 9}},     // kbl
    Product{20, {9, 2, 9}},     // cfl
    Product{22, {9, 3, 0}},     // bxt
    Product{23, {9, 4, 0}},     // glk
    Product{26, {11, 0, 0}},    // icllp
    Product{27, {11, 1, 0}},    // lkf
    Product{28, {11, 2, 0}},    // ehl
    Product{29, {12, 0, 0}},    // tgllp
    Product{30, {12, 1, 0}},    // rkl
    Product{31, {12, 2, 0}},    // adl-s
    Product{32, {12, 3, 0}},    // adl-p
    Product{33, {12, 4, 0}},    // adl-n
    Product{1210, {12, 10, 0}}, // dg1
    Product{1250, {12, 50, 4}}, // xe-hp
};

// Of "12.55.8".
std::optional<IpVersion> own_version(const DeviceIdentity& device) {
  return parse_numbers<3>(device.architecture);
}

std::optional<IpVersion> version_of_family(std::uint16_t family) {
  for (const Product& product : k_products) {
    if (product.family == family) {
      return product.version;
    }
  }
  return std::nullopt;
}

IpVersion version_of(const BinaryInfo& info) {
  return {info.arch_major, info.arch_minor, info.arch_stepping};
}

// Returns the first key of the zebins that contain only a product family.
std::uint64_t first_key_of(std::uint16_t family) {
  BinaryInfo info = bound(BinaryKind::intel_zebin, 0, 0);
  info.product_family = family;
  return format::match_key(info, {});
}

} // namespace

// intel/compute-runtime, zebin_decoder.cpp, validateTargetDevice: the product config (IP version)
// must be equal or, if the zebin has none, the product family. The driver does not reject a zebin
// of another target that contains IR: it builds the IR instead of loading the zebin.
Verdict judge_intel(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto own = own_version(device);
  if (!own) {
    return refuse("{} requires a known IP version, but this device reports '{}'",
                  format::describe(info), device.architecture);
  }
  if (version_of(info) != IpVersion{}) {
    return version_of(info) == *own ? accept(k_prefer_version, "{} runs on IP version {}",
                                             format::describe(info), device.architecture)
                                    : refuse("{} does not run on IP version {}",
                                             format::describe(info), device.architecture);
  }
  const auto version = version_of_family(info.product_family);
  if (!version) {
    return refuse("{} does not name a single IP version; this device has {}",
                  format::describe(info), device.architecture);
  }
  if (*version != *own) {
    return refuse("{} (IP version {}.{}.{}) does not run on IP version {}", format::describe(info),
                  (*version)[0], (*version)[1], (*version)[2], device.architecture);
  }
  return accept(k_prefer_family, "{} runs on IP version {}", format::describe(info),
                device.architecture);
}

std::vector<KeyRange> intel_key_ranges(const DeviceIdentity& device) {
  const auto own = own_version(device);
  if (!own) {
    return {};
  }
  const BinaryInfo by_version = bound(BinaryKind::intel_zebin, (*own)[0], (*own)[1], (*own)[2]);
  std::vector<KeyRange> ranges{architecture_range(by_version, by_version)};
  for (const Product& product : k_products) {
    if (product.version == *own) {
      const auto next = static_cast<std::uint16_t>(product.family + 1);
      ranges.push_back({first_key_of(product.family), first_key_of(next) - 1});
    }
  }
  return ranges;
}

} // namespace clbin::matching
