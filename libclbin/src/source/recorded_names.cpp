#include "source/recorded_names.hpp"

#include "base/text.hpp"
#include "model/bundle.hpp"
#include "source/directive_scanner.hpp"
#include "source/words.hpp"

namespace clbin::source {
namespace {

constexpr std::string_view k_source_label = "clbin-source-1";
constexpr std::string_view k_il_label = "clbin-il-1";
constexpr std::string_view k_options_label = "clbin-options-1";
constexpr std::size_t k_variant_digits = 32;

// Prefixes of the options that make clang, and compilers derived from it, read files.
constexpr std::array<std::string_view, 12> k_file_options{
    "@",    "-i",       "--include", "--imacros", "-Xclang",   "-Xpreprocessor",
    "-Wp,", "-fmodule", "-fplugin",  "-load",     "-fprofile", "--sysroot"};
// An option of Intel's compiler, which is followed by options of its own.
constexpr std::string_view k_igc_options = "-igc_opts";

void append(std::string& normalized, const base::OptionWord& word) {
  const bool only_spaces = word.space_before.find_first_not_of(' ') == std::string_view::npos;
  if (!normalized.empty()) {
    normalized += only_spaces ? std::string_view(" ") : word.space_before;
  }
  normalized += word.text;
}

// Returns the name in "void NAME(", which follows `kernel`; empty if something else does.
std::string_view declared_name(Words& words) {
  std::string_view name;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "(") {
      return name;
    }
    if (word == "__attribute__") {
      words.skip_parentheses();
    } else if (!is_identifier(word.front())) {
      return {};
    } else {
      name = word;
    }
  }
  return {};
}

} // namespace

std::string_view without_final_zeros(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of('\0') + 1); // npos + 1 is 0
}

base::Digest source_digest(const format::SourcePackage& package) {
  return source_digest(package.main.text, package.headers);
}

base::Digest source_digest(std::string_view main_text,
                           const std::vector<format::SourceFile>& headers) {
  base::Hasher hasher;
  hasher.add_field(k_source_label);
  hasher.add_field(main_text);
  for (const format::SourceFile& header : headers) {
    hasher.add_field(header.include_name);
    hasher.add_field(header.text);
  }
  return hasher.finish();
}

base::Digest il_digest(base::ByteView il) {
  return base::Hasher().add_field(k_il_label).add_field(il).finish();
}

BuildOptions parse_build_options(std::string_view options) {
  BuildOptions result;
  const auto words = base::split_option_words(options);
  if (!words.has_value()) {
    result.normalized = options;
    result.why_not_closed = "a quote in the build options does not end";
    return result;
  }
  bool is_value = false; // of the option before
  for (auto word = words->begin(); word != words->end(); ++word) {
    const std::string plain = base::without_quotes(word->text);
    if (!is_value && plain == "-I" && word + 1 != words->end()) {
      ++word;
      result.include_folders.push_back(base::without_quotes(word->text));
    } else if (!is_value && plain.starts_with("-I") && plain.size() > 2) {
      result.include_folders.push_back(plain.substr(2));
    } else {
      const bool can_read_files =
          !plain.starts_with(k_igc_options) &&
          std::ranges::any_of(k_file_options, [&](auto start) { return plain.starts_with(start); });
      if (!is_value && result.why_not_closed.empty() && can_read_files) {
        result.why_not_closed = fmt::format("the build option '{}' can read a file", plain);
      }
      append(result.normalized, *word);
      if (!is_value && plain.starts_with("-D") && plain.size() > 2) {
        result.definitions.push_back(plain);
      } else if (is_value && base::without_quotes((word - 1)->text) == "-D") {
        result.definitions.push_back("-D" + plain);
      }
      is_value = !is_value && base::awaits_macro(plain);
    }
  }
  return result;
}

std::string first_kernel_name(std::string_view text) {
  Words words(text);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    const bool is_kernel = word == "kernel" || word == "__kernel";
    if (const std::string_view name = is_kernel ? declared_name(words) : ""; !name.empty()) {
      return std::string(name);
    }
  }
  return {};
}

std::string recorded_variant_name(std::string_view normalized) {
  if (normalized.empty()) {
    return std::string(format::k_default_variant);
  }
  const auto digest = base::Hasher().add_field(k_options_label).add_field(normalized).finish();
  return base::to_hex(digest).substr(0, k_variant_digits);
}

} // namespace clbin::source
