#include "targets/clang_front_end.hpp"

#include "base/text.hpp"
#include "opencl/driver.hpp"

#include <fmt/format.h>
#include <system_error>

namespace oclcc::offline {

using base::Bytes;

namespace {

constexpr std::string_view k_extension_option = "-cl-ext="; // of clang
constexpr std::string_view k_lack = "oclcc: no extension ";
constexpr std::string_view k_standard_3_0 = "-cl-std=CL3.0";
// clang 23 knows it. Its features are optional in OpenCL C 3.0.
constexpr std::string_view k_standard_3_1 = "-cl-std=CL3.1";
constexpr const char* k_header_of_3_1 = "opencl_3_1.clh"; // in the unit's folder
constexpr std::string_view k_macros_of_3_1 = "#pragma clang system_header\n"
                                             "#define CL_VERSION_3_1 310\n"
                                             "#if __OPENCL_C_VERSION__ == 300\n"
                                             "#undef __OPENCL_C_VERSION__\n"
                                             "#define __OPENCL_C_VERSION__ 310\n"
                                             "#endif\n";

// What follows a family's own rules.
const OptionRule k_common_rules[] = {
    {"-cl-std=CL1.1"},
    {"-cl-std=CL1.2"},
    {"-cl-std=CL2.0"},
    {k_standard_3_0},
    {k_standard_3_1,
     OptionEffect::pass,
     {std::string(k_standard_3_0), "-include", k_header_of_3_1}},
    {k_extension_option, OptionEffect::ignore}, // extension_checks()
    {"-cl-single-precision-constant"},
    {"-cl-mad-enable"},
    {"-cl-no-signed-zeros"},
    {k_finite_math},
    {k_unsafe_math},
    {k_relaxed_math},
    {"-cl-uniform-work-group-size"},
    {"-cl-kernel-arg-info", OptionEffect::ignore}, // always on
    {"-cl-opt-disable", OptionEffect::warn},
    {"-cl-strict-aliasing", OptionEffect::warn},
    {"-cl-no-subgroup-ifp", OptionEffect::warn},
};

// Returns nullptr if there is none.
const OptionRule* rule_for(std::string_view option, std::span<const OptionRule> rules) {
  const auto rule = std::ranges::find_if(rules, [&](const OptionRule& one) {
    return one.option.ends_with('=') ? option.starts_with(one.option) : option == one.option;
  });
  return rule == rules.end() ? nullptr : &*rule;
}

bool is_message(std::string_view line) {
  constexpr std::string_view k_parts[] = {
      ": note: ", ": warning: ", ": error: ", ": fatal error: ", " generated."};
  return line.starts_with("In file included from ") ||
         std::ranges::any_of(k_parts, [&](std::string_view part) {
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
  for (const std::string_view line : base::split_lines(log)) {
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
  for (const std::string_view line : base::split_lines(log)) {
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

Result<Words> unit_words(const FamilyRequest& request, std::span<const OptionRule> rules,
                         BuildReply& reply) {
  Words words;
  for (const std::string& option : request.options) {
    if (option.starts_with("-D") || option.starts_with("-U") || option == "-w" ||
        option == "-Werror") {
      words.push_back(option);
      continue;
    }
    const OptionRule* const own = rule_for(option, rules);
    const OptionRule* const rule = own != nullptr ? own : rule_for(option, k_common_rules);
    if (rule == nullptr) {
      return fail(ErrorCode::invalid_argument, "its compiler does not know the option '{}'",
                  option);
    }
    switch (rule->effect) {
    case OptionEffect::pass:
      words = std::move(words) + (rule->words.empty() ? Words{option} : rule->words);
      break;
    case OptionEffect::ignore:
      break;
    case OptionEffect::warn:
      reply.log +=
          fmt::format("warning: '{}' has no effect on '{}'\n", option, spelling_of(request.target));
      break;
    case OptionEffect::refuse:
      return fail(ErrorCode::invalid_argument, "'{}' is not supported", option);
    }
  }
  return words;
}

Result<Words> requested_extensions(const Words& options) {
  Words names;
  for (const std::string& option : options) {
    for (std::size_t at = option.starts_with(k_extension_option) ? k_extension_option.size()
                                                                 : option.npos;
         at < option.size(); ++at) {
      const std::size_t end = std::min(option.find(',', at), option.size());
      if (option[at] != '+' || at + 1 == end) {
        return fail(ErrorCode::invalid_argument, "'{}': extensions are requested as '+NAME,+NAME'",
                    option);
      }
      names.push_back(option.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

std::string extension_checks(const Words& extensions) {
  std::string text;
  for (const std::string& name : extensions) {
    text += fmt::format("#ifndef {0}\n#error {1}{0}\n#endif\n", name, k_lack);
  }
  return text + "#line 1\n";
}

Result<void> require_extensions(BuildReply& reply) {
  const std::size_t at = reply.log.find(k_lack);
  if (reply.cl_code == 0 || at == std::string::npos) {
    return {};
  }
  const std::size_t name = at + k_lack.size();
  const std::string extension =
      reply.log.substr(name, reply.log.find_first_of(" \"\r\n", name) - name);
  reply = {};
  return fail(ErrorCode::invalid_argument, "its compiler does not have the extension '{}'",
              extension);
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
  std::string_view rest = symbol.substr(k_mangled.size());
  const auto length = base::take_number<std::size_t>(rest);
  return std::string(length && *length <= rest.size() ? rest.substr(0, *length) : symbol);
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

Result<void> write_source_files(const format::SourcePackage& source,
                                const std::filesystem::path& folder) {
  CLBIN_TRY(base::write_output_file(folder / k_main_file, base::as_bytes(source.main.text)));
  for (const format::SourceFile& header : source.headers) {
    if (!format::is_valid_include_name(header.include_name)) {
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
    CLBIN_TRY(base::write_output_file(file, base::as_bytes(header.text)));
  }
  return {};
}

std::string ClangRelease::name(std::string_view tool) const {
  return fmt::format("{}-{}", tool, version);
}

ToolRow row_with_clang(const ClangRelease& release, std::vector<ToolRow::Tool> others) {
  ToolRow row{std::move(others), release.debian};
  row.tools.insert(row.tools.begin(), {"clang", release.name("clang"), release.name("clang")});
  return row;
}

std::vector<ToolRow>
rows_with_clang(std::vector<ToolRow::Tool> (*others)(const ClangRelease& release)) {
  std::vector<ToolRow> rows;
  for (const ClangRelease& release : k_clang_releases) {
    rows.push_back(row_with_clang(release, others(release)));
  }
  return rows;
}

Result<std::string> pointers_preparation(const FamilyRequest& /*request*/) {
  return "pointers";
}

Result<Bytes> ask_for_typed_pointers(const ToolSession& session, const FamilyRequest& /*request*/) {
  CLBIN_TRY(session.write_input("empty.cl", {}));
  CLBIN_TRY_ASSIGN(
      const ToolRun run,
      session.run("clang", {"-cc1", "-fsyntax-only", k_typed_pointers, "-x", "cl", "empty.cl"}));
  return bytes_of(run.exit_status == 0 ? k_has_typed_pointers : k_has_opaque_pointers);
}

Result<bool> has_typed_pointers(const std::filesystem::path& shared) {
  constexpr std::uint64_t k_max_bytes = 1024;
  CLBIN_TRY_ASSIGN(const auto answer, base::read_whole_file(shared, k_max_bytes));
  return base::as_text(answer) == k_has_typed_pointers;
}

Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                           BuildReply& reply) {
  // -cc1, because clang's driver searches for CUDA, and adds what it finds.
  Words arguments = Words{"-cc1"} + call.words + call.options;
  if (has(call.options, k_header_of_3_1)) {
    CLBIN_TRY(session.write_input(k_header_of_3_1, k_macros_of_3_1));
  }
  if (!call.language.empty()) {
    CLBIN_TRY(session.write_input(k_language_file, call.language));
    arguments.insert(arguments.end(), {"-include", k_language_file});
  }
  // As before clang 20, because most drivers accept such a program.
  if (!has(call.options, "-Werror")) {
    arguments.push_back("-Wno-error=incompatible-pointer-types");
  }
  // -fgnu89-inline, because drivers find the body of an inline function that is not inlined.
  arguments = std::move(arguments) +
              words_of("-fgnu89-inline -finclude-default-header -fdeclare-opencl-builtins "
                       "-cl-kernel-arg-info -ferror-limit 19 -nostdsysteminc -I") +
              Words{k_header_folder, "-x", "cl", k_main_file};
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

} // namespace oclcc::offline
