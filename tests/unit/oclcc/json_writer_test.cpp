#include "json_writer.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

TEST(JsonWriter, NestsObjectsAndArrays) {
  JsonWriter json;
  json.begin_object();
  json.number("n", 18446744073709551615U);
  json.begin_array("list");
  json.text({}, "a");
  json.begin_object();
  json.end_object();
  json.end_array();
  json.boolean("yes", true);
  json.null("nothing");
  json.end_object();
  EXPECT_EQ(std::move(json).take(), "{\n"
                                    "  \"n\": 18446744073709551615,\n"
                                    "  \"list\": [\n"
                                    "    \"a\",\n"
                                    "    {}\n"
                                    "  ],\n"
                                    "  \"yes\": true,\n"
                                    "  \"nothing\": null\n"
                                    "}\n");
}

TEST(JsonWriter, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(json_string("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
  EXPECT_EQ(json_string(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonWriter, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(json_string("ä€😀"), "\"ä€😀\"");
  const std::string replaced = "\"\xEF\xBF\xBD\"";
  EXPECT_EQ(json_string("\xff"), replaced);
  EXPECT_EQ(json_string("\xc3"), replaced) << "cut";
  EXPECT_EQ(json_string("\x80"), replaced) << "a continuation alone";
  EXPECT_EQ(json_string("\xc0\xaf").find('/'), std::string::npos) << "overlong";
  EXPECT_NE(json_string("\xed\xa0\x80"), "\"\xed\xa0\x80\"") << "a surrogate";
  EXPECT_NE(json_string("\xf4\x90\x80\x80"), "\"\xf4\x90\x80\x80\"") << "beyond U+10FFFF";
}

} // namespace
} // namespace oclcc
