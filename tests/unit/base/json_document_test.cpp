#include "base/json_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::ErrorCode;
using testing::HasSubstr;

base::Result<base::JsonValue> parse(std::string_view text, const base::JsonLimits& limits = {}) {
  return base::parse_json(base::as_bytes(text), limits);
}

void expect_refused(std::string_view text, const std::string& message,
                    const base::JsonLimits& limits = {},
                    ErrorCode code = ErrorCode::manifest_invalid) {
  const auto result = parse(text, limits);
  ASSERT_FALSE(result.has_value()) << text;
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonDocument, ReadsAndWritesEveryType) {
  const std::string_view text =
      R"({"array":[1,[],{}],"big":18446744073709551615,"false":false,"null":null,)"
      R"("other":[-1,1.5,1e300,18446744073709551616],"text":"a\"\\\u0001é","true":true})";
  EXPECT_EQ(base::write_json(parse(text).value()), text);
}

TEST(JsonDocument, WritesMembersInOrderAndWithoutWhiteSpace) {
  EXPECT_EQ(base::write_json(parse(" { \"b\" : [ 1 , 2 ] ,\n\"a\" : { } , \"B\": 0 } ").value()),
            R"({"B":0,"a":{},"b":[1,2]})");
}

TEST(JsonDocument, IndentsForPeople) {
  EXPECT_EQ(base::write_json(parse(R"({"n":1,"list":["a",{},[]],"no":null})").value(),
                             base::JsonLayout::indented),
            "{\n"
            "  \"list\": [\n"
            "    \"a\",\n"
            "    {},\n"
            "    []\n"
            "  ],\n"
            "  \"n\": 1,\n"
            "  \"no\": null\n"
            "}\n");
}

std::string written(std::string_view text) {
  return base::write_json({std::string(text)});
}

TEST(JsonDocument, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(written("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(written(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonDocument, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(written("ä€😀"), "\"ä€😀\"");
  const std::string replaced = "\"\xEF\xBF\xBD\"";
  EXPECT_EQ(written("\xff"), replaced);
  EXPECT_EQ(written("\xc3"), replaced) << "cut";
  EXPECT_EQ(written("\x80"), replaced) << "a continuation alone";
  EXPECT_EQ(written("\xc0\xaf").find('/'), std::string::npos) << "overlong";
  EXPECT_NE(written("\xed\xa0\x80"), "\"\xed\xa0\x80\"") << "a surrogate";
  EXPECT_NE(written("\xf4\x90\x80\x80"), "\"\xf4\x90\x80\x80\"") << "beyond U+10FFFF";
}

TEST(JsonDocument, KeepsUnsignedApartFromOtherNumbers) {
  const auto value = parse("[0,18446744073709551615,-1,-0,1.0,1e2]").value();
  const auto& items = std::get<base::JsonArray>(value.value);
  EXPECT_EQ(std::get<std::uint64_t>(items[0].value), 0U);
  EXPECT_EQ(std::get<std::uint64_t>(items[1].value), ~std::uint64_t{0});
  for (std::size_t i = 2; i < items.size(); ++i) {
    EXPECT_TRUE(std::holds_alternative<base::OtherNumber>(items[i].value)) << i;
  }
}

TEST(JsonDocument, RefusesDuplicateKeysWithTheirPath) {
  expect_refused(R"({"a":1,"a":2})", "duplicate key 'a'");
  expect_refused(R"({"list":[0,{"x":{"a":1,"b":2,"a":3}}]})", "list[1].x: duplicate key 'a'");
  expect_refused(R"({"a":1,"\u0061":2})", "duplicate key 'a'");
  EXPECT_TRUE(parse(R"([{"a":1},{"a":2}])").has_value()) << "two objects";
}

TEST(JsonDocument, RefusesWhatIsNotJson) {
  for (const std::string_view text :
       {"", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "nul", "01", "+1", ".5", "1e999", "'a'",
        "\"a", "\"\n\"", "[1] 2", "[1]]", "{} //", "\"\\ud800\"", "NaN"}) {
    const auto result = parse(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::manifest_invalid) << text;
    EXPECT_THAT(result.error().message, HasSubstr("not valid JSON at byte ")) << text;
  }
  expect_refused("[1,2,x]", "[2]: not valid JSON at byte 6");
}

TEST(JsonDocument, RefusesBytesThatAreNoUtf8) {
  for (const std::string_view text : {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xc3\""}) {
    EXPECT_FALSE(parse(text).has_value()) << text;
  }
}

TEST(JsonDocument, RefusesDepthAboveTheLimit) {
  EXPECT_TRUE(parse(nested(16)).has_value());
  const std::string path = [] {
    std::string text;
    for (int i = 0; i < 16; ++i) {
      text += "[0]";
    }
    return text;
  }();
  expect_refused(nested(17), path + ": nested deeper than 16");
  const auto result = parse(std::string(1'000'000, '['));
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("nested deeper than 16"));
}

TEST(JsonDocument, RefusesMoreBytesValuesOrMemoryThanTheLimits) {
  base::JsonLimits limits;
  limits.max_bytes = 5;
  EXPECT_TRUE(parse("[1,2]", limits).has_value());
  expect_refused("[1,23]", "6 bytes of JSON are above the limit of 5", limits,
                 ErrorCode::limit_exceeded);
  limits.max_bytes = 100;
  limits.max_values = 3;
  EXPECT_TRUE(parse("[1,2]", limits).has_value());
  expect_refused("[1,2,3]", "[2]: more than 3 values", limits, ErrorCode::limit_exceeded);
  expect_refused("[1,2,{}]", "[2]: more than 3 values", limits, ErrorCode::limit_exceeded);
  limits = {};
  limits.max_memory_bytes = 1000;
  EXPECT_TRUE(parse("[1,2]", limits).has_value());
  std::string many = "[1";
  for (int i = 0; i < 20; ++i) {
    many += ",1";
  }
  const auto large = parse(many + "]", limits);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(large.error().message, HasSubstr("]: more than 1000 bytes of memory"));
}

// The parser stores several copies of the text, even if it never ends.
TEST(JsonDocument, CountsTheLongestTokenBeforeItParses) {
  base::JsonLimits limits;
  limits.max_memory_bytes = 10000;
  const std::string text(2000, 'x');
  for (const std::string& json :
       {fmt::format("[\"{}\"]", text), fmt::format("{{\"{}\":1}}", text), '"' + text,
        fmt::format("[\"\\\"{}\"]", text), std::string(2000, '1'), text}) {
    expect_refused(json, "more than 10000 bytes of memory", limits, ErrorCode::limit_exceeded);
  }
  const std::string escapes =
      fmt::format("[\"{}\",\"{}\"]", std::string(500, 'x'), std::string(500, 'y'));
  EXPECT_TRUE(parse(escapes, limits).has_value());
}

TEST(JsonDocument, HandsTheItemsOfAListOverOneByOne) {
  std::vector<base::JsonValue> items;
  const base::JsonItemSink sink{
      {"list"}, [&](std::string_view /*member*/, base::JsonValue item, std::uint64_t memory_bytes) {
        EXPECT_GT(memory_bytes, 0U);
        items.push_back(std::move(item));
        return base::Result<void>();
      }};
  const std::string_view text = R"({"a":[1],"list":[2,[3],{"list":[4]}],"z":{"list":[5]}})";
  const auto document = base::parse_json(base::as_bytes(text), {}, sink);
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(base::write_json(*document), R"({"a":[1],"list":[],"z":{"list":[5]}})");
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(base::write_json(items[0]), "2");
  EXPECT_EQ(base::write_json(items[1]), "[3]");
  EXPECT_EQ(base::write_json(items[2]), R"({"list":[4]})");
}

TEST(JsonDocument, EndsWhereAnItemIsRefused) {
  const base::JsonItemSink sink{
      {"list"}, [](std::string_view, const base::JsonValue&, std::uint64_t) -> base::Result<void> {
        return base::fail(ErrorCode::limit_exceeded, "no more");
      }};
  const auto document = base::parse_json(base::as_bytes(R"({"list":[1,2]})"), {}, sink);
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().message, "no more");
}

TEST(JsonDocument, RefusesEveryTruncation) {
  const std::string_view text = R"({"array":[1,[],{}],"text":"a\u00e9","true":true})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse(text.substr(0, size)).has_value()) << size;
  }
}

TEST(JsonDocument, MessagesHoldPrintableCharactersOnly) {
  expect_refused("{\"\\u001b[31m\xc3\xa9\":1,\"\\u001b[31m\xc3\xa9\":1}", "duplicate key '?[31m?"
                                                                          "?'");
  EXPECT_EQ(base::printable_excerpt(std::string(41, 'a')), std::string(40, 'a') + "...");
  EXPECT_EQ(base::printable_excerpt(std::string(40, 'a')), std::string(40, 'a'));
}

std::string message_pack_as_json(std::string_view bytes, const base::JsonLimits& limits = {}) {
  const auto value = base::parse_message_pack(base::as_bytes(bytes), limits);
  return value ? base::write_json(*value) : value.error().message;
}

TEST(MessagePack, IsReadAsTheSameValues) {
  using namespace std::string_view_literals;
  EXPECT_EQ(message_pack_as_json("\x84\xa1"
                                 "a\x93\x01\xcd\x01\x00\xff\xa1"
                                 "b\xc3\xa1"
                                 "c\xc0\xa1"
                                 "d\xd9\x01x"sv),
            R"({"a":[1,256,-1],"b":true,"c":null,"d":"x"})");
}

TEST(MessagePack, RefusesWhatJsonDoesNotHaveAndWhatIsCut) {
  using namespace std::string_view_literals;
  EXPECT_EQ(message_pack_as_json("\x91\xc4\x01x"sv), "[0]: binary data");
  EXPECT_EQ(message_pack_as_json("\x91\xd4\x01x"sv), "[0]: binary data");
  EXPECT_EQ(message_pack_as_json("\x82\xa1"
                                 "a\x01\xa1"
                                 "a\x02"sv),
            "duplicate key 'a'");
  EXPECT_EQ(message_pack_as_json("\x81\xa1"
                                 "a\x92\x01"sv),
            "a[1]: not valid MessagePack at byte 6");
  EXPECT_EQ(message_pack_as_json("\x01\x01"sv), "not valid MessagePack at byte 2");
  EXPECT_EQ(message_pack_as_json("\xdb\xff\xff\xff\xffx"sv), "not valid MessagePack at byte 7");
  EXPECT_EQ(message_pack_as_json(std::string(20, '\x91')).substr(48), ": nested deeper than 16");
}

TEST(MessagePack, KeepsToItsLimits) {
  base::JsonLimits limits;
  limits.max_values = 3;
  const auto many = base::parse_message_pack(base::as_bytes("\x93\x01\x01\x01"), limits);
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, base::ErrorCode::limit_exceeded);
  EXPECT_EQ(many.error().message, "[2]: more than 3 values");
  limits.max_bytes = 3;
  const auto large = base::parse_message_pack(base::as_bytes("\x93\x01\x01\x01"), limits);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code, base::ErrorCode::limit_exceeded);
  EXPECT_EQ(large.error().message, "4 bytes of MessagePack are above the limit of 3");
}

} // namespace
} // namespace clbin::format
