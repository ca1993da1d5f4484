#include "format/bundle/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::ErrorCode;

SourcePackage sample_package() {
  SourcePackage package;
  package.main = {"a.cl", "src/a.cl", "#include \"b.h\"\nkernel void k() {}\n"};
  package.headers.push_back({"b.h", "src/b.h", "#include <c.h>\n"});
  package.headers.push_back({"c.h", "/opt/include/c.h", ""});
  return package;
}

void expect_error(const base::Result<SourcePackage>& result, ErrorCode code,
                  const std::string& message) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

// Writes the bytes that clbin(5), SOURCE, specifies.
TEST(SourcePackage, HasTheBytesOfTheManualPage) {
  base::ByteWriter writer;
  writer.write_u32(1);
  writer.write_u32(3);
  for (const std::string_view text :
       {"a.cl", "src/a.cl", "#include \"b.h\"\nkernel void k() {}\n", "b.h", "src/b.h",
        "#include <c.h>\n", "c.h", "/opt/include/c.h", ""}) {
    writer.write_text(text);
  }
  EXPECT_EQ(encode_source_package(sample_package()), std::move(writer).take());
}

TEST(SourcePackage, RoundTrips) {
  const SourcePackage package = sample_package();
  EXPECT_EQ(decode_source_package(encode_source_package(package)).value(), package);
  SourcePackage only_main;
  only_main.main = {"", "", std::string("\0\xff\r\n", 4)};
  EXPECT_EQ(decode_source_package(encode_source_package(only_main)).value(), only_main);
}

// PoCL 3.1 wrote a header named "../../victim.txt" to that path.
TEST(SourcePackage, RefusesIncludeNamesThatLeaveTheDriversFolder) {
  for (const std::string name :
       {"", "/etc/x", "../x", "a/../x", "a/..", "./x", "a/./x", "a//x", "a/", "a\nb", "a\x01"}) {
    SourcePackage package = sample_package();
    package.headers[0].include_name = name;
    expect_error(decode_source_package(encode_source_package(package)), ErrorCode::damaged,
                 "source: file 1 has no valid include name");
  }
  for (const char* const name : {"x", "a/x.h", "..x", "a..b/.h", "\xc3\xa4 b.h"}) {
    SourcePackage package = sample_package();
    package.headers[0].include_name = name;
    EXPECT_EQ(decode_source_package(encode_source_package(package)).value(), package) << name;
  }
}

TEST(SourcePackage, RefusesEveryTruncation) {
  const base::Bytes bytes = encode_source_package(sample_package());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto result = decode_source_package(base::ByteView(bytes).first(size));
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code, ErrorCode::truncated) << size;
  }
}

TEST(SourcePackage, RefusesBytesLeftOver) {
  base::Bytes bytes = encode_source_package(sample_package());
  bytes.push_back(std::byte{0});
  expect_error(decode_source_package(bytes), ErrorCode::damaged,
               fmt::format("source: 1 unknown bytes at offset {}", bytes.size() - 1));
}

TEST(SourcePackage, RefusesAnIncludeNameSeenBefore) {
  SourcePackage package = sample_package();
  package.headers[1].include_name = "b.h";
  expect_error(decode_source_package(encode_source_package(package)), ErrorCode::damaged,
               "source: file 2 has an include name seen before");
}

TEST(SourcePackage, RefusesAnIncludeNameThatNoDriverTakes) {
  for (const std::string& name : {std::string(), std::string("b\0.h", 4)}) {
    SourcePackage package = sample_package();
    package.headers[0].include_name = name;
    expect_error(decode_source_package(encode_source_package(package)), ErrorCode::damaged,
                 "source: file 1 has no valid include name");
  }
}

TEST(SourcePackage, AHeaderMayHaveTheNameOfTheMainFile) {
  SourcePackage package = sample_package();
  package.headers[0].include_name = package.main.include_name;
  EXPECT_EQ(decode_source_package(encode_source_package(package)).value(), package);
}

TEST(SourcePackage, RefusesAnEmptyMainFile) {
  SourcePackage package = sample_package();
  package.main.text.clear();
  expect_error(decode_source_package(encode_source_package(package)), ErrorCode::damaged,
               "source: the main file is empty");
}

TEST(SourcePackage, RefusesNoFilesAndTooMany) {
  base::ByteWriter none;
  none.write_u32(1);
  none.write_u32(0);
  expect_error(decode_source_package(none.view()), ErrorCode::damaged,
               "source: it has no main file");
  base::ByteWriter many;
  many.write_u32(1);
  many.write_u32(0xffffffffU);
  for (const std::string_view text : {"a", "a", "a"}) {
    many.write_text(text);
  }
  expect_error(decode_source_package(many.view()), ErrorCode::truncated,
               "source: include name at offset 23 needs 4 bytes, 0 are left");
}

TEST(SourcePackage, RefusesAnotherVersion) {
  base::Bytes bytes = encode_source_package(sample_package());
  bytes[0] = std::byte{2};
  expect_error(decode_source_package(bytes), ErrorCode::newer_version,
               "source: version 2 is not known");
}

// 3 million headers of 12 bytes took minutes and a gigabyte.
TEST(SourcePackage, RefusesMoreFilesThanTheLimit) {
  SourcePackage most{{"main.cl", "main.cl", "x"}, {}};
  for (std::uint32_t number = 1; number < 1U << 17U; ++number) {
    most.headers.push_back({fmt::format("{}", number), "", ""});
  }
  EXPECT_TRUE(decode_source_package(encode_source_package(most)).has_value());
  most.headers.push_back({"0", "", ""});
  const auto refused = decode_source_package(encode_source_package(most));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().message, "source: more than 131072 files");
}

} // namespace
} // namespace clbin::format
