// Known answers: what the buffers of a launch contain before it, and whether they contain
// afterwards what is known. Both are as clbin(5) specifies, and the same on every machine.
#pragma once

#include "model/measurement.hpp"

#include <span>

namespace clbin::format {

// Returns the bytes of a buffer before a launch. Integers of Fill::random are from 0 to 99, and
// other numbers in [0, 1): sums of them lose few digits, so that results can be compared.
[[nodiscard]] base::Bytes fill_buffer(const LaunchArgument& argument);

// IEEE binary16, rounded to nearest, ties to even.
[[nodiscard]] std::uint16_t half_of(float number) noexcept;
[[nodiscard]] float float_of(std::uint16_t half) noexcept;

// Whether the argument is a buffer that the launch can change.
[[nodiscard]] inline bool is_result(const LaunchArgument& argument) noexcept {
  return argument.kind == ArgumentKind::buffer && !argument.is_constant;
}
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
