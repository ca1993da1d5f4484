#include "base/json_document.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace clbin::base {
namespace {

TEST(JsonStream, WritesWhatTheWriterOfWholeDocumentsWrites) {
  std::string text;
  JsonStream stream([&](std::string_view part) {
    text += part;
    return true;
  });
  const JsonValue nested{JsonArray{{std::string("a\nb\"")}, {JsonObject{{"c", {true}}}}}};
  stream.begin_object();
  stream.member("\"key\"", nested);
  stream.key("empty");
  stream.begin_array();
  stream.end();
  stream.key("items");
  stream.begin_array();
  stream.value({std::uint64_t{1}});
  stream.begin_object();
  stream.member("d", nested);
  stream.end();
  stream.begin_object();
  stream.end();
  stream.end();
  ASSERT_TRUE(stream.finish());

  const JsonValue whole{JsonObject{
      {"\"key\"", nested},
      {"empty", {JsonArray{}}},
      {"items", {JsonArray{{std::uint64_t{1}}, {JsonObject{{"d", nested}}}, {JsonObject{}}}}}}};
  EXPECT_EQ(text, write_json(whole, JsonLayout::indented));
}

TEST(JsonStream, EscapesWhatCouldDeceiveTheReaderOfATerminal) {
  std::string text;
  JsonStream stream([&](std::string_view part) {
    text += part;
    return true;
  });
  stream.begin_array();
  stream.value({std::string("\u202e")});
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(text, "[\n  \"\\u202e\"\n]\n");
}

TEST(JsonStream, HoldsNoMoreThanAPart) {
  std::size_t parts = 0;
  std::size_t largest = 0;
  JsonStream stream([&](std::string_view part) {
    ++parts;
    largest = std::max(largest, part.size());
    return true;
  });
  stream.begin_array();
  for (int i = 0; i < 100; ++i) {
    stream.value({std::string(100'000, 'x')});
  }
  ASSERT_TRUE(stream.finish());
  EXPECT_GT(parts, 5U);
  EXPECT_LT(largest, 2'000'000U);
}

std::string written_text(std::string_view value, std::size_t* largest_part = nullptr) {
  std::string text;
  JsonStream stream([&](std::string_view part) {
    text += part;
    if (largest_part != nullptr) {
      *largest_part = std::max(*largest_part, part.size());
    }
    return true;
  });
  stream.text(value);
  EXPECT_TRUE(stream.finish());
  return text;
}

TEST(JsonStream, WritesALongStringInPartsAsTheWholeString) {
  constexpr std::size_t k_part_bytes = 1U << 16U;
  for (const std::string_view text : {"\xf0\x9f\x98\x80", "\xe6\xbc\xa2", "\u202e", "\x80",
                                      "\xf0\x80\x80\x80\x80\x80", "\xc3", "\""}) {
    for (std::size_t before = k_part_bytes - 8; before < k_part_bytes + 2; ++before) {
      std::string value(before, 'x');
      for (int i = 0; i < 5; ++i) {
        value += text;
      }
      value.append(k_part_bytes, 'y');
      EXPECT_EQ(written_text(value), printable_json(write_json({value}, JsonLayout::indented)))
          << before << " bytes before " << printable(text);
    }
  }
}

// Each of these bytes becomes six bytes.
TEST(JsonStream, HoldsNoMoreThanAPartOfALongString) {
  std::size_t largest = 0;
  EXPECT_EQ(written_text(std::string(4'000'000, '\x7f'), &largest).size(), 24'000'003U);
  EXPECT_LT(largest, 2'000'000U);
}

TEST(JsonStream, WritesNothingMoreAfterAFailure) {
  int calls = 0;
  JsonStream stream([&](std::string_view) {
    ++calls;
    return false;
  });
  stream.begin_array();
  for (int i = 0; i < 100; ++i) {
    stream.value({std::string(100'000, 'x')});
  }
  EXPECT_FALSE(stream.finish());
  EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace clbin::base
