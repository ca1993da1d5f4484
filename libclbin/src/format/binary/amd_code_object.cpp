#include "format/binary/elf_object.hpp"

#include <algorithm>

namespace clbin::format {
namespace {

constexpr std::uint8_t k_os_abi_hsa = 64;
constexpr std::uint8_t k_abi_version_v3 = 1; // code object version 3; 2 means version 4, and so on
constexpr std::uint32_t k_mach_mask = 0xffU;
constexpr std::uint32_t k_xnack_v3 = 0x100U;
constexpr std::uint32_t k_sramecc_v3 = 0x200U;
constexpr std::uint32_t k_xnack_shift_v4 = 8;
constexpr std::uint32_t k_sramecc_shift_v4 = 10;
constexpr std::uint32_t k_generic_version_shift = 24;
constexpr std::uint16_t k_generic = k_amd_generic_stepping;

enum class Features : std::uint8_t { none, xnack, xnack_and_sramecc };

struct Processor {
  std::uint8_t mach = 0; // EF_AMDGPU_MACH_AMDGCN_*
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint16_t stepping = 0;
  Features features = Features::none;
};

// EF_AMDGPU_MACH values: llvm/include/llvm/BinaryFormat/ELF.h (commit 008d0233; 0x40 and 0x4b,
// gfx940 and gfx941, from LLVM 16 to 18). Features: LLVM's AMDGPUUsage, "AMDGPU Processors".
constexpr std::array k_processors{
    Processor{0x20, 6, 0, 0},
    Processor{0x21, 6, 0, 1},
    Processor{0x3a, 6, 0, 2},
    Processor{0x22, 7, 0, 0},
    Processor{0x23, 7, 0, 1},
    Processor{0x24, 7, 0, 2},
    Processor{0x25, 7, 0, 3},
    Processor{0x26, 7, 0, 4},
    Processor{0x3b, 7, 0, 5},
    Processor{0x28, 8, 0, 1, Features::xnack},
    Processor{0x29, 8, 0, 2},
    Processor{0x2a, 8, 0, 3},
    Processor{0x3c, 8, 0, 5},
    Processor{0x2b, 8, 1, 0, Features::xnack},
    Processor{0x2c, 9, 0, 0, Features::xnack},
    Processor{0x2d, 9, 0, 2, Features::xnack},
    Processor{0x2e, 9, 0, 4, Features::xnack},
    Processor{0x2f, 9, 0, 6, Features::xnack_and_sramecc},
    Processor{0x30, 9, 0, 8, Features::xnack_and_sramecc},
    Processor{0x31, 9, 0, 9, Features::xnack},
    Processor{0x3f, 9, 0, 10, Features::xnack_and_sramecc},
    Processor{0x32, 9, 0, 12, Features::xnack},
    Processor{0x40, 9, 4, 0, Features::xnack_and_sramecc},
    Processor{0x4b, 9, 4, 1, Features::xnack_and_sramecc},
    Processor{0x4c, 9, 4, 2, Features::xnack_and_sramecc},
    Processor{0x4f, 9, 5, 0, Features::xnack_and_sramecc},
    Processor{0x33, 10, 1, 0, Features::xnack},
    Processor{0x34, 10, 1, 1, Features::xnack},
    Processor{0x35, 10, 1, 2, Features::xnack},
    Processor{0x42, 10, 1, 3, Features::xnack},
    Processor{0x36, 10, 3, 0},
    Processor{0x37, 10, 3, 1},
    Processor{0x38, 10, 3, 2},
    Processor{0x39, 10, 3, 3},
    Processor{0x3e, 10, 3, 4},
    Processor{0x3d, 10, 3, 5},
    Processor{0x45, 10, 3, 6},
    Processor{0x41, 11, 0, 0},
    Processor{0x46, 11, 0, 1},
    Processor{0x47, 11, 0, 2},
    Processor{0x44, 11, 0, 3},
    Processor{0x43, 11, 5, 0},
    Processor{0x4a, 11, 5, 1},
    Processor{0x55, 11, 5, 2},
    Processor{0x58, 11, 5, 3},
    Processor{0x48, 12, 0, 0},
    Processor{0x4e, 12, 0, 1},
    Processor{0x51, 9, 0, k_generic, Features::xnack},
    Processor{0x5f, 9, 4, k_generic, Features::xnack_and_sramecc},
    Processor{0x52, 10, 1, k_generic, Features::xnack},
    Processor{0x53, 10, 3, k_generic},
    Processor{0x54, 11, 0, k_generic},
    Processor{0x59, 12, 0, k_generic},
};

BinaryInfo amd_info(std::uint16_t major, std::uint16_t minor, std::uint16_t stepping) {
  BinaryInfo info;
  info.kind = BinaryKind::amd_code_object;
  info.arch_major = major;
  info.arch_minor = minor;
  info.arch_stepping = stepping;
  return info;
}

// Returns a name such as "gfx90a" or "gfx9-4-generic". Code objects for generic targets have
// version 6 or later (AMDGPUUsage, "Generic processor code object versioning").
std::string processor_name(std::uint16_t major, std::uint16_t minor, std::uint16_t stepping) {
  if (stepping != k_generic) {
    return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
  }
  return minor == 0 ? fmt::format("gfx{}-generic", major)
                    : fmt::format("gfx{}-{}-generic", major, minor);
}

// Returns the minor version of the generic target of a processor, which has the same major version:
// AMDGPUUsage, "AMDGPU Generic Processors". gfx908 and gfx90a belong to none.
std::optional<std::uint16_t> generic_minor_of(const Processor& processor) {
  const auto [mach, major, minor, stepping, features] = processor;
  if (major < 9 || stepping == k_generic || (major == 9 && (stepping == 8 || stepping == 10))) {
    return std::nullopt;
  }
  if (major == 9) {
    return minor == 0 ? 0 : 4;
  }
  return major == 10 ? minor : 0;
}

AmdFeature feature_v3(bool is_supported, bool is_on) {
  if (!is_supported) {
    return AmdFeature::unsupported;
  }
  return is_on ? AmdFeature::on : AmdFeature::off;
}

AmdFeature feature_v4(std::uint32_t flags, std::uint32_t shift) {
  return static_cast<AmdFeature>((flags >> shift) & 3U);
}

void read_features(const ElfObject& object, const Processor& processor, BinaryInfo& info) {
  if (object.abi_version == k_abi_version_v3) {
    info.xnack = feature_v3(processor.features != Features::none, (object.flags & k_xnack_v3) != 0);
    info.sramecc = feature_v3(processor.features == Features::xnack_and_sramecc,
                              (object.flags & k_sramecc_v3) != 0);
    return;
  }
  info.xnack = feature_v4(object.flags, k_xnack_shift_v4);
  info.sramecc = feature_v4(object.flags, k_sramecc_shift_v4);
}

std::string suffix_of(std::string_view name, AmdFeature feature) {
  switch (feature) {
  case AmdFeature::on:
    return fmt::format("{}+", name);
  case AmdFeature::off:
    return fmt::format("{}-", name);
  default:
    return {};
  }
}

// Parses a name such as "gfx90a": the last digit is the stepping and the one before it the minor
// version, both hexadecimal; the rest is the decimal major version.
std::optional<BinaryInfo> parse_processor(std::string_view name) {
  constexpr std::string_view prefix = "gfx";
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  constexpr std::string_view k_digits = "0123456789abcdef";
  if (name.size() < 3 || name.size() > 4 || name.find_first_not_of(k_digits) != name.npos) {
    return std::nullopt;
  }
  std::uint16_t major = 0;
  for (const char digit : name.substr(0, name.size() - 2)) {
    if (digit > '9') {
      return std::nullopt;
    }
    major = static_cast<std::uint16_t>(major * 10 + (digit - '0'));
  }
  return amd_info(major, static_cast<std::uint16_t>(k_digits.find(name[name.size() - 2])),
                  static_cast<std::uint16_t>(k_digits.find(name.back())));
}

std::optional<BinaryInfo> parse_generic(std::string_view name) {
  for (const auto& [mach, major, minor, stepping, features] : k_processors) {
    if (stepping == k_generic && processor_name(major, minor, stepping) == name) {
      return amd_info(major, minor, stepping);
    }
  }
  return std::nullopt;
}

bool parse_feature(std::string_view word, BinaryInfo& info) {
  if (word.empty() || (word.back() != '+' && word.back() != '-')) {
    return false;
  }
  const AmdFeature value = word.back() == '+' ? AmdFeature::on : AmdFeature::off;
  word.remove_suffix(1);
  if (word != "xnack" && word != "sramecc") {
    return false;
  }
  (word == "xnack" ? info.xnack : info.sramecc) = value;
  return true;
}

} // namespace

BinaryInfo read_amd_code_object(const ElfObject& object) {
  BinaryInfo info;
  if (object.os_abi != k_os_abi_hsa) {
    return info;
  }
  info.kind = BinaryKind::amd_code_object;
  info.address_bits = object.address_bits;
  info.format_major = static_cast<std::uint16_t>(object.abi_version + 2);
  if (object.abi_version < k_abi_version_v3) {
    return info;
  }
  const auto mach = static_cast<std::uint8_t>(object.flags & k_mach_mask);
  const auto* const processor = std::ranges::find(k_processors, mach, &Processor::mach);
  if (processor == k_processors.end()) {
    return info;
  }
  info.arch_major = processor->major;
  info.arch_minor = processor->minor;
  info.arch_stepping = processor->stepping;
  if (processor->stepping == k_amd_generic_stepping) {
    info.format_minor = static_cast<std::uint16_t>(object.flags >> k_generic_version_shift);
  }
  read_features(object, *processor, info);
  return info;
}

std::string amd_target_name(const BinaryInfo& info) {
  return processor_name(info.arch_major, info.arch_minor, info.arch_stepping) +
         suffix_of(":sramecc", info.sramecc) + suffix_of(":xnack", info.xnack);
}

std::optional<BinaryInfo> parse_amd_target(std::string_view name) {
  const std::string_view processor = name.substr(0, name.find(':'));
  auto info = parse_generic(processor);
  if (!info) {
    info = parse_processor(processor);
  }
  std::size_t at = processor.size();
  while (info && at != name.size()) {
    const std::string_view rest = name.substr(at + 1);
    const std::string_view word = rest.substr(0, rest.find(':'));
    if (!parse_feature(word, *info)) {
      return std::nullopt;
    }
    at += 1 + word.size();
  }
  return info;
}

std::optional<BinaryInfo> amd_generic_target(const BinaryInfo& info) {
  for (const Processor& processor : k_processors) {
    const auto minor = generic_minor_of(processor);
    if (minor && processor.major == info.arch_major && processor.minor == info.arch_minor &&
        processor.stepping == info.arch_stepping) {
      return amd_info(processor.major, *minor, k_generic);
    }
  }
  return std::nullopt;
}

} // namespace clbin::format
