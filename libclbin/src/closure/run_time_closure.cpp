#include "closure/run_time_closure.hpp"

#include "base/file_io.hpp"
#include "base/system/process.hpp"
#include "base/text.hpp"
#include "closure/include_closure.hpp"

namespace clbin::closure {

namespace fs = std::filesystem;

namespace {

// Most texts that include files do so in their first lines.
constexpr std::size_t k_beginning_bytes = 4096;
constexpr std::uint64_t k_max_header_bytes = 64ULL << 20U;
constexpr std::size_t k_none = std::string_view::npos;

bool contains(std::string_view text, std::string_view word) {
  return base::find_text(text, word) != k_none;
}

// Returns whether two characters belong to one word, or to "%:".
bool is_one_token(char first, char second) {
  return (source::is_identifier(first) && source::is_identifier(second)) ||
         (first == '%' && second == ':');
}

constexpr std::string_view k_backslash_trigraph = "\?\?/";

// Returns the position after the line continuation that begins at `at`; `at` itself if there is
// none.
std::size_t after_continuation(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const bool is_trigraph = rest.starts_with(k_backslash_trigraph);
  if (!is_trigraph && !rest.starts_with('\\')) {
    return at;
  }
  const std::size_t backslash = at + (is_trigraph ? k_backslash_trigraph.size() : 1);
  const std::size_t end = source::after_hidden_line_end(text, backslash);
  return end == backslash ? at : end;
}

std::size_t after_continuations(std::string_view text, std::size_t at) {
  for (std::size_t next = after_continuation(text, at); next != at;
       next = after_continuation(text, at)) {
    at = next;
  }
  return at;
}

// Returns the position of the line continuations within a word or "%:", which hide it from
// find_text(); npos if there are none.
std::size_t find_split_token(std::string_view text) {
  for (std::size_t at = text.find_first_of("\\?"); at != k_none;
       at = text.find_first_of("\\?", at + 1)) {
    const std::size_t next = after_continuations(text, at);
    if (next != at && at != 0 && next < text.size() && is_one_token(text[at - 1], text[next])) {
      return at;
    }
  }
  return k_none;
}

// A text that makes the result of a build depend on more than the texts of the program.
struct Obstacle {
  std::string_view text;
  std::string_view reason;
};

constexpr std::array<Obstacle, 4> k_unstable{{{{"\0", 1}, "it contains a zero byte"},
                                              {"__TIME__", "__TIME__ changes with every build"},
                                              {"__DATE__", "__DATE__ changes with every build"},
                                              {"__TIMESTAMP__", "__TIMESTAMP__ is of a file"}}};
constexpr std::string_view k_ambiguous = "compilers may read this in different ways";
// Only relevant to a text with directives that read files.
constexpr std::array<Obstacle, 4> k_ambiguous_spellings{{{"%:", k_ambiguous},
                                                         {"\?\?=", k_ambiguous},
                                                         {"\?\?/", k_ambiguous},
                                                         {"__has_embed", "it looks for a file"}}};

bool may_read_files(std::string_view text) {
  return contains(text, "include") || contains(text, "import") || contains(text, "embed") ||
         find_split_token(text) != k_none;
}

// Returns whether a directive that begins after the "#" at `hash` may read a file. Comments and
// line continuations before its name, which no program in use has, count as such.
bool may_be_include(std::string_view text, std::size_t hash) {
  const std::size_t at = std::min(text.find_first_not_of(" \t\v\f\r", hash + 1), text.size());
  const std::string_view rest = text.substr(at, 8);
  const char first = rest.empty() ? '\n' : rest[0];
  if (first != 'i' && first != 'e') {
    return first == '/' || first == '\\';
  }
  const char second = rest.size() < 2 ? '\n' : rest[1];
  if (second != 'n' && second != 'm' && second != '\\') {
    return false; // #if, #else: most directives end here
  }
  if (rest.starts_with("include") || rest.starts_with("import") || rest.starts_with("embed")) {
    return true;
  }
  const std::size_t splice = rest.find('\\');
  return splice != k_none && rest.substr(0, splice).find_first_of(" \t\n") == k_none;
}

// Returns whether a reserved word that asks for a file or a clock may begin at the "_" at `at`.
bool may_be_reserved_word(std::string_view text, std::size_t at) {
  if (at + 1 == text.size() || (text[at + 1] != '_' && text[at + 1] != '\\')) {
    return false;
  }
  const std::string_view rest = text.substr(at, 3);
  return rest == "__T" || rest == "__D" || rest == "__h" || rest.starts_with("_\\") ||
         rest == "__\\";
}

bool may_be_digraph(std::string_view text, std::size_t percent) {
  const std::string_view rest = text.substr(percent + 1);
  return rest.starts_with(':') || rest.starts_with('\\');
}

template <typename Matches>
bool any_of(std::string_view text, char first, const Matches& matches) {
  for (std::size_t at = text.find(first); at != k_none; at = text.find(first, at + 1)) {
    if (matches(text, at)) {
      return true;
    }
  }
  return false;
}

// Returns false only if nothing but the text decides what it means. Each pass is a search for one
// character, which takes a tenth of the time of the digest of the text or less; a search for two
// with memmem() takes as long as the digest.
bool needs_examination(std::string_view text) {
  return any_of(text, '#', may_be_include) || any_of(text, '_', may_be_reserved_word) ||
         text.find('\0') != k_none || any_of(text, '%', may_be_digraph) ||
         any_of(text, '?', [](auto all, auto at) { return all.substr(at + 1).starts_with('?'); });
}

std::string message_at(const std::string& file, std::size_t line, std::string_view reason) {
  return fmt::format("{}:{}: {}", file, line, reason);
}

std::string message_at(const format::SourceFile& file, std::size_t offset,
                       std::string_view reason) {
  const std::string_view before = std::string_view(file.text).substr(0, offset);
  return message_at(file.display_name, source::count_line_ends(before) + 1, reason);
}

std::string first_obstacle(const format::SourceFile& file, std::span<const Obstacle> all) {
  for (const Obstacle& obstacle : all) {
    if (const std::size_t at = base::find_text(file.text, obstacle.text); at != k_none) {
      return message_at(file, at, obstacle.reason);
    }
  }
  return {};
}

// A macro of the options can be one of these, and stand for an #include or a test of a file.
constexpr std::array<std::string_view, 5> k_undefinable{"__TIME__", "__DATE__", "__TIMESTAMP__",
                                                        "__has_", "_Pragma"};

std::string why_options_are_no_key(const source::BuildOptions& options) {
  if (!options.why_not_closed.empty()) {
    return options.why_not_closed;
  }
  for (const std::string& definition : options.definitions) {
    for (const std::string_view text : k_undefinable) {
      if (contains(definition, text)) {
        return fmt::format("the build option '{}' contains {}", definition, text);
      }
    }
  }
  return {};
}

// The path of a header depends on -I, which is not part of the key.
constexpr std::array<Obstacle, 2> k_paths{{{"__FILE__", "__FILE__ depends on the -I directories"},
                                           {"__BASE_FILE__", "__BASE_FILE__ is a path"}}};

std::string why_text_is_no_key(const format::SourceFile& file, RunTimeClosure::Reads reads,
                               const source::BuildOptions& options) {
  if (std::string reason = first_obstacle(file, k_unstable); !reason.empty()) {
    return reason;
  }
  if (reads == RunTimeClosure::Reads::text_only) {
    return {};
  }
  if (const std::size_t at = find_split_token(file.text); at != k_none) {
    return message_at(file, at, k_ambiguous);
  }
  // The language has raw strings, in which the scanner may find or miss comments.
  const bool is_cxx =
      contains(options.normalized, "CLC++") || contains(options.normalized, "clc++");
  if (const std::size_t at = base::find_text(file.text, "R\""); is_cxx && at != k_none) {
    return message_at(file, at, k_ambiguous);
  }
  return first_obstacle(file, k_ambiguous_spellings);
}

std::string why_texts_are_no_key(const format::SourcePackage& package, RunTimeClosure::Reads reads,
                                 const source::BuildOptions& options) {
  std::string reason = why_text_is_no_key(package.main, reads, options);
  for (const format::SourceFile& header : package.headers) {
    if (reason.empty()) {
      reason = first_obstacle(header, k_paths);
    }
    if (reason.empty()) {
      reason = why_text_is_no_key(header, reads, options);
    }
  }
  return reason;
}

std::string message_of(const IncludeWarning& warning) {
  return message_at(warning.file, warning.line, warning.text);
}

// Returns whether `place` is a regular file with a text other than that of `found`.
bool is_rival(const fs::path& place, const IncludedFile& found) {
  std::error_code error;
  if (!fs::is_regular_file(place, error)) {
    return false;
  }
  const auto bytes = base::read_whole_file(place, k_max_header_bytes);
  return !bytes.has_value() || base::as_text(*bytes) != found.text;
}

// Returns whether drivers may find another header than `target` for a name in the file `from`: some
// search the working directory first, others only the -I directories.
bool has_rival(const IncludeGraph& graph, const IncludeSearch& search, std::size_t from,
               const fs::path& name, std::size_t target) {
  const IncludedFile& found = graph.files[target];
  const bool is_named = target <= graph.named_headers;
  const bool is_beside = !is_named && !found.place.folder.has_value();
  if (name.has_root_path() || (is_beside && from > graph.named_headers)) {
    return false;
  }
  // The search of the -I directories comes first on some drivers.
  return is_rival(name, found) || ((is_named || is_beside) &&
                                   std::ranges::any_of(search.folders, [&](const fs::path& folder) {
                                     return is_rival(folder / name, found);
                                   }));
}

std::string first_rival(const IncludeGraph& graph, const IncludeSearch& search) {
  for (std::size_t index = 0; index < graph.files.size(); ++index) {
    const IncludedFile& file = graph.files[index];
    for (std::size_t i = 0; i < file.meanings.size(); ++i) {
      const IncludeMeanings& meanings = file.meanings[i];
      const auto rivalled = std::ranges::find_if(meanings, [&](const auto& one) {
        return one.second &&
               has_rival(graph, search, index, base::to_path(one.first.substr(1)), *one.second);
      });
      if (rivalled != meanings.end()) {
        return message_of(warning_at(
            file, file.directives.includes[i].token.begin,
            fmt::format("'{}' exists in two directories, and drivers differ in which one they read",
                        rivalled->first.substr(1))));
      }
    }
  }
  return {};
}

std::string why_graph_is_no_key(const IncludeGraph& graph, const IncludeSearch& search) {
  if (!graph.warnings.empty()) {
    return message_of(graph.warnings.front());
  }
  if (!graph.unresolved.empty()) {
    return message_of(graph.unresolved.front());
  }
  for (const IncludedFile& file : graph.files) {
    if (!file.directives.embed_lines.empty()) {
      return message_at(base::name_of(file.place.path), file.directives.embed_lines.front(),
                        "#embed reads a file");
    }
  }
  return first_rival(graph, search);
}

RunTimeClosure close_over_files(std::string_view main, std::vector<format::SourceFile> headers,
                                const source::BuildOptions& options) {
  IncludeSearch search;
  std::ranges::transform(options.include_folders, std::back_inserter(search.folders),
                         base::to_path);
  search.folders.emplace_back("."); // for #include <name>
  RunTimeClosure closure;
  if (!headers.empty()) {
    closure.reads = RunTimeClosure::Reads::files;
  } else if (may_read_files(main)) {
    closure.reads = RunTimeClosure::Reads::unknown;
  }
  const std::string name(k_run_time_source_name);
  auto graph = find_include_graph(
      MainText{name, std::string(main), std::move(headers), options.definitions}, search);
  if (!graph.has_value()) {
    closure.package = package_of_text(main);
    closure.why_not_keyed = graph.error().message;
    return closure;
  }
  if (!graph->files.front().directives.includes.empty()) {
    closure.reads = RunTimeClosure::Reads::files;
  }
  closure.why_not_keyed = why_graph_is_no_key(*graph, search);
  closure.package = write_include_closure(*std::move(graph), search, name).package;
  return closure;
}

} // namespace

format::SourcePackage package_of_text(std::string_view main) {
  const std::string name(k_run_time_source_name);
  return {{name, name, std::string(main)}, {}};
}

std::string_view recorded_label(std::string_view display_name) {
  return display_name == k_run_time_source_name ? "" : display_name;
}

std::string name_in_parentheses(const format::SourcePackage& package) {
  if (const auto label = recorded_label(package.main.display_name); !label.empty()) {
    return fmt::format(" (label '{}')", base::printable(label));
  }
  const std::string kernel = source::first_kernel_name(package.main.text);
  return kernel.empty() ? "" : fmt::format(" (kernel '{}')", kernel);
}

std::string why_package_is_not_keyed(const format::SourcePackage& package,
                                     const source::BuildOptions& options) {
  const bool reads_files = !package.headers.empty() || may_read_files(package.main.text);
  const auto reads = reads_files ? RunTimeClosure::Reads::files : RunTimeClosure::Reads::text_only;
  std::string reason = why_options_are_no_key(options);
  return reason.empty() ? why_texts_are_no_key(package, reads, options) : reason;
}

bool begins_self_contained(std::string_view main) {
  return main.size() > k_beginning_bytes && !needs_examination(main.substr(0, k_beginning_bytes));
}

RunTimeClosure self_contained_closure(const source::BuildOptions& options) {
  RunTimeClosure closure;
  closure.why_not_keyed = why_options_are_no_key(options);
  return closure;
}

RunTimeClosure find_run_time_closure(std::string_view main, std::vector<format::SourceFile> headers,
                                     const source::BuildOptions& options) {
  if (headers.empty() && !needs_examination(main)) {
    return self_contained_closure(options);
  }
  RunTimeClosure closure = close_over_files(main, std::move(headers), options);
  if (std::string reason = why_options_are_no_key(options); !reason.empty()) {
    closure.why_not_keyed = std::move(reason);
  }
  if (closure.why_not_keyed.empty()) {
    closure.why_not_keyed = why_texts_are_no_key(*closure.package, closure.reads, options);
  }
  // No directive, and no spelling in which a compiler may see one: "include" is in a comment.
  if (closure.why_not_keyed.empty() && closure.reads == RunTimeClosure::Reads::unknown) {
    closure.reads = RunTimeClosure::Reads::text_only;
  }
  return closure;
}

} // namespace clbin::closure
