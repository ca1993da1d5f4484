// Runs clang on OpenCL C, in the same way for every family.
#pragma once

#include "offline/offline_compiler.hpp"
#include "offline/option_rules.hpp"

#include <span>
#include <string>
#include <vector>

namespace oclcc::offline {

// A release of LLVM that was tested, best first: another one makes other bytes.
struct ClangRelease {
  const char* version; // "15"
  const char* debian;  // the release of Debian that has it; empty if that has a better one, too

  // Returns the name of a program or a package of this release: "clang-15".
  [[nodiscard]] std::string name(std::string_view tool) const;
};
inline constexpr ClangRelease k_clang_releases[] = {
    {"15", "12"}, {"19", "13"}, {"18", ""}, {"17", ""}};

// Typed pointers exist up to clang 16, and must be asked for from clang 15 on. A FamilyCompiler
// that wants to know has this as its preparation.
inline constexpr const char* k_typed_pointers = "-no-opaque-pointers";
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
ask_for_typed_pointers(const ToolSession& session);
// `shared` is the file with the answer.
[[nodiscard]] clbin::base::Result<bool> has_typed_pointers(const std::filesystem::path& shared);

struct FrontEndCall {
  std::vector<std::string> words; // of the target and the action: "-triple", "-emit-llvm-bc", "-o"
  std::vector<std::string> options; // unit_words
  // A file in the session's folder that is included first, and of which no message is shown.
  std::string own_header{};
};

// Returns compiler_words of a unit, whose warnings go to the reply's log.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
unit_words(const std::vector<std::string>& options, std::span<const OptionRule> rules,
           const OfflineTarget& target, BuildReply& reply);

// Compiles the session's main file. Returns whether clang succeeded; its messages go to the reply's
// log, and a failure sets the reply's code. Errors as for run_tool; internal: the first error is
// not about the source, but about clang's command line or a library.
[[nodiscard]] clbin::base::Result<bool> run_front_end(const ToolSession& session,
                                                      const FrontEndCall& call, BuildReply& reply);

// Runs a later step of a compile. internal, with failure_text, if the tool failed.
[[nodiscard]] clbin::base::Result<void> run_step(const ToolSession& session, std::string_view tool,
                                                 const std::vector<std::string>& arguments);

} // namespace oclcc::offline
