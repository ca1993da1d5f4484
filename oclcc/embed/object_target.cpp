#include "embed/object_target.hpp"

#include <algorithm>
#include <array>

namespace oclcc::embed {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

struct Architecture {
  std::string_view name; // the first word of a triple
  ObjectTarget target;
};

// e_machine numbers are the ELF specification's registry; e_flags those that gcc gives objects of
// the architecture's usual Linux convention (the supplements of its psABI): ARM EABI version 5,
// RISC-V with compressed instructions and double registers, ELFv2, LoongArch LP64D.
constexpr std::uint32_t k_arm_eabi5 = 0x05000000;
constexpr std::uint32_t k_riscv_compressed_double = 0x5;
constexpr std::uint32_t k_ppc64_elfv2 = 0x2;
constexpr std::uint32_t k_loongarch_lp64d = 0x43;
constexpr std::array k_architectures = std::to_array<Architecture>({
    {"x86_64", {62, 0, 64, ByteOrder::little}},
    {"amd64", {62, 0, 64, ByteOrder::little}},
    {"i386", {3, 0, 32, ByteOrder::little}},
    {"i486", {3, 0, 32, ByteOrder::little}},
    {"i586", {3, 0, 32, ByteOrder::little}},
    {"i686", {3, 0, 32, ByteOrder::little}},
    {"aarch64", {183, 0, 64, ByteOrder::little}},
    {"arm64", {183, 0, 64, ByteOrder::little}},
    {"aarch64_be", {183, 0, 64, ByteOrder::big}},
    {"arm", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"armv6", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"armv7", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"armv7a", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"armv7l", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"riscv64", {243, k_riscv_compressed_double, 64, ByteOrder::little}},
    {"powerpc64le", {21, k_ppc64_elfv2, 64, ByteOrder::little}},
    {"ppc64le", {21, k_ppc64_elfv2, 64, ByteOrder::little}},
    {"s390x", {22, 0, 64, ByteOrder::big}},
    {"loongarch64", {258, k_loongarch_lp64d, 64, ByteOrder::little}},
});

constexpr std::array k_systems_without_elf =
    std::to_array<std::string_view>({"darwin", "macos", "ios", "windows", "mingw", "cygwin", "msvc",
                                     "win32", "wasi", "emscripten"});

std::string known_architectures() {
  std::string names;
  for (const Architecture& architecture : k_architectures) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", architecture.name);
  }
  return names;
}

} // namespace

Result<ObjectTarget> object_target(std::string_view triple) {
  const auto* const system = std::find_if(
      k_systems_without_elf.begin(), k_systems_without_elf.end(),
      [&](std::string_view name) { return triple.find(name) != std::string_view::npos; });
  if (system != k_systems_without_elf.end()) {
    return fail(ErrorCode::invalid_argument,
                "'--host-triple {}': object files of '{}' are not ELF; embed with -o k.c", triple,
                *system);
  }
  const std::string_view name = triple.substr(0, triple.find('-'));
  const auto* const found =
      std::find_if(k_architectures.begin(), k_architectures.end(),
                   [&](const Architecture& architecture) { return architecture.name == name; });
  if (found == k_architectures.end()) {
    return fail(ErrorCode::invalid_argument,
                "'--host-triple {}': unknown architecture '{}'; known are {}", triple, name,
                known_architectures());
  }
  return found->target;
}

std::string_view host_triple() noexcept {
  return OCLCC_HOST_TRIPLE;
}

} // namespace oclcc::embed
