// Known answers: what the buffers of a launch contain before it, and whether they contain
// afterwards what is known. Both are as clbin(5) specifies, and the same on every machine.
#pragma once

#include "model/measurement.hpp"

#include <span>

namespace clbin::format {

// Returns the bytes of a buffer before a launch, unless they are stored. Integers of Fill::random
// are from 0 to 99, and other numbers in [0, 1): sums of them lose few digits, so that results can
// be compared.
[[nodiscard]] base::Bytes fill_buffer(const LaunchArgument& argument);

// IEEE binary16, rounded to nearest, ties to even.
[[nodiscard]] std::uint16_t half_of(float number) noexcept;
[[nodiscard]] float float_of(std::uint16_t half) noexcept;

// Whether the argument is memory of its own, which contains something before the launch.
[[nodiscard]] inline bool is_memory(const LaunchArgument& argument) noexcept {
  return argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::image;
}
// Whether the argument is a buffer, or an image, that the launch can change.
[[nodiscard]] inline bool is_result(const LaunchArgument& argument) noexcept {
  return is_memory(argument) && !argument.is_constant;
}

// What the bytes of an image are. `region` is that of its only copy.
struct ImageLayout {
  ElementType type = ElementType::u8; // of a channel
  std::uint64_t count = 0;            // of channels in all pixels
  std::array<std::uint64_t, 3> region{};
};
// Of LaunchArgument::properties. std::nullopt: they are not those of an image, or of one whose
// pixels are packed, that is an image of a buffer, or that has more than 1 GiB.
[[nodiscard]] std::optional<ImageLayout> image_layout(std::span<const std::uint64_t> properties);

// A type of OpenCL C that is a number or a vector of numbers.
struct ElementShape {
  ElementType type = ElementType::i32;
  std::size_t count = 1;  // of a vector
  std::size_t stored = 1; // elements that it takes: 4 for vectors of 3
};
// std::nullopt for "struct pair", "void", "image2d_t" and so on.
[[nodiscard]] std::optional<ElementShape> shape_of(std::string_view type_name);

// Data that the bundle contains for a recorded launch.
struct NamedData {
  std::uint32_t argument = 0; // counted from 0
  base::Digest digest;        // of the bytes
  std::uint64_t bytes = 0;
  bool is_result = false; // what the launch leaves, not what is there before
};
// Returns the data of the arguments of a recorded launch, in their order, and then those of its
// results that are floating-point numbers. Nothing of other launches. `answer` breaks no rule.
[[nodiscard]] std::vector<NamedData> data_of(const KnownAnswer& answer);

// Returns what is kept of a buffer with these contents.
[[nodiscard]] ExpectedBuffer expected_buffer(std::size_t argument, ElementType type,
                                             base::Bytes contents);

// Returns where `actual` differs, "element 7 is 2, not 3"; std::nullopt if it does not. Integers
// must be equal. Other numbers may differ by `tolerance` of the expected one, or of the root mean
// square of the finite ones in the buffer if that is larger. Infinity and NaN equal themselves.
[[nodiscard]] std::optional<std::string> difference_of_results(base::ByteView expected,
                                                               base::ByteView actual,
                                                               ElementType type,
                                                               std::optional<double> tolerance);
// Returns where results of the same launch differ, "argument 2, element 7 is 2, not 3";
// std::nullopt if they do not. Compares as difference_of_results. `known` breaks no rule
// (broken_rule).
[[nodiscard]] std::optional<std::string>
difference_of_answer(const KnownAnswer& known, std::span<const ExpectedBuffer> results);

} // namespace clbin::format
