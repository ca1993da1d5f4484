#include "command_line/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using ::testing::ElementsAre;

format::GroupSize size_of(const std::string& text) {
  const auto parsed = parse_specialization("k=" + text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? parsed->size : format::GroupSize{};
}

TEST(Specialization, TakesOneToThreeSizes) {
  EXPECT_EQ(size_of("64"), (format::GroupSize{64, 1, 1}));
  EXPECT_EQ(size_of("16x8"), (format::GroupSize{16, 8, 1}));
  EXPECT_EQ(size_of("8x4x2"), (format::GroupSize{8, 4, 2}));
  EXPECT_EQ(size_of("65536"), (format::GroupSize{65536, 1, 1}));
}

TEST(Specialization, KeepsTheNameOfTheKernel) {
  EXPECT_EQ(parse_specialization("matmul_2=16x16")->kernel, "matmul_2");
}

TEST(Specialization, RefusesWhatIsNoSize) {
  for (const std::string text : {"k", "=16", "k=", "k=0", "k=16x", "k=x16", "k=16x16x1x1", "k=-1",
                                 "k=16X16", "k=16 x16", "k=65537", "k=99999999999999999999"}) {
    const auto parsed = parse_specialization(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(parsed.error().message,
              "'--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one to "
              "three numbers from 1 to 65536; not '" +
                  text + "'");
  }
}

TEST(Specialization, IsKeptOnceAndInOrderHoweverItIsGiven) {
  std::vector<Specialization> all;
  add_specialization(all, {"b", {1, 1, 1}});
  add_specialization(all, {"a", {16, 1, 1}});
  add_specialization(all, {"a", {8, 1, 1}});
  add_specialization(all, {"b", {1, 1, 1}});
  EXPECT_THAT(all, ElementsAre(Specialization{"a", {8, 1, 1}}, Specialization{"a", {16, 1, 1}},
                               Specialization{"b", {1, 1, 1}}));
}

} // namespace
} // namespace oclcc
