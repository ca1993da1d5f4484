#include "format/binary/binary_kernels.hpp"

#include "real_binaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::real_binary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

void expect_refused_cubin(const Bytes& bytes, ErrorCode code, const std::string& message) {
  const auto kernels = read_cubin_kernels(bytes);
  ASSERT_FALSE(kernels.has_value()) << message;
  EXPECT_EQ(kernels.error().code, code) << kernels.error().message;
  EXPECT_THAT(kernels.error().message, HasSubstr("cubin: " + message));
}

std::uint32_t number_at(const Bytes& bytes, std::size_t offset, unsigned count) {
  std::uint32_t number = 0;
  for (unsigned i = 0; i < count; ++i) {
    number |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
  }
  return number;
}

void set_number(Bytes& bytes, std::size_t offset, std::uint32_t number) {
  for (unsigned i = 0; i < 4; ++i) {
    bytes[offset + i] = static_cast<std::byte>(number >> (8 * i));
  }
}

// Returns where the header of the first section of a type starts.
std::size_t header_of(const Bytes& elf, std::uint32_t type) {
  const std::size_t table = number_at(elf, 40, 4);
  for (std::size_t i = 0; i < number_at(elf, 60, 2); ++i) {
    if (number_at(elf, table + 64 * i + 4, 4) == type) {
      return table + 64 * i;
    }
  }
  ADD_FAILURE() << "there is no section of type " << type;
  return 0;
}

std::size_t contents_of(const Bytes& elf, std::uint32_t type) {
  return number_at(elf, header_of(elf, type) + 24, 4);
}

// The numbers are those of `cuobjdump -res-usage`.
TEST(CubinKernels, HaveTheResourcesThatNvidiasToolsList) {
  for (const char* const file : {"arguments.sm_80.cubin", "arguments.sm_80.cuda12.cubin"}) {
    const auto kernels = read_cubin_kernels(real_binary(file));
    ASSERT_TRUE(kernels.has_value()) << file << ": " << kernels.error().message;
    ASSERT_THAT(*kernels, SizeIs(2)) << file;
    EXPECT_EQ((*kernels)[0].name, "every_space");
    EXPECT_THAT((*kernels)[0].vendor, ElementsAre(Pair("registers", 16))) << file;
    EXPECT_EQ((*kernels)[0].local_bytes, 256U) << file;
    EXPECT_EQ((*kernels)[0].private_bytes, 0U) << file;
    EXPECT_THAT((*kernels)[0].required_work_group_size, ElementsAre(8, 4, 2)) << file;
    EXPECT_EQ((*kernels)[1].name, "nothing");
    EXPECT_THAT((*kernels)[1].vendor, ElementsAre(Pair("registers", 4))) << file;
    EXPECT_EQ((*kernels)[1].local_bytes, 0U) << file;
    EXPECT_THAT((*kernels)[1].required_work_group_size, ElementsAre(0, 0, 0)) << file;
    EXPECT_FALSE((*kernels)[1].arguments.has_value()) << file;
  }
}

TEST(CubinKernels, AreRefusedInAFileThatIsNoCubin) {
  const std::string message = "not a complete ELF file of 64 bits for NVIDIA";
  expect_refused_cubin({}, ErrorCode::damaged, message);
  expect_refused_cubin(real_binary("arguments.gfx906.v4.o"), ErrorCode::damaged, message);
}

TEST(CubinKernels, AreRefusedWithoutATableOfSymbols) {
  Bytes cubin = real_binary("arguments.sm_80.cubin");
  set_number(cubin, header_of(cubin, 2) + 4, 1);
  expect_refused_cubin(cubin, ErrorCode::damaged, "there is no table of symbols");
}

TEST(CubinKernels, AreRefusedWithoutANameOrWithTheSame) {
  Bytes cubin = real_binary("arguments.sm_80.cubin");
  const std::size_t symbols = contents_of(cubin, 2);
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < number_at(cubin, header_of(cubin, 2) + 32, 4) / 24; ++i) {
    if ((number_at(cubin, symbols + 24 * i + 5, 1) & 0x10U) != 0) {
      kernels.push_back(symbols + 24 * i);
    }
  }
  ASSERT_THAT(kernels, SizeIs(2));
  const std::uint32_t name = number_at(cubin, kernels[0], 4);
  set_number(cubin, kernels[1], name);
  expect_refused_cubin(cubin, ErrorCode::damaged, "symbol 6: another kernel has this name");
  set_number(cubin, kernels[1], 1U << 30U);
  expect_refused_cubin(cubin, ErrorCode::damaged, "symbol 6: a kernel has no name");
}

TEST(CubinKernels, AreRefusedIfAnAttributeIsCut) {
  Bytes cubin = real_binary("arguments.sm_80.cubin");
  const std::size_t size_field = header_of(cubin, 0x70000000U) + 32;
  set_number(cubin, size_field, number_at(cubin, size_field, 4) - 1);
  expect_refused_cubin(cubin, ErrorCode::truncated, ".nv.info");
}

// Otherwise a file of 5 MB with 65,535 sections would name 300 GB.
TEST(CubinKernels, AreRefusedIfNamesRepeatOneText) {
  Bytes cubin = real_binary("arguments.sm_80.cubin");
  const std::size_t old_table = number_at(cubin, 40, 4);
  const std::size_t old_count = number_at(cubin, 60, 2);
  const Bytes sections(cubin.begin() + static_cast<std::ptrdiff_t>(old_table),
                       cubin.begin() + static_cast<std::ptrdiff_t>(old_table + 64 * old_count));
  const std::size_t names = cubin.size();
  constexpr std::uint32_t k_name_bytes = 1U << 20U;
  cubin.resize(names + k_name_bytes, std::byte{'x'});
  const std::size_t table = cubin.size();
  cubin.insert(cubin.end(), sections.begin(), sections.end());
  for (std::size_t i = old_count; i < 60; ++i) {
    cubin.insert(cubin.end(), sections.begin() + 64, sections.begin() + 128);
  }
  set_number(cubin, 40, static_cast<std::uint32_t>(table));
  set_number(cubin, 60, 60U | (number_at(cubin, 62, 2) << 16U));
  const std::size_t name_table = table + 64 * number_at(cubin, 62, 2);
  set_number(cubin, name_table + 24, static_cast<std::uint32_t>(names));
  set_number(cubin, name_table + 32, k_name_bytes);
  for (std::size_t i = 0; i < 60; ++i) {
    set_number(cubin, table + 64 * i, 0);
  }
  const auto kernels = read_cubin_kernels(cubin);
  ASSERT_FALSE(kernels.has_value());
  EXPECT_EQ(kernels.error().code, ErrorCode::limit_exceeded) << kernels.error().message;
  EXPECT_THAT(kernels.error().message, HasSubstr("names of symbols and sections exceed"));
}

TEST(CubinKernels, SurviveCutsAndFlippedBits) {
  test::for_each_damage(real_binary("arguments.sm_80.cubin"), [](base::ByteView bytes) {
    if (const auto kernels = read_cubin_kernels(bytes); !kernels) {
      EXPECT_FALSE(kernels.error().message.empty());
    }
  });
}

} // namespace
} // namespace clbin::format
