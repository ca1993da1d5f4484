#include "format/binary/kernel_metadata.hpp"

#include "base/text.hpp"

namespace clbin::format {
namespace {

using base::ErrorCode;
using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using base::Result;

constexpr int k_max_block_nesting = 16;

// A line that is neither empty nor a comment, without the surrounding blanks.
struct YamlLine {
  std::size_t number = 0; // from 1
  std::size_t indent = 0;
  std::string_view text;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \r") - first + 1);
}

// Returns the lines of the first document.
std::vector<YamlLine> document_lines(std::string_view text) {
  std::vector<YamlLine> lines;
  std::size_t number = 0;
  for (const std::string_view line : base::split_lines(text)) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content == "...") {
      break;
    }
    if (!content.empty() && content != "---" && content.front() != '#') {
      lines.push_back({number, line.find_first_not_of(' '), content});
    }
  }
  return lines;
}

bool is_list_item(std::string_view text) {
  return text == "-" || text.starts_with("- ");
}

// Returns the position of the colon that ends the key of "key: value" or "key:".
std::optional<std::size_t> key_end(std::string_view text) {
  if (text.starts_with('\'') || text.starts_with('"') || text.starts_with('[')) {
    return std::nullopt;
  }
  const std::size_t at = text.find(": ");
  if (at != std::string_view::npos) {
    return at;
  }
  return text.ends_with(':') ? std::optional(text.size() - 1) : std::nullopt;
}

JsonValue plain_scalar(std::string_view text) {
  if (text == "true" || text == "false") {
    return {text == "true"};
  }
  if (const auto number = base::parse_number<std::uint64_t>(text)) {
    return {*number};
  }
  return {std::string(text)};
}

class BlockParser {
public:
  explicit BlockParser(std::string_view text) : m_lines(document_lines(text)) {}

  Result<JsonValue> parse() {
    if (m_lines.empty()) {
      return base::fail(ErrorCode::damaged, "no lines");
    }
    CLBIN_TRY_ASSIGN(JsonValue value, parse_block(m_lines.front().indent));
    if (!is_at_end()) {
      return refuse("unexpected indentation");
    }
    return value;
  }

private:
  [[nodiscard]] bool is_at_end() const { return m_at == m_lines.size(); }
  [[nodiscard]] YamlLine& line() { return m_lines[m_at]; }

  tl::unexpected<base::Error> refuse(std::string_view reason) {
    const std::size_t number = m_lines[std::min(m_at, m_lines.size() - 1)].number;
    return base::fail(ErrorCode::damaged, "line {}: {}", number, reason);
  }

  // Parses the list or map that begins at the current line, whose indentation is `indent`.
  Result<JsonValue> parse_block(std::size_t indent) {
    if (m_nesting == k_max_block_nesting) {
      return refuse("nested deeper than 16");
    }
    ++m_nesting;
    auto value = is_list_item(line().text) ? parse_list(indent) : parse_map(indent);
    --m_nesting;
    return value;
  }

  Result<JsonValue> parse_list(std::size_t indent) {
    JsonArray items;
    while (!is_at_end() && line().indent == indent && is_list_item(line().text)) {
      CLBIN_TRY_ASSIGN(JsonValue item, parse_item(indent));
      items.push_back(std::move(item));
    }
    return JsonValue{std::move(items)};
  }

  Result<JsonValue> parse_item(std::size_t indent) {
    const std::string_view rest = trimmed(line().text.substr(1));
    if (rest.empty()) {
      return parse_nested(indent + 1);
    }
    if (!is_list_item(rest) && !key_end(rest)) {
      return parse_value(rest);
    }
    const auto column = indent + static_cast<std::size_t>(rest.data() - line().text.data());
    line() = {line().number, column, rest};
    return parse_block(column);
  }

  Result<JsonValue> parse_map(std::size_t indent) {
    JsonObject members;
    while (!is_at_end() && line().indent == indent && !is_list_item(line().text)) {
      const std::string_view text = line().text;
      const auto end = key_end(text);
      if (!end || *end == 0) {
        return refuse("no key");
      }
      const std::string key(trimmed(text.substr(0, *end)));
      if (members.contains(key)) {
        return refuse(fmt::format("duplicate key '{}'", base::printable_excerpt(key)));
      }
      const std::string_view rest = trimmed(text.substr(*end + 1));
      // A list below its key is not necessarily indented.
      CLBIN_TRY_ASSIGN(JsonValue value, rest.empty() ? parse_nested(indent) : parse_value(rest));
      members.emplace(key, std::move(value));
    }
    return JsonValue{std::move(members)};
  }

  // Parses the block below the current line, which consists of only a key or a dash. The block is
  // indented by at least `indent`. If there is none, returns an empty text.
  Result<JsonValue> parse_nested(std::size_t indent) {
    const std::size_t own_indent = line().indent;
    ++m_at;
    if (is_at_end() || line().indent < indent ||
        (line().indent == own_indent && !is_list_item(line().text))) {
      return JsonValue{std::string()};
    }
    return parse_block(line().indent);
  }

  // Parses a scalar or a list in brackets at the end of the current line.
  Result<JsonValue> parse_value(std::string_view text) {
    if (text.front() == '[') {
      return parse_flow_list(text);
    }
    auto value = parse_scalar(text);
    if (value) {
      ++m_at;
    }
    return value;
  }

  // LLVM's writer breaks long lists after a comma.
  Result<JsonValue> parse_flow_list(std::string_view text) {
    JsonArray items;
    text = trimmed(text.substr(1));
    while (!text.starts_with(']')) {
      if (text.empty()) {
        ++m_at;
        if (is_at_end()) {
          return refuse("the list does not end");
        }
        text = line().text;
        continue;
      }
      const std::size_t size = text.find_first_of(",]");
      if (size == std::string_view::npos) {
        return refuse("the list does not end");
      }
      CLBIN_TRY_ASSIGN(JsonValue item, parse_scalar(trimmed(text.substr(0, size))));
      items.push_back(std::move(item));
      text = trimmed(text.substr(size + (text[size] == ',' ? 1 : 0)));
    }
    if (text.size() > 1) {
      return refuse("text after the list");
    }
    ++m_at;
    return JsonValue{std::move(items)};
  }

  Result<JsonValue> parse_scalar(std::string_view text) {
    if (text.empty()) {
      return refuse("a value is missing");
    }
    if (text.front() == '\'' || text.front() == '"') {
      return parse_quoted(text);
    }
    if (std::string_view("{[&*!|>%@`").find(text.front()) != std::string_view::npos) {
      return refuse(fmt::format("'{}' is not supported", text.front()));
    }
    return plain_scalar(text);
  }

  Result<JsonValue> parse_quoted(std::string_view text) {
    const char quote = text.front();
    std::string content;
    std::size_t at = 1;
    for (; at < text.size(); ++at) {
      const bool has_next = at + 1 < text.size();
      if (text[at] == quote && quote == '\'' && has_next && text[at + 1] == quote) {
        ++at; // '' is one quote
      } else if (text[at] == quote) {
        break;
      } else if (text[at] == '\\' && quote == '"') {
        if (!has_next || (text[at + 1] != '"' && text[at + 1] != '\\')) {
          return refuse("unknown escape sequence");
        }
        ++at;
      }
      content += text[at];
    }
    if (at + 1 != text.size()) {
      return refuse("the quoted text does not end with its line");
    }
    return JsonValue{std::move(content)};
  }

  std::vector<YamlLine> m_lines;
  std::size_t m_at = 0;
  int m_nesting = 0;
};

} // namespace

Result<JsonValue> parse_block_yaml(std::string_view text) {
  return BlockParser(text).parse();
}

MetadataMap::MetadataMap(const JsonValue& value, std::string path, Result<void>& status)
    : m_members(std::get_if<JsonObject>(&value.value)), m_path(std::move(path)), m_status(&status) {
  static const JsonObject k_empty;
  if (m_members == nullptr) {
    m_members = &k_empty;
    if (status) {
      status = base::fail(ErrorCode::damaged, "{}: not a map", m_path);
    }
  }
}

void MetadataMap::refuse(std::string_view name, std::string_view reason) const {
  if (*m_status) {
    *m_status = base::fail(ErrorCode::damaged, "{}: {}", path_of(name), reason);
  }
}

template <typename T>
const T& MetadataMap::find(std::string_view name, std::string_view expected) const {
  static const T k_empty{};
  const auto member = m_members->find(name);
  if (member == m_members->end() || !*m_status) {
    return k_empty;
  }
  const T* const value = std::get_if<T>(&member->second.value);
  if (value == nullptr) {
    refuse(name, fmt::format("not {}", expected));
    return k_empty;
  }
  return *value;
}

std::string MetadataMap::text(std::string_view name) const {
  return find<std::string>(name, "a string");
}

std::uint64_t MetadataMap::number(std::string_view name) const {
  return find<std::uint64_t>(name, "an unsigned integer");
}

bool MetadataMap::flag(std::string_view name) const {
  return find<bool>(name, "true or false");
}

GroupSize MetadataMap::size3(std::string_view name) const {
  GroupSize size{};
  const auto& items = find<JsonArray>(name, "a list");
  if (!items.empty() && items.size() != size.size()) {
    refuse(name, fmt::format("{} numbers and not {}", items.size(), size.size()));
    return size;
  }
  for (std::size_t index = 0; index < items.size(); ++index) {
    const auto* const extent = std::get_if<std::uint64_t>(&items[index].value);
    if (extent == nullptr) {
      refuse(name, "not three unsigned integers");
      return {};
    }
    size[index] = *extent;
  }
  return size;
}

MetadataMap MetadataMap::map(std::string_view name) const {
  static const JsonValue k_empty{JsonObject()};
  const auto member = m_members->find(name);
  return {member == m_members->end() ? k_empty : member->second, path_of(name), *m_status};
}

void MetadataMap::for_each(std::string_view name,
                           const std::function<void(const MetadataMap&)>& read,
                           std::string path) const {
  path = path.empty() ? path_of(name) : path;
  std::size_t count = 0;
  for (const JsonValue& item : find<JsonArray>(name, "a list")) {
    if (!*m_status) {
      return;
    }
    read(MetadataMap(item, fmt::format("{}[{}]", path, count++), *m_status));
  }
}

std::string MetadataMap::required_text(std::string_view name) const {
  std::string text = this->text(name);
  if (text.empty()) {
    refuse(name, "missing");
  }
  return text;
}

std::vector<KernelReflection> values_of(std::map<std::string, KernelReflection>&& kernels) {
  std::vector<KernelReflection> values;
  values.reserve(kernels.size());
  for (auto& [name, kernel] : kernels) {
    values.push_back(std::move(kernel));
  }
  return values;
}

std::string kernel_attributes(const GroupSize& required, const GroupSize& hint,
                              std::string_view vec_type_hint, std::uint64_t sub_group_size) {
  std::string attributes;
  const auto add = [&](const std::string& attribute) {
    attributes += (attributes.empty() ? "" : " ") + attribute;
  };
  const auto add_size = [&](std::string_view name, const GroupSize& size) {
    if (size != GroupSize{}) {
      add(fmt::format("{}({},{},{})", name, size[0], size[1], size[2]));
    }
  };
  add_size("reqd_work_group_size", required);
  add_size("work_group_size_hint", hint);
  if (!vec_type_hint.empty()) {
    add(fmt::format("vec_type_hint({})", vec_type_hint));
  }
  if (sub_group_size != 0) {
    add(fmt::format("intel_reqd_sub_group_size({})", sub_group_size));
  }
  return attributes;
}

void set_type_qualifiers(std::string_view words, KernelArgument& argument) {
  const auto has = [words](std::string_view word) {
    return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
  };
  argument.is_const = has("const");
  argument.is_restrict = has("restrict");
  argument.is_volatile = has("volatile");
  argument.is_pipe = has("pipe");
}

} // namespace clbin::format
