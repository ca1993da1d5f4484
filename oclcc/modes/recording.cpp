#include "modes/recording.hpp"

#include "base/text.hpp"
#include "closure/run_time_closure.hpp"
#include "command_line/bundle_file.hpp"
#include "format/bundle/bundle_surgery.hpp"

#include <iterator>

namespace oclcc {

using format::BundleReader;
using format::EntryInput;
using format::ProgramInput;
using format::SourcePackage;
using format::VariantInput;

namespace {

constexpr std::size_t k_max_line_bytes = 8192;
constexpr std::string_view k_offset = " offset";

// Removes the first word of `line` and the space after it. Returns an empty word if there is no
// space.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = end == std::string_view::npos ? "" : line.substr(0, end);
  line.remove_prefix(word.empty() ? 0 : end + 1);
  return word;
}

// Removes the space and the number at the end of `line`. Returns false if there is none.
bool take_last_number(std::string_view& line, std::uint64_t& number) {
  const std::size_t space = line.rfind(' ');
  const auto found = base::parse_number<std::uint64_t>(line.substr(space + 1)); // npos + 1 is 0
  number = found.value_or(0);
  line = line.substr(0, space);
  return found && space != std::string_view::npos;
}

constexpr std::uint64_t k_max_log_bytes = 256ULL << 20U;
constexpr std::uint64_t k_max_loaders_bytes = 64ULL << 10U;

// The names for diagnostics may differ.
bool is_same_source(const SourcePackage& a, const SourcePackage& b) {
  const auto same = [](const format::SourceFile& one, const format::SourceFile& other) {
    return one.include_name == other.include_name && one.text == other.text;
  };
  return a.main.text == b.main.text && std::ranges::equal(a.headers, b.headers, same);
}

const VariantInput* find_variant(const ProgramInput& program, const std::string& name) {
  const auto found = std::ranges::find(program.variants, name, &VariantInput::name);
  return found == program.variants.end() ? nullptr : &*found;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

bool is_log(const std::filesystem::path& file, std::string_view prefix) {
  return file.extension() == ".log" && file.filename().string().starts_with(prefix);
}

// Whether the value of "-DNAME=VALUE" is a path of this machine. A lone slash is an operator.
bool contains_path(const std::string& definition) {
  const std::size_t at = definition.find("=/");
  std::error_code ignored;
  return at != std::string::npos && at + 2 < definition.size() &&
         std::filesystem::exists(definition.substr(at + 1), ignored);
}

} // namespace

// Only the kernel's name may contain spaces: that of an entry point in IL is any text.
std::optional<LoggedLaunch> parse_launch(std::string_view line) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (line.size() > k_max_line_bytes || std::ranges::any_of(line, is_control)) {
    return std::nullopt;
  }
  LoggedLaunch logged;
  logged.launch.has_offset = line.ends_with(k_offset);
  line.remove_suffix(logged.launch.has_offset ? k_offset.size() : 0);
  logged.program = take_word(line);
  logged.launch.variant = take_word(line);
  std::array<std::uint64_t, 3> size{};
  std::uint64_t dimensions = 0;
  const bool is_complete = take_last_number(line, size[2]) && take_last_number(line, size[1]) &&
                           take_last_number(line, size[0]) && take_last_number(line, dimensions);
  logged.launch.kernel = line;
  if (!is_complete || logged.program.empty() || logged.launch.variant.empty() || line.empty() ||
      dimensions < 1 || dimensions > 3) {
    return std::nullopt;
  }
  logged.launch.dimensions = static_cast<std::uint32_t>(dimensions);
  const bool is_null = size[0] == 0;
  for (std::size_t i = 0; i < 3 && !is_null; ++i) {
    logged.launch.local_size[i] = i < dimensions ? size[i] : 1;
    if (logged.launch.local_size[i] == 0) {
      return std::nullopt;
    }
  }
  return logged;
}

Result<void> Recording::check(const Program& program) const {
  const auto there = m_programs.find(program.name);
  if (there == m_programs.end()) {
    return {};
  }
  const Program& known = there->second;
  if (program.source && known.source && !is_same_source(*program.source, *known.source)) {
    return fail(ErrorCode::conflict, "program '{}' was recorded with another source", program.name);
  }
  for (const VariantInput& variant : program.variants) {
    const VariantInput* const other = find_variant(known, variant.name);
    if (other != nullptr && other->options != variant.options) {
      return fail(ErrorCode::conflict,
                  "program '{}', variant '{}' was recorded with options '{}', not '{}'",
                  program.name, variant.name, other->options, variant.options);
    }
  }
  return {};
}

void Recording::add(Program program) {
  Program& known = m_programs[program.name];
  known.name = program.name;
  if (!known.source) {
    known.source = std::move(program.source);
  }
  for (VariantInput& variant : program.variants) {
    if (find_variant(known, variant.name) == nullptr) {
      known.variants.push_back(std::move(variant));
    }
  }
  for (EntryInput& entry : program.entries) {
    if (const auto payload = entry.payload.read()) {
      const std::string key = fmt::format(
          "{} {} {} {}", program.name, entry.variant, base::to_hex(target_digest(entry.target)),
          format::to_string(format::classify_binary(payload->view()).kind));
      if (m_entries.insert(key).second) {
        known.entries.push_back(std::move(entry));
      }
    }
  }
  std::move(program.launches.begin(), program.launches.end(), std::back_inserter(known.launches));
  std::move(program.builds.begin(), program.builds.end(), std::back_inserter(known.builds));
  for (format::KnownAnswer& answer : program.answers) {
    add_answer(std::move(answer), program.data, known);
  }
}

// Of launches of the same sizes, keeps the first: several processes launch the same.
void Recording::add_answer(format::KnownAnswer answer,
                           const std::map<std::string, base::KeptBytes>& data, Program& program) {
  const auto is_same = [&](const format::KnownAnswer& other) {
    const auto sizes_of = [](const format::KnownAnswer& one) {
      return std::tie(one.variant, one.kernel, one.dimensions, one.global_size, one.local_size);
    };
    return is_recorded(other) && sizes_of(answer) == sizes_of(other);
  };
  if (is_recorded(answer) && std::ranges::any_of(program.answers, is_same)) {
    return;
  }
  for (const format::NamedData& named : data_of(answer)) {
    const std::string digest = base::to_hex(named.digest);
    program.data.try_emplace(digest, data.at(digest));
  }
  program.answers.push_back(std::move(answer));
}

Result<void> Recording::add(const BundleReader& bundle, SourcePolicy source) {
  CLBIN_TRY_ASSIGN(format::BundleInput contents, format::unpack_bundle(bundle, m_spill));
  for (ProgramInput& program : contents.programs) {
    if (source == SourcePolicy::drop) {
      program.source.reset();
    }
    CLBIN_TRY(check(program));
  }
  for (ProgramInput& program : contents.programs) {
    add(std::move(program));
  }
  return {};
}

void Recording::add_file(const std::filesystem::path& file, SourcePolicy source,
                         Reporter& reporter) {
  const auto skip = [&](std::string_view reason) {
    const std::string path = file.string() + ": "; // the directory does not last
    reason.remove_prefix(reason.starts_with(path) ? path.size() : 0);
    reporter.warning(
        fmt::format("the recorded file '{}' is skipped: {}", file.filename().string(), reason));
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored))) {
    skip("it is not a regular file");
  } else if (is_log(file, "launches-")) {
    add_launches(file, reporter);
  } else if (is_log(file, "loaders-")) {
    add_loaders(file);
  } else if (is_log(file, "omissions-")) {
    add_omissions(file);
  } else if (is_log(file, "links-")) {
    m_has_linked = true;
  } else if (file.extension() == ".clbin") {
    const auto bundle = open_bundle(file);
    const auto added = bundle ? add(*bundle, source) : tl::unexpected(bundle.error());
    if (!added) {
      skip(added.error().message);
    }
  } else {
    skip("it is incomplete, or not a recording");
  }
}

// One file a process: the loader that uses the layer, then another one.
void Recording::add_loaders(const std::filesystem::path& file) {
  m_has_used_layer = true;
  const auto bytes = base::read_whole_file(file, k_max_loaders_bytes);
  const std::string_view text = bytes ? base::as_text(*bytes) : std::string_view();
  const std::size_t begin = std::min(text.find('\n'), text.size() - 1) + 1;
  if (!text.empty() && m_second_loader.empty()) {
    m_second_loader = text.substr(begin, text.find('\n', begin) - begin);
  }
}

void Recording::add_omissions(const std::filesystem::path& file) {
  const auto bytes = base::read_whole_file(file, k_max_log_bytes);
  const std::string_view text = bytes ? base::as_text(*bytes) : std::string_view();
  for (const std::string_view line : base::words_between("\n", text)) {
    m_omissions.insert(std::string(line.substr(0, k_max_line_bytes)));
  }
}

void Recording::warn_of_omissions(Reporter& reporter) const {
  constexpr std::size_t k_most_lines = 16;
  std::size_t count = 0;
  for (const std::string& line : m_omissions) {
    if (++count <= k_most_lines) {
      reporter.warning(fmt::format("not recorded: {}", base::printable(line)));
    }
  }
  if (count > k_most_lines) {
    reporter.warning(
        fmt::format("not recorded: the data of {} more launches", count - k_most_lines));
  }
}

std::string Recording::why_empty() const {
  if (!m_has_used_layer) {
    return "it has not loaded the layer: it does not call OpenCL, is elevated (setuid, "
           "capabilities), or its ICD loader does not support OPENCL_LAYERS";
  }
  if (m_has_linked) {
    return "it builds with clCompileProgram and clLinkProgram, which are not recorded: "
           "clBuildProgram and clbin_build are";
  }
  return m_second_loader.empty()
             ? "it has called OpenCL, but may load binaries from a cache of its own, or from "
               "bundles that it adds: empty it, or switch it off"
             : fmt::format("it has a second OpenCL ICD loader, '{}', and the layer does not see "
                           "what is built through it",
                           base::printable(m_second_loader));
}

bool Recording::add_launch(std::string_view line) {
  auto logged = parse_launch(line);
  const auto program = logged ? m_programs.find(logged->program) : m_programs.end();
  if (program == m_programs.end() ||
      find_variant(program->second, logged->launch.variant) == nullptr) {
    return false;
  }
  program->second.launches.push_back(std::move(logged->launch));
  return true;
}

void Recording::add_launches(const std::filesystem::path& file, Reporter& reporter) {
  const auto bytes = base::read_whole_file(file, k_max_log_bytes);
  if (!bytes) {
    reporter.warning(bytes.error().message);
    return;
  }
  std::string_view text = base::as_text(*bytes);
  std::size_t skipped = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // A line without an end was not written completely.
    skipped += end == std::string_view::npos || !add_launch(text.substr(0, end)) ? 1 : 0;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (skipped != 0) {
    reporter.warning(fmt::format("{} of '{}' {} skipped: {} no launch of a recorded program",
                                 skipped == 1 ? "1 line" : fmt::format("{} lines", skipped),
                                 file.filename().string(), skipped == 1 ? "is" : "are",
                                 skipped == 1 ? "it is" : "they are"));
  }
}

void Recording::add_folder(const std::filesystem::path& folder, SourcePolicy source,
                           Reporter& reporter) {
  std::vector<std::filesystem::path> files = files_in(folder);
  // Launches are those of programs, which come first.
  std::stable_partition(files.begin(), files.end(),
                        [](const auto& file) { return !is_log(file, "launches-"); });
  for (const std::filesystem::path& file : files) {
    add_file(file, source, reporter);
  }
  warn_of_omissions(reporter);
  warn_of_what_is_not_served(reporter);
  warn_of_paths_in_options(reporter);
}

void Recording::warn_of_what_is_not_served(Reporter& reporter) const {
  for (const auto& [name, program] : m_programs) {
    std::string reason;
    for (const VariantInput& variant : program.variants) {
      if (program.source && reason.empty()) {
        reason = clbin::closure::why_package_is_not_keyed(
            *program.source, clbin::source::parse_build_options(variant.options));
      }
    }
    if (!reason.empty()) {
      reporter.warning(fmt::format("program '{}'{} is recorded, but no bundle serves it: {}", name,
                                   clbin::closure::name_in_parentheses(*program.source), reason));
    }
  }
}

// Options identify a program, except -I.
void Recording::warn_of_paths_in_options(Reporter& reporter) const {
  std::set<std::string> definitions;
  for (const auto& [name, program] : m_programs) {
    for (const VariantInput& variant : program.variants) {
      const auto all = clbin::source::parse_build_options(variant.options).definitions;
      std::ranges::copy_if(all, std::inserter(definitions, definitions.end()), contains_path);
    }
  }
  for (const std::string& definition : definitions) {
    reporter.warning(
        fmt::format("the build option '{}' contains a path of this machine: where it differs, the "
                    "recording serves none of its programs; pass directories with -I, not -D",
                    definition));
  }
}

format::BundleInput bundle_of(std::map<std::string, ProgramInput>&& programs) {
  format::BundleInput input;
  input.producer = "oclcc " OCLCC_VERSION;
  for (auto& [name, program] : programs) {
    input.programs.push_back(std::move(program));
  }
  return input;
}

} // namespace oclcc
