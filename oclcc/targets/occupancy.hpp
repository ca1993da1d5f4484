// How many waves of a kernel a GPU can keep resident, from what the kernel needs and the published
// limits of the architecture. Pure arithmetic: no device, driver or tool.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "model/record.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// What ends the list of resident work-groups first. `waves` is the size of the list itself.
enum class OccupancyLimit : std::uint8_t {
  waves,
  registers,
  scalar_registers,
  local_memory,
  work_groups
};
constexpr std::array<std::string_view, 5> names_of(OccupancyLimit /*unused*/) {
  return {"waves", "registers", "scalar_registers", "local_memory", "work_groups"};
}

// Of one streaming multiprocessor, compute unit, work-group processor or Xe core. No waves: the
// kernel cannot be launched with this work-group size.
struct Occupancy {
  std::uint64_t waves = 0;
  std::uint64_t max_waves = 0;
  OccupancyLimit limited_by = OccupancyLimit::waves;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};
CLBIN_VISIT(Occupancy, waves, max_waves, limited_by);

// What decides the occupancy of a kernel.
struct OccupancyNeeds {
  std::uint64_t work_items = 0; // of a work-group
  std::uint64_t wave_size = 0;  // work-items
  std::uint64_t registers = 0;  // vector registers of a work-item, or Intel's of a thread
  std::uint64_t scalar_registers = 0;
  std::uint64_t local_bytes = 0;
};

// Returns std::nullopt if the architecture of `binary` is unknown, or if it is not machine code.
// Assumes that AMD's GPUs from gfx10 on run work-groups on a work-group processor (LLVM's default),
// and that NVIDIA's driver grants as much local memory as there is. Intel's barriers are not
// counted.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const format::BinaryInfo& binary,
                                                    const OccupancyNeeds& needs);

} // namespace oclcc
