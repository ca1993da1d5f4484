#include "targets/occupancy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#if __has_include(<cuda_occupancy.h>)
#include <climits>
#include <cuda_occupancy.h>
#define CLBIN_HAS_CUDA_OCCUPANCY 1
#else
#define CLBIN_HAS_CUDA_OCCUPANCY 0
#endif

namespace oclcc {
namespace {

using format::BinaryInfo;
using format::BinaryKind;

BinaryInfo binary(BinaryKind kind, std::uint16_t major, std::uint16_t minor,
                  std::uint16_t stepping = 0) {
  BinaryInfo info;
  info.kind = kind;
  info.arch_major = major;
  info.arch_minor = minor;
  info.arch_stepping = stepping;
  return info;
}

BinaryInfo amd(std::string_view target) {
  BinaryInfo info = format::parse_amd_target(target).value_or(BinaryInfo());
  info.kind = BinaryKind::amd_code_object;
  return info;
}

std::string text_of(const std::optional<Occupancy>& occupancy) {
  return occupancy ? fmt::format("{}/{} {}", occupancy->waves, occupancy->max_waves,
                                 format::name_of(occupancy->limited_by))
                   : "unknown";
}

TEST(Occupancy, OfNvidiaIsLimitedByWhatRunsOutFirst) {
  const BinaryInfo sm_86 = binary(BinaryKind::cubin, 8, 6);
  EXPECT_EQ(text_of(occupancy_of(sm_86, {256, 32, 32})), "48/48 waves");
  EXPECT_EQ(text_of(occupancy_of(sm_86, {256, 32, 64})), "32/48 registers");
  EXPECT_EQ(text_of(occupancy_of(sm_86, {256, 32, 32, 0, 24 * 1024})), "32/48 local_memory");
  EXPECT_EQ(text_of(occupancy_of(sm_86, {32, 32, 32})), "16/48 work_groups");
  EXPECT_EQ(text_of(occupancy_of(sm_86, {1024, 32, 255})), "0/48 registers");
  // From sm_90 on, the 1 KiB that the driver reserves is part of the number in the cubin.
  const BinaryInfo sm_90 = binary(BinaryKind::cubin, 9, 0);
  EXPECT_EQ(text_of(occupancy_of(sm_90, {64, 32, 32, 0, 8 * 1024})), "56/64 local_memory");
}

// LLVM's "; Occupancy:" of `clang -S`, times 4 SIMDs; tests/cli/report/compare.py compares more.
TEST(Occupancy, OfAmdIsThatOfLlvm) {
  EXPECT_EQ(text_of(occupancy_of(amd("gfx803"), {256, 64, 41, 42})), "20/40 registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx906"), {256, 64, 24, 96})), "32/40 scalar_registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx90a"), {256, 64, 72, 40})), "28/32 registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx942"), {256, 64, 41, 40})), "32/32 waves");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx1010"), {64, 32, 32})), "64/80 work_groups");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx1030"), {256, 32, 65})), "48/64 registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx1100"), {256, 32, 97})), "48/64 registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx11-generic"), {256, 32, 97})), "32/64 registers");
  EXPECT_EQ(text_of(occupancy_of(amd("gfx1200"), {256, 32, 32, 0, 48 * 1024})),
            "16/64 local_memory");
}

TEST(Occupancy, OfIntelHasHalfOfTheThreadsWithLargeRegisterFiles) {
  const BinaryInfo dg2 = binary(BinaryKind::intel_zebin, 12, 55, 8);
  EXPECT_EQ(text_of(occupancy_of(dg2, {256, 16, 128})), "128/128 waves");
  EXPECT_EQ(text_of(occupancy_of(dg2, {256, 16, 256})), "64/128 registers");
  EXPECT_EQ(text_of(occupancy_of(binary(BinaryKind::intel_zebin, 12, 60), {256, 16, 128})),
            "64/64 waves");
  BinaryInfo tgllp = binary(BinaryKind::intel_zebin, 0, 0);
  tgllp.product_family = 29;
  EXPECT_EQ(text_of(occupancy_of(tgllp, {256, 8, 128, 0, 32768})), "64/112 local_memory");
}

TEST(Occupancy, IsUnknownForOtherArchitecturesAndKinds) {
  EXPECT_EQ(occupancy_of(binary(BinaryKind::cubin, 3, 5), {256, 32, 32}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::cubin, 65535, 65535), {256, 32, 32}), std::nullopt);
  EXPECT_EQ(occupancy_of(amd("gfx700"), {256, 64, 32}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::intel_zebin, 30, 0), {256, 16, 128}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::intel_zebin, 7, 0), {256, 16, 128}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::intel_zebin, 0, 0), {256, 16, 128}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::ptx, 8, 6), {256, 32, 32}), std::nullopt);
  EXPECT_EQ(occupancy_of(binary(BinaryKind::cubin, 8, 6), {0, 32, 32}), std::nullopt);
}

TEST(Occupancy, OfHostileNumbersIsNone) {
  constexpr std::uint64_t k_most = ~std::uint64_t{0};
  for (const BinaryInfo& info :
       {binary(BinaryKind::cubin, 8, 6), amd("gfx906"), binary(BinaryKind::intel_zebin, 12, 0)}) {
    for (const OccupancyNeeds& needs :
         {OccupancyNeeds{k_most, 1, 1}, OccupancyNeeds{256, 32, k_most},
          OccupancyNeeds{256, 32, 32, 0, k_most}, OccupancyNeeds{256, 32, 32, k_most, k_most}}) {
      const auto occupancy = occupancy_of(info, needs);
      ASSERT_TRUE(occupancy);
      EXPECT_EQ(occupancy->waves, 0U) << text_of(occupancy);
    }
  }
}

#if CLBIN_HAS_CUDA_OCCUPANCY
// What a device of the architecture reports, in the terms of CUDA's header.
cudaOccDeviceProp properties_of(int major, int minor, int threads, int shared_kib) {
  cudaOccDeviceProp properties;
  properties.computeMajor = major;
  properties.computeMinor = minor;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = threads;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48U * 1024;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(shared_kib) * 1024;
  properties.numSms = 1;
  properties.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;
  properties.sharedMemPerBlockOptin =
      properties.sharedMemPerMultiprocessor - properties.reservedSharedMemPerBlock;
  return properties;
}

int cuda_blocks(const cudaOccDeviceProp& properties, int registers, int threads,
                std::size_t local_bytes) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = local_bytes;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                    threads, 0),
            CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}
#endif

TEST(Occupancy, OfNvidiaIsThatOfCuda) {
#if CLBIN_HAS_CUDA_OCCUPANCY
  const std::tuple<int, int, int, int> k_devices[] = {
      {5, 0, 2048, 64},  {6, 0, 2048, 64},   {6, 1, 2048, 96},  {7, 0, 2048, 96},
      {7, 5, 1024, 64},  {8, 0, 2048, 164},  {8, 6, 1536, 100}, {8, 9, 1536, 100},
      {9, 0, 2048, 228}, {10, 0, 2048, 228}, {12, 0, 1536, 100}};
  for (const auto& [major, minor, all_threads, shared_kib] : k_devices) {
    const auto properties = properties_of(major, minor, all_threads, shared_kib);
    for (const int registers : {0, 1, 16, 24, 32, 33, 40, 48, 63, 64, 72, 96, 127, 128, 168, 255}) {
      for (const int threads : {1, 32, 64, 96, 128, 160, 192, 256, 352, 512, 768, 1000, 1024}) {
        for (const int local : {0, 4, 100, 1024, 5000, 8192, 16384, 30000, 49152}) {
          const auto local_bytes = static_cast<std::uint64_t>(local) + (major >= 9 ? 1024 : 0);
          const auto occupancy =
              occupancy_of(binary(BinaryKind::cubin, static_cast<std::uint16_t>(major),
                                  static_cast<std::uint16_t>(minor)),
                           {static_cast<std::uint64_t>(threads), 32,
                            static_cast<std::uint64_t>(registers), 0, local_bytes});
          ASSERT_TRUE(occupancy);
          const int warps = (threads + 31) / 32;
          ASSERT_EQ(occupancy->waves, static_cast<std::uint64_t>(
                                          warps * cuda_blocks(properties, registers, threads,
                                                              static_cast<std::size_t>(local))))
              << fmt::format("sm_{}{}, {} registers, {} threads, {} bytes: {}", major, minor,
                             registers, threads, local, text_of(occupancy));
        }
      }
    }
  }
#else
  GTEST_SKIP() << "there is no cuda_occupancy.h, which CUDA's toolkit contains";
#endif
}

} // namespace
} // namespace oclcc
