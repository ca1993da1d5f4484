// Finds everything that the build of a source of run time reads, so that its digest identifies the
// program.
#pragma once

#include "source/recorded_names.hpp"

namespace clbin::closure {

// The name of the main text in messages.
inline constexpr std::string_view k_run_time_source_name = "source";

struct RunTimeClosure {
  // As for find_include_closure. std::nullopt if the text is self-contained, because a large text
  // would take as long to copy as to examine.
  std::optional<format::SourcePackage> package;
  // Why the package does not determine the binary, as "source:3: …"; empty if it does.
  std::string why_not_keyed;
  // Whether files decide what the package contains, so that it can change during a build.
  // unknown: words occur that may be directives, and nothing identifies the program.
  enum class Reads : std::uint8_t { text_only, unknown, files } reads = Reads::text_only;
};

// `main` is the whole source, which is not kept; `headers` are those that clCompileProgram
// receives, found by their include names. Resolves the other #include lines as find_include_closure
// does: next to the including file, in the -I directories, and in the working directory, which is
// the directory of the main text, because some drivers search it.
//
// `why_not_keyed` names the first position of: an #include or __has_include whose macros cannot be
// resolved, a header that exists but cannot be read, a header that drivers may find in one of two
// places with different contents, __TIME__, __DATE__ and __TIMESTAMP__ (also in comments), #embed
// and __has_embed, and a spelling of directives that not every compiler reads in the same way
// (digraphs, trigraphs, raw strings). It also names an option that can read files. Never fails.
//
// Takes little more than the time to read the text once if it contains no directive of these kinds.
[[nodiscard]] RunTimeClosure find_run_time_closure(std::string_view main,
                                                   std::vector<format::SourceFile> headers,
                                                   const source::BuildOptions& options);

// Returns the `why_not_keyed` of a program that was recorded, as far as its texts and options prove
// it. Reads no file, so that it does not know of headers that could not be found.
[[nodiscard]] std::string why_package_is_not_keyed(const format::SourcePackage& package,
                                                   const source::BuildOptions& options);

// A self-contained text depends only on itself and the build options, and its characters prove
// this: find_run_time_closure then returns no package.
//
// Returns whether the first 4 KiB of a larger text are self-contained. Returns false for other
// texts, because examining them takes no longer.
[[nodiscard]] bool begins_self_contained(std::string_view main);
// Returns what find_run_time_closure returns for self-contained texts.
[[nodiscard]] RunTimeClosure self_contained_closure(const source::BuildOptions& options);

// Returns the label that an application gave to a recorded program; "" if it gave none. It is
// recorded as the main text's name for messages.
[[nodiscard]] std::string_view recorded_label(std::string_view display_name);
// Returns by what people recognize a recorded program, whose name is a digest: " (label 'matmul')",
// " (kernel 'add')" of the first kernel that its text declares, or "".
[[nodiscard]] std::string name_in_parentheses(const format::SourcePackage& package);

// Returns the package of a program that is this text alone.
[[nodiscard]] format::SourcePackage package_of_text(std::string_view main);

} // namespace clbin::closure
