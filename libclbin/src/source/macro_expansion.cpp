#include "source/macro_expansion.hpp"

#include "source/words.hpp"

#include <algorithm>
#include <cctype>
#include <list>
#include <utility>

namespace clbin::source {

namespace {

constexpr std::size_t k_max_choices = 1000;
// For all choices together.
constexpr std::size_t k_max_steps = 20000;
constexpr std::size_t k_max_bytes = 8U << 20U;
constexpr unsigned k_max_depth = 100; // of arguments within arguments

enum class TokenKind : std::uint8_t { identifier, literal, paste, other };

using Hidden = std::vector<std::string_view>; // sorted

// `hidden`: the macros whose expansion produced the token, which are not expanded again.
struct Token {
  TokenKind kind = TokenKind::other;
  std::string text;
  bool space_before = false;
  Hidden hidden{};
};
using Tokens = std::vector<Token>;

bool hides(const Hidden& hidden, std::string_view name) {
  return std::binary_search(hidden.begin(), hidden.end(), name);
}

void hide(Hidden& hidden, const Hidden& more) {
  Hidden result;
  std::set_union(hidden.begin(), hidden.end(), more.begin(), more.end(),
                 std::back_inserter(result));
  hidden = std::move(result);
}

// Returns the kind of the first token of `text`. A number is a word, too: "2d" and "x2" are pasted
// and compared as a whole.
TokenKind first_kind(std::string_view text) {
  const char c = text.front();
  if (c == '"' || c == '\'') {
    return TokenKind::literal;
  }
  return is_identifier_start(c)   ? TokenKind::identifier
         : text.starts_with("##") ? TokenKind::paste
                                  : TokenKind::other;
}

Tokens tokenize(std::string_view text) {
  Tokens tokens;
  bool space = false;
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text.front())) != 0) {
      space = true;
      text.remove_prefix(1);
      continue;
    }
    const TokenKind kind = first_kind(text);
    const std::size_t size = kind == TokenKind::paste ? 2 : word_bytes(text);
    tokens.push_back({kind, std::string(text.substr(0, size)), std::exchange(space, false)});
    text.remove_prefix(size);
  }
  return tokens;
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    text += token.space_before && !text.empty() ? " " : "";
    text += token.text;
  }
  return text;
}

Token stringified(const Tokens& argument) {
  std::string text = "\"";
  for (const Token& token : argument) {
    text += token.space_before && &token != &argument.front() ? " " : "";
    for (const char c : token.text) {
      const bool escaped = token.kind == TokenKind::literal && (c == '"' || c == '\\');
      text += escaped ? "\\" : "";
      text += c;
    }
  }
  return {TokenKind::literal, text + "\""};
}

// The value chosen for each macro. Expansion adds the first value of each macro that it encounters.
struct Choice {
  std::map<std::string, std::size_t> chosen;
  std::vector<std::pair<std::string, std::size_t>> met; // with the number of their values
};

// Expands macros until the budget is spent; results returned after that are not valid.
class Expander {
public:
  Expander(const MacroTable& macros, const MacroValue& file, Choice& choice,
           std::set<std::string>& expanded, ExpansionBudget& budget)
      : m_macros(macros), m_file(file), m_choice(choice), m_expanded(expanded), m_budget(budget) {}

  Tokens expand(const Tokens& tokens, unsigned depth) {
    Tokens result;
    Rest rest(tokens.begin(), tokens.end());
    while (!rest.empty() && pay_for(rest.front()) && depth <= k_max_depth) {
      Token token = std::move(rest.front());
      rest.pop_front();
      if (!replace(token, rest, depth)) {
        result.push_back(std::move(token));
      }
    }
    if (!rest.empty()) {
      m_cut_short = true;
    }
    return result;
  }

  [[nodiscard]] bool is_cut_short() const { return m_cut_short || m_budget.is_spent(); }

private:
  using Arguments = std::vector<Tokens>;
  using Rest = std::list<Token>; // tokens that are still to be expanded

  bool pay_for(const Token& token) { return m_budget.take(1, cost_of(token)); }
  bool pay_for(const Tokens& tokens) {
    return std::ranges::all_of(tokens, [this](const Token& token) { return pay_for(token); });
  }
  static std::size_t cost_of(const Token& token) {
    return sizeof(Token) + token.text.size() + token.hidden.size() * sizeof(std::string_view);
  }

  // Inserts the expansion of `token` at the front of `rest`. Returns false if `token` is not
  // expanded.
  bool replace(const Token& token, Rest& rest, unsigned depth) {
    if (token.kind != TokenKind::identifier || hides(token.hidden, token.text)) {
      return false;
    }
    const std::optional<Macro> macro = find(token.text);
    Hidden hidden = token.hidden;
    Arguments arguments;
    if (!macro || (macro->value->parameters &&
                   !take_arguments(*macro->value->parameters, rest, arguments, hidden))) {
      return false;
    }
    m_expanded.insert(token.text);
    hide(hidden, {macro->name});
    Tokens body = substitute(*macro->value, arguments, depth);
    for (Token& part : body) {
      if (!m_budget.take(0, (part.hidden.size() + hidden.size()) * sizeof(std::string_view))) {
        return true;
      }
      hide(part.hidden, hidden);
    }
    if (!body.empty()) {
      body.front().space_before = token.space_before;
    }
    rest.insert(rest.begin(), body.begin(), body.end());
    return true;
  }

  struct Macro {
    std::string_view name; // outlives every token
    const MacroValue* value;
  };

  std::optional<Macro> find(const std::string& name) {
    constexpr std::string_view k_file = "__FILE__";
    if (name == k_file) {
      return Macro{k_file, &m_file};
    }
    const auto found = m_macros.find(name);
    if (found == m_macros.end()) {
      return std::nullopt;
    }
    const std::set<MacroValue>& values = found->second;
    std::size_t chosen = 0;
    if (values.size() > 1) {
      const auto [choice, fresh] = m_choice.chosen.emplace(name, 0);
      chosen = choice->second;
      if (fresh) {
        m_choice.met.emplace_back(name, values.size());
      }
    }
    return Macro{found->first, &*std::next(values.begin(), static_cast<std::ptrdiff_t>(chosen))};
  }

  // Reads arguments. Only macros that produced both the name and its ")" stay hidden (Prosser's
  // algorithm).
  bool take_arguments(const std::vector<std::string>& parameters, Rest& rest, Arguments& arguments,
                      Hidden& hidden) {
    if (rest.empty() || rest.front().text != "(") {
      return false;
    }
    const bool variadic = !parameters.empty() && parameters.back() == "...";
    arguments.emplace_back(); // "f()" has one empty argument
    unsigned open = 0;
    for (auto next = rest.begin(); next != rest.end() && pay_for(*next); ++next) {
      const Token& token = *next;
      const bool last = variadic && arguments.size() == parameters.size();
      open += token.text == "(" ? 1 : 0;
      open -= token.text == ")" ? 1 : 0;
      if (open == 0 && arguments.size() > std::max<std::size_t>(parameters.size(), 1)) {
        return false;
      }
      if (open == 0) {
        std::erase_if(hidden, [&](const auto& name) { return !hides(token.hidden, name); });
        rest.erase(rest.begin(), std::next(next));
        return true;
      }
      if (token.text == "," && open == 1 && !last) {
        arguments.emplace_back();
      } else if (next != rest.begin()) {
        arguments.back().push_back(token);
        Token& part = arguments.back().back();
        part.kind = part.kind == TokenKind::paste ? TokenKind::other : part.kind;
      }
    }
    return false;
  }

  static const Tokens* argument_of(const MacroValue& macro, const Arguments& arguments,
                                   const Token& token) {
    static const Tokens k_no_tokens;
    if (token.kind != TokenKind::identifier || !macro.parameters) {
      return nullptr;
    }
    const std::string_view name = token.text;
    const std::string_view wanted = name == "__VA_ARGS__" ? "..." : name;
    const auto found = std::ranges::find(*macro.parameters, wanted);
    const auto index = static_cast<std::size_t>(found - macro.parameters->begin());
    if (found == macro.parameters->end()) {
      return nullptr;
    }
    return index < arguments.size() ? &arguments[index] : &k_no_tokens;
  }

  Tokens substitute(const MacroValue& macro, const Arguments& arguments, unsigned depth) {
    if (!m_budget.take(0, macro.text.size() * sizeof(Token))) {
      return {};
    }
    const Tokens body = tokenize(macro.text);
    const std::size_t parameters = macro.parameters ? macro.parameters->size() : 0;
    Tokens result;
    for (std::size_t i = 0; i < body.size() && m_budget.take(1, parameters); ++i) {
      const bool pasted = (i > 0 && body[i - 1].kind == TokenKind::paste) ||
                          (i + 1 < body.size() && body[i + 1].kind == TokenKind::paste);
      const bool quoting = macro.parameters && body[i].text == "#" && i + 1 < body.size();
      const Tokens* const argument = argument_of(macro, arguments, quoting ? body[i + 1] : body[i]);
      Tokens part = {body[i]};
      if (argument != nullptr && !pay_for(*argument)) {
        return {};
      }
      if (quoting && argument != nullptr) {
        part = {stringified(*argument)};
        ++i;
      } else if (argument != nullptr) {
        part = pasted ? *argument : expand(*argument, depth + 1);
        if (part.empty() && pasted) {
          part.emplace_back(); // a placemarker (C11, 6.10.3.3)
        }
      }
      if (!part.empty()) {
        part.front().space_before = body[i].space_before;
      }
      result.insert(result.end(), part.begin(), part.end());
    }
    return paste(std::move(result));
  }

  static Tokens paste(Tokens tokens) {
    Tokens result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool pastes = tokens[i].kind == TokenKind::paste && !result.empty();
      if (!pastes || i + 1 == tokens.size()) {
        result.push_back(std::move(tokens[i]));
        continue;
      }
      Token& left = result.back();
      left.text += tokens[++i].text;
      left.kind = left.text.empty() ? TokenKind::other : first_kind(left.text);
    }
    std::erase_if(result, [](const Token& token) { return token.text.empty(); });
    return result;
  }

  const MacroTable& m_macros;
  const MacroValue& m_file;
  Choice& m_choice;
  std::set<std::string>& m_expanded;
  ExpansionBudget& m_budget;
  bool m_cut_short = false;
};

// Each macro in `choice.met` had its first value. Adds the choices of its other values, with the
// preceding macros fixed. Returns false if there are too many.
bool add_other_choices(std::map<std::string, std::size_t> fixed, const Choice& choice,
                       std::list<Choice>& pending, ExpansionBudget& budget) {
  for (const auto& [name, count] : choice.met) {
    for (std::size_t value = 1; value < count; ++value) {
      if (pending.size() == k_max_choices || !budget.take(1, fixed.size() * sizeof(Token))) {
        return false;
      }
      fixed[name] = value;
      pending.push_back({fixed, {}});
    }
    fixed[name] = 0;
  }
  return true;
}

// Returns false if other texts may exist.
bool try_choices(const Tokens& tokens, const MacroTable& macros, const MacroValue& file,
                 MacroExpansion& expansion, ExpansionBudget& budget) {
  std::list<Choice> pending(1);
  bool whole = true;
  for (std::size_t tried = 0; tried < k_max_choices && !pending.empty(); ++tried) {
    Choice choice = std::move(pending.front());
    pending.pop_front();
    const std::map<std::string, std::size_t> given = choice.chosen;
    Expander expander(macros, file, choice, expansion.macros, budget);
    const Tokens expanded = expander.expand(tokens, 0);
    if (budget.is_spent()) {
      return false;
    }
    if (expander.is_cut_short()) {
      whole = false;
    } else {
      expansion.texts.insert(joined(expanded));
    }
    whole = add_other_choices(given, choice, pending, budget) && whole;
  }
  return whole && pending.empty();
}

} // namespace

bool ExpansionBudget::take(std::size_t steps, std::size_t bytes) {
  m_spent = m_spent || steps > m_steps || bytes > m_bytes;
  if (!m_spent) {
    m_steps -= steps;
    m_bytes -= bytes;
  }
  return !m_spent;
}

ExpansionBudget ExpansionBudget::portion(std::size_t steps, std::size_t bytes) const {
  return ExpansionBudget(std::min(steps, m_steps), std::min(bytes, m_bytes));
}

void ExpansionBudget::subtract(const ExpansionBudget& given, const ExpansionBudget& left) {
  m_steps -= given.m_steps - left.m_steps;
  m_bytes -= given.m_bytes - left.m_bytes;
}

MacroExpansion expand_macros(std::string_view text, const MacroTable& macros,
                             const std::string& file_name, ExpansionBudget& budget) {
  MacroExpansion expansion;
  const ExpansionBudget given = budget.portion(k_max_steps, k_max_bytes);
  ExpansionBudget left = given;
  const bool whole = left.take(0, (text.size() + file_name.size()) * sizeof(Token)) &&
                     try_choices(tokenize(text), macros,
                                 {std::nullopt, stringified({{TokenKind::other, file_name}}).text},
                                 expansion, left);
  budget.subtract(given, left);
  expansion.extent = whole ? MacroExpansion::Extent::whole : MacroExpansion::Extent::cut_short;
  return expansion;
}

std::vector<std::string> split_parameters(std::string_view text) {
  std::vector<std::string> parameters;
  for (const Token& token : tokenize(text)) {
    if (token.kind == TokenKind::identifier) {
      parameters.push_back(token.text);
    } else if (token.text == "." && (parameters.empty() || parameters.back() != "...")) {
      parameters.emplace_back("...");
    }
  }
  return parameters;
}

MacroValue value_of(const MacroDefinition& macro) {
  MacroValue value{std::nullopt, macro.value};
  if (macro.parameters) {
    value.parameters = split_parameters(*macro.parameters);
  }
  return value;
}

} // namespace clbin::source
