#include "format/binary/binary_kernels.hpp"

#include "real_binaries.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::argument_texts;
using test::real_binary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

using namespace std::string_view_literals;
using Size3 = std::array<std::uint64_t, 3>;

std::vector<KernelReflection> read_amd(base::ByteView bytes) {
  auto kernels = read_amd_kernels(bytes);
  EXPECT_TRUE(kernels.has_value()) << kernels.error().message;
  return kernels.value_or(std::vector<KernelReflection>{});
}

// Returns an ELF file with one section of notes, which contains metadata in MessagePack.
Bytes object_with(std::string_view metadata, std::string_view owner = "AMDGPU\0"sv) {
  base::ByteWriter notes;
  notes.write_u32(static_cast<std::uint32_t>(owner.size()));
  notes.write_u32(static_cast<std::uint32_t>(metadata.size()));
  notes.write_u32(32);
  notes.write_bytes(base::as_bytes(owner));
  notes.align(4);
  notes.write_bytes(base::as_bytes(metadata));
  return test::elf_with_section({"\x7f"
                                 "ELF\x02\x01\x01\x40\x02\0\0\0\0\0\0\0"sv,
                                 1, 224, 0x2f},
                                7 /* SHT_NOTE */, notes.view());
}

void expect_refused(const Bytes& bytes, ErrorCode code, const std::string& message) {
  const auto kernels = read_amd_kernels(bytes);
  ASSERT_FALSE(kernels.has_value()) << message;
  EXPECT_EQ(kernels.error().code, code) << kernels.error().message;
  EXPECT_THAT(kernels.error().message, HasSubstr(message));
}

TEST(AmdMetadata, ReadsTheArgumentsOfTheSource) {
  for (const std::string_view name : {"arguments.gfx906.v4.o", "arguments.gfx906.v5.o"}) {
    SCOPED_TRACE(name);
    test::expect_kernels_of_arguments_cl(read_amd(real_binary(name)));
  }
}

TEST(AmdMetadata, ReadsWorkGroupSizesAndResources) {
  const auto kernels = read_amd(real_binary("arguments.gfx906.v4.o"));
  ASSERT_THAT(kernels, SizeIs(3));
  EXPECT_EQ(kernels[0].required_work_group_size, (Size3{8, 4, 2}));
  EXPECT_EQ(kernels[0].attributes, "reqd_work_group_size(8,4,2)");
  EXPECT_EQ(kernels[0].max_work_group_size, 64U);
  EXPECT_EQ(kernels[0].preferred_multiple, 64U);
  EXPECT_EQ(kernels[0].local_bytes, 256U);
  EXPECT_EQ(kernels[0].private_bytes, 16384U);
  EXPECT_THAT(kernels[0].vendor, ElementsAre(Pair("sgprs", 69), Pair("vgprs", 45)));
  EXPECT_EQ(kernels[1].required_work_group_size, (Size3{0, 0, 0}));
  EXPECT_EQ(kernels[1].attributes, "work_group_size_hint(16,1,1) vec_type_hint(float4)");
  EXPECT_EQ(kernels[1].max_work_group_size, 256U);
}

TEST(AmdMetadata, ReadsLinkedCodeObjectsWithoutNamesOfArguments) {
  const auto kernels = read_amd(real_binary("gfx1030.v4.co"));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].name, "add");
  EXPECT_EQ(kernels[0].preferred_multiple, 32U);
  EXPECT_THAT(argument_texts(kernels[0]), ElementsAre("global float* ", "global const float* "));
}

TEST(AmdMetadata, SurvivesCutsAndFlippedBits) {
  std::size_t refused = 0;
  test::for_each_damage(real_binary("arguments.gfx906.v4.o"), [&](base::ByteView bytes) {
    if (const auto kernels = read_amd_kernels(bytes); !kernels) {
      EXPECT_THAT(kernels.error().message, HasSubstr("AMD code object: "));
      ++refused;
    }
  });
  EXPECT_GT(refused, 1000U);
}

TEST(AmdMetadata, RefusesFilesWithoutMetadata) {
  expect_refused({}, ErrorCode::damaged, "not an ELF file of machine 224");
  expect_refused(real_binary("tgllp.zebin"), ErrorCode::damaged, "not an ELF file of machine 224");
  expect_refused(object_with("", "AMD\0"sv), ErrorCode::damaged,
                 "no note of type 32 and owner AMDGPU: the code object is older than version 3");
}

TEST(AmdMetadata, RefusesNotesThatDoNotFitTheirSection) {
  Bytes bytes = object_with("\x80");
  bytes[128 + 5] = std::byte{0x10}; // descsz
  expect_refused(bytes, ErrorCode::truncated, "desc at offset 20 needs 4097 bytes");
}

// The section table contains the same section of notes thousands of times.
TEST(AmdMetadata, RefusesSectionsThatOverlap) {
  Bytes bytes = object_with(std::string(1000, '\0'), "AMD\0"sv);
  const Bytes header(bytes.begin() + 64, bytes.begin() + 128);
  const std::size_t table = bytes.size();
  bytes[40] = static_cast<std::byte>(table & 0xffU);
  bytes[41] = static_cast<std::byte>(table >> 8U);
  bytes[60] = std::byte{20}; // e_shnum
  for (int index = 0; index < 20; ++index) {
    bytes.insert(bytes.end(), header.begin(), header.end());
  }
  expect_refused(bytes, ErrorCode::damaged, "its sections of notes overlap");
}

TEST(AmdMetadata, NamesTheFieldOfWhatItRefuses) {
  expect_refused(object_with("\xc1"), ErrorCode::damaged, "not valid MessagePack at byte");
  expect_refused(object_with("\xdf\xff\xff\xff\xff"sv), ErrorCode::damaged,
                 "not valid MessagePack at byte");
  expect_refused(object_with(std::string(100, '\x91')), ErrorCode::damaged,
                 "nested deeper than 16");
  expect_refused(object_with("\x90"), ErrorCode::damaged, "metadata: not a map");
  expect_refused(object_with("\x81\xae"
                             "amdhsa.kernels\x01"),
                 ErrorCode::damaged, "metadata.amdhsa.kernels: not a list");
  expect_refused(object_with("\x81\xae"
                             "amdhsa.kernels\x91\x80"),
                 ErrorCode::damaged, "amdhsa.kernels[0].name: missing");
  const std::string kernels = "\x81\xae"
                              "amdhsa.kernels\x91\x82\xa5.name\xa1k";
  expect_refused(object_with(kernels + "\xa5.args\x91\x80"), ErrorCode::damaged,
                 "amdhsa.kernels[0].args[0].value_kind: missing");
  expect_refused(object_with(kernels + "\xb4.reqd_workgroup_size\x92\x01\x01"), ErrorCode::damaged,
                 "amdhsa.kernels[0].reqd_workgroup_size: 2 numbers and not 3");
  expect_refused(object_with(kernels + "\xab.vgpr_count\xff"), ErrorCode::damaged,
                 "amdhsa.kernels[0].vgpr_count: not an unsigned integer");
  expect_refused(object_with("\x81\xae"
                             "amdhsa.kernels\x92\x81\xa5.name\xa1k\x81\xa5.name\xa1k"),
                 ErrorCode::damaged, "another kernel has the name 'k'");
}

} // namespace
} // namespace clbin::format
