#include "command_line/input_files.hpp"

#include "command_line/bundle_file.hpp"
#include "terminal/shell_quoting.hpp"

#include <system_error>

namespace oclcc {

Result<void> require_other_files(std::span<const std::filesystem::path> outputs,
                                 const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& output : outputs) {
    const auto is_output = [&](const std::filesystem::path& file) {
      std::error_code error;
      return file != "-" && output != "-" && std::filesystem::equivalent(file, output, error);
    };
    if (std::ranges::any_of(files, is_output)) {
      return refused("'{}' is both an input and the output", output.string());
    }
  }
  return {};
}

namespace {

constexpr std::uint64_t k_examined_bytes = 64U << 10U;

// "kernel void f(", "__kernel __attribute__((…)) void f("
bool defines_kernel(std::string_view text) {
  constexpr std::string_view k_keyword = "kernel";
  constexpr std::string_view k_space = " \t\r\n";
  for (std::size_t at = text.find(k_keyword); at != std::string_view::npos;
       at = text.find(k_keyword, at + 1)) {
    const std::string_view rest = text.substr(at + k_keyword.size());
    const std::size_t word = rest.find_first_not_of(k_space);
    if (word != 0 && word != std::string_view::npos &&
        (rest.substr(word).starts_with("void") || rest.substr(word).starts_with("__attribute__"))) {
      return true;
    }
  }
  return false;
}

// As a word for a shell. A note is one line, in which no word can have a line feed.
std::string shown_word(const std::filesystem::path& path) {
  const std::string word = quote_for_shell(file_word(path));
  return word.find('\n') == std::string::npos ? word : "FILE";
}

// Whether `path` is a regular text file with the suffix ".cl" or a kernel in its first 64 KiB.
bool looks_like_source(const std::filesystem::path& path) {
  const auto start = start_of_file(path, k_examined_bytes);
  if (!start) {
    return false;
  }
  const std::string_view text = base::as_text(start->view());
  return text.find('\0') == std::string_view::npos &&
         (path.extension() == ".cl" || defines_kernel(text));
}

} // namespace

void explain_bundle_input(const std::filesystem::path& bundle, const Options& options,
                          Reporter& reporter) {
  const OutputForm form = output_kind(options).form;
  if (form == OutputForm::embedding || form == OutputForm::launchers) {
    return;
  }
  reporter.explain(
      fmt::format("to see its contents: oclcc --info {}; '-o k.o' embeds it; '--merge', "
                  "'--strip' and '--repack' change it",
                  shown_word(bundle)));
}

void explain_source_inputs(const Options& options, Reporter& reporter) {
  for (const Input& input : options.inputs) {
    if (looks_like_source(input.path)) {
      reporter.note(fmt::format("'{}' looks like OpenCL source: compile it first: oclcc {}",
                                input.path.string(), shown_word(input.path)));
    }
  }
}

} // namespace oclcc
