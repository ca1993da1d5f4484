// What the compilers of the families share: command lines, the meaning of options, the files of a
// source, a run of clang, and the check that every function is defined.
#pragma once

#include "targets/offline_compiler.hpp"

namespace oclcc::offline {

enum class OptionEffect : std::uint8_t {
  pass,   // to the compiler, in its own spelling
  ignore, // without a warning: it changes nothing that the target has
  warn,   // ignored with a warning
  refuse, // an error: ignoring it would give a wrong result
};

// One row of a family's table. `option` is a whole word, or ends in "=" and matches by its start.
struct OptionRule {
  std::string_view option;
  OptionEffect effect = OptionEffect::pass;
  Words words{}; // passed instead of the option; empty for the option itself
};

inline constexpr std::string_view k_correct_rounding = "-cl-fp32-correctly-rounded-divide-sqrt";
inline constexpr std::string_view k_finite_math = "-cl-finite-math-only";
inline constexpr std::string_view k_flush_denormals = "-cl-denorms-are-zero";
inline constexpr std::string_view k_relaxed_math = "-cl-fast-relaxed-math";
inline constexpr std::string_view k_unsafe_math = "-cl-unsafe-math-optimizations";

// Returns the name in the source of a mangled symbol: "sqrt" for "_Z4sqrtDv2_f". Other symbols are
// names already.
[[nodiscard]] std::string source_name(std::string_view symbol);

// invalid_argument, with the name in the source of each, if there are unresolved symbols. A driver
// would refuse the binary, or fail when the kernel is created.
[[nodiscard]] Result<void> require_resolved(const std::vector<std::string>& unresolved_symbols);

// The name of the main file in the folder: constant, because compilers write it into binaries.
inline constexpr const char* k_main_file = "kernel.cl";
// The folder of the headers, to be searched by the compiler.
inline constexpr const char* k_header_folder = "include";

// Writes the main file, and each header by its include name below k_header_folder.
// invalid_argument: a name that is_valid_include_name refuses, or a header whose name is the folder
// of another one. file_write.
[[nodiscard]] Result<void> write_source_files(const format::SourcePackage& source,
                                              const std::filesystem::path& folder);

// A release of LLVM that was tested, best first: another one makes other bytes.
struct ClangRelease {
  std::string_view version; // "15"
  const char* debian; // the release of Debian that has it; empty if that has a better one, too

  // Returns the name of a program or a package of this release: "clang-15".
  [[nodiscard]] std::string name(std::string_view tool) const;
};
inline constexpr ClangRelease k_clang_releases[] = {
    {"15", "12"}, {"19", "13"}, {"18", ""}, {"17", ""}};

// Returns the row of a release: clang, and `others`.
[[nodiscard]] ToolRow row_with_clang(const ClangRelease& release,
                                     std::vector<ToolRow::Tool> others);
// Returns a row for each of k_clang_releases.
[[nodiscard]] std::vector<ToolRow>
    rows_with_clang(std::vector<ToolRow::Tool> (*others)(const ClangRelease& release));

// Typed pointers exist up to clang 16, and must be asked for from clang 15 on. A FamilyCompiler
// that wants to know has this as its preparation.
inline constexpr const char* k_typed_pointers = "-no-opaque-pointers";
[[nodiscard]] Result<std::string> pointers_preparation(const FamilyRequest& request);
[[nodiscard]] Result<base::Bytes> ask_for_typed_pointers(const ToolSession& session,
                                                         const FamilyRequest& request);
// `shared` is the file with the answer.
[[nodiscard]] Result<bool> has_typed_pointers(const std::filesystem::path& shared);

struct FrontEndCall {
  Words words;   // of the target and the action: "-triple", "-emit-llvm-bc", "-o"
  Words options; // unit_words
  // A header that is included first, and of which no message is shown; empty if there is none.
  std::string language{};
};

// Translates the options of a unit by the rules, then by those that all families have: -D, -U, -w,
// -Werror and most relaxations of arithmetic are passed as they are. "'-cl-opt-disable' has no
// effect on 'spirv:1.2'" goes to the reply's log. invalid_argument: a rule refuses the option, or
// no rule knows it.
[[nodiscard]] Result<Words> unit_words(const FamilyRequest& request,
                                       std::span<const OptionRule> rules, BuildReply& reply);

// Returns the names in "-cl-ext=+NAME,+NAME". invalid_argument: a name has no "+".
[[nodiscard]] Result<Words> requested_extensions(const Words& options);
// Returns lines that precede the main file, without changing its line numbers, and that fail unless
// the macro of each extension is defined. Each family defines those of extensions that work.
[[nodiscard]] std::string extension_checks(const Words& extensions);
// invalid_argument, with the name, and without the log: a line of extension_checks failed.
[[nodiscard]] Result<void> require_extensions(BuildReply& reply);

// Compiles the session's main file. Returns whether clang succeeded; its messages go to the reply's
// log, and a failure sets the reply's code. Errors as for ToolSession::run; internal: the first
// error is not about the source, but about clang's command line or a library.
[[nodiscard]] Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                                         BuildReply& reply);

// Of the compiler to AMD's code objects:

// invalid_argument: in `ir`, which is not optimized, the format or a string of a call of printf is
// not a literal or a constant array. LLVM would drop the call, or print "???".
[[nodiscard]] Result<void> require_constant_strings(std::string_view ir);

// Returns the IR with the functions of AMD's libraries under the names that they have there. clang
// 21 and later do not write the address space of a generic pointer into names: "_Z5fractfPf" for
// "_Z5fractfPU3AS0f".
[[nodiscard]] std::string with_marked_generic_pointers(std::string_view ir);

// invalid_argument: the IR calls functions of images. Processors without images would run a kernel
// from which LLVM has removed the calls, and all that depends on them.
[[nodiscard]] Result<void> require_no_images(std::string_view ir, std::string_view processor);

// Returns the symbols that lld reports as undefined, in ascending order.
[[nodiscard]] std::vector<std::string> undefined_symbols(std::string_view lld_output);

// Of the compiler to zebins:

// Returns the value of ocloc's -options. ocloc splits it at white space, without a way to quote,
// and has no -U: invalid_argument. Definitions with such characters are in the source by then
// (join_options).
[[nodiscard]] Result<std::string> ocloc_options(const Words& words);

// Returns ocloc's output as a build log: with the name of the main file, and without what ocloc
// prints about itself.
[[nodiscard]] std::string build_log_of(std::string_view ocloc_output);

// Returns the undefined symbols of a zebin, which ocloc does not report. damaged.
[[nodiscard]] Result<std::vector<std::string>> undefined_symbols_of_zebin(base::ByteView zebin);

} // namespace oclcc::offline
