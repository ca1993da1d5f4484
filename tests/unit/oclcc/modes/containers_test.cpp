#include "modes/containers.hpp"

#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "format/binary/binary_kind.hpp"
#include "support/project_folders.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zlib.h>

namespace oclcc {
namespace {

using clbin::base::as_bytes;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ByteWriter;
using clbin::base::ErrorCode;
using clbin::base::Result;
using testing::AllOf;
using testing::AnyOf;
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
                                describe(clbin::format::classify_binary(binary.bytes))));
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
  EXPECT_THAT(contents_of(seed("fatbin_lz4")), ElementsAre("member 1: PTX 6.3 for sm_70"));
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
  for (const char* const name :
       {"fatbin_plain", "fatbin_lz4", "fatbin_zstd", "offload_bundle", "offload_bundle_zlib",
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

constexpr std::uint64_t k_lz4 = 0x2000;
constexpr std::uint64_t k_zstd = 0x8000;

// As fatbinary pads it: to a multiple of 8 bytes.
Bytes fatbin_of(std::uint64_t flags, std::uint64_t raw_bytes, ByteView data,
                std::uint32_t compressed_bytes) {
  constexpr std::size_t k_header_bytes = 64;
  const std::size_t padding = (8 - data.size() % 8) % 8;
  ByteWriter writer = fatbin_header(k_header_bytes + data.size() + padding);
  writer.write_u32(0x0101'0002U);
  writer.write_u32(k_header_bytes);
  writer.write_u64(data.size() + padding);
  writer.write_u32(compressed_bytes);
  writer.write_zeros(20);
  writer.write_u64(flags);
  writer.write_u64(0);
  writer.write_u64(raw_bytes);
  writer.write_bytes(data);
  writer.write_zeros(padding);
  return std::move(writer).take();
}

Bytes lz4_fatbin(ByteView block, std::uint64_t raw_bytes) {
  return fatbin_of(k_lz4, raw_bytes, block, static_cast<std::uint32_t>(block.size()));
}

Bytes lz4_block(ByteView raw) {
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  const int size = LZ4_compress_default(
      reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(block.data()),
      static_cast<int>(raw.size()), static_cast<int>(block.size()));
  EXPECT_GT(size, 0);
  block.resize(static_cast<std::size_t>(size));
  return block;
}

Bytes zlib_stream(ByteView raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  Bytes stream(size);
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                      reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()),
                      Z_DEFAULT_COMPRESSION),
            Z_OK);
  stream.resize(size);
  return stream;
}

Bytes real_binary(std::string_view name) {
  const auto bytes = clbin::base::read_whole_file(
      clbin::test::tests_folder() / "unit/format/binaries" / name, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or(Bytes());
}

Bytes only_binary(Bytes file) {
  const auto container = open_container(std::move(file));
  EXPECT_TRUE(container.has_value()) << container.error().message;
  EXPECT_EQ(container->binaries.size(), 1U);
  const ByteView bytes = container->binaries.front().bytes;
  return {bytes.begin(), bytes.end()};
}

TEST(Containers, MembersOfLz4HaveTheBytesThatWereCompressed) {
  for (const char* const name :
       {"sm_80.cubin", "arguments.sm_80.cuda12.cubin", "arguments.sm_70.nvcl.ptx"}) {
    const Bytes raw = real_binary(name);
    const Bytes block = lz4_block(raw);
    EXPECT_LT(block.size(), raw.size());
    EXPECT_EQ(only_binary(lz4_fatbin(block, raw.size())), raw) << name;
  }
}

TEST(Containers, RefusesLz4ThatIsCut) {
  const Bytes raw = real_binary("sm_50.nvcl.ptx");
  const Bytes block = lz4_block(raw);
  for (std::size_t size = 0; size < block.size(); ++size) {
    EXPECT_THAT(contents_of(lz4_fatbin(ByteView(block).first(size), raw.size())),
                ElementsAre(AllOf(HasSubstr("member 1: "), HasSubstr("LZ4 block"))))
        << size;
  }
  EXPECT_THAT(contents_of(fatbin_of(k_lz4, raw.size(), block,
                                    static_cast<std::uint32_t>(block.size() + 8))),
              ElementsAre(HasSubstr("member 1: compressed data: ")));
}

TEST(Containers, RefusesLz4OfAnotherSize) {
  const Bytes raw = real_binary("sm_80.cubin");
  const Bytes block = lz4_block(raw);
  const auto contents = [&](std::uint64_t raw_bytes) {
    return contents_of(lz4_fatbin(block, raw_bytes));
  };
  for (const std::uint64_t fewer : {std::uint64_t{0}, std::uint64_t{1}, raw.size() - 1}) {
    EXPECT_THAT(contents(fewer),
                ElementsAre(fmt::format("member 1: the LZ4 block is damaged or contains more than "
                                        "{} bytes",
                                        fewer)));
  }
  EXPECT_THAT(contents(raw.size() + 1),
              ElementsAre(fmt::format("member 1: the LZ4 block contains {} bytes, expected {}",
                                      raw.size(), raw.size() + 1)));
  EXPECT_THAT(contents(256 * (block.size() + 1)),
              ElementsAre(HasSubstr(
                  fmt::format("member 1: an LZ4 block of {} bytes cannot contain", block.size()))));
  EXPECT_THAT(contents(~std::uint64_t{0}), ElementsAre(HasSubstr("limit of")));
}

TEST(Containers, RefusesMembersOfTwoCompressions) {
  const Bytes raw = real_binary("sm_80.cubin");
  const Bytes block = lz4_block(raw);
  EXPECT_THAT(contents_of(fatbin_of(k_lz4 | k_zstd, raw.size(), block,
                                    static_cast<std::uint32_t>(block.size()))),
              ElementsAre("member 1: its flags 0xa000 declare both LZ4 and zstd"));
}

TEST(Containers, SurvivesEachChangedByteOfCompressedFiles) {
  for (const char* const name : {"fatbin_lz4", "offload_bundle_zlib"}) {
    const Bytes whole = seed(name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      Bytes changed = whole;
      changed[at] ^= std::byte{0xff};
      EXPECT_FALSE(contents_of(changed).empty()) << name << " " << at;
    }
  }
}

TEST(Containers, ReadsEachVersionOfCompressedOffloadBundles) {
  const Bytes plain = seed("offload_bundle");
  const auto frame = clbin::base::zstd_compress(plain, {}, 3);
  ASSERT_TRUE(frame.has_value());
  const Bytes stream = zlib_stream(plain);
  for (std::uint16_t version = 1; version <= 3; ++version) {
    EXPECT_EQ(contents_of(compressed_bundle(version, 0, plain.size(), stream)), contents_of(plain));
    EXPECT_EQ(contents_of(compressed_bundle(version, 1, plain.size(), *frame)), contents_of(plain));
  }
  EXPECT_THAT(contents_of(compressed_bundle(4, 1, plain.size(), *frame)),
              ElementsAre("a compressed offload bundle of version 4 with method 1, which oclcc "
                          "does not know"));
}

TEST(Containers, NamesACompressionThatItDoesNotKnow) {
  EXPECT_THAT(contents_of(compressed_bundle(2, 2, 100, as_bytes("bytes"))),
              ElementsAre("a compressed offload bundle of version 2 with method 2, which oclcc "
                          "does not know"));
}

TEST(Containers, RefusesZlibThatIsCutOrLonger) {
  const Bytes plain = seed("offload_bundle");
  Bytes stream = zlib_stream(plain);
  for (std::size_t size = 0; size < stream.size(); ++size) {
    EXPECT_THAT(contents_of(compressed_bundle(2, 0, plain.size(), ByteView(stream).first(size))),
                ElementsAre(AnyOf(HasSubstr("the zlib stream is damaged or incomplete"),
                                  HasSubstr("cannot contain"))))
        << size;
  }
  stream.push_back(std::byte{0});
  EXPECT_THAT(contents_of(compressed_bundle(2, 0, plain.size(), stream)),
              ElementsAre("1 bytes follow the zlib stream"));
}

TEST(Containers, RefusesZlibOfAnotherSize) {
  const Bytes plain = seed("offload_bundle");
  const Bytes stream = zlib_stream(plain);
  const auto contents = [&](std::uint64_t raw_bytes) {
    return contents_of(compressed_bundle(3, 0, raw_bytes, stream));
  };
  for (const std::uint64_t fewer : {std::uint64_t{0}, std::uint64_t{1}, plain.size() - 1}) {
    EXPECT_THAT(contents(fewer),
                ElementsAre(HasSubstr(fmt::format("or contains more than {} bytes", fewer))));
  }
  EXPECT_THAT(contents(plain.size() + 1),
              ElementsAre(fmt::format("the zlib stream contains {} bytes, expected {}",
                                      plain.size(), plain.size() + 1)));
  EXPECT_THAT(contents(1033 * (stream.size() + 1)),
              ElementsAre(HasSubstr(
                  fmt::format("a zlib stream of {} bytes cannot contain", stream.size()))));
}

TEST(Containers, CountsDecompressedBytesOnce) {
  const Bytes zeros(24U << 20U);
  EXPECT_EQ(only_binary(lz4_fatbin(lz4_block(zeros), zeros.size())), zeros);
}

TEST(Containers, DecompressesNothingBeyondItsLimit) {
  const Bytes zeros(64U << 20U);
  const auto frame = clbin::base::zstd_compress(zeros, {}, 3);
  ASSERT_TRUE(frame.has_value());
  const Bytes block = lz4_block(zeros);
  const Bytes stream = zlib_stream(zeros);
  for (const std::uint64_t raw_bytes : {std::uint64_t{zeros.size()}, ~std::uint64_t{0}}) {
    for (const Bytes& file :
         {compressed_bundle(3, 1, raw_bytes, *frame), compressed_bundle(3, 0, raw_bytes, stream),
          lz4_fatbin(block, raw_bytes)}) {
      const auto opened = open_container(file);
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().code, ErrorCode::limit_exceeded) << opened.error().message;
    }
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
