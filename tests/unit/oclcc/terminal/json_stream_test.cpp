#include "terminal/json_stream.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;

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
  EXPECT_EQ(text, clbin::base::write_json(whole, clbin::base::JsonLayout::indented));
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
} // namespace oclcc
