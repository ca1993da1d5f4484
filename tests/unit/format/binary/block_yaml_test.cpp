#include "format/binary/kernel_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::ErrorCode;
using ::testing::HasSubstr;

std::string as_json(std::string_view yaml) {
  const auto value = parse_block_yaml(yaml);
  return value ? base::write_json(*value) : value.error().message;
}

TEST(BlockYaml, ReadsMapsAndListsByTheirIndentation) {
  EXPECT_EQ(as_json("---\n"
                    "version:         '1.20'\n"
                    "kernels:\n"
                    "  - name:            add\n"
                    "    execution_env:\n"
                    "      simd_size:       32\n"
                    "      required_work_group_size: [ 8, 4, 2 ]\n"
                    "    args:\n"
                    "      - index:           0\n"
                    "        type: 'float*;8'\n"
                    "      - index: 1\n"
                    "  - name: empty\n"
                    "...\n"
                    "not: read\n"),
            R"({"kernels":[{"args":[{"index":0,"type":"float*;8"},{"index":1}],)"
            R"("execution_env":{"required_work_group_size":[8,4,2],"simd_size":32},)"
            R"("name":"add"},{"name":"empty"}],"version":"1.20"})");
}

TEST(BlockYaml, ReadsListsBelowTheirKeyAndListsInLists) {
  EXPECT_EQ(as_json("a:\n- 1\n- x\nb:\n  - - 1\n    - 2\n  -\n    - 3\n"),
            R"({"a":[1,"x"],"b":[[1,2],[3]]})");
  EXPECT_EQ(as_json("- a: 1\n  b: 2\n- c: 3\n"), R"([{"a":1,"b":2},{"c":3}])");
}

TEST(BlockYaml, ReadsScalars) {
  EXPECT_EQ(as_json("a: true\nb: false\nc: 18446744073709551615\nd: 18446744073709551616\n"),
            R"({"a":true,"b":false,"c":18446744073709551615,"d":"18446744073709551616"})");
  EXPECT_EQ(as_json("a: -1\nb: restrict const\nc: x:y\nd: 'it''s: \"8\"'\ne: \"a\\\\b\\\"c\"\n"),
            R"({"a":"-1","b":"restrict const","c":"x:y","d":"it's: \"8\"","e":"a\\b\"c"})");
  EXPECT_EQ(as_json("a:\nb: ''\n# c: 1\n\nd: []\n"), R"({"a":"","b":"","d":[]})");
  EXPECT_EQ(as_json("a: [ 1,\n  2,\n  3 ]\nb: 4\r\n"), R"({"a":[1,2,3],"b":4})");
}

TEST(BlockYaml, NamesTheLineOfWhatItRefuses) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  for (const Case& bad : {
           Case{"", "no lines"},
           Case{"---\n...\n", "no lines"},
           Case{"a: 1\n  b: 2\n", "line 2: unexpected indentation"},
           Case{"a: 1\nb\n", "line 2: no key"},
           Case{": 1\n", "line 1: no key"},
           Case{"a: 1\na: 2\n", "line 2: duplicate key 'a'"},
           Case{"a: &x\n", "line 1: '&' is not supported"},
           Case{"a: {b: 1}\n", "line 1: '{' is not supported"},
           Case{"a: |\n  text\n", "line 1: '|' is not supported"},
           Case{"a: 'x\n", "line 1: the quoted text does not end with its line"},
           Case{"a: 'x' y\n", "line 1: the quoted text does not end with its line"},
           Case{"a: \"\\x41\"\n", "line 1: unknown escape sequence"},
           Case{"a: [1, 2\n", "line 1: the list does not end"},
           Case{"a: [1] 2\n", "line 1: text after the list"},
           Case{"a: [,]\n", "line 1: a value is missing"},
       }) {
    const auto value = parse_block_yaml(bad.text);
    ASSERT_FALSE(value.has_value()) << bad.text;
    EXPECT_EQ(value.error().code, ErrorCode::damaged);
    EXPECT_EQ(value.error().message, bad.message) << bad.text;
  }
}

TEST(BlockYaml, RefusesDeepNesting) {
  std::string dashes;
  for (int index = 0; index < 100'000; ++index) {
    dashes += "- ";
  }
  EXPECT_EQ(as_json(dashes + "1\n"), "line 1: nested deeper than 16");
  std::string maps;
  for (std::size_t index = 0; index < 100; ++index) {
    maps += std::string(index, ' ') + "a:\n";
  }
  EXPECT_THAT(as_json(maps), HasSubstr("nested deeper than 16"));
}

} // namespace
} // namespace clbin::format
