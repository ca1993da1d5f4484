// Determines the kind of a device binary from its bytes alone. Safe on any input.
#pragma once

#include "base/digest.hpp"

#include <optional>

namespace clbin::format {

// Names of base/ in all of format/.
using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

// The file contains these numbers (ENTRY.kind), also in the top byte of a match key. They are never
// reused.
enum class BinaryKind : std::uint16_t {
  unknown = 0,
  ptx = 1,
  cubin = 2,
  amd_code_object = 3,
  intel_zebin = 4,
  spirv = 5,
  llvm_bitcode = 6,
  poclbin = 7,
  rusticl = 8,
  clvk = 9,
  ar_archive = 10, // ocloc's fat binary
  nvidia_fatbin = 11,
  offload_bundle = 12, // __CLANG_OFFLOAD_BUNDLE__ and CCOB
  offload_binary = 13, // 0x10FF10AD
};
// Returns "ptx", "cubin", "amd-code-object", …; "unknown" for any other number.
[[nodiscard]] std::string_view to_string(BinaryKind kind) noexcept;

// PTX environments. NVIDIA's driver accepts and builds the PTX of `cuda`, but the launch passes
// wrong data (doc/drivers.md, "NVIDIA"), so that libclbin never loads it.
enum class PtxFlavour : std::uint8_t { nvcl = 0, cuda = 1 };
// AMD target-id features: sramecc and xnack.
enum class AmdFeature : std::uint8_t { unsupported = 0, any = 1, off = 2, on = 3 };

inline constexpr std::uint16_t k_amd_generic_stepping = 0xff;

// Properties that the bytes of a binary contain. Fields that a kind does not have are 0.
struct BinaryInfo {
  BinaryKind kind = BinaryKind::unknown;
  std::uint8_t address_bits = 0; // 32, 64, or 0 if the format does not contain it
  // ptx: {9, 0} for .target sm_90; cubin: sm {9, 0}; amd: {9, 0} and stepping 10 for gfx90a, {9, 4}
  // and k_amd_generic_stepping for a generic target such as gfx9-4-generic; intel: IP version;
  // spirv: version. All 0 if the bytes contain no number or an unknown one.
  std::uint16_t arch_major = 0;
  std::uint16_t arch_minor = 0;
  std::uint16_t arch_stepping = 0;
  // ptx: 'a' or 'f' of "sm_90a"; cubin: 'a' (sm_100f and sm_100 are the same machine code)
  char arch_suffix = '\0';
  // ptx: .version; amd: code object version (3 to 6), with the version of a generic target as
  // minor; poclbin, rusticl, clvk, offload_bundle, offload_binary: format version
  std::uint16_t format_major = 0;
  std::uint16_t format_minor = 0;
  // intel: PRODUCT_FAMILY, if the zebin contains no IP version (Debian 12's ocloc 22.43)
  std::uint16_t product_family = 0;
  PtxFlavour ptx_flavour = PtxFlavour::nvcl;
  AmdFeature sramecc = AmdFeature::unsupported;
  AmdFeature xnack = AmdFeature::unsupported;

  [[nodiscard]] bool has_architecture() const noexcept {
    return arch_major != 0 || arch_minor != 0 || arch_stepping != 0;
  }
  friend bool operator==(const BinaryInfo&, const BinaryInfo&) = default;
};

// Never fails and never reads outside `bytes`. Returns BinaryKind::unknown for bytes that are not
// recognised, or are cut before the fields that identify them.
[[nodiscard]] BinaryInfo classify_binary(ByteView bytes);

// Returns what a file is that another program names as bundles are, "*.clbin": "a file of
// llama.cpp's cache of OpenCL programs". Empty if `start` is not the start of such a file.
[[nodiscard]] std::string_view name_of_foreign_file(ByteView start) noexcept;

// Returns "PTX 7.5 for sm_50", "cubin sm_90a", "AMD code object gfx90a:xnack-", "SPIR-V 1.2", "PoCL
// binary, format 8", …
[[nodiscard]] std::string describe(const BinaryInfo& info);
// Returns the same, except for an unknown kind that a device of `platform` made: "Intel(R) OpenCL
// binary".
[[nodiscard]] std::string describe(const BinaryInfo& info, std::string_view platform);

// Returns "sm_90a" for ptx and cubin.
[[nodiscard]] std::string sm_name(const BinaryInfo& info);

// Returns a name such as "gfx90a:sramecc+:xnack-" or "gfx9-4-generic", which contains the features
// that are on or off.
[[nodiscard]] std::string amd_target_name(const BinaryInfo& info);
// Reverses amd_target_name for the target id that a driver reports: returns arch_* and features.
// Features that the id does not name are `unsupported`. Returns std::nullopt for any other text.
[[nodiscard]] std::optional<BinaryInfo> parse_amd_target(std::string_view name);
// Returns the generic target whose code objects run on a processor ({9, 0} for gfx906);
// std::nullopt if there is none. `info.arch_*` identify the processor.
[[nodiscard]] std::optional<BinaryInfo> amd_generic_target(const BinaryInfo& info);

// Returns the sort key of an entry (clbin(5), MATCH KEYS). The top 8 bits are the kind. For ptx,
// cubin, amd_code_object, intel_zebin and spirv, the lower bits are the fields of `info`, beginning
// with the architecture. Every other kind requires an equal target, and the lower bits are the
// first 7 bytes of `target`.
[[nodiscard]] std::uint64_t match_key(const BinaryInfo& info, const Digest& target) noexcept;
// Reverses match_key for kinds whose key contains fields; for other kinds, only `kind` is set.
// Numbers above 255 are returned as 255. A kind above 13 is `unknown`.
[[nodiscard]] BinaryInfo info_from_match_key(std::uint64_t key) noexcept;

} // namespace clbin::format
