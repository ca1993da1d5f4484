#include "offline/resolution.hpp"

#include <charconv>
#include <fmt/format.h>
#include <set>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

std::string source_name(std::string_view symbol) {
  constexpr std::string_view k_mangled = "_Z";
  // Called by the printf of nvptx/language.clh.
  if (symbol.find("__oclcc_pass") != std::string_view::npos) {
    return "printf";
  }
  if (!symbol.starts_with(k_mangled)) {
    return std::string(symbol);
  }
  const std::string_view rest = symbol.substr(k_mangled.size());
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  const auto start = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || length > rest.size() - start) {
    return std::string(symbol);
  }
  return std::string(rest.substr(start, length));
}

Result<void> require_resolved(const std::vector<std::string>& unresolved_symbols) {
  if (unresolved_symbols.empty()) {
    return {};
  }
  std::set<std::string> names; // of several overloads, one
  for (const std::string& symbol : unresolved_symbols) {
    names.insert(source_name(symbol));
  }
  return fail(ErrorCode::invalid_argument, "nothing defines {} '{}'",
              names.size() == 1 ? "the function" : "the functions", fmt::join(names, "', '"));
}

} // namespace oclcc::offline
