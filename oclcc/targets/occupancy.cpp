#include "targets/occupancy.hpp"

#include <limits>

namespace oclcc {

namespace {

using format::BinaryInfo;
using format::BinaryKind;

constexpr std::uint64_t k_kib = 1024;
constexpr std::uint64_t k_unlimited = std::numeric_limits<std::uint64_t>::max();

// What the waves of one multiprocessor share.
struct Multiprocessor {
  std::uint64_t units = 4;            // SIMDs, or Intel's EUs: each has its own waves and registers
  std::uint64_t waves = 0;            // of a unit
  std::uint64_t registers = 0;        // of a unit: as many as one work-item of one wave could have
  std::uint64_t register_granule = 0; // in which a wave allocates them
  std::uint64_t scalar_registers = k_unlimited; // of a unit
  std::uint64_t work_groups = k_unlimited;
  std::uint64_t local_bytes = 0;
  std::uint64_t local_granule = 0;
  std::uint64_t reserved_bytes = 0;    // of local memory, for each work-group
  std::uint64_t least_local_bytes = 0; // of a work-group, where binaries include what is reserved
};

// NVIDIA. -----------------------------------------------------------------------------------------

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (releases 12.9 and
// 13.0): resident warps and blocks, and KiB of shared memory.
struct ComputeCapability {
  std::uint16_t sm;
  std::uint8_t warps;
  std::uint8_t blocks;
  std::uint8_t shared_kib;
};
constexpr ComputeCapability k_capabilities[] = {
    {50, 64, 32, 64},   {52, 64, 32, 96},   {53, 64, 32, 64},   {60, 64, 32, 64},
    {61, 64, 32, 96},   {62, 64, 32, 64},   {70, 64, 32, 96},   {72, 64, 32, 96},
    {75, 32, 16, 64},   {80, 64, 32, 164},  {86, 48, 16, 100},  {87, 48, 16, 164},
    {88, 48, 16, 100},  {89, 48, 24, 100},  {90, 64, 32, 228},  {100, 64, 32, 228},
    {103, 64, 32, 228}, {110, 48, 24, 228}, {120, 48, 24, 100}, {121, 48, 24, 100},
};

// 64 Ki registers, which warps allocate in units of 256: CUDA C++ Best Practices Guide,
// "Calculating Occupancy". The SM of compute capability 6.0 has two partitions, all others have
// four.
std::optional<Multiprocessor> nvidia_multiprocessor(const BinaryInfo& binary) {
  const unsigned sm = binary.arch_major * 10U + binary.arch_minor;
  const auto* const row = std::ranges::find(k_capabilities, sm, &ComputeCapability::sm);
  if (row == std::end(k_capabilities)) {
    return std::nullopt;
  }
  constexpr std::uint64_t k_warp = 32;
  const std::uint64_t units = sm == 60 ? 2 : 4;
  const bool reserves = binary.arch_major >= 8; // 1 KiB for each block; cubins from 9.0 include it
  return Multiprocessor{.units = units,
                        .waves = row->warps / units,
                        .registers = 64 * k_kib / k_warp / units,
                        .register_granule = 256 / k_warp,
                        .work_groups = row->blocks,
                        .local_bytes = row->shared_kib * k_kib,
                        .local_granule = reserves ? 128U : 256U,
                        .reserved_bytes = reserves && sm < 90 ? k_kib : 0,
                        .least_local_bytes = sm >= 90 ? k_kib : 0};
}

// AMD. --------------------------------------------------------------------------------------------

// LLVM, AMDGPUBaseInfo.cpp: getVGPRAllocGranule, getTotalNumVGPRs, getMaxWavesPerEU.
void add_vector_registers(const BinaryInfo& binary, std::uint64_t wave_size, Multiprocessor& unit) {
  const bool is_generic = binary.arch_stepping == format::k_amd_generic_stepping;
  const auto is_version = [&](unsigned major, unsigned minor, unsigned stepping) {
    return binary.arch_major == major && binary.arch_minor == minor &&
           binary.arch_stepping == stepping && !is_generic;
  };
  const bool is_cdna = is_version(9, 0, 10) || (binary.arch_major == 9 && binary.arch_minor >= 4);
  const std::uint64_t narrow = wave_size == 32 ? 2 : 1; // as many registers of half the width
  if (binary.arch_major < 10) {
    unit.waves = is_cdna ? 8 : 10;
    unit.registers = is_cdna ? 512 : 256;
    unit.register_granule = is_cdna ? 8 : 4;
  } else if (binary.arch_major == 12 || is_version(11, 0, 0) || is_version(11, 0, 1) ||
             is_version(11, 5, 1)) { // Feature1_5xVGPRs
    unit.waves = 16;
    unit.registers = 768 * narrow;
    unit.register_granule = 12 * narrow;
  } else {
    const bool is_first = binary.arch_major == 10 && binary.arch_minor < 3;
    unit.waves = is_first ? 20 : 16;
    unit.registers = 512 * narrow;
    unit.register_granule = (is_first ? 4 : 8) * narrow;
  }
}

// LLVM: getOccupancyWithNumSGPRs, getMaxWorkGroupsPerCU, getLocalMemorySize, getLdsDwGranularity.
// From gfx10 on, a work-group processor of two compute units, each with two SIMDs.
std::optional<Multiprocessor> amd_multiprocessor(const BinaryInfo& binary,
                                                 std::uint64_t wave_size) {
  if (binary.arch_major < 8 || binary.arch_major > 12) {
    return std::nullopt;
  }
  const bool is_rdna = binary.arch_major >= 10;
  const bool is_gfx950 = binary.arch_major == 9 && binary.arch_minor == 5;
  Multiprocessor unit{.scalar_registers = is_rdna ? k_unlimited : 800,
                      .work_groups = is_rdna ? 32U : 16U,
                      .local_bytes = (is_rdna     ? 128U
                                      : is_gfx950 ? 160U
                                                  : 64U) *
                                     k_kib,
                      .local_granule = is_gfx950 ? 1280U : 512U};
  add_vector_registers(binary, wave_size, unit);
  return unit;
}

// Intel. ------------------------------------------------------------------------------------------

// IP versions, from `first` on. intel/compute-runtime, hw_info_*.cpp (threads of an EU, KiB of
// maxProgrammableSlmSize), and KernelHelper::getMaxWorkGroupCount, which divides them in this way;
// EUs of a sub-slice: oneAPI GPU Optimization Guide, "Intel Xe GPU Architecture".
struct IntelCore {
  std::uint16_t first_major;
  std::uint16_t first_minor;
  std::uint8_t units;
  std::uint8_t threads;
  std::uint8_t local_kib;
};
constexpr IntelCore k_intel_cores[] = {
    {8, 0, 8, 7, 64},    // Gen8 to Gen11
    {12, 0, 16, 7, 64},  // Xe-LP: a dual sub-slice
    {12, 50, 16, 8, 64}, // Xe-HPG, Xe-LPG
    {12, 60, 8, 8, 128}, // Xe-HPC
    {12, 70, 16, 8, 64}, // Xe-LPG
    {20, 0, 8, 8, 128},  // Xe2
};

struct IntelFamily {
  std::uint16_t last; // PRODUCT_FAMILY
  std::uint16_t major;
  std::uint16_t minor;
};
// Of zebins without an IP version.
constexpr IntelFamily k_intel_families[] = {{28, 8, 0},     {33, 12, 0},    {1210, 12, 0},
                                            {1250, 12, 50}, {1270, 12, 50}, {1271, 12, 60}};

std::optional<Multiprocessor> intel_multiprocessor(const BinaryInfo& binary) {
  std::pair version(binary.arch_major, binary.arch_minor);
  if (!binary.has_architecture()) {
    const auto* const family =
        std::ranges::lower_bound(k_intel_families, binary.product_family, {}, &IntelFamily::last);
    if (family == std::end(k_intel_families) || binary.product_family == 0) {
      return std::nullopt;
    }
    version = {family->major, family->minor};
  }
  const auto* const next =
      std::ranges::upper_bound(k_intel_cores, version, {}, [](const IntelCore& core) {
        return std::pair(core.first_major, core.first_minor);
      });
  if (next == std::begin(k_intel_cores) || version.first > 20) {
    return std::nullopt;
  }
  const IntelCore& core = *std::prev(next);
  // 128 registers for each thread; with 256, half as many threads run.
  return Multiprocessor{.units = core.units,
                        .waves = core.threads,
                        .registers = std::uint64_t{core.threads} * 128,
                        .register_granule = 32,
                        .local_bytes = core.local_kib * k_kib,
                        .local_granule = k_kib};
}

// All. --------------------------------------------------------------------------------------------

std::uint64_t aligned(std::uint64_t number, std::uint64_t granule) {
  return number > k_unlimited - granule ? number : (number + granule - 1) / granule * granule;
}

std::optional<Multiprocessor> multiprocessor_of(const BinaryInfo& binary, std::uint64_t wave_size) {
  switch (binary.kind) {
  case BinaryKind::cubin:
    return nvidia_multiprocessor(binary);
  case BinaryKind::amd_code_object:
    return amd_multiprocessor(binary, wave_size);
  case BinaryKind::intel_zebin:
    return intel_multiprocessor(binary);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Occupancy> occupancy_of(const BinaryInfo& binary, const OccupancyNeeds& needs) {
  const auto unit = multiprocessor_of(binary, needs.wave_size);
  if (!unit || needs.wave_size == 0 || needs.work_items == 0) {
    return std::nullopt;
  }
  const std::uint64_t waves = (needs.work_items - 1) / needs.wave_size + 1; // of a work-group
  const auto groups_of = [&](std::uint64_t total, std::uint64_t granule, std::uint64_t needed) {
    return needed == 0 ? k_unlimited : total / aligned(needed, granule) * unit->units / waves;
  };
  constexpr std::uint64_t k_scalar_granule = 4;
  const std::uint64_t local_bytes =
      aligned(std::clamp(needs.local_bytes, unit->least_local_bytes, k_unlimited / 2) +
                  unit->reserved_bytes,
              unit->local_granule);
  // A work-group of one wave needs no barrier, of which AMD's compute units have as many as groups.
  const bool is_limited = waves > 1 || binary.kind != BinaryKind::amd_code_object;
  const std::pair<OccupancyLimit, std::uint64_t> limits[] = {
      {OccupancyLimit::waves, unit->waves * unit->units / waves},
      {OccupancyLimit::registers,
       groups_of(unit->registers, unit->register_granule, needs.registers)},
      {OccupancyLimit::scalar_registers,
       unit->scalar_registers == k_unlimited
           ? k_unlimited
           : groups_of(unit->scalar_registers, k_scalar_granule, needs.scalar_registers)},
      {OccupancyLimit::local_memory,
       local_bytes == 0 ? k_unlimited : unit->local_bytes / local_bytes},
      {OccupancyLimit::work_groups, is_limited ? unit->work_groups : k_unlimited},
  };
  const auto& [limit, groups] =
      *std::ranges::min_element(limits, {}, [](const auto& row) { return row.second; });
  return Occupancy{groups * waves, unit->waves * unit->units, limit};
}

} // namespace oclcc
