#include "format/bundle/known_answers.hpp"

#include "base/text.hpp"
#include "format/bundle/measurements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace clbin::format {

namespace {

// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine.
class RandomNumbers {
public:
  explicit RandomNumbers(std::uint64_t seed) noexcept : m_state(seed) {}
  std::uint64_t next() noexcept {
    m_state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = m_state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
  }

private:
  std::uint64_t m_state;
};

constexpr std::uint64_t k_random_integers = 100;
constexpr std::uint64_t k_whole_halves = 2048; // that a half can represent, from 0

std::uint64_t bits_of(const LaunchArgument& argument, std::uint64_t index, RandomNumbers& random) {
  const bool is_random = argument.fill == Fill::random;
  // 24 bits, which a float represents exactly, and of which a half keeps those that it can.
  const auto fraction = [&] { return static_cast<float>(random.next() >> 40U) * 0x1p-24F; };
  switch (argument.type) {
  case ElementType::f16:
    return half_of(is_random ? fraction() : static_cast<float>(index % k_whole_halves));
  case ElementType::f32:
    return std::bit_cast<std::uint32_t>(is_random ? fraction() : static_cast<float>(index));
  case ElementType::f64:
    return std::bit_cast<std::uint64_t>(is_random
                                            ? static_cast<double>(random.next() >> 11U) * 0x1p-53
                                            : static_cast<double>(index));
  default:
    return is_random ? random.next() % k_random_integers : index;
  }
}

// Numbers that are compared exactly have tolerance 0.
double default_tolerance(ElementType type) noexcept {
  switch (type) {
  case ElementType::f16:
    return 1e-2;
  case ElementType::f32:
    return 1e-4;
  case ElementType::f64:
    return 1e-9;
  default:
    return 0;
  }
}

template <typename Number>
Number number_at(base::ByteView bytes, std::size_t index) {
  Number number;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

double floating_at(base::ByteView bytes, std::size_t index, ElementType type) {
  switch (type) {
  case ElementType::f16:
    return float_of(number_at<std::uint16_t>(bytes, index));
  case ElementType::f32:
    return number_at<float>(bytes, index);
  default:
    return number_at<double>(bytes, index);
  }
}

// The root mean square of the finite numbers of a buffer, as `largest` times the root of `part`:
// squares of the numbers themselves may overflow, and a root needs the library libm.
struct RootMeanSquare {
  double largest = 0;
  double part = 0; // from 0 to 1
};

RootMeanSquare root_mean_square(base::ByteView bytes, ElementType type, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const double number = std::fabs(floating_at(bytes, i, type));
    if (std::isfinite(number)) {
      numbers.push_back(number);
    }
  }
  const double largest = numbers.empty() ? 0 : *std::ranges::max_element(numbers);
  if (largest == 0) {
    return {};
  }
  double sum = 0;
  for (const double number : numbers) {
    sum += (number / largest) * (number / largest);
  }
  return {largest, sum / static_cast<double>(numbers.size())};
}

// Whether the difference is at most `allowed` of the expected number, or of `typical`. Infinity
// equals only itself.
bool is_close(double expected, double actual, double allowed, const RootMeanSquare& typical) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual);
  }
  if (std::isinf(expected) || std::isinf(actual)) {
    return expected == actual;
  }
  const double difference = std::fabs(expected - actual);
  if (difference <= allowed * std::fabs(expected) || typical.largest == 0 || allowed == 0) {
    return difference <= allowed * std::fabs(expected);
  }
  const double part = difference / typical.largest / allowed;
  return part * part <= typical.part;
}

std::string integer_text(base::ByteView bytes, std::size_t index, ElementType type) {
  const std::uint64_t width = element_bytes(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * width, width);
  const bool is_signed = name_of(type).starts_with('i');
  const auto shift = static_cast<unsigned>(64 - 8 * width);
  return is_signed ? fmt::format("{}", static_cast<std::int64_t>(bits << shift) >> shift)
                   : fmt::format("{}", bits);
}

} // namespace

base::Bytes fill_buffer(const LaunchArgument& argument) {
  const std::uint64_t width = element_bytes(argument.type);
  base::Bytes bytes(argument.count * width);
  if (argument.fill == Fill::zero) {
    return bytes;
  }
  RandomNumbers random(argument.seed);
  for (std::uint64_t index = 0; index < argument.count; ++index) {
    const std::uint64_t bits = bits_of(argument, index, random);
    for (std::uint64_t byte = 0; byte < width; ++byte) { // little-endian, as every device is
      bytes[index * width + byte] = static_cast<std::byte>(bits >> (8 * byte));
    }
  }
  return bytes;
}

std::uint16_t half_of(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const float magnitude = std::fabs(number);
  constexpr float k_overflow = 65520.0F; // rounds to 65536
  if (std::isnan(number)) {
    return sign | 0x7E00U;
  }
  if (magnitude >= k_overflow) {
    return sign | 0x7C00U;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);
  // 11 significant bits, but none below 2^-24.
  const int unit = std::max(exponent - 11, -24);
  const float exact = std::ldexp(magnitude, -unit);
  auto units = static_cast<std::uint32_t>(exact);
  const float rest = exact - static_cast<float>(units);
  units += rest > 0.5F || (rest == 0.5F && units % 2 == 1) ? 1 : 0;
  const auto biased = static_cast<std::uint32_t>(unit + 24);
  // A carry out of the significand is one more in the exponent, as it should be.
  return static_cast<std::uint16_t>(sign + (biased << 10U) + units);
}

float float_of(std::uint16_t half) noexcept {
  const auto exponent = static_cast<int>((half >> 10U) & 0x1FU);
  const auto fraction = static_cast<float>(half & 0x3FFU);
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction == 0 ? sign * HUGE_VALF : std::nanf("");
  }
  const float magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0F, exponent - 25);
  return sign * magnitude;
}

std::optional<ElementShape> shape_of(std::string_view name) {
  constexpr std::pair<std::string_view, ElementType> k_types[]{
      {"char", ElementType::i8},          {"uchar", ElementType::u8},
      {"bool", ElementType::u8},          {"short", ElementType::i16},
      {"ushort", ElementType::u16},       {"int", ElementType::i32},
      {"uint", ElementType::u32},         {"long", ElementType::i64},
      {"ulong", ElementType::u64},        {"half", ElementType::f16},
      {"float", ElementType::f32},        {"double", ElementType::f64},
      {"unsigned char", ElementType::u8}, {"unsigned short", ElementType::u16},
      {"unsigned int", ElementType::u32}, {"unsigned long", ElementType::u64}};
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  const auto* const found = std::ranges::find(k_types, name.substr(0, digits),
                                              &std::pair<std::string_view, ElementType>::first);
  if (found == std::end(k_types)) {
    return std::nullopt;
  }
  ElementShape shape{found->second, 1, 1};
  if (digits < name.size()) {
    const auto count = base::parse_number<std::size_t>(name.substr(digits));
    if (!count || *count < 2 || *count > 16) {
      return std::nullopt;
    }
    shape.count = *count;
    shape.stored = *count == 3 ? 4 : *count;
  }
  return shape;
}

std::optional<ImageLayout> image_layout(std::span<const std::uint64_t> properties) {
  // Channel orders and types of OpenCL, in the order of their numbers; 0 and u64: not known.
  constexpr std::array<std::uint64_t, 20> k_channels{1, 1, 2, 2, 0, 4, 4, 4, 1, 1,
                                                     0, 0, 0, 1, 0, 0, 0, 4, 4, 4};
  constexpr std::array k_types{
      ElementType::i8,  ElementType::i16, ElementType::u8,  ElementType::u16, ElementType::u64,
      ElementType::u64, ElementType::u64, ElementType::i8,  ElementType::i16, ElementType::i32,
      ElementType::u8,  ElementType::u16, ElementType::u32, ElementType::f16, ElementType::f32};
  constexpr std::uint64_t k_first_order = 0x10B0; // CL_R
  constexpr std::uint64_t k_first_type = 0x10D0;  // CL_SNORM_INT8
  constexpr std::uint64_t k_first_kind = 0x10F1;  // CL_MEM_OBJECT_IMAGE2D
  // What of width, height, depth and layers the kinds have: 2D, 3D, 2D array, 1D, 1D array.
  constexpr std::array<std::array<std::size_t, 3>, 5> k_sides{
      {{3, 4, 0}, {3, 4, 5}, {3, 4, 6}, {3, 0, 0}, {3, 6, 0}}};
  if (properties.size() != 7 || properties[0] - k_first_kind >= k_sides.size() ||
      properties[1] - k_first_order >= k_channels.size() ||
      properties[2] - k_first_type >= k_types.size()) {
    return std::nullopt;
  }
  ImageLayout layout{
      k_types[properties[2] - k_first_type], k_channels[properties[1] - k_first_order], {1, 1, 1}};
  const auto& sides = k_sides[properties[0] - k_first_kind];
  const std::uint64_t most = k_max_recorded_bytes / element_bytes(layout.type);
  for (std::size_t i = 0; i < sides.size() && layout.count != 0; ++i) {
    layout.region[i] = sides[i] == 0 ? 1 : properties[sides[i]];
    layout.count = layout.region[i] > most / layout.count ? 0 : layout.count * layout.region[i];
  }
  return layout.count == 0 || layout.type == ElementType::u64 ? std::nullopt
                                                              : std::optional(layout);
}

std::vector<NamedData> data_of(const KnownAnswer& answer) {
  std::vector<NamedData> data;
  const auto add = [&](std::uint32_t index, const std::string& digest, bool is_result) {
    const LaunchArgument& argument = answer.arguments[index];
    data.push_back({index, *base::digest_from_hex(digest),
                    argument.count * element_bytes(argument.type), is_result});
  };
  for (std::uint32_t i = 0; i < answer.arguments.size(); ++i) {
    if (answer.arguments[i].fill == Fill::stored) {
      add(i, answer.arguments[i].digest, false);
    }
  }
  if (data.empty()) {
    return data;
  }
  for (const ExpectedBuffer& result : answer.results) {
    if (is_floating(answer.arguments[result.argument].type)) {
      add(result.argument, result.digest, true);
    }
  }
  return data;
}

ExpectedBuffer expected_buffer(std::size_t argument, ElementType type, base::Bytes contents) {
  ExpectedBuffer expected{static_cast<std::uint32_t>(argument)};
  if (is_floating(type)) {
    expected.contents = std::move(contents);
  } else {
    expected.digest = base::to_hex(base::digest_of(contents));
  }
  return expected;
}

std::optional<std::string> difference_of_results(base::ByteView expected, base::ByteView actual,
                                                 ElementType type,
                                                 std::optional<double> tolerance) {
  if (expected.size() != actual.size()) {
    return fmt::format("it has {} bytes, not {}", actual.size(), expected.size());
  }
  if (std::ranges::equal(expected, actual)) {
    return std::nullopt;
  }
  const std::uint64_t width = element_bytes(type);
  const std::size_t count = expected.size() / width;
  if (!is_floating(type)) {
    std::size_t index = 0;
    while (std::memcmp(expected.data() + index * width, actual.data() + index * width, width) ==
           0) {
      ++index;
    }
    return fmt::format("element {} is {}, not {}", index, integer_text(actual, index, type),
                       integer_text(expected, index, type));
  }
  const double allowed = tolerance.value_or(default_tolerance(type));
  const RootMeanSquare typical = root_mean_square(expected, type, count);
  for (std::size_t index = 0; index < count; ++index) {
    const double wanted = floating_at(expected, index, type);
    const double found = floating_at(actual, index, type);
    if (!is_close(wanted, found, allowed, typical)) {
      return fmt::format("element {} is {}, not {} (tolerance {})", index, found, wanted, allowed);
    }
  }
  return std::nullopt;
}

std::optional<std::string> difference_of_answer(const KnownAnswer& known,
                                                std::span<const ExpectedBuffer> results) {
  if (known.results.size() != results.size()) {
    return fmt::format("{} buffers, not {}", results.size(), known.results.size());
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ExpectedBuffer& expected = known.results[i];
    auto found = expected.digest == results[i].digest
                     ? difference_of_results(expected.contents, results[i].contents,
                                             known.arguments[expected.argument].type,
                                             base::parse_real(known.tolerance))
                     : std::optional<std::string>("other integers");
    if (found) {
      return fmt::format("argument {}, {}", expected.argument, *found);
    }
  }
  return std::nullopt;
}

} // namespace clbin::format
