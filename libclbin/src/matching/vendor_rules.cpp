#include "matching/vendor_rules.hpp"

#include "model/phone_gpu.hpp"

#include <fmt/format.h>
#include <map>

namespace clbin::matching {

using format::AmdFeature;
using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceFamily;
using format::DeviceIdentity;
using format::PhoneGpu;

// NVIDIA. -----------------------------------------------------------------------------------------

namespace {

// A cubin needs no JIT: 0.06 ms instead of 32 ms for the second program of a process
// (doc/drivers.md, "NVIDIA").
constexpr std::uint8_t k_prefer_cubin = 2;
constexpr std::uint8_t k_prefer_ptx = 1;

using Capability = PtxVersion; // of a device or a binary

// "sm_90"
std::optional<Capability> capability_of(const DeviceIdentity& device) {
  constexpr std::string_view prefix = "sm_";
  const std::string_view text = device.architecture;
  const auto sm = text.starts_with(prefix) ? parse_numbers<1>(text.substr(prefix.size())) //
                                           : std::nullopt;
  if (!sm || (*sm)[0] < 10 || (*sm)[0] > 999) {
    return std::nullopt;
  }
  const unsigned number = (*sm)[0];
  return Capability{static_cast<std::uint16_t>(number / 10),
                    static_cast<std::uint16_t>(number % 10)};
}

std::string to_text(Capability capability) {
  return fmt::format("{}.{}", capability.major, capability.minor);
}

// CUDA C++ Programming Guide, "Binary Compatibility": a cubin runs on devices of its own major
// compute capability with an equal or higher minor one. "Architecture-Specific Features": with the
// suffix 'a', it runs only on its own capability.
Verdict judge_cubin(const BinaryInfo& info, Capability device) {
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse("cubin {} runs on compute capability {} only, this device has {}", sm_name(info),
                  to_text(built), to_text(device));
  }
  if (built.major != device.major || built.minor > device.minor) {
    return refuse("cubin {} needs compute capability {} or a higher one of the same "
                  "major, this device has {}",
                  sm_name(info), to_text(built), to_text(device));
  }
  return accept(k_prefer_cubin, "cubin {} runs on compute capability {}", sm_name(info),
                to_text(device));
}

// PTX ISA, ".target": PTX for sm_XY can be compiled for every device of that capability or above.
// With the suffix 'a' or 'f' it is accepted only for its own capability; other devices that 'f'
// permits use the fallback. ".version": at most the driver's. Otherwise the build fails with -9999
// and "Unsupported .version 9.9; current version is '9.0'" (doc/drivers.md, "NVIDIA").
Verdict judge_ptx(const BinaryInfo& info, Capability device, std::string_view driver_version) {
  if (info.ptx_flavour != format::PtxFlavour::nvcl) {
    return refuse("PTX for {} is of CUDA's flavour, this device needs OpenCL's "
                  "(texmode_independent): the driver would build it and the launch would fail",
                  sm_name(info));
  }
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse("PTX for {} runs on compute capability {} only, this device has {}",
                  sm_name(info), to_text(built), to_text(device));
  }
  if (built > device) {
    return refuse("PTX for {} needs compute capability {}, this device has {}", sm_name(info),
                  to_text(built), to_text(device));
  }
  const auto newest = newest_ptx(driver_version);
  if (!newest) {
    return refuse("PTX {}.{} needs a driver known to read it, this one is '{}'", info.format_major,
                  info.format_minor, driver_version);
  }
  if (PtxVersion{info.format_major, info.format_minor} > *newest) {
    return refuse(
        "PTX {}.{} is newer than {}.{}, the newest version that driver '{}' is known to read",
        info.format_major, info.format_minor, newest->major, newest->minor, driver_version);
  }
  return accept(k_prefer_ptx,
                "PTX {}.{} for {} is compiled by the driver for compute capability {}",
                info.format_major, info.format_minor, sm_name(info), to_text(device));
}

using DriverVersion = std::array<std::uint32_t, 3>;

struct Release {
  DriverVersion driver; // the oldest Linux driver of the release
  PtxVersion ptx;
};

// Driver: "CUDA Toolkit and Corresponding Driver Versions" of NVIDIA's CUDA Toolkit release notes
// (GA of each release). PTX: "Release History" of the PTX ISA manual, as in NVIDIA's cuda-python,
// cuda/bindings/utils/_ptx_utils.py. Both read in 2026. Driver 580.159 rejected versions above 9.0
// in a test (doc/drivers.md). PTX 8.6 belongs to CUDA 12.7, of which no toolkit was released. No
// table contains its first driver version; its drivers therefore count as those of 12.6.
constexpr std::array k_releases{
    Release{{610, 43, 2}, {9, 3}},  // CUDA 13.3
    Release{{595, 45, 4}, {9, 2}},  // CUDA 13.2
    Release{{590, 44, 1}, {9, 1}},  // CUDA 13.1
    Release{{580, 65, 6}, {9, 0}},  // CUDA 13.0
    Release{{575, 51, 3}, {8, 8}},  // CUDA 12.9
    Release{{570, 26, 0}, {8, 7}},  // CUDA 12.8
    Release{{555, 42, 2}, {8, 5}},  // CUDA 12.5 and 12.6
    Release{{550, 54, 14}, {8, 4}}, // CUDA 12.4
    Release{{545, 23, 6}, {8, 3}},  // CUDA 12.3
    Release{{535, 54, 3}, {8, 2}},  // CUDA 12.2
    Release{{530, 30, 2}, {8, 1}},  // CUDA 12.1
    Release{{525, 60, 13}, {8, 0}}, // CUDA 12.0
    Release{{520, 61, 5}, {7, 8}},  // CUDA 11.8
    Release{{515, 43, 4}, {7, 7}},  // CUDA 11.7
    Release{{510, 39, 1}, {7, 6}},  // CUDA 11.6
    Release{{495, 29, 5}, {7, 5}},  // CUDA 11.5
    Release{{470, 42, 1}, {7, 4}},  // CUDA 11.4
    Release{{465, 19, 1}, {7, 3}},  // CUDA 11.3
    Release{{460, 27, 3}, {7, 2}},  // CUDA 11.2
    Release{{455, 23, 0}, {7, 1}},  // CUDA 11.1
    Release{{450, 51, 5}, {7, 0}},  // CUDA 11.0
    Release{{440, 33, 0}, {6, 5}},  // CUDA 10.2
    Release{{418, 39, 0}, {6, 4}},  // CUDA 10.1
    Release{{410, 48, 0}, {6, 3}},  // CUDA 10.0
    Release{{396, 26, 0}, {6, 2}},  // CUDA 9.2
    Release{{387, 26, 0}, {6, 1}},  // CUDA 9.1
    Release{{384, 81, 0}, {6, 0}},  // CUDA 9.0
    Release{{367, 48, 0}, {5, 0}},  // CUDA 8.0
    Release{{352, 31, 0}, {4, 3}},  // CUDA 7.5
    Release{{346, 46, 0}, {4, 2}},  // CUDA 7.0
};

} // namespace

Verdict judge_nvidia(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto capability = capability_of(device);
  if (!capability) {
    return refuse("{} requires a known compute capability, but this device reports '{}'",
                  format::describe(info), device.architecture);
  }
  return info.kind == BinaryKind::cubin ? judge_cubin(info, *capability)
                                        : judge_ptx(info, *capability, device.driver_version);
}

static std::vector<KeyRange> nvidia_key_ranges(const DeviceIdentity& device) {
  const auto capability = capability_of(device);
  if (!capability) {
    return {};
  }
  const auto [major, minor] = *capability;
  return {architecture_range(bound(BinaryKind::cubin, major, 0),
                             bound(BinaryKind::cubin, major, minor)),
          architecture_range(bound(BinaryKind::ptx, 0, 0), bound(BinaryKind::ptx, major, minor))};
}

std::optional<PtxVersion> newest_ptx(std::string_view driver_version) {
  DriverVersion version{}; // the text after its numbers is ignored
  if (take_numbers(driver_version, version) == 0) {
    return std::nullopt;
  }
  for (const Release& release : k_releases) {
    if (version >= release.driver) {
      return release.ptx;
    }
  }
  return std::nullopt;
}

// AMD. --------------------------------------------------------------------------------------------

namespace {

constexpr std::uint8_t k_prefer_processor = 2;
constexpr std::uint8_t k_prefer_generic = 1;
constexpr std::uint16_t k_first_generic_version = 1;

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
// Generic targets: LLVM's AMDGPUUsage, "AMDGPU Generic Processors" and "Generic Processor
// Versioning": a code object runs on a processor if its version is not below the one that added the
// processor to the generic target, which is 1 for every processor (LLVM 22).
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
  if (is_generic && info.format_minor < k_first_generic_version) {
    return refuse("{} has no version of its generic target", format::describe(info));
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

static std::vector<KeyRange> amd_key_ranges(const DeviceIdentity& device) {
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

// Intel. ------------------------------------------------------------------------------------------

namespace {

constexpr std::uint8_t k_prefer_version = 2;
constexpr std::uint8_t k_prefer_family = 1; // or a version that runs on several

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

struct Compatibility {
  IpVersion zebin;
  IpVersion device;
};

// intel/compute-runtime of August 2026, third_party/aot_config_headers/platforms.h,
// compatibilityMapping. Drivers that are older than a row refuse the zebin.
constexpr std::array k_compatible{
    Compatibility{{12, 55, 8}, {12, 56, 5}}, // dg2 on acm-g11
    Compatibility{{12, 55, 8}, {12, 57, 0}}, // on acm-g12
    Compatibility{{12, 70, 4}, {12, 71, 4}}, // mtl on mtl-h
    Compatibility{{20, 1, 0}, {20, 2, 0}},   // bmg on bmg-g31
    Compatibility{{20, 1, 0}, {20, 4, 4}},   // on lnl
    Compatibility{{20, 1, 1}, {20, 1, 0}},   // earlier numbers of bmg
    Compatibility{{20, 1, 1}, {20, 2, 0}},   Compatibility{{20, 1, 1}, {20, 4, 4}},
    Compatibility{{20, 1, 4}, {20, 1, 0}},   Compatibility{{20, 1, 4}, {20, 2, 0}},
    Compatibility{{20, 1, 4}, {20, 4, 4}},   Compatibility{{30, 0, 4}, {30, 1, 0}}, // ptl on ptl-u
    Compatibility{{30, 0, 4}, {30, 3, 1}},                                          // on wcl
    Compatibility{{30, 0, 4}, {30, 4, 4}},                                          // on nvl-s
    Compatibility{{30, 0, 4}, {30, 5, 4}},                                          // on nvl-u
};

bool is_compatible(const IpVersion& zebin, const IpVersion& device) {
  return std::ranges::any_of(k_compatible, [&](const Compatibility& row) {
    return row.zebin == zebin && row.device == device;
  });
}

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
// must be equal or compatible or, if the zebin has none, the product family be equal. The driver
// does not reject a zebin of another target that contains IR: it builds the IR instead of loading
// the zebin.
Verdict judge_intel(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto own = own_version(device);
  if (!own) {
    return refuse("{} requires a known IP version, but this device reports '{}'",
                  format::describe(info), device.architecture);
  }
  if (version_of(info) != IpVersion{}) {
    const bool is_equal = version_of(info) == *own;
    return is_equal || is_compatible(version_of(info), *own)
               ? accept(is_equal ? k_prefer_version : k_prefer_family, "{} runs on IP version {}",
                        format::describe(info), device.architecture)
               : refuse("{} does not run on IP version {}", format::describe(info),
                        device.architecture);
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
  std::vector<KeyRange> ranges;
  const auto add_version = [&ranges](const IpVersion& version) {
    const BinaryInfo info = bound(BinaryKind::intel_zebin, version[0], version[1], version[2]);
    ranges.push_back(architecture_range(info, info));
  };
  add_version(*own);
  for (const Compatibility& row : k_compatible) {
    if (row.device == *own) {
      add_version(row.zebin);
    }
  }
  for (const Product& product : k_products) {
    if (product.version == *own) {
      const auto next = static_cast<std::uint16_t>(product.family + 1);
      ranges.push_back({first_key_of(product.family), first_key_of(next) - 1});
    }
  }
  return ranges;
}

// Other vendors. ----------------------------------------------------------------------------------

namespace {

constexpr std::string_view k_adreno = "Adreno";

// Returns the text behind the last occurrence of `word`; the whole text if there is none.
std::string_view behind_last(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  return at == std::string_view::npos ? text : text.substr(at + word.size());
}

// "E031.45.02.16" of "OpenCL 3.0 QUALCOMM build: … Compiler E031.45.02.16", "DX.17.75.00" on
// Windows.
std::string_view adreno_compiler(std::string_view driver) {
  const std::string_view version = behind_last(driver, "Compiler ");
  return version.size() == driver.size() ? behind_last(driver, " ")
                                         : version.substr(0, version.find(' '));
}

// "v1.r32p1-01eac0.…" of "OpenCL 3.0 v1.r32p1-01eac0.…"
std::string_view mali_driver(std::string_view version) {
  return version.starts_with("OpenCL ") ? behind_last(version, " ") : version;
}

} // namespace

// Adreno: llama.cpp, ggml/src/ggml-opencl/ggml-opencl.cpp, get_adreno_cl_compiler_version, and its
// kernel library, which is keyed by GPU and compiler (pull request 23042). Texts of drivers:
// Android "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.45.02.06" (Oblomov/clinfo, issue
// 92) and "Mali-G610 MC6 r0p0" with "OpenCL 3.0 v1.r32p1-01eac0.…" (hominoids/sgminer-arm, issue
// 12).
DeviceIdentity short_identity(std::string_view name, std::string_view driver, unsigned host_bits) {
  const PhoneGpu gpu = format::phone_gpu(name);
  DeviceIdentity identity;
  identity.device_name = name.substr(gpu == PhoneGpu::adreno ? name.find(k_adreno) : 0);
  identity.driver_version = gpu == PhoneGpu::adreno ? adreno_compiler(driver)
                            : gpu == PhoneGpu::mali ? mali_driver(driver)
                                                    : driver;
  identity.architecture = format::host_text(host_bits);
  return identity;
}

std::optional<DeviceIdentity> short_identity(const DeviceIdentity& device) {
  constexpr unsigned k_host_bits = 8 * sizeof(void*);
  if (format::device_family(device) != DeviceFamily::unknown) {
    return std::nullopt;
  }
  const bool has_model = format::phone_gpu(device.device_version) == PhoneGpu::adreno;
  const bool is_mali = format::phone_gpu(device) == PhoneGpu::mali;
  return short_identity(has_model ? device.device_version : device.device_name,
                        is_mali ? device.device_version : device.driver_version, k_host_bits);
}

std::optional<DeviceIdentity> series_identity(const DeviceIdentity& shortened) {
  const std::string& name = shortened.device_name;
  const std::size_t first = name.find_first_of("0123456789");
  if (format::phone_gpu(name) == PhoneGpu::none || first == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t end = std::min(name.find_first_not_of("0123456789x", first + 1), name.size());
  const std::size_t varying = end - first - 1;
  if (varying == 0) {
    return std::nullopt;
  }
  DeviceIdentity series = shortened;
  series.device_name = name.substr(0, first + 1) + std::string(varying, 'x');
  return series;
}

// Intermediate languages. -------------------------------------------------------------------------

// A word of CL_DEVICE_IL_VERSION is "<IL_Prefix>_<Major_Version>.<Minor_Version>" (OpenCL 3.0,
// table of device queries); "SPIR-V" is the only existing prefix. A consumer of SPIR-V 1.n accepts
// modules of version 1.m for m <= n, because minor versions only add features (SPIR-V
// specification, 2.3 and its changes).

namespace {

// Major and minor.
using IlVersion = std::array<std::uint16_t, 2>;

// Returns std::nullopt for another language and for a word without a valid version.
std::optional<IlVersion> parse_il_version(std::string_view word) {
  constexpr std::string_view k_prefix = "SPIR-V_";
  return word.starts_with(k_prefix) ? parse_numbers<2>(word.substr(k_prefix.size())) : std::nullopt;
}

} // namespace

Verdict judge_il(const BinaryInfo& info, const DeviceIdentity& device) {
  for (const std::string& word : device.il_versions) {
    const auto version = parse_il_version(word);
    if (version && (*version)[0] == info.arch_major && (*version)[1] >= info.arch_minor) {
      return accept(0, "the driver compiles {}, because it accepts {}", format::describe(info),
                    word);
    }
  }
  if (device.il_versions.empty()) {
    return refuse("{} is an intermediate language, and this device accepts none",
                  format::describe(info));
  }
  return refuse("this device accepts '{}', but not {}", fmt::join(device.il_versions, " "),
                format::describe(info));
}

std::vector<KeyRange> il_key_ranges(const DeviceIdentity& device) {
  std::map<std::uint16_t, std::uint16_t> newest; // from major to minor version
  for (const std::string& word : device.il_versions) {
    if (const auto version = parse_il_version(word)) {
      std::uint16_t& minor = newest[(*version)[0]];
      minor = std::max(minor, (*version)[1]);
    }
  }
  std::vector<KeyRange> ranges;
  ranges.reserve(newest.size());
  for (const auto& [major, minor] : newest) {
    ranges.push_back(architecture_range(bound(BinaryKind::spirv, major, 0),
                                        bound(BinaryKind::spirv, major, minor)));
  }
  return ranges;
}

// All vendors. ------------------------------------------------------------------------------------

namespace {

struct TakenKind {
  DeviceFamily family;
  BinaryKind kind;
  // The vendor's rule for other devices, and the keys that it may accept; null: only the device it
  // was made for accepts it.
  Verdict (*judge)(const BinaryInfo&, const DeviceIdentity&) = nullptr;
  std::vector<KeyRange> (*key_ranges)(const DeviceIdentity&) = nullptr;
};

// The kinds that clCreateProgramWithBinary of each family accepts, and that its CL_PROGRAM_BINARIES
// or its offline compiler produces (doc/drivers.md).
constexpr std::array k_taken{
    TakenKind{DeviceFamily::nvidia, BinaryKind::ptx, judge_nvidia, nvidia_key_ranges},
    TakenKind{DeviceFamily::nvidia, BinaryKind::cubin, judge_nvidia},
    TakenKind{DeviceFamily::nvidia, BinaryKind::nvidia_fatbin},
    TakenKind{DeviceFamily::amd, BinaryKind::amd_code_object, judge_amd, amd_key_ranges},
    TakenKind{DeviceFamily::intel, BinaryKind::intel_zebin, judge_intel, intel_key_ranges},
    TakenKind{DeviceFamily::intel, BinaryKind::ar_archive},
    TakenKind{DeviceFamily::pocl, BinaryKind::poclbin},
    TakenKind{DeviceFamily::rusticl, BinaryKind::rusticl},
    TakenKind{DeviceFamily::oclgrind, BinaryKind::llvm_bitcode},
    TakenKind{DeviceFamily::clvk, BinaryKind::clvk},
    TakenKind{DeviceFamily::clvk, BinaryKind::llvm_bitcode},
};

// Null if the family does not take the kind.
const TakenKind* find_taken(DeviceFamily family, BinaryKind kind) {
  const auto* const found =
      std::find_if(k_taken.begin(), k_taken.end(), [&](const TakenKind& taken) {
        return taken.family == family && taken.kind == kind;
      });
  return found == k_taken.end() ? nullptr : found;
}

// Returns the reason why no device of `family` made or accepts such a binary. An unknown kind can
// be the format of a newer driver (as that of rusticl 22.3 once was), and an unknown family can
// accept any kind. But a kind that is known to belong to other drivers was not made by this device,
// whatever the table contains.
std::optional<Verdict> refusal_of_kind(const BinaryInfo& info, DeviceFamily family) {
  if (info.kind == BinaryKind::spirv) {
    return refuse("{} is an intermediate language, not a binary of this device",
                  format::describe(info));
  }
  const bool may_be_own = info.kind == BinaryKind::unknown || family == DeviceFamily::unknown;
  if (!may_be_own && find_taken(family, info.kind) == nullptr) {
    return refuse("{} is not a format of this device's family, {}", format::describe(info),
                  format::to_string(family));
  }
  return std::nullopt;
}

} // namespace

BinaryInfo bound(BinaryKind kind, std::uint16_t arch_major, std::uint16_t arch_minor,
                 std::uint16_t arch_stepping) {
  BinaryInfo info;
  info.kind = kind;
  info.arch_major = arch_major;
  info.arch_minor = arch_minor;
  info.arch_stepping = arch_stepping;
  return info;
}

KeyRange architecture_range(const BinaryInfo& first, const BinaryInfo& last) {
  constexpr std::uint64_t below_architecture = (std::uint64_t{1} << 32U) - 1;
  return {format::match_key(first, {}) & ~below_architecture,
          format::match_key(last, {}) | below_architecture};
}

Verdict judge_own(const BinaryInfo& info, const DeviceIdentity& device) {
  if (info.kind == BinaryKind::ptx && info.ptx_flavour != format::PtxFlavour::nvcl) {
    return judge_nvidia(info, device);
  }
  if (auto refusal = refusal_of_kind(info, format::device_family(device))) {
    return std::move(*refusal);
  }
  return accept(info.kind == BinaryKind::cubin ? 1 : 0, "made for this device");
}

Verdict judge_foreign(const BinaryInfo& info, const DeviceIdentity& device) {
  const DeviceFamily family = format::device_family(device);
  if (auto refusal = refusal_of_kind(info, family)) {
    return std::move(*refusal);
  }
  const TakenKind* const taken = find_taken(family, info.kind);
  if (taken != nullptr && taken->judge != nullptr) {
    return taken->judge(info, device);
  }
  // Of an unknown kind, the platform at the end of the reason tells more than a description.
  const std::string subject = info.kind == BinaryKind::unknown ? "" : format::describe(info) + " ";
  Verdict verdict = refuse("{}matches only the device and driver that it was made for", subject);
  verdict.needs_same_device = true;
  return verdict;
}

std::vector<KeyRange> compatible_key_ranges(const DeviceIdentity& device) {
  const DeviceFamily family = format::device_family(device);
  const auto* const taken = std::ranges::find(k_taken, family, &TakenKind::family);
  return taken == k_taken.end() || taken->key_ranges == nullptr ? std::vector<KeyRange>()
                                                                : taken->key_ranges(device);
}

} // namespace clbin::matching
