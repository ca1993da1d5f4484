#include "offline/clang_front_end.hpp"

#include "base/file_io.hpp"
#include "offline/tools.hpp"
#include "opencl/driver.hpp"

#include <charconv>
#include <fmt/format.h>
#include <set>
#include <system_error>

namespace oclcc::offline {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

bool is_common(std::string_view option) {
  return option.starts_with("-D") || option.starts_with("-U") || option == "-w" ||
         option == "-Werror";
}

bool matches(const OptionRule& rule, std::string_view option) {
  return rule.option.ends_with('=') ? option.starts_with(rule.option) : option == rule.option;
}

bool is_message(std::string_view line) {
  constexpr std::string_view k_parts[] = {
      ": note: ", ": warning: ", ": error: ", ": fatal error: ", " generated."};
  return line.starts_with("In file included from ") ||
         std::any_of(std::begin(k_parts), std::end(k_parts), [&](std::string_view part) {
           return line.find(part) != std::string_view::npos;
         });
}

// In the unit's folder: clang writes the name into messages.
constexpr const char* k_language_file = "language.clh";

// Drops notes in that header, such as "expanded from macro 'printf'", and the lines of code behind
// them, which the user cannot look up.
std::string without_notes_on_language(std::string_view log) {
  const std::string start = fmt::format("./{}:", k_language_file);
  std::string kept;
  bool is_ours = false;
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    is_ours = line.starts_with(start) || (is_ours && !is_message(line));
    if (!is_ours) {
      kept += line;
      kept += '\n';
    }
  }
  return kept;
}

constexpr std::string_view k_has_typed_pointers = "typed pointers";
constexpr std::string_view k_has_opaque_pointers = "opaque pointers";

// Returns the first error if it names no place, as those do that are not about the source: "error:
// unknown argument: '-x'".
std::string_view error_without_place(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    for (const std::string_view beginning : {"error: ", "fatal error: "}) {
      if (line.starts_with(beginning)) {
        return line.substr(beginning.size());
      }
    }
    if (line.find(": error: ") != std::string_view::npos ||
        line.find(": fatal error: ") != std::string_view::npos) {
      break;
    }
  }
  return {};
}

} // namespace

Result<CompilerWords> compiler_words(const std::vector<std::string>& options,
                                     std::span<const OptionRule> rules, std::string_view target) {
  CompilerWords result;
  for (const std::string& option : options) {
    if (is_common(option)) {
      result.words.push_back(option);
      continue;
    }
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const OptionRule& one) { return matches(one, option); });
    if (rule == rules.end()) {
      return fail(ErrorCode::invalid_argument, "its compiler does not know the option '{}'",
                  option);
    }
    switch (rule->effect) {
    case OptionEffect::pass:
      if (rule->words.empty()) {
        result.words.push_back(option);
      } else {
        result.words.insert(result.words.end(), rule->words.begin(), rule->words.end());
      }
      break;
    case OptionEffect::ignore:
      break;
    case OptionEffect::warn:
      result.warnings.push_back(fmt::format("'{}' has no effect on '{}'", option, target));
      break;
    case OptionEffect::refuse:
      return fail(ErrorCode::invalid_argument, "'{}' is not supported", option);
    }
  }
  return result;
}

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

Result<void> write_source_files(const clbin::format::SourcePackage& source,
                                const std::filesystem::path& folder) {
  CLBIN_TRY(clbin::base::write_output_file(folder / k_main_file,
                                           clbin::base::as_bytes(source.main.text)));
  for (const clbin::format::SourceFile& header : source.headers) {
    if (!clbin::format::is_valid_include_name(header.include_name)) {
      return fail(ErrorCode::invalid_argument,
                  "cannot write the header '{}': its name is not a relative path",
                  header.include_name);
    }
    const std::filesystem::path file = folder / k_header_folder / header.include_name;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) {
      return fail(ErrorCode::file_write, "cannot create the folder of the header '{}': {}",
                  header.include_name, error.message());
    }
    CLBIN_TRY(clbin::base::write_output_file(file, clbin::base::as_bytes(header.text)));
  }
  return {};
}

std::string ClangRelease::name(std::string_view tool) const {
  return fmt::format("{}-{}", tool, version);
}

Result<Bytes> ask_for_typed_pointers(const ToolSession& session) {
  CLBIN_TRY(session.write_input("empty.cl", {}));
  CLBIN_TRY_ASSIGN(
      const ToolRun run,
      session.run("clang", {"-cc1", "-fsyntax-only", k_typed_pointers, "-x", "cl", "empty.cl"}));
  const auto answer =
      clbin::base::as_bytes(run.exit_status == 0 ? k_has_typed_pointers : k_has_opaque_pointers);
  return Bytes(answer.begin(), answer.end());
}

Result<bool> has_typed_pointers(const std::filesystem::path& shared) {
  constexpr std::uint64_t k_max_bytes = 1024;
  CLBIN_TRY_ASSIGN(const auto answer, clbin::base::read_whole_file(shared, k_max_bytes));
  return clbin::base::as_text(answer) == k_has_typed_pointers;
}

Result<std::vector<std::string>> unit_words(const std::vector<std::string>& options,
                                            std::span<const OptionRule> rules,
                                            const OfflineTarget& target, BuildReply& reply) {
  CLBIN_TRY_ASSIGN(CompilerWords words, compiler_words(options, rules, spelling_of(target)));
  for (const std::string& warning : words.warnings) {
    reply.log += fmt::format("warning: {}\n", warning);
  }
  return std::move(words.words);
}

Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                           BuildReply& reply) {
  // -cc1, because clang's driver searches for CUDA, and adds what it finds.
  std::vector<std::string> arguments = {"-cc1"};
  arguments.insert(arguments.end(), call.words.begin(), call.words.end());
  arguments.insert(arguments.end(), call.options.begin(), call.options.end());
  if (!call.language.empty()) {
    CLBIN_TRY(session.write_input(k_language_file, call.language));
    arguments.insert(arguments.end(), {"-include", k_language_file});
  }
  // -fgnu89-inline, because drivers find the body of an inline function that is not inlined.
  arguments.insert(arguments.end(),
                   {"-fgnu89-inline", "-finclude-default-header", "-fdeclare-opencl-builtins",
                    "-cl-kernel-arg-info", "-ferror-limit", "19", "-nostdsysteminc", "-I",
                    k_header_folder, "-x", "cl", k_main_file});
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run("clang", arguments));
  const std::string_view own_error =
      run.exit_status == 0 ? std::string_view() : error_without_place(run.output);
  if (!own_error.empty()) {
    return fail(ErrorCode::internal, "'{}' does not accept what oclcc passes to it: {}",
                session.path("clang").string(), own_error);
  }
  reply.log += call.language.empty() ? run.output : without_notes_on_language(run.output);
  if (run.exit_status == 0) {
    return true;
  }
  reply.cl_code = CL_BUILD_PROGRAM_FAILURE;
  reply.stage = "clang";
  return false;
}

Result<void> run_step(const ToolSession& session, std::string_view tool,
                      const std::vector<std::string>& arguments) {
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run(tool, arguments));
  if (run.exit_status != 0) {
    return fail(ErrorCode::internal, "{}", failure_text(tool, run));
  }
  return {};
}

} // namespace oclcc::offline
