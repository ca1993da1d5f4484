#include "offline/spirv_repairs.hpp"

#include "offline/text_lines.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// Returns the text from `start` to the first of `ends` after it.
std::string_view word_at(std::string_view line, std::size_t start, std::string_view ends) {
  return line.substr(start, line.find_first_of(ends, start) - start);
}

// "%c = select i1 %b, <4 x float> %x, <4 x float> %y", with flags behind "select" or not.
std::string with_vector_condition(std::string_view line, std::size_t number) {
  constexpr std::string_view k_select = " = select ";
  constexpr std::string_view k_scalar = "i1 ";
  if (!line.starts_with("  %")) {
    return std::string(line); // no instruction; a constant may contain any text
  }
  const std::size_t select = line.find(k_select);
  const std::size_t condition = select == std::string_view::npos
                                    ? std::string_view::npos
                                    : line.find(k_scalar, select + k_select.size() - 1);
  if (condition == std::string_view::npos || line[condition - 1] != ' ') {
    return std::string(line);
  }
  const std::string_view value = word_at(line, condition + k_scalar.size(), ",");
  const std::size_t type = condition + k_scalar.size() + value.size() + 2;
  if (type >= line.size() || line[type] != '<') {
    return std::string(line);
  }
  const std::string_view lanes = word_at(line, type + 1, " ");
  return fmt::format("  %oclcc.lane{0} = insertelement <{1} x i1> undef, i1 {2}, i32 0\n"
                     "  %oclcc.lanes{0} = shufflevector <{1} x i1> %oclcc.lane{0}, <{1} x i1> "
                     "undef, <{1} x i32> zeroinitializer\n"
                     "{3}<{1} x i1> %oclcc.lanes{0}{4}",
                     number, lanes, value, line.substr(0, condition),
                     line.substr(condition + k_scalar.size() + value.size()));
}

} // namespace

std::string repaired_for_spirv(std::string_view ir) {
  std::string text;
  std::size_t number = 0;
  while (!ir.empty()) {
    text += with_vector_condition(take_line(ir), number++);
    text += '\n';
  }
  return text;
}

} // namespace oclcc::offline
