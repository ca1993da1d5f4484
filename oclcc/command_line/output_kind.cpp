#include "command_line/options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <vector>

namespace oclcc {

using format::BinaryKind;

namespace {

constexpr OutputKind k_output_kinds[] = {
    {"clbin", OutputForm::bundle},
    {"ptx", OutputForm::raw_binary, BinaryKind::ptx},
    {"cubin", OutputForm::raw_binary, BinaryKind::cubin},
    {"spv", OutputForm::raw_binary, BinaryKind::spirv},
    {"bin", OutputForm::raw_binary, BinaryKind::unknown},
    {"h", OutputForm::embedding, BinaryKind::unknown, embed::EmbedForm::c_header},
    {"c", OutputForm::embedding, BinaryKind::unknown, embed::EmbedForm::c_source},
    {"o", OutputForm::embedding, BinaryKind::unknown, embed::EmbedForm::object},
    {"s", OutputForm::embedding, BinaryKind::unknown, embed::EmbedForm::assembly},
    {"hpp", OutputForm::launchers}};

const OutputKind* find_output_kind(std::string_view name) {
  const auto* const found = std::ranges::find(k_output_kinds, name, &OutputKind::name);
  return found == std::end(k_output_kinds) ? nullptr : found;
}

} // namespace

const OutputKind& output_kind(const Options& options) {
  const OutputKind* found = nullptr;
  if (options.emit) {
    found = find_output_kind(*options.emit);
  } else if (options.output && options.output->has_extension()) {
    found = find_output_kind(std::string_view(options.output->extension().native()).substr(1));
  }
  return found == nullptr ? k_output_kinds[0] : *found;
}

bool is_output_kind(std::string_view name) noexcept {
  return find_output_kind(name) != nullptr;
}

std::string output_kinds() {
  std::vector<std::string_view> names;
  std::ranges::transform(k_output_kinds, std::back_inserter(names), &OutputKind::name);
  return fmt::format("{}", fmt::join(names, ", "));
}

OutputForm output_form(const Options& options) {
  return output_kind(options).form;
}

} // namespace oclcc
