#include "format/binary/binary_kernels.hpp"

#include "base/text.hpp"
#include "format/binary/kernel_metadata.hpp"

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

// Reads the directives at the start of a module. After the first word that does not fit, is_valid()
// is false.
class PtxHeader {
public:
  explicit PtxHeader(std::string_view text) : m_tokens(text) {
    m_info.kind = BinaryKind::ptx;
    require(next_word() == ".version");
    read_version(next_word());
    require(next_word() == ".target");
    read_target();
    read_address_size();
  }

  [[nodiscard]] bool is_valid() const noexcept { return m_is_valid; }
  [[nodiscard]] const BinaryInfo& info() const noexcept { return m_info; }

private:
  void require(bool condition) { m_is_valid = m_is_valid && condition; }

  // A word that ends with the text may be cut.
  std::string_view next_word() {
    const PtxToken token = m_tokens.next();
    require(token.kind == TokenKind::sign || !m_tokens.is_at_end());
    return token.text;
  }

  // Returns all of `text` as a number.
  std::uint16_t number(std::string_view text, std::uint16_t max) {
    const auto parsed = base::parse_number<std::uint16_t>(text);
    require(parsed && *parsed <= max);
    return parsed.value_or(0);
  }

  // "7.5"
  void read_version(std::string_view word) {
    const std::size_t dot = std::min(word.find('.'), word.size());
    m_info.format_major = number(word.substr(0, dot), 0xff);
    m_info.format_minor = number(word.substr(std::min(dot + 1, word.size())), 0xff);
  }

  // "sm_90a"
  void read_sm(std::string_view word) {
    word.remove_prefix(std::string_view("sm_").size());
    if (word.ends_with('a') || word.ends_with('f')) {
      m_info.arch_suffix = word.back();
      word.remove_suffix(1);
    }
    const std::uint16_t sm = number(word, 999);
    require(sm >= 10);
    m_info.arch_major = sm / 10;
    m_info.arch_minor = sm % 10;
  }

  // Parses "sm_50, texmode_independent": the second word marks OpenCL's flavour (doc/drivers.md,
  // "NVIDIA").
  void read_target() {
    m_info.ptx_flavour = PtxFlavour::cuda;
    do {
      const std::string_view word = next_word();
      if (word.starts_with("sm_")) {
        require(!m_info.has_architecture());
        read_sm(word);
      } else if (word == "texmode_independent") {
        m_info.ptx_flavour = PtxFlavour::nvcl;
      }
    } while (m_is_valid && m_tokens.skip(","));
    require(m_info.has_architecture());
  }

  void read_address_size() {
    m_info.address_bits = 32;
    if (next_word() == ".address_size") {
      m_info.address_bits = static_cast<std::uint8_t>(number(next_word(), 64));
      require(m_info.address_bits == 32 || m_info.address_bits == 64);
    }
  }

  PtxTokens m_tokens;
  BinaryInfo m_info;
  bool m_is_valid = true;
};

struct TypeSize {
  std::string_view name;
  std::uint64_t bytes;
};

// PTX ISA, "Fundamental Types" and "Packed Data Types".
constexpr std::array k_type_sizes{
    TypeSize{".b8", 1},         TypeSize{".u8", 1},     TypeSize{".s8", 1},
    TypeSize{".b16", 2},        TypeSize{".u16", 2},    TypeSize{".s16", 2},
    TypeSize{".f16", 2},        TypeSize{".bf16", 2},   TypeSize{".b32", 4},
    TypeSize{".u32", 4},        TypeSize{".s32", 4},    TypeSize{".f32", 4},
    TypeSize{".f16x2", 4},      TypeSize{".b64", 8},    TypeSize{".u64", 8},
    TypeSize{".s64", 8},        TypeSize{".f64", 8},    TypeSize{".v2", 2},
    TypeSize{".v4", 4},         TypeSize{".b128", 16},  TypeSize{".v8", 8},
    TypeSize{".pred", 1},       TypeSize{".texref", 0}, TypeSize{".surfref", 0},
    TypeSize{".samplerref", 0},
};

// A variable in shared memory, or a parameter: ".align 4 .b8 name[256]".
struct PtxVariable {
  std::string_view name;
  std::uint64_t size_bytes = 1;
  std::uint64_t alignment = 1;
};

// Counts the instructions of a body: statements that do not begin with a directive. Braces within a
// statement enclose the parts of a vector; .loc ends with its line, which tokens do not show.
class StatementCounter {
public:
  void add(const PtxToken& token) {
    const bool is_brace = token.is("{") || token.is("}");
    if (token.is(";")) {
      m_instructions += m_start == Start::instruction ? 1 : 0;
      m_start = Start::none;
    } else if (token.is(":")) { // of a label
      m_start = Start::none;
    } else if (m_start == Start::none ? !is_brace : m_start == Start::location) {
      m_start = start_of(token);
    }
  }
  [[nodiscard]] std::uint64_t instructions() const noexcept { return m_instructions; }

private:
  enum class Start : std::uint8_t { none, instruction, directive, location };

  [[nodiscard]] Start start_of(const PtxToken& token) const {
    const char first = token.text.empty() ? '\0' : token.text.front();
    const bool is_letter = token.kind == TokenKind::word && first >= 'a' && first <= 'z';
    if (token.is(".loc") || (m_start == Start::location && first != '@' && first != '.' &&
                             (!is_letter || token.is("function_name") || token.is("inlined_at")))) {
      return Start::location;
    }
    return first == '.' ? Start::directive : Start::instruction;
  }

  Start m_start = Start::none;
  std::uint64_t m_instructions = 0;
};

// After an error, the text ends.
class PtxReader {
public:
  explicit PtxReader(std::string_view text) : m_tokens(text) {}

  Result<std::vector<PtxKernel>> read() {
    for (PtxToken token = m_tokens.peek(); token.kind != TokenKind::end; token = m_tokens.peek()) {
      if (token.is("{")) {
        read_block([](const PtxToken&) {}); // the values of a variable, or a section
        continue;
      }
      m_tokens.next();
      if (token.is(".entry")) {
        read_entry();
      } else if (token.is(".func")) {
        read_function();
      } else if (token.is(".shared")) {
        const PtxVariable variable = read_variable(".shared");
        m_shared_by_name.emplace(variable.name, m_shared.size());
        m_shared.push_back(variable);
        m_has_shared_outside = true;
      } else if (token.is(".metadata_section")) {
        read_metadata();
      }
    }
    CLBIN_TRY(std::move(m_status));
    return finish();
  }

private:
  // The shared memory of a body, and the known properties of its code.
  struct Body {
    std::uint64_t shared_bytes = 0;
    StatementCounter statements;
    bool has_calls = false;
    std::set<std::size_t> module_variables; // indices in m_shared
  };

  void refuse(std::string_view kernel, std::string_view reason) {
    if (m_status) {
      m_status = fail(ErrorCode::damaged, "PTX: '{}': {}", base::printable_excerpt(kernel), reason);
    }
    m_tokens = PtxTokens({});
  }

  void add_variable(std::string_view kernel, const PtxVariable& variable, std::string_view whose,
                    std::uint64_t& bytes) {
    const std::uint64_t excess = bytes % variable.alignment;
    bytes += (excess == 0 ? 0 : variable.alignment - excess) + variable.size_bytes;
    if (bytes > k_max_variable_bytes) {
      refuse(kernel, fmt::format("{} too large", whose));
    }
  }

  // Reads to the end of the block that begins with the next token, and calls `use` for each token.
  // Returns whether the block ends.
  bool read_block(const auto& use) {
    std::size_t depth = 0;
    do {
      const PtxToken token = m_tokens.next();
      if (token.kind == TokenKind::end) {
        return false;
      }
      depth += token.is("{") ? 1 : 0;
      depth -= token.is("}") && depth != 0 ? 1 : 0;
      use(token);
    } while (depth != 0);
    return true;
  }

  void read_entry() {
    const PtxToken name = m_tokens.next();
    if (name.kind != TokenKind::word) {
      return refuse(".entry", "a kernel has no name");
    }
    PtxKernel kernel;
    kernel.reflection.name = name.text;
    if (m_kernels.contains(kernel.reflection.name)) {
      return refuse(name.text, "two kernels have this name");
    }
    read_parameters(name.text, kernel);
    read_directives(name.text, kernel);
    Body body = read_body(name.text);
    for (const std::size_t index : body.module_variables) {
      add_variable(name.text, m_shared[index], "the .shared variables that it names are",
                   body.shared_bytes);
    }
    kernel.reflection.local_bytes = body.shared_bytes;
    kernel.instructions = body.statements.instructions();
    if (body.has_calls) {
      m_callers.insert(kernel.reflection.name);
    }
    m_kernels.emplace(name.text, std::move(kernel));
  }

  // Reads the rest of a declaration after its state space, up to its end.
  PtxVariable read_variable(std::string_view owner) {
    PtxVariable variable;
    std::optional<std::uint64_t> alignment;
    bool is_pointer = false;
    while (variable.name.empty()) {
      const PtxToken token = m_tokens.next();
      if (token.kind != TokenKind::word) {
        refuse(owner, "a variable has no name");
        return variable;
      }
      const auto* const type = std::ranges::find(k_type_sizes, token.text, &TypeSize::name);
      if (token.is(".align")) {
        const std::uint64_t number = read_number(owner, ".align");
        alignment = is_pointer ? alignment : number; // after .ptr, that of its target
      } else if (token.is(".ptr")) {
        is_pointer = true;
      } else if (type != k_type_sizes.end()) {
        variable.size_bytes *= type->bytes;
      } else if (!token.text.starts_with('.')) {
        variable.name = token.text;
      }
      if (variable.size_bytes > k_max_variable_bytes) {
        refuse(owner, "the type of a variable is too large");
      }
    }
    variable.alignment = std::max<std::uint64_t>(alignment.value_or(variable.size_bytes), 1);
    if (variable.alignment > k_max_variable_bytes) {
      refuse(owner, ".align is too large");
    }
    read_dimensions(owner, variable);
    return variable;
  }

  void read_dimensions(std::string_view owner, PtxVariable& variable) {
    while (m_tokens.skip("[")) {
      // "[]" declares an external variable
      const std::uint64_t count =
          m_tokens.peek().is("]") ? 0 : read_number(owner, "the size of an array");
      if (!m_tokens.next().is("]")) {
        refuse(owner, "the size of an array does not end");
      }
      if (count != 0 && variable.size_bytes > k_max_variable_bytes / count) {
        refuse(owner,
               fmt::format("the array '{}' is too large", base::printable_excerpt(variable.name)));
        return;
      }
      variable.size_bytes *= count;
    }
  }

  std::uint64_t read_number(std::string_view owner, std::string_view what) {
    const PtxToken token = m_tokens.next();
    const auto number = base::parse_number<std::uint64_t>(token.text);
    if (token.kind != TokenKind::word || !number) {
      refuse(owner, fmt::format("{} is '{}'", what, base::printable_excerpt(token.text)));
    }
    return number.value_or(0);
  }

  // Reads one to three numbers: ".reqntid 8, 8, 1".
  GroupSize read_extents(std::string_view owner, std::string_view what) {
    GroupSize extents{1, 1, 1};
    for (std::uint64_t& extent : extents) {
      extent = read_number(owner, what);
      if (extent == 0 || extent > 0xffff'ffffU) {
        refuse(owner, fmt::format("{} is {}", what, extent));
      }
      if (!m_tokens.skip(",")) {
        break;
      }
    }
    return extents;
  }

  void read_parameters(std::string_view name, PtxKernel& kernel) {
    if (!m_tokens.skip("(")) {
      return;
    }
    while (!m_tokens.skip(")")) {
      if (!m_tokens.next().is(".param")) {
        return refuse(name, "expected .param in the list of parameters");
      }
      add_variable(name, read_variable(name), "its parameters are", kernel.parameter_bytes);
      m_tokens.skip(",");
    }
  }

  // Reads the directives between parameters and body.
  void read_directives(std::string_view name, PtxKernel& kernel) {
    for (PtxToken token = m_tokens.peek(); !token.is("{"); token = m_tokens.peek()) {
      if (token.kind == TokenKind::end || token.is(".entry") || token.is("}")) {
        return refuse(name, "the kernel has no body");
      }
      m_tokens.next();
      if (token.is(".reqntid")) {
        kernel.reflection.required_work_group_size = read_extents(name, ".reqntid");
      }
    }
  }

  Body read_body(std::string_view owner) {
    Body body;
    const bool ends = read_block([&](const PtxToken& token) {
      if (token.is(".shared")) {
        add_variable(owner, read_variable(owner), "its .shared variables are", body.shared_bytes);
        return;
      }
      body.statements.add(token);
      if (token.kind == TokenKind::word) {
        note_word(token.text, body);
      }
    });
    if (!ends) {
      refuse(owner, "the body does not end");
    }
    return body;
  }

  void note_word(std::string_view word, Body& body) const {
    body.has_calls = body.has_calls || word == "call" || word.starts_with("call.");
    if (const auto variable = m_shared_by_name.find(word); variable != m_shared_by_name.end()) {
      body.module_variables.insert(variable->second);
    }
  }

  void read_function() {
    PtxToken token = m_tokens.peek();
    for (; !token.is("{") && !token.is(";"); token = m_tokens.peek()) {
      if (token.kind == TokenKind::end) {
        return refuse(".func", "a function has no body");
      }
      m_tokens.next();
    }
    if (token.is("{")) {
      m_has_shared_outside = read_body(".func").shared_bytes != 0 || m_has_shared_outside;
    }
  }

  // Reads { .metadata 0 { "cl_kernel_attributes", "KERNEL", "reqd_work_group_size(8,8,1)" } … },
  // which NVIDIA's driver 580 writes.
  void read_metadata() {
    std::vector<std::string_view> texts;
    read_block([&](const PtxToken& token) {
      if (token.kind == TokenKind::text) {
        texts.push_back(token.text);
      } else if (token.is("{")) {
        texts.clear();
      } else if (token.is("}")) {
        if (texts.size() == 3 && texts[0] == "cl_kernel_attributes") {
          std::string& attributes = m_attributes[std::string(texts[1])];
          attributes += attributes.empty() ? "" : " ";
          attributes += texts[2];
        }
        texts.clear();
      }
    });
  }

  std::vector<PtxKernel> finish() {
    std::vector<PtxKernel> kernels;
    for (auto& [name, compiled] : m_kernels) {
      KernelReflection& kernel = compiled.reflection;
      if (const auto told = m_attributes.find(name); told != m_attributes.end()) {
        kernel.attributes = std::move(told->second);
      } else {
        kernel.attributes = kernel_attributes(kernel.required_work_group_size, {}, {});
      }
      if (m_has_shared_outside && m_callers.contains(name)) {
        kernel.local_bytes = std::nullopt;
      }
      kernels.push_back(std::move(compiled));
    }
    return kernels;
  }

  PtxTokens m_tokens;
  Result<void> m_status;
  std::map<std::string, PtxKernel> m_kernels;
  std::set<std::string> m_callers;
  std::map<std::string, std::string> m_attributes; // by kernel
  std::vector<PtxVariable> m_shared;               // of the module
  std::map<std::string_view, std::size_t> m_shared_by_name;
  bool m_has_shared_outside = false; // of kernels
};

} // namespace

std::optional<BinaryInfo> read_ptx_header(std::string_view text) {
  const PtxHeader header(text);
  return header.is_valid() ? std::optional(header.info()) : std::nullopt;
}

Result<std::vector<PtxKernel>> read_ptx_kernels(std::string_view text) {
  if (!read_ptx_header(text)) {
    return fail(ErrorCode::damaged, "PTX: the text does not begin with .version and .target");
  }
  return PtxReader(text).read();
}

} // namespace clbin::format
