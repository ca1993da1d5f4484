#include "modes/launch_description.hpp"

#include "base/json_document.hpp"
#include "base/text.hpp"
#include "closure/macro_options.hpp"
#include "command_line/options.hpp"
#include "format/bundle/known_answers.hpp"
#include "units/unit.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using format::AddressSpace;
using format::KernelArgument;
using worker::ArgumentKind;
using worker::Fill;

namespace {

constexpr std::uint64_t k_max_file_bytes = 16ULL << 20U;
constexpr std::size_t k_most_arguments = 1024;
constexpr std::size_t k_most_dimensions = 3;
// The buffers of a launch pass through one message.
constexpr std::uint64_t k_max_buffer_bytes = 1ULL << 30U;

std::optional<ElementType> type_named(std::string_view name) {
  const auto names = names_of(ElementType::i8);
  const auto found = std::ranges::find(names, name);
  return found == names.end()
             ? std::nullopt
             : std::optional(static_cast<ElementType>(std::distance(names.begin(), found)));
}

// ---- Text --------------------------------------------------------------------------------------

// Splits at commas outside of parentheses.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && depth == 0) {
      parts.push_back(base::without_blanks(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(base::without_blanks(text.substr(begin)));
  return parts;
}

// "NAME(a, b)"
struct Call {
  std::string_view name;
  std::vector<std::string_view> parts;
};
std::optional<Call> parse_call(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) {
    return std::nullopt;
  }
  return Call{base::without_blanks(text.substr(0, open)),
              split_at_commas(text.substr(open + 1, text.size() - open - 2))};
}

Result<DescribedNumber::Item> parse_item(std::string_view text) {
  DescribedNumber::Item item{std::string(text), std::nullopt};
  if (!base::parse_real(text)) {
    CLBIN_TRY_ASSIGN(item.expression, SizeExpression::parse(text));
  }
  return item;
}

Result<DescribedBuffer> parse_buffer(const Call& call, Fill fill) {
  const std::size_t most = fill == Fill::random ? 3 : 2;
  if (call.parts.size() < 2 || call.parts.size() > most) {
    return refused("'{}' has a type, a number of elements{}", call.name,
                   fill == Fill::random ? ", and maybe a seed" : "");
  }
  const auto type = type_named(call.parts[0]);
  if (!type) {
    return refused("'{}' is not one of the types {}", base::printable_excerpt(call.parts[0]),
                   fmt::join(names_of(ElementType::i8), ", "));
  }
  DescribedBuffer buffer{fill, *type, {}, std::nullopt};
  CLBIN_TRY_ASSIGN(buffer.count, SizeExpression::parse(call.parts[1]));
  if (call.parts.size() == 3) {
    buffer.seed = base::parse_number<std::uint64_t>(call.parts[2]);
    if (!buffer.seed) {
      return refused("'{}' is not a seed, which is a number",
                     base::printable_excerpt(call.parts[2]));
    }
  }
  return buffer;
}

Result<DescribedNumber> parse_typed(const Call& call, ElementType type) {
  DescribedNumber number{type, {}};
  for (const std::string_view part : call.parts) {
    CLBIN_TRY_ASSIGN(auto item, parse_item(part));
    number.items.push_back(std::move(item));
  }
  return number;
}

Result<DescribedArgument> parse_value(std::string_view text) {
  DescribedArgument argument{{}, std::string(text), {}};
  const auto call = parse_call(text);
  const auto fills = names_of(Fill::zero);
  const auto fill = call ? std::ranges::find(fills, call->name) : fills.end();
  if (fill != fills.end() && *fill != format::name_of(Fill::stored)) { // which has data
    CLBIN_TRY_ASSIGN(argument.value,
                     parse_buffer(*call, static_cast<Fill>(std::distance(fills.begin(), fill))));
    return argument;
  }
  if (call && call->name == "local") {
    DescribedLocal local;
    CLBIN_TRY_ASSIGN(local.size_bytes, SizeExpression::parse(text.substr(text.find('('))));
    argument.value = std::move(local);
    return argument;
  }
  if (const auto type = call ? type_named(call->name) : std::nullopt) {
    CLBIN_TRY_ASSIGN(argument.value, parse_typed(*call, *type));
    return argument;
  }
  CLBIN_TRY_ASSIGN(auto item, parse_item(text));
  argument.value = DescribedNumber{std::nullopt, {std::move(item)}};
  return argument;
}

// "NAME=VALUE" or "VALUE"
Result<DescribedArgument> parse_argument(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool is_named = equals != std::string_view::npos;
  const std::string_view name = is_named ? base::without_blanks(text.substr(0, equals)) : "";
  CLBIN_TRY_ASSIGN(
      DescribedArgument argument,
      base::in_context(parse_value(base::without_blanks(is_named ? text.substr(equals + 1) : text)),
                       fmt::format("argument '{}'", base::printable_excerpt(text))));
  argument.name = name;
  return argument;
}

// "512x512", which ends before `ends`.
Result<std::vector<SizeExpression>> take_sizes(std::string_view& text, std::string_view ends) {
  std::vector<SizeExpression> sizes;
  do {
    if (!sizes.empty()) {
      text.remove_prefix(1);
    }
    CLBIN_TRY_ASSIGN(auto size, SizeExpression::take(text));
    sizes.push_back(std::move(size));
  } while (text.starts_with('x'));
  if (!text.empty() && ends.find(text.front()) == std::string_view::npos) {
    return refused("'{}' does not continue a size", base::printable_excerpt(text));
  }
  if (sizes.size() > k_most_dimensions) {
    return refused("a size has at most 3 dimensions, not {}", sizes.size());
  }
  return sizes;
}

// What stands before '=': "PROGRAM/KERNEL[CLASS]".
Result<void> parse_names(std::string_view text, LaunchDescription& launch) {
  text = base::without_blanks(text);
  if (const std::size_t bracket = text.find('['); bracket != std::string_view::npos) {
    std::string_view rest = text.substr(bracket + 1);
    CLBIN_TRY_ASSIGN(launch.class_size, take_sizes(rest, "]"));
    if (rest != "]") {
      return refused("']' is missing before '='");
    }
    text = text.substr(0, bracket);
  }
  const std::size_t slash = text.rfind('/');
  const bool has_program = slash != std::string_view::npos;
  launch.program = base::without_blanks(has_program ? text.substr(0, slash) : "");
  launch.kernel = base::without_blanks(has_program ? text.substr(slash + 1) : text);
  return launch.kernel.empty() ? Result<void>(refused("a kernel is missing before '='"))
                               : Result<void>();
}

// As many dimensions everywhere.
Result<void> check_dimensions(const LaunchDescription& launch) {
  for (const auto* sizes : {&launch.class_size, &launch.local_size}) {
    if (!sizes->empty() && sizes->size() != launch.global_size.size()) {
      return refused("the global size has {} dimensions, and another size {}",
                     launch.global_size.size(), sizes->size());
    }
  }
  if (launch.arguments.size() > k_most_arguments) {
    return refused("it has more than {} arguments", k_most_arguments);
  }
  return {};
}

Result<LaunchDescription> parse_launch(const std::string& text) {
  LaunchDescription launch;
  launch.text = base::printable_excerpt(text);
  const std::size_t equals = text.find('=');
  CLBIN_TRY(parse_names(std::string_view(text).substr(0, equals), launch));
  std::string_view rest = std::string_view(text).substr(equals + 1);
  CLBIN_TRY_ASSIGN(launch.global_size, take_sizes(rest, ",:"));
  if (rest.starts_with(',')) {
    rest.remove_prefix(1);
    CLBIN_TRY_ASSIGN(launch.local_size, take_sizes(rest, ":"));
  }
  if (rest.starts_with(':')) {
    for (const std::string_view part : split_at_commas(rest.substr(1))) {
      CLBIN_TRY_ASSIGN(auto argument, parse_argument(part));
      launch.arguments.push_back(std::move(argument));
    }
  } else if (!rest.empty()) {
    return refused("the arguments follow ':', but there is '{}'", base::printable_excerpt(rest));
  }
  CLBIN_TRY(check_dimensions(launch));
  return launch;
}

// ---- JSON --------------------------------------------------------------------------------------

// A number, or a text as on the command line.
Result<std::string> text_of(const JsonValue& value, std::string_view what) {
  if (const auto* const text = std::get_if<std::string>(&value.value)) {
    return *text;
  }
  if (const auto* const number = std::get_if<std::uint64_t>(&value.value)) {
    return fmt::format("{}", *number);
  }
  if (const auto* const other = std::get_if<base::OtherNumber>(&value.value)) {
    return other->text;
  }
  return refused("'{}' is neither a text nor a number", what);
}

Result<std::vector<SizeExpression>> sizes_of_json(const JsonValue& value, std::string_view what) {
  const auto* const items = std::get_if<JsonArray>(&value.value);
  if (items == nullptr || items->empty() || items->size() > k_most_dimensions) {
    return refused("'{}' is not a list of one to three sizes", what);
  }
  std::vector<SizeExpression> sizes;
  for (const JsonValue& item : *items) {
    CLBIN_TRY_ASSIGN(const std::string text, text_of(item, what));
    CLBIN_TRY_ASSIGN(auto size,
                     base::in_context(SizeExpression::parse(text), fmt::format("'{}'", what)));
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Result<void> add_argument(const std::string& name, const JsonValue& value,
                          LaunchDescription& launch) {
  const std::string what =
      name.empty() ? fmt::format("argument {}", launch.arguments.size()) : "argument " + name;
  CLBIN_TRY_ASSIGN(const std::string text, text_of(value, what));
  CLBIN_TRY_ASSIGN(auto argument, base::in_context(parse_value(base::without_blanks(text)), what));
  argument.name = name;
  launch.arguments.push_back(std::move(argument));
  return {};
}

Result<void> read_arguments(const JsonValue& value, LaunchDescription& launch) {
  if (const auto* const items = std::get_if<JsonArray>(&value.value)) {
    for (const JsonValue& item : *items) {
      CLBIN_TRY(add_argument({}, item, launch));
    }
    return {};
  }
  const auto* const members = std::get_if<JsonObject>(&value.value);
  if (members == nullptr) {
    return refused("'arguments' is neither a list nor an object");
  }
  for (const auto& [name, item] : *members) {
    CLBIN_TRY(add_argument(name, item, launch));
  }
  return {};
}

Result<LaunchDescription> launch_of_json(const JsonValue& value, std::string name) {
  const auto* const members = std::get_if<JsonObject>(&value.value);
  if (members == nullptr) {
    return refused("a launch is not an object");
  }
  LaunchDescription launch;
  launch.text = std::move(name);
  for (const auto& [member, item] : *members) {
    if (member == "kernel") {
      CLBIN_TRY_ASSIGN(launch.kernel, text_of(item, member));
    } else if (member == "program") {
      CLBIN_TRY_ASSIGN(launch.program, text_of(item, member));
    } else if (member == "class") {
      CLBIN_TRY_ASSIGN(launch.class_size, sizes_of_json(item, member));
    } else if (member == "global") {
      CLBIN_TRY_ASSIGN(launch.global_size, sizes_of_json(item, member));
    } else if (member == "local") {
      CLBIN_TRY_ASSIGN(launch.local_size, sizes_of_json(item, member));
    } else if (member == "arguments") {
      CLBIN_TRY(read_arguments(item, launch));
    } else {
      return refused("'{}' is not one of kernel, program, class, global, local and arguments",
                     base::printable_excerpt(member));
    }
  }
  if (launch.kernel.empty() || launch.global_size.empty()) {
    return refused("'{}' is missing", launch.kernel.empty() ? "kernel" : "global");
  }
  CLBIN_TRY(check_dimensions(launch));
  return launch;
}

Result<std::vector<LaunchDescription>> launches_of_file(const std::string& file) {
  CLBIN_TRY_ASSIGN(const auto bytes, base::read_whole_file(file, k_max_file_bytes));
  const auto document = base::in_context(base::parse_json(bytes, {}), file);
  if (!document) {
    return refused("{}", document.error().message);
  }
  const auto* const members = std::get_if<JsonObject>(&document->value);
  const auto found = members == nullptr ? JsonObject::const_iterator() : members->find("launches");
  const auto* const items = members == nullptr || found == members->end()
                                ? nullptr
                                : std::get_if<JsonArray>(&found->second.value);
  if (items == nullptr || items->empty()) {
    return refused("'{}' has no list 'launches'", file);
  }
  std::vector<LaunchDescription> launches;
  for (const JsonValue& item : *items) {
    const std::string name = fmt::format("{}: launch {}", file, launches.size());
    CLBIN_TRY_ASSIGN(auto launch, base::in_context(launch_of_json(item, name), name));
    launches.push_back(std::move(launch));
  }
  return launches;
}

// ---- The arguments of a kernel -----------------------------------------------------------------

std::string described(const KernelArgument& argument, std::size_t index) {
  return argument.name.empty() ? fmt::format("argument {}", index)
                               : fmt::format("argument {} '{}'", index, argument.name);
}

Result<void> check_number(const DescribedNumber& number, const KernelArgument& argument) {
  const auto shape = format::shape_of(argument.type_name);
  if (argument.address_space != AddressSpace::private_) {
    return refused("it is a pointer ({}), not a number", argument.type_name);
  }
  if (!shape) {
    return number.type ? Result<void>()
                       : refused("it is a '{}': name the type of the numbers in it, as f32(1, 2)",
                                 argument.type_name);
  }
  if (number.type && *number.type != shape->type) {
    return refused("it is a '{}', not of type {}", argument.type_name,
                   format::name_of(*number.type));
  }
  if (number.items.size() != shape->count) {
    return refused("it is a '{}', which has {} {}, not {}", argument.type_name, shape->count,
                   shape->count == 1 ? "number" : "numbers", number.items.size());
  }
  return {};
}

Result<void> check_buffer(const DescribedBuffer& buffer, const KernelArgument& argument) {
  if (argument.address_space != AddressSpace::global &&
      argument.address_space != AddressSpace::constant) {
    return refused("it is {} ({}), not a buffer",
                   argument.address_space == AddressSpace::local ? "local memory" : "a number",
                   argument.type_name);
  }
  if (!argument.type_name.ends_with('*')) { // images have the address space of buffers
    return refused("it is a '{}', which --launch cannot describe", argument.type_name);
  }
  std::string_view element = argument.type_name;
  element.remove_suffix(1);
  const auto shape = format::shape_of(base::without_blanks(element));
  const auto is_alike = [&](ElementType type) {
    return is_floating(type) == is_floating(buffer.type) &&
           element_bytes(type) == element_bytes(buffer.type);
  };
  if (shape && !is_alike(shape->type)) {
    return refused("it is a '{}', not a buffer of {}", argument.type_name,
                   format::name_of(buffer.type));
  }
  return {};
}

// Whether a recorded argument can be passed to the kernel of another variant.
Result<void> check_recorded(const LaunchArgument& recorded, const KernelArgument& argument) {
  const bool is_global = argument.address_space == AddressSpace::global ||
                         argument.address_space == AddressSpace::constant;
  const bool is_image = argument.access != format::AccessQualifier::none && !argument.is_pipe;
  const bool is_sampler = argument.type_name == "sampler_t";
  const bool is_local = argument.address_space == AddressSpace::local;
  const ArgumentKind kind = is_image     ? ArgumentKind::image
                            : is_sampler ? ArgumentKind::sampler
                            : is_local   ? ArgumentKind::local
                            : is_global  ? ArgumentKind::buffer
                                         : ArgumentKind::number;
  const auto shape = format::shape_of(argument.type_name);
  const std::uint64_t bytes = shape ? shape->stored * element_bytes(shape->type) : 0;
  if (kind != recorded.kind && !(is_image && recorded.count == 0)) {
    return refused("it is a '{}', and a {} was recorded", argument.type_name,
                   format::name_of(recorded.kind));
  }
  return kind == ArgumentKind::number && bytes != 0 && bytes != recorded.number.size()
             ? refused("it is a '{}' of {} bytes, and {} were recorded", argument.type_name, bytes,
                       recorded.number.size())
             : Result<void>();
}

Result<void> check_argument(const DescribedArgument& described, const KernelArgument& argument) {
  if (const auto* const recorded = std::get_if<LaunchArgument>(&described.value)) {
    return check_recorded(*recorded, argument);
  }
  if (argument.is_pipe || argument.type_name == "sampler_t" ||
      argument.access != format::AccessQualifier::none) {
    return refused("it is a '{}', which --launch cannot describe", argument.type_name);
  }
  if (const auto* const number = std::get_if<DescribedNumber>(&described.value)) {
    return check_number(*number, argument);
  }
  if (const auto* const buffer = std::get_if<DescribedBuffer>(&described.value)) {
    return check_buffer(*buffer, argument);
  }
  return argument.address_space == AddressSpace::local
             ? Result<void>()
             : refused("it is a '{}', not local memory", argument.type_name);
}

// Returns the described arguments in the order of the kernel's, which may have no names.
Result<std::vector<const DescribedArgument*>> in_order(const LaunchDescription& launch,
                                                       const format::KernelReflection& kernel) {
  const std::size_t count =
      kernel.arguments
          ? kernel.arguments->size()
          : kernel.argument_count.value_or(static_cast<std::uint32_t>(launch.arguments.size()));
  if (count > k_most_arguments) {
    return refused("kernel '{}' has {} arguments", kernel.name, count);
  }
  std::vector<const DescribedArgument*> ordered(count);
  std::size_t position = 0;
  for (const DescribedArgument& argument : launch.arguments) {
    std::size_t place = position;
    if (!argument.name.empty()) {
      const auto named = [&](const KernelArgument& known) { return known.name == argument.name; };
      const auto found = kernel.arguments ? std::ranges::find_if(*kernel.arguments, named)
                                          : std::vector<KernelArgument>::const_iterator();
      if (!kernel.arguments || found == kernel.arguments->end()) {
        return refused("kernel '{}' has no argument '{}'{}", kernel.name, argument.name,
                       kernel.arguments ? "" : " that is known by name");
      }
      place = static_cast<std::size_t>(std::distance(kernel.arguments->begin(), found));
    } else {
      ++position;
    }
    if (place >= count) {
      return refused("kernel '{}' has {} arguments, not {}", kernel.name, count,
                     launch.arguments.size());
    }
    if (ordered[place] != nullptr) {
      return refused("argument {} of kernel '{}' is given twice", place, kernel.name);
    }
    ordered[place] = &argument;
  }
  if (const auto missing = std::ranges::find(ordered, nullptr); missing != ordered.end()) {
    const auto index = static_cast<std::size_t>(std::distance(ordered.begin(), missing));
    return refused(
        "{} of kernel '{}' is missing",
        described(kernel.arguments ? (*kernel.arguments)[index] : KernelArgument(), index),
        kernel.name);
  }
  return ordered;
}

// ---- Values ------------------------------------------------------------------------------------

void append_bits(base::Bytes& bytes, std::uint64_t bits, std::uint64_t width) {
  for (std::uint64_t byte = 0; byte < width; ++byte) {
    bytes.push_back(static_cast<std::byte>(bits >> (8 * byte)));
  }
}

std::uint64_t bits_of_float(double number, ElementType type) {
  if (type == ElementType::f64) {
    return std::bit_cast<std::uint64_t>(number);
  }
  const auto single = static_cast<float>(number);
  return type == ElementType::f16 ? format::half_of(single) : std::bit_cast<std::uint32_t>(single);
}

// Of a literal, whose type decides which numbers it accepts.
Result<std::uint64_t> bits_of_literal(std::string_view text, ElementType type) {
  if (is_floating(type)) {
    return bits_of_float(*base::parse_real(text), type);
  }
  const bool is_signed = format::name_of(type).starts_with('i');
  const std::uint64_t bit_count = 8 * element_bytes(type) - (is_signed ? 1 : 0);
  const std::uint64_t largest = bit_count == 64 ? ~0ULL : (1ULL << bit_count) - 1;
  const bool is_negative = text.starts_with('-');
  const auto magnitude = base::parse_number<std::uint64_t>(text.substr(is_negative ? 1 : 0));
  if (!magnitude || *magnitude > largest + (is_negative && is_signed ? 1 : 0) ||
      (is_negative && !is_signed && *magnitude != 0)) {
    return refused("'{}' is not a number of type {}", base::printable_excerpt(text),
                   format::name_of(type));
  }
  return is_negative ? 0 - *magnitude : *magnitude;
}

class Binder {
public:
  Binder(const LaunchDescription& launch, const format::KernelReflection& kernel,
         const MacroValues& macros, const format::GroupSize& local_size)
      : m_launch(launch), m_kernel(kernel), m_macros(macros), m_local(local_size) {}

  Result<BoundLaunch> bind() {
    CLBIN_TRY_ASSIGN(m_ordered, in_order(m_launch, m_kernel));
    name_numbers();
    BoundLaunch bound;
    bound.dimensions = static_cast<std::uint32_t>(m_launch.global_size.size());
    CLBIN_TRY(bind_local(bound));
    if (m_local[0] == 0 && depends_on_local_size()) {
      bound.class_size = {};
    } else {
      CLBIN_TRY_ASSIGN(bound.global_size, sizes(m_launch.global_size));
      bound.class_size = bound.global_size;
    }
    if (!m_launch.class_size.empty()) {
      CLBIN_TRY_ASSIGN(bound.class_size, sizes(m_launch.class_size));
    }
    for (std::size_t i = 0; i < m_ordered.size(); ++i) {
      const KernelArgument known = m_kernel.arguments ? (*m_kernel.arguments)[i] : KernelArgument();
      CLBIN_TRY_ASSIGN(auto argument, base::in_context(bind_argument(*m_ordered[i], known, i),
                                                       described(known, i)));
      bound.arguments.push_back(std::move(argument));
    }
    CLBIN_TRY(check_buffer_bytes(bound));
    return bound;
  }

private:
  // Plain whole numbers of arguments are values of expressions.
  void name_numbers() {
    for (std::size_t i = 0; m_kernel.arguments && i < m_ordered.size(); ++i) {
      const auto* const number = std::get_if<DescribedNumber>(&m_ordered[i]->value);
      const auto value = number != nullptr && number->items.size() == 1
                             ? base::parse_number<std::uint64_t>(number->items.front().text)
                             : std::nullopt;
      if (value) {
        m_numbers[(*m_kernel.arguments)[i].name] = *value;
      }
    }
  }

  [[nodiscard]] bool depends_on_local_size() const {
    return std::ranges::any_of(m_launch.global_size, [](const SizeExpression& size) {
      const auto names = size.names();
      return std::ranges::any_of(names,
                                 [](const std::string& name) { return local_index(name) < 3; });
    });
  }

  static std::size_t local_index(const std::string& name) {
    constexpr std::string_view k_names[]{"local0", "local1", "local2"};
    return static_cast<std::size_t>(
        std::distance(std::begin(k_names), std::ranges::find(k_names, name)));
  }

  [[nodiscard]] std::optional<std::uint64_t> value_of(const std::string& name) const {
    if (const std::size_t index = local_index(name); index < 3) {
      return m_local[0] == 0 ? std::nullopt : std::optional(m_local[index]);
    }
    for (const auto* values : {&m_macros, &m_numbers}) {
      if (const auto found = values->find(name); found != values->end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Result<std::uint64_t> evaluate(const SizeExpression& expression) const {
    for (const std::string& name : expression.names()) {
      if (const auto macro = m_macros.find(name); macro != m_macros.end() && !macro->second) {
        return refused("'{}' needs the macro {}, which the options of the variant do not define as "
                       "a whole number",
                       expression.text(), name);
      }
    }
    return expression.evaluate([this](const std::string& name) { return value_of(name); });
  }

  [[nodiscard]] Result<format::GroupSize> sizes(const std::vector<SizeExpression>& all) const {
    format::GroupSize result{1, 1, 1};
    for (std::size_t i = 0; i < all.size(); ++i) {
      CLBIN_TRY_ASSIGN(result[i], evaluate(all[i]));
      if (result[i] == 0) {
        return refused("the size '{}' is 0", all[i].text());
      }
    }
    return result;
  }

  // A required size, the described one, or that of the caller, in this order.
  Result<void> bind_local(BoundLaunch& bound) {
    const format::GroupSize& required = m_kernel.required_work_group_size;
    if (!m_launch.local_size.empty()) {
      m_local = required; // local0 is known in the size itself if the kernel requires one
      CLBIN_TRY_ASSIGN(m_local, sizes(m_launch.local_size));
      if (required[0] != 0 && m_local != required) {
        return refused("kernel '{}' requires work-groups of {}, not of {}", m_kernel.name,
                       size_text(required, 3), size_text(m_local, 3));
      }
    } else if (required[0] != 0) {
      m_local = required;
    }
    bound.local_size = m_local;
    return {};
  }

  Result<LaunchArgument> bind_argument(const DescribedArgument& described,
                                       const KernelArgument& known, std::size_t index) const {
    CLBIN_TRY(m_kernel.arguments ? check_argument(described, known) : Result<void>());
    LaunchArgument argument;
    if (const auto* const buffer = std::get_if<DescribedBuffer>(&described.value)) {
      argument.kind = ArgumentKind::buffer;
      argument.type = buffer->type;
      argument.fill = buffer->fill;
      argument.seed = buffer->seed.value_or(index + 1);
      argument.is_constant = known.is_const || known.address_space == AddressSpace::constant;
      CLBIN_TRY_ASSIGN(argument.count, evaluate(buffer->count));
      return argument.count != 0 ? Result<LaunchArgument>(argument)
                                 : refused("the buffer has no elements");
    }
    if (const auto* const local = std::get_if<DescribedLocal>(&described.value)) {
      argument.kind = ArgumentKind::local;
      CLBIN_TRY_ASSIGN(argument.count, evaluate(local->size_bytes));
      return argument.count != 0 ? Result<LaunchArgument>(argument)
                                 : refused("the local memory has no bytes");
    }
    if (const auto* const recorded = std::get_if<LaunchArgument>(&described.value)) {
      return *recorded;
    }
    return bind_number(std::get<DescribedNumber>(described.value), known);
  }

  [[nodiscard]] Result<LaunchArgument> bind_number(const DescribedNumber& number,
                                                   const KernelArgument& known) const {
    const auto shape = m_kernel.arguments ? format::shape_of(known.type_name) : std::nullopt;
    if (!shape && !number.type) {
      return refused("its type is not known: name it, as i32({})", number.items.front().text);
    }
    const ElementType type = shape ? shape->type : *number.type;
    LaunchArgument argument;
    argument.type = type;
    for (const DescribedNumber::Item& item : number.items) {
      std::string text = item.text;
      if (item.expression) {
        CLBIN_TRY_ASSIGN(const std::uint64_t value, evaluate(*item.expression));
        text = fmt::format("{}", value);
      }
      CLBIN_TRY_ASSIGN(const std::uint64_t bits, bits_of_literal(text, type));
      append_bits(argument.number, bits, element_bytes(type));
    }
    const std::size_t stored = shape ? shape->stored : number.items.size();
    argument.number.resize(stored * element_bytes(type));
    return argument;
  }

  [[nodiscard]] static Result<void> check_buffer_bytes(const BoundLaunch& bound) {
    std::uint64_t left = k_max_buffer_bytes;
    for (const LaunchArgument& argument : bound.arguments) {
      if (!format::is_memory(argument)) {
        continue;
      }
      if (argument.count > left / element_bytes(argument.type)) {
        return refused("its buffers have more than {} MiB", k_max_buffer_bytes >> 20U);
      }
      left -= argument.count * element_bytes(argument.type);
    }
    return {};
  }

  const LaunchDescription& m_launch;
  const format::KernelReflection& m_kernel;
  const MacroValues& m_macros;
  MacroValues m_numbers{};
  format::GroupSize m_local;
  std::vector<const DescribedArgument*> m_ordered{};
};

// Returns the value of an integer literal of C, which may stand in parentheses: "(0x10u)".
std::optional<std::uint64_t> integer_of(std::string_view text) {
  while (text.size() > 2 && text.starts_with('(') && text.ends_with(')')) {
    text = text.substr(1, text.size() - 2);
  }
  text = text.substr(0, text.find_last_not_of("uUlL") + 1);
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool is_octal = !is_hexadecimal && text.size() > 1 && text.starts_with('0');
  text.remove_prefix(is_hexadecimal ? 2 : 0);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number,
                                            is_hexadecimal ? 16
                                            : is_octal     ? 8
                                                           : 10);
  return stop == end && code == std::errc() ? std::optional(number) : std::nullopt;
}

} // namespace

Result<std::vector<LaunchDescription>> read_launches(const std::string& text) {
  if (text.find('=') == std::string::npos) {
    return launches_of_file(text);
  }
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  CLBIN_TRY_ASSIGN(auto launch,
                   base::in_context(parse_launch(line),
                                    fmt::format("--launch '{}'", base::printable_excerpt(text))));
  return std::vector<LaunchDescription>{std::move(launch)};
}

LaunchDescription description_of(const std::string& program, const format::KnownAnswer& recorded) {
  LaunchDescription launch;
  launch.text = fmt::format("{} with {} work-items", base::printable_excerpt(recorded.kernel),
                            size_text(recorded.global_size, recorded.dimensions));
  launch.program = program;
  launch.kernel = recorded.kernel;
  for (std::uint32_t i = 0; i < recorded.dimensions; ++i) {
    launch.global_size.push_back(SizeExpression::of(recorded.global_size[i]));
    if (recorded.local_size[0] != 0) {
      launch.local_size.push_back(SizeExpression::of(recorded.local_size[i]));
    }
  }
  for (const LaunchArgument& argument : recorded.arguments) {
    launch.arguments.push_back({{}, {}, argument});
  }
  launch.recorded = recorded;
  return launch;
}

std::string told(const LaunchDescription& launch) {
  return launch.recorded ? fmt::format("recorded launch '{}'", launch.text)
                         : fmt::format("--launch '{}'", launch.text);
}

MacroValues macro_values(const std::string& options) {
  clbin::source::MacroTable table;
  clbin::closure::add_macro_values(
      clbin::closure::cancel_undone(BuildOptions::recorded(options).words()), table);
  MacroValues values;
  for (const auto& [name, texts] : table) {
    const auto& last = *texts.rbegin();
    values[name] = last.parameters ? std::nullopt : integer_of(base::without_blanks(last.text));
  }
  return values;
}

Result<void> check_arguments(const LaunchDescription& launch,
                             const format::KernelReflection& kernel) {
  CLBIN_TRY_ASSIGN(const auto ordered, in_order(launch, kernel));
  for (std::size_t i = 0; kernel.arguments && i < ordered.size(); ++i) {
    const KernelArgument& known = (*kernel.arguments)[i];
    CLBIN_TRY(base::in_context(check_argument(*ordered[i], known),
                               fmt::format("{} of kernel '{}'", described(known, i), kernel.name)));
  }
  return {};
}

Result<BoundLaunch> bind_launch(const LaunchDescription& launch,
                                const format::KernelReflection& kernel, const MacroValues& macros,
                                const format::GroupSize& local_size) {
  return Binder(launch, kernel, macros, local_size).bind();
}

std::string size_text(const format::GroupSize& size, std::uint32_t dimensions) {
  return fmt::format("{}", fmt::join(std::span(size).first(dimensions), "x"));
}

} // namespace oclcc
