#include "format/binary/binary_kernels.hpp"

#include "base/json_document.hpp"

#include <charconv>
#include <set>

namespace clbin::format {
namespace {

constexpr std::uint64_t k_max_variable_bytes = 1ULL << 40U;

enum class TokenKind : std::uint8_t { end, word, text, sign };

struct PtxToken {
  TokenKind kind = TokenKind::end;
  std::string_view text; // the contents of a quoted text

  [[nodiscard]] bool is(std::string_view expected) const {
    return kind != TokenKind::text && text == expected;
  }
};

bool is_token_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.' ||
         character == '$' || character == '%';
}

// Splits text into words, quoted texts and single characters; skips blanks and comments.
class PtxTokens {
public:
  explicit PtxTokens(std::string_view text) : m_rest(text.substr(0, text.find('\0'))) {}

  PtxToken next() {
    skip_blanks();
    if (m_rest.empty()) {
      return {};
    }
    if (m_rest.front() == '"') {
      const std::size_t end = std::min(m_rest.find('"', 1), m_rest.size());
      const PtxToken token{TokenKind::text, m_rest.substr(1, end - 1)};
      m_rest.remove_prefix(std::min(end + 1, m_rest.size()));
      return token;
    }
    std::size_t size = 0;
    while (size < m_rest.size() && is_token_character(m_rest[size])) {
      ++size;
    }
    const PtxToken token{size == 0 ? TokenKind::sign : TokenKind::word,
                         m_rest.substr(0, std::max<std::size_t>(size, 1))};
    m_rest.remove_prefix(token.text.size());
    return token;
  }

  PtxToken peek() const {
    PtxTokens copy = *this;
    return copy.next();
  }

  // Reads the next token if it is `expected`. Returns whether it is.
  bool skip(std::string_view expected) {
    const bool is_expected = peek().is(expected);
    if (is_expected) {
      next();
    }
    return is_expected;
  }

  [[nodiscard]] bool is_at_end() const { return m_rest.empty(); }

private:
  void skip_past(std::string_view end) {
    const std::size_t at = m_rest.find(end);
    m_rest = at == std::string_view::npos ? std::string_view{} : m_rest.substr(at + end.size());
  }

  void skip_blanks() {
    while (!m_rest.empty()) {
      const std::size_t at = m_rest.find_first_not_of(" \t\r\n\v\f");
      m_rest = at == std::string_view::npos ? std::string_view{} : m_rest.substr(at);
      if (m_rest.starts_with("//")) {
        skip_past("\n");
      } else if (m_rest.starts_with("/*")) {
        m_rest.remove_prefix(2);
        skip_past("*/");
      } else {
        return;
      }
    }
  }

  std::string_view m_rest;
};

// Parses all of `text` as a decimal number of at most `max`.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, Number max) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || stop != end || number > max) {
    return std::nullopt;
  }
  return number;
}

// Returns the next word of the header; std::nullopt for a word that ends with the text, because it
// may be cut.
std::optional<std::string_view> next_word(PtxTokens& tokens) {
  const PtxToken token = tokens.next();
  const bool is_cut = token.kind != TokenKind::sign && tokens.is_at_end();
  return is_cut ? std::nullopt : std::optional(token.text);
}

// "7.5"
bool parse_version(std::string_view word, BinaryInfo& info) {
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  const auto major = parse_number(word.substr(0, dot), std::uint16_t{0xff});
  const auto minor = parse_number(word.substr(dot + 1), std::uint16_t{0xff});
  if (!major || !minor) {
    return false;
  }
  info.format_major = *major;
  info.format_minor = *minor;
  return true;
}

// "sm_90a"
bool parse_sm(std::string_view word, BinaryInfo& info) {
  word.remove_prefix(std::string_view("sm_").size());
  if (word.ends_with('a') || word.ends_with('f')) {
    info.arch_suffix = word.back();
    word.remove_suffix(1);
  }
  const auto sm = parse_number(word, std::uint16_t{999});
  if (!sm || *sm < 10) {
    return false;
  }
  info.arch_major = *sm / 10;
  info.arch_minor = *sm % 10;
  return true;
}

// Parses "sm_50, texmode_independent": the second word marks OpenCL's flavour (doc/drivers.md,
// "NVIDIA").
bool read_target(PtxTokens& tokens, BinaryInfo& info) {
  bool has_sm = false;
  info.ptx_flavour = PtxFlavour::cuda;
  do {
    const auto word = next_word(tokens);
    if (!word) {
      return false;
    }
    if (word->starts_with("sm_")) {
      if (has_sm || !parse_sm(*word, info)) {
        return false;
      }
      has_sm = true;
    } else if (*word == "texmode_independent") {
      info.ptx_flavour = PtxFlavour::nvcl;
    }
  } while (tokens.skip(","));
  return has_sm;
}

bool read_address_size(PtxTokens& tokens, BinaryInfo& info) {
  const auto directive = next_word(tokens);
  if (!directive) {
    return false;
  }
  info.address_bits = 32;
  if (*directive != ".address_size") {
    return true;
  }
  const auto word = next_word(tokens);
  const auto bits = word ? parse_number(*word, std::uint16_t{64}) : std::nullopt;
  if (!bits || (*bits != 32 && *bits != 64)) {
    return false;
  }
  info.address_bits = static_cast<std::uint8_t>(*bits);
  return true;
}

bool expect_word(PtxTokens& tokens, std::string_view expected) {
  const auto word = next_word(tokens);
  return word && *word == expected;
}

struct TypeSize {
  std::string_view name;
  std::uint64_t bytes;
};

// PTX ISA, "Fundamental Types" and "Packed Data Types".
constexpr std::array k_type_sizes{
    TypeSize{".b8", 1},    TypeSize{".u8", 1},   TypeSize{".s8", 1},  TypeSize{".b16", 2},
    TypeSize{".u16", 2},   TypeSize{".s16", 2},  TypeSize{".f16", 2}, TypeSize{".bf16", 2},
    TypeSize{".b32", 4},   TypeSize{".u32", 4},  TypeSize{".s32", 4}, TypeSize{".f32", 4},
    TypeSize{".f16x2", 4}, TypeSize{".b64", 8},  TypeSize{".u64", 8}, TypeSize{".s64", 8},
    TypeSize{".f64", 8},   TypeSize{".v2", 2},   TypeSize{".v4", 4},  TypeSize{".b128", 16},
    TypeSize{".v8", 8},    TypeSize{".pred", 1},
};

// A variable or parameter: ".align 4 .b8 name[256]".
struct PtxVariable {
  std::string_view name;
  std::uint64_t size_bytes = 0;
  std::uint64_t alignment = 1;
  PtxParameterKind kind = PtxParameterKind::value;
  AddressSpace address_space = AddressSpace::private_;
};

class PtxReader {
public:
  explicit PtxReader(std::string_view text) : m_tokens(text) {}

  Result<std::vector<PtxKernel>> read() {
    for (PtxToken token = m_tokens.next(); token.kind != TokenKind::end; token = m_tokens.next()) {
      if (token.is(".entry")) {
        CLBIN_TRY(read_entry());
      } else if (token.is(".func")) {
        CLBIN_TRY(read_function());
      } else if (token.is(".shared")) {
        CLBIN_TRY(read_module_variable());
      } else if (token.is(".metadata_section")) {
        read_metadata();
      } else if (token.is("{")) {
        skip_block(); // the values of a variable, or a section
      }
    }
    return finish();
  }

private:
  // The shared memory of a body, and the known properties of its code.
  struct Body {
    std::uint64_t shared_bytes = 0;
    bool has_calls = false;
    std::set<std::size_t> module_variables; // indices in m_shared
  };

  static tl::unexpected<base::Error> refuse(std::string_view kernel, std::string_view reason) {
    return fail(ErrorCode::damaged, "PTX: '{}': {}", base::printable_excerpt(kernel), reason);
  }

  static std::uint64_t add_variable(std::uint64_t bytes, const PtxVariable& variable) {
    const std::uint64_t excess = bytes % variable.alignment;
    return bytes + (excess == 0 ? 0 : variable.alignment - excess) + variable.size_bytes;
  }

  Result<void> read_entry() {
    const PtxToken name = m_tokens.next();
    if (name.kind != TokenKind::word) {
      return refuse(".entry", "a kernel has no name");
    }
    PtxKernel kernel;
    kernel.reflection.name = name.text;
    if (m_kernels.contains(kernel.reflection.name)) {
      return refuse(name.text, "two kernels have this name");
    }
    if (m_tokens.skip("(")) {
      CLBIN_TRY(read_parameters(kernel));
    }
    kernel.reflection.argument_count = static_cast<std::uint32_t>(kernel.parameters.size());
    CLBIN_TRY(read_directives(kernel.reflection));
    Body body;
    CLBIN_TRY(read_body(name.text, body));
    for (const std::size_t index : body.module_variables) {
      body.shared_bytes = add_variable(body.shared_bytes, m_shared[index]);
      if (body.shared_bytes > k_max_variable_bytes) {
        return refuse(name.text, "the .shared variables that it names are too large");
      }
    }
    kernel.reflection.local_bytes = body.shared_bytes;
    if (body.has_calls) {
      m_callers.insert(kernel.reflection.name);
    }
    std::string key = kernel.reflection.name;
    m_kernels.emplace(std::move(key), std::move(kernel));
    return {};
  }

  Result<void> read_parameters(PtxKernel& kernel) {
    while (!m_tokens.skip(")")) {
      if (!m_tokens.next().is(".param")) {
        return refuse(kernel.reflection.name, "expected .param in the list of parameters");
      }
      CLBIN_TRY_ASSIGN(const PtxVariable variable, read_variable(kernel.reflection.name));
      kernel.parameters.push_back({variable.kind, variable.address_space, variable.size_bytes});
      kernel.parameter_bytes = add_variable(kernel.parameter_bytes, variable);
      m_tokens.skip(",");
    }
    return {};
  }

  // Reads the rest of a declaration after its state space, up to its end.
  Result<PtxVariable> read_variable(std::string_view owner) {
    PtxVariable variable;
    std::uint64_t element_bytes = 1;
    std::optional<std::uint64_t> alignment;
    bool is_pointer = false;
    while (variable.name.empty()) {
      const PtxToken token = m_tokens.next();
      if (token.kind != TokenKind::word) {
        return refuse(owner, "a variable has no name");
      }
      if (token.is(".align")) {
        CLBIN_TRY_ASSIGN(const std::uint64_t number, read_number(owner, ".align"));
        alignment = is_pointer ? alignment : number; // after .ptr, that of its target
      } else if (token.is(".ptr")) {
        is_pointer = true;
        variable.kind = PtxParameterKind::pointer;
        variable.address_space = AddressSpace::global;
      } else if (token.text.starts_with('.')) {
        element_bytes *= apply_word(token.text, variable);
      } else {
        variable.name = token.text;
      }
      if (element_bytes > k_max_variable_bytes) {
        return refuse(owner, "the type of a variable is too large");
      }
    }
    variable.size_bytes = element_bytes;
    CLBIN_TRY(read_dimensions(owner, variable));
    if (variable.kind > PtxParameterKind::pointer) {
      variable.size_bytes = 0;
    }
    variable.alignment = std::max<std::uint64_t>(alignment.value_or(element_bytes), 1);
    if (variable.alignment > k_max_variable_bytes) {
      return refuse(owner, ".align is too large");
    }
    return variable;
  }

  // Applies a word of a declaration. Returns the factor by which it multiplies the size.
  static std::uint64_t apply_word(std::string_view word, PtxVariable& variable) {
    if (word == ".shared") {
      variable.address_space = AddressSpace::local;
    } else if (word == ".const") {
      variable.address_space = AddressSpace::constant;
    } else if (word == ".texref") {
      variable.kind = PtxParameterKind::texture;
      variable.address_space = AddressSpace::global;
    } else if (word == ".surfref") {
      variable.kind = PtxParameterKind::surface;
      variable.address_space = AddressSpace::global;
    } else if (word == ".samplerref") {
      variable.kind = PtxParameterKind::sampler;
      variable.address_space = AddressSpace::private_;
    }
    const auto* const type = std::ranges::find(k_type_sizes, word, &TypeSize::name);
    return type == k_type_sizes.end() ? 1 : type->bytes;
  }

  Result<void> read_dimensions(std::string_view owner, PtxVariable& variable) {
    while (m_tokens.skip("[")) {
      std::uint64_t count = 0; // "[]" declares an external variable
      if (!m_tokens.peek().is("]")) {
        CLBIN_TRY_ASSIGN(count, read_number(owner, "the size of an array"));
      }
      if (!m_tokens.next().is("]")) {
        return refuse(owner, "the size of an array does not end");
      }
      if (count != 0 && variable.size_bytes > k_max_variable_bytes / count) {
        return refuse(owner, fmt::format("the array '{}' is too large",
                                         base::printable_excerpt(variable.name)));
      }
      variable.size_bytes *= count;
    }
    return {};
  }

  Result<std::uint64_t> read_number(std::string_view owner, std::string_view what) {
    const PtxToken token = m_tokens.next();
    const auto number = parse_number(token.text, ~std::uint64_t{0});
    if (token.kind != TokenKind::word || !number) {
      return refuse(owner, fmt::format("{} is '{}'", what, base::printable_excerpt(token.text)));
    }
    return *number;
  }

  // Reads one to three numbers: ".reqntid 8, 8, 1".
  Result<GroupSize> read_extents(std::string_view owner, std::string_view what) {
    GroupSize extents{1, 1, 1};
    for (std::size_t index = 0; index < extents.size(); ++index) {
      CLBIN_TRY_ASSIGN(extents[index], read_number(owner, what));
      if (extents[index] == 0 || extents[index] > 0xffff'ffffU) {
        return refuse(owner, fmt::format("{} is {}", what, extents[index]));
      }
      if (!m_tokens.skip(",")) {
        break;
      }
    }
    return extents;
  }

  // Reads the directives between parameters and body.
  Result<void> read_directives(KernelReflection& kernel) {
    while (true) {
      const PtxToken token = m_tokens.peek();
      if (token.is("{")) {
        return {};
      }
      if (token.kind == TokenKind::end || token.is(".entry") || token.is("}")) {
        return refuse(kernel.name, "the kernel has no body");
      }
      m_tokens.next();
      if (token.is(".reqntid")) {
        CLBIN_TRY_ASSIGN(kernel.required_work_group_size, read_extents(kernel.name, ".reqntid"));
      } else if (token.is(".maxntid")) {
        CLBIN_TRY_ASSIGN(const auto largest, read_extents(kernel.name, ".maxntid"));
        std::uint64_t product = 1;
        for (const std::uint64_t extent : largest) {
          product = std::min<std::uint64_t>(product * extent, 0xffff'ffffU);
        }
        kernel.max_work_group_size = product;
      }
    }
  }

  // Reads from '{' to the matching '}'.
  Result<void> read_body(std::string_view owner, Body& body) {
    std::size_t depth = 0;
    do {
      const PtxToken token = m_tokens.next();
      if (token.kind == TokenKind::end) {
        return refuse(owner, "the body does not end");
      }
      depth += token.is("{") ? 1 : 0;
      depth -= token.is("}") ? 1 : 0;
      if (token.is(".shared")) {
        CLBIN_TRY_ASSIGN(const PtxVariable variable, read_variable(owner));
        body.shared_bytes = add_variable(body.shared_bytes, variable);
        if (body.shared_bytes > k_max_variable_bytes) {
          return refuse(owner, "its .shared variables are too large");
        }
      } else if (token.kind == TokenKind::word) {
        note_word(token.text, body);
      }
    } while (depth != 0);
    return {};
  }

  void note_word(std::string_view word, Body& body) const {
    body.has_calls = body.has_calls || word == "call" || word.starts_with("call.");
    if (const auto variable = m_shared_by_name.find(word); variable != m_shared_by_name.end()) {
      body.module_variables.insert(variable->second);
    }
  }

  Result<void> read_function() {
    PtxToken token = m_tokens.peek();
    while (!token.is("{") && !token.is(";")) {
      if (token.kind == TokenKind::end) {
        return refuse(".func", "a function has no body");
      }
      m_tokens.next();
      token = m_tokens.peek();
    }
    if (token.is(";")) {
      return {};
    }
    Body body;
    CLBIN_TRY(read_body(".func", body));
    m_has_shared_outside = m_has_shared_outside || body.shared_bytes != 0;
    return {};
  }

  Result<void> read_module_variable() {
    CLBIN_TRY_ASSIGN(const PtxVariable variable, read_variable(".shared"));
    m_shared_by_name.emplace(variable.name, m_shared.size());
    m_shared.push_back(variable);
    m_has_shared_outside = true;
    return {};
  }

  void skip_block() {
    std::size_t depth = 1;
    while (depth != 0) {
      const PtxToken token = m_tokens.next();
      if (token.kind == TokenKind::end) {
        return;
      }
      depth += token.is("{") ? 1 : 0;
      depth -= token.is("}") ? 1 : 0;
    }
  }

  // Reads { .metadata 0 { "cl_kernel_attributes", "KERNEL", "reqd_work_group_size(8,8,1)" } … },
  // which NVIDIA's driver 580 writes.
  void read_metadata() {
    std::size_t depth = 0;
    std::vector<std::string_view> texts;
    do {
      const PtxToken token = m_tokens.next();
      if (token.kind == TokenKind::end) {
        return;
      }
      if (token.kind == TokenKind::text) {
        texts.push_back(token.text);
      } else if (token.is("{")) {
        ++depth;
        texts.clear();
      } else if (token.is("}") && depth != 0) {
        if (texts.size() == 3 && texts[0] == "cl_kernel_attributes") {
          std::string& attributes = m_attributes[std::string(texts[1])];
          attributes += attributes.empty() ? "" : " ";
          attributes += texts[2];
        }
        texts.clear();
        --depth;
      }
    } while (depth != 0);
  }

  Result<std::vector<PtxKernel>> finish() {
    std::vector<PtxKernel> kernels;
    kernels.reserve(m_kernels.size());
    for (auto& [name, kernel] : m_kernels) {
      KernelReflection& reflection = kernel.reflection;
      const auto& required = reflection.required_work_group_size;
      if (const auto told = m_attributes.find(name); told != m_attributes.end()) {
        reflection.attributes = std::move(told->second);
      } else if (required[0] != 0) {
        reflection.attributes =
            fmt::format("reqd_work_group_size({},{},{})", required[0], required[1], required[2]);
      }
      if (m_has_shared_outside && m_callers.contains(name)) {
        reflection.local_bytes = std::nullopt;
      }
      kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

  PtxTokens m_tokens;
  std::map<std::string, PtxKernel> m_kernels;
  std::set<std::string> m_callers;
  std::map<std::string, std::string> m_attributes; // by kernel
  std::vector<PtxVariable> m_shared;               // of the module
  std::map<std::string_view, std::size_t> m_shared_by_name;
  bool m_has_shared_outside = false; // of kernels
};

} // namespace

std::optional<BinaryInfo> read_ptx_header(std::string_view text) {
  PtxTokens tokens(text);
  BinaryInfo info;
  info.kind = BinaryKind::ptx;
  if (!expect_word(tokens, ".version")) {
    return std::nullopt;
  }
  const auto version = next_word(tokens);
  if (!version || !parse_version(*version, info)) {
    return std::nullopt;
  }
  if (!expect_word(tokens, ".target") || !read_target(tokens, info) ||
      !read_address_size(tokens, info)) {
    return std::nullopt;
  }
  return info;
}

Result<std::vector<PtxKernel>> read_ptx_kernels(std::string_view text) {
  if (!read_ptx_header(text)) {
    return fail(ErrorCode::damaged, "PTX: the text does not begin with .version and .target");
  }
  return PtxReader(text).read();
}

} // namespace clbin::format
