#include "format/bundle/known_answers.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace clbin::format {
namespace {

using testing::HasSubstr;

template <typename Number>
base::Bytes bytes_of(const std::vector<Number>& numbers) {
  base::Bytes bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

base::Bytes floats(const std::vector<float>& numbers) {
  return bytes_of(numbers);
}

base::Bytes doubles(const std::vector<double>& numbers) {
  return bytes_of(numbers);
}

TEST(KnownAnswerBuffers, ConvertsToHalfToNearest) {
  EXPECT_EQ(half_of(0.0F), 0x0000U);
  EXPECT_EQ(half_of(-2.0F), 0xC000U);
  EXPECT_EQ(half_of(65504.0F), 0x7BFFU);
  EXPECT_EQ(half_of(65519.0F), 0x7BFFU);
  EXPECT_EQ(half_of(65520.0F), 0x7C00U);
  EXPECT_EQ(half_of(1.0F + 0x1p-11F), 0x3C00U); // a tie, to even
  EXPECT_EQ(half_of(1.0F + 0x3p-11F), 0x3C02U);
  EXPECT_EQ(half_of(0x1p-24F), 0x0001U);
  EXPECT_EQ(half_of(0x1p-25F), 0x0000U);
  EXPECT_EQ(half_of(0x1.FFCp-15F), 0x0400U); // the least normal number
  for (std::uint32_t half = 0; half < 0x7C00U; ++half) {
    ASSERT_EQ(half_of(float_of(static_cast<std::uint16_t>(half))), half);
  }
}

TEST(KnownAnswerBuffers, FillsBuffersAlikeOnEveryMachine) {
  LaunchArgument buffer;
  buffer.type = ElementType::u32;
  buffer.count = 3;
  buffer.fill = Fill::iota;
  EXPECT_EQ(base::as_text(fill_buffer(buffer)), std::string("\0\0\0\0\1\0\0\0\2\0\0\0", 12));
  buffer.fill = Fill::random;
  buffer.type = ElementType::u8;
  buffer.seed = 1;
  EXPECT_EQ(base::as_text(fill_buffer(buffer)), "A\x13Z");
}

TEST(ResultDifference, IsExactForIntegers) {
  const base::Bytes one = floats({1});
  base::Bytes other = one;
  other[2] = std::byte{0x7F};
  EXPECT_EQ(difference_of_results(one, one, ElementType::i32, {}), std::nullopt);
  EXPECT_EQ(difference_of_results(one, other, ElementType::u8, 1.0), "element 2 is 127, not 128");
  EXPECT_EQ(difference_of_results(one, other, ElementType::i8, 1.0), "element 2 is 127, not -128");
  EXPECT_EQ(difference_of_results(one, floats({1, 1}), ElementType::i32, {}),
            "it has 8 bytes, not 4");
}

TEST(ResultDifference, ToleratesSmallOnesOfFloatingPointNumbers) {
  const base::Bytes expected = floats({1, 100, 0});
  EXPECT_EQ(difference_of_results(expected, floats({1, 100.005F, 0}), ElementType::f32, {}),
            std::nullopt);
  EXPECT_EQ(difference_of_results(expected, floats({1, 100.1F, 0}), ElementType::f32, {}),
            "element 1 is 100.0999984741211, not 100 (tolerance 0.0001)");
  EXPECT_EQ(difference_of_results(expected, floats({1, 100.1F, 0}), ElementType::f32, 0.01),
            std::nullopt);
  // Of the root mean square, 57.7, because sums near zero lose digits.
  EXPECT_EQ(difference_of_results(expected, floats({1, 100, 0.005F}), ElementType::f32, {}),
            std::nullopt);
  EXPECT_THAT(difference_of_results(expected, floats({1, 100, 0.006F}), ElementType::f32, {}),
              testing::Optional(HasSubstr("element 2")));
}

TEST(ResultDifference, ComparesWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  base::Bytes other_nan = floats({nan, 1});
  other_nan[0] = std::byte{1};
  EXPECT_EQ(difference_of_results(floats({nan, 1}), other_nan, ElementType::f32, {}), std::nullopt);
  EXPECT_EQ(difference_of_results(floats({infinity, 1}), floats({infinity, 1.00001F}),
                                  ElementType::f32, {}),
            std::nullopt);
  EXPECT_THAT(difference_of_results(floats({nan, 1}), floats({1, 1}), ElementType::f32, {}),
              testing::Optional(HasSubstr("element 0 is 1, not nan")));
  EXPECT_THAT(difference_of_results(floats({1, 1}), floats({infinity, 1}), ElementType::f32, {}),
              testing::Optional(HasSubstr("element 0 is inf, not 1")));
  EXPECT_THAT(difference_of_results(floats({infinity, 1}), floats({1, 1}), ElementType::f32, {}),
              testing::Optional(HasSubstr("element 0 is 1, not inf")));
  EXPECT_THAT(
      difference_of_results(floats({infinity, 1}), floats({-infinity, 1}), ElementType::f32, {}),
      testing::Optional(HasSubstr("element 0 is -inf, not inf")));
}

TEST(ResultDifference, ToleratesAsMuchNextToLargeNumbersAndNextToWhatIsNoNumber) {
  EXPECT_THAT(
      difference_of_results(doubles({1e200, 1e200}), doubles({1e200, 2e200}), ElementType::f64, {}),
      testing::Optional(HasSubstr("element 1 is 2e+200, not 1e+200")));
  EXPECT_EQ(
      difference_of_results(doubles({1e200, 0}), doubles({1e200, 7e190}), ElementType::f64, {}),
      std::nullopt);
  EXPECT_THAT(
      difference_of_results(doubles({1e200, 0}), doubles({1e200, 8e190}), ElementType::f64, {}),
      testing::Optional(HasSubstr("element 1")));
  // The root mean square is that of the other numbers, 1.
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(difference_of_results(doubles({infinity, 1, 1}), doubles({infinity, 1, 1 + 9e-10}),
                                  ElementType::f64, {}),
            std::nullopt);
  EXPECT_THAT(difference_of_results(doubles({infinity, 1, 1}), doubles({infinity, 1, 1 + 2e-9}),
                                    ElementType::f64, {}),
              testing::Optional(HasSubstr("element 2")));
}

} // namespace
} // namespace clbin::format
