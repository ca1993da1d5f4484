#include "base/byte_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::base {
namespace {

using testing::HasSubstr;

TEST(ByteWriter, WritesLittleEndian) {
  ByteWriter writer;
  writer.write_u8(0x01);
  writer.write_u16(0x0302);
  writer.write_u32(0x07060504U);
  writer.write_u64(0xff0d0c0b0a090808ULL);
  const Bytes bytes = std::move(writer).take();
  const std::string_view expected("\x01\x02\x03\x04\x05\x06\x07\x08\x08\x09\x0a\x0b\x0c\x0d\xff",
                                  15);
  EXPECT_EQ(as_text(bytes), expected);
}

TEST(ByteReader, ReadsBackWhatWasWritten) {
  ByteWriter writer;
  writer.write_u8(0xfe);
  writer.write_u16(0xfedc);
  writer.write_u32(0xfedcba98U);
  writer.write_u64(0xfedcba9876543210ULL);
  writer.write_text(std::string_view("a\0b", 3));
  writer.write_text("");
  writer.write_bytes(as_bytes("tail"));
  ByteReader reader(writer.view(), "test");
  EXPECT_EQ(reader.read_u8("a").value(), 0xfe);
  EXPECT_EQ(reader.read_u16("b").value(), 0xfedc);
  EXPECT_EQ(reader.read_u32("c").value(), 0xfedcba98U);
  EXPECT_EQ(reader.read_u64("d").value(), 0xfedcba9876543210ULL);
  EXPECT_EQ(reader.read_text("e").value(), std::string_view("a\0b", 3));
  EXPECT_EQ(reader.read_text("f").value(), "");
  EXPECT_EQ(as_text(reader.read_bytes(4, "g").value()), "tail");
  EXPECT_TRUE(reader.require_end().has_value());
  EXPECT_EQ(reader.offset(), writer.size());
}

TEST(ByteReader, NamesFieldOffsetAndSizesWhenBytesEnd) {
  ByteReader reader(as_bytes("abcde"), "prefix of 'a.clbin'");
  ASSERT_TRUE(reader.read_u16("major").has_value());
  const auto result = reader.read_u32("directory bytes");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::truncated);
  EXPECT_EQ(result.error().message,
            "prefix of 'a.clbin': directory bytes at offset 2 needs 4 bytes, 3 are left");
  EXPECT_EQ(reader.offset(), 2U) << "a refused read must consume nothing";
}

TEST(ByteReader, EveryWidthIsRefusedOneByteShort) {
  const auto code_of = [](const auto& result) {
    return result.has_value() ? ErrorCode::internal : result.error().code;
  };
  EXPECT_EQ(code_of(ByteReader({}, "t").read_u8("x")), ErrorCode::truncated);
  EXPECT_EQ(code_of(ByteReader(as_bytes("1"), "t").read_u16("x")), ErrorCode::truncated);
  EXPECT_EQ(code_of(ByteReader(as_bytes("123"), "t").read_u32("x")), ErrorCode::truncated);
  EXPECT_EQ(code_of(ByteReader(as_bytes("1234567"), "t").read_u64("x")), ErrorCode::truncated);
  EXPECT_EQ(code_of(ByteReader(as_bytes("12"), "t").require_zero(3, "x")), ErrorCode::truncated);
}

TEST(ByteReader, RefusesSizesThatWouldOverflow) {
  ByteReader reader(as_bytes("abc"), "t");
  ASSERT_TRUE(reader.read_u8("a").has_value());
  const auto result = reader.read_bytes(static_cast<std::size_t>(-1), "payload");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::truncated);
}

TEST(ByteReader, RefusesTextLongerThanTheBytes) {
  ByteReader reader(as_bytes(std::string_view("\xff\xff\xff\xff"
                                              "abc",
                                              7)),
                    "strings");
  const auto result = reader.read_text("name");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::truncated);
  EXPECT_THAT(result.error().message, HasSubstr("name at offset 4 needs 4294967295 bytes"));
}

TEST(ByteReader, NamesTheFirstByteThatIsNotZero) {
  ByteReader reader(as_bytes(std::string_view("\0\0\x2a\x01", 4)), "entry 3");
  const auto result = reader.require_zero(4, "reserved");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::damaged);
  EXPECT_EQ(result.error().message, "entry 3: reserved at offset 2 is 0x2a and not zero");
}

TEST(ByteReader, AcceptsZeros) {
  ByteReader reader(as_bytes(std::string_view("\0\0\0", 3)), "t");
  EXPECT_TRUE(reader.require_zero(3, "reserved").has_value());
  EXPECT_TRUE(reader.require_zero(0, "nothing").has_value());
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReader, RefusesUnreadBytesAtTheEnd) {
  ByteReader reader(as_bytes("abc"), "source");
  ASSERT_TRUE(reader.read_u8("a").has_value());
  const auto result = reader.require_end();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::damaged);
  EXPECT_EQ(result.error().message, "source: 2 unknown bytes at offset 1");
}

TEST(ByteWriter, AlignsToTheNextMultipleOnly) {
  ByteWriter writer;
  writer.align(8);
  EXPECT_EQ(writer.size(), 0U);
  writer.write_u8(1);
  writer.align(8);
  EXPECT_EQ(writer.size(), 8U);
  writer.align(8);
  EXPECT_EQ(writer.size(), 8U);
  EXPECT_EQ(as_text(writer.view()), std::string_view("\x01\0\0\0\0\0\0\0", 8));
}

} // namespace
} // namespace clbin::base
