// Defines the functions that fmt's headers only declare unless FMT_HEADER_ONLY is defined. They are
// compiled once, here, because a source that compiles them itself takes two and a half times as
// long. They are inline, so a program that also links libfmt has no duplicate symbols.
#define FMT_HEADER_ONLY // NOLINT(cppcoreguidelines-macro-usage): fmt's own switch
// The library formats no number in the way of a locale, whose code would be a third of a program
// that links it statically.
#define FMT_STATIC_THOUSANDS_SEPARATOR ',' // NOLINT(cppcoreguidelines-macro-usage): as well
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

#if FMT_VERSION >= 110000
using Specs = fmt::format_specs;
#elif FMT_VERSION >= 100000
using Specs = fmt::format_specs<>;
#endif

// Naming a function makes the compiler emit it.
struct EmittedFunctions {
  std::string (*format)(fmt::string_view, fmt::format_args);
  void (*print)(fmt::string_view, fmt::format_args);
  void (*print_to_file)(std::FILE*, fmt::string_view, fmt::format_args);
  bool (*is_printable)(std::uint32_t);
  fmt::detail::thousands_sep_result<char> (*thousands_sep)(fmt::detail::locale_ref);
#if FMT_VERSION >= 100000
  bool (*write_loc)(fmt::appender, fmt::loc_value, const Specs&, fmt::detail::locale_ref);
#endif
};
[[gnu::used]] const EmittedFunctions k_emitted_functions = {
    &fmt::vformat,
    &fmt::vprint,
    &fmt::vprint,
    &fmt::detail::is_printable,
    &fmt::detail::thousands_sep_impl<char>,
#if FMT_VERSION >= 100000
    &fmt::detail::write_loc,
#endif
};

} // namespace
