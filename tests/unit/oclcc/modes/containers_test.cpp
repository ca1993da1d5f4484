#include "modes/containers.hpp"

#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "format/binary/binary_kind.hpp"
#include "support/project_folders.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::base::as_bytes;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ByteWriter;
using clbin::base::ErrorCode;
using clbin::base::Result;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes seed(std::string_view name) {
  const auto bytes = clbin::base::read_whole_file(
      clbin::test::fuzz_corpora_folder() / "containers" / name, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or(Bytes());
}

// "member 1: cubin sm_80", or the error of the container.
std::vector<std::string> contents_of(Bytes file) {
  const auto container = open_container(std::move(file));
  if (!container) {
    return {container.error().message};
  }
  std::vector<std::string> texts;
  for (const ContainedBinary& binary : container->binaries) {
    texts.push_back(fmt::format("{}: {}", binary.place,
                                binary.bytes
                                    ? describe(clbin::format::classify_binary(*binary.bytes))
                                    : binary.bytes.error().message));
  }
  return texts;
}

Bytes copy_of(std::string_view text) {
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

TEST(Containers, AFileOfAnotherKindIsOneBinary) {
  EXPECT_THAT(contents_of(copy_of("any bytes")), ElementsAre(": unknown binary"));
}

TEST(Containers, ReadsWhatRealToolsWrote) {
  EXPECT_THAT(contents_of(seed("fatbin_plain")),
              ElementsAre("member 1: PTX 6.3 for sm_70", "member 2: PTX 6.3 for sm_70"));
  EXPECT_THAT(contents_of(seed("fatbin_zstd")),
              ElementsAre("member 1: cubin sm_80", "member 2: PTX 6.3 for sm_70"));
  EXPECT_THAT(contents_of(seed("fatbin_lz4")), ElementsAre(HasSubstr("compressed with LZ4")));
  EXPECT_THAT(contents_of(seed("offload_bundle")),
              ElementsAre("'hipv4-amdgcn-amd-amdhsa--gfx906': PTX 6.3 for sm_70",
                          "'hip-amdgcn-amd-amdhsa--gfx1030': unknown binary"));
  EXPECT_THAT(contents_of(seed("offload_bundle_zstd")),
              ElementsAre("'hipv4-amdgcn-amd-amdhsa--gfx906': AMD code object gfx1030",
                          "'hip-amdgcn-amd-amdhsa--gfx1030': AMD code object gfx1030"));
  EXPECT_THAT(contents_of(seed("offload_binary")),
              ElementsAre("member 1: PTX 6.3 for sm_70", "member 2: SPIR-V 1.0"));
  EXPECT_THAT(contents_of(seed("ocloc_archive")),
              ElementsAre("'64.12.0.0': Intel zebin of product family 29",
                          "'64.12.10.0': Intel zebin of product family 1210"));
}

TEST(Containers, EveryCutFileIsRefusedOrHasFewerBinaries) {
  for (const char* const name : {"fatbin_plain", "fatbin_zstd", "offload_bundle",
                                 "offload_bundle_zstd", "offload_binary", "ocloc_archive"}) {
    const Bytes whole = seed(name);
    const std::size_t count = contents_of(whole).size();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto end = whole.begin() + static_cast<std::ptrdiff_t>(size);
      EXPECT_LE(contents_of(Bytes(whole.begin(), end)).size(), count) << name << " " << size;
    }
  }
}

ByteWriter fatbin_header(std::uint64_t bytes) {
  ByteWriter writer;
  writer.write_u32(0xBA55ED50U);
  writer.write_u16(1);
  writer.write_u16(16);
  writer.write_u64(bytes);
  return writer;
}

Bytes fatbin_of_members(std::size_t count) {
  constexpr std::size_t k_member_bytes = 72;
  ByteWriter writer = fatbin_header(count * k_member_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    writer.write_u32(0x0101'0002U);
    writer.write_u32(64);
    writer.write_u64(8);
    writer.write_zeros(48);
    writer.write_u64(0x1234);
  }
  return std::move(writer).take();
}

TEST(Containers, LimitsTheNumberOfBinaries) {
  EXPECT_EQ(contents_of(fatbin_of_members(4096)).size(), 4096U);
  EXPECT_THAT(contents_of(fatbin_of_members(4097)),
              ElementsAre("it contains more than 4096 binaries"));
}

Bytes compressed_bundle(std::uint16_t version, std::uint16_t method, std::uint64_t raw_bytes,
                        ByteView frame) {
  ByteWriter writer;
  writer.write_bytes(as_bytes("CCOB"));
  writer.write_u16(version);
  writer.write_u16(method);
  const auto write_size = [&](std::uint64_t size) {
    if (version == 3) {
      writer.write_u64(size);
    } else {
      writer.write_u32(static_cast<std::uint32_t>(size));
    }
  };
  if (version > 1) {
    write_size((version == 3 ? 32 : 24) + frame.size());
  }
  write_size(raw_bytes);
  writer.write_u64(0);
  writer.write_bytes(frame);
  return std::move(writer).take();
}

TEST(Containers, ReadsEachVersionOfCompressedOffloadBundles) {
  const Bytes plain = seed("offload_bundle");
  const auto frame = clbin::base::zstd_compress(plain, {}, 3);
  ASSERT_TRUE(frame.has_value());
  for (std::uint16_t version = 1; version <= 3; ++version) {
    EXPECT_EQ(contents_of(compressed_bundle(version, 1, plain.size(), *frame)), contents_of(plain));
  }
  EXPECT_THAT(contents_of(compressed_bundle(4, 1, plain.size(), *frame)),
              ElementsAre("a compressed offload bundle of version 4 with method 1, which oclcc "
                          "does not know"));
}

TEST(Containers, NamesACompressionThatItDoesNotSupport) {
  EXPECT_THAT(contents_of(compressed_bundle(2, 0, 100, as_bytes("zlib"))),
              ElementsAre(HasSubstr("compressed with zlib")));
}

TEST(Containers, DecompressesNothingBeyondItsLimit) {
  const auto zeros = clbin::base::zstd_compress(Bytes(64U << 20U), {}, 3);
  ASSERT_TRUE(zeros.has_value());
  for (const std::uint64_t raw_bytes : {std::uint64_t{64U << 20U}, ~std::uint64_t{0}}) {
    const auto opened = open_container(compressed_bundle(3, 1, raw_bytes, *zeros));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::limit_exceeded) << opened.error().message;
  }
}

// An ELF file for x86-64 in which every section is the same fat binary.
Bytes host_object(std::uint16_t sections, ByteView fatbin) {
  ByteWriter writer;
  writer.write_bytes(as_bytes("\x7f"
                              "ELF\2\1\1"));
  writer.write_zeros(9);
  writer.write_u16(1);
  writer.write_u16(62);
  writer.write_u32(1);
  writer.write_zeros(16);
  writer.write_u64(64 + fatbin.size());
  writer.write_zeros(10);
  writer.write_u16(64);
  writer.write_u16(sections);
  writer.write_u16(0);
  writer.write_bytes(fatbin);
  for (std::uint16_t i = 0; i < sections; ++i) {
    writer.write_zeros(24);
    writer.write_u64(64);
    writer.write_u64(fatbin.size());
    writer.write_zeros(24);
  }
  return std::move(writer).take();
}

TEST(Containers, ReadsTheFatBinariesOfAHostObject) {
  EXPECT_EQ(contents_of(host_object(1, seed("fatbin_zstd"))), contents_of(seed("fatbin_zstd")));
}

TEST(Containers, LimitsSectionsThatOverlap) {
  Bytes empty_fatbins;
  for (int i = 0; i < 4096; ++i) {
    const Bytes one = fatbin_header(0).take();
    empty_fatbins.insert(empty_fatbins.end(), one.begin(), one.end());
  }
  const auto opened = open_container(host_object(60'000, empty_fatbins));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::limit_exceeded) << opened.error().message;
}

std::string archive_member(std::string_view name, std::string_view bytes) {
  return fmt::format("{:<16}{:<32}{:<10}`\n{}{}", name, 0, bytes.size(), bytes,
                     bytes.size() % 2 == 0 ? "" : "\n");
}

// As ar(1) of GNU and of LLVM writes them.
TEST(Containers, HaveTheLongNamesOfArchives) {
  const std::string ptx = ".version 6.3\n.target sm_70, texmode_independent\n.address_size 64\n";
  const std::string start = "!<arch>\n" + archive_member("/", "1234") +
                            archive_member("//", "of_more_than_15.ptx/\nanother_long_one.ptx/\n");
  EXPECT_THAT(contents_of(copy_of(start + archive_member("/0", ptx) + archive_member("/21", ptx) +
                                  archive_member("a space.ptx/", ptx))),
              ElementsAre("'of_more_than_15.ptx': PTX 6.3 for sm_70",
                          "'another_long_one.ptx': PTX 6.3 for sm_70",
                          "'a space.ptx': PTX 6.3 for sm_70"));
  EXPECT_THAT(contents_of(copy_of(start + archive_member("/44", ptx))),
              ElementsAre(HasSubstr("the name '/44' is not in the table of long names")));
  EXPECT_THAT(contents_of(copy_of(start + archive_member("/x", ptx))),
              ElementsAre(HasSubstr("the name '/x' is not in the table of long names")));
}

TEST(Containers, RefusesSizesThatAreNotInsideTheFile) {
  EXPECT_THAT(contents_of(fatbin_header(~std::uint64_t{0}).take()),
              ElementsAre(HasSubstr("members")));
  EXPECT_THAT(contents_of(copy_of("!<arch>\nname            0           0     0     644     "
                                  "9999999999`\n")),
              ElementsAre(HasSubstr("member")));
}

} // namespace
} // namespace oclcc
