#include "loader/nearest_program.hpp"

#include "base/text.hpp"
#include "closure/run_time_closure.hpp"

#include <fmt/format.h>

namespace clbin::loader {

namespace {

constexpr std::size_t k_most_differences = 3;
constexpr std::size_t k_most_line_hashes = 4U << 20U; // of a bundle

// Removes the first line of `text`, and returns it.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::vector<std::size_t> sorted_line_hashes(std::string_view text) {
  std::vector<std::size_t> hashes;
  while (!text.empty()) {
    hashes.push_back(std::hash<std::string_view>()(take_line(text)));
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

// Both are sorted.
std::size_t common_count(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::size_t count = 0;
  for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
    count += *one == *other ? 1 : 0;
    const bool takes_one = *one <= *other;
    other += *other <= *one ? 1 : 0;
    one += takes_one ? 1 : 0;
  }
  return count;
}

// Returns the number of the first line that differs, from 1; 0 if none does.
std::size_t first_changed_line(std::string_view one, std::string_view other) {
  for (std::size_t line = 1; !one.empty() || !other.empty(); ++line) {
    if (one.empty() != other.empty() || take_line(one) != take_line(other)) {
      return line;
    }
  }
  return 0;
}

// Each option is one text: "-D N=1" is two words. Without what oclcc adds to every build.
std::vector<std::string> options_of(std::string_view normalized) {
  const auto words = base::split_option_words(normalized);
  if (!words.has_value()) {
    return {std::string(normalized)};
  }
  std::vector<std::string> options;
  bool is_macro = false;
  for (const base::OptionWord& word : *words) {
    if (is_macro) {
      options.back() += fmt::format(" {}", word.text);
    } else {
      options.emplace_back(word.text);
    }
    is_macro = !is_macro && base::awaits_macro(word.text);
  }
  std::erase(options, "-cl-kernel-arg-info");
  return options;
}

std::vector<std::string> missing_in(const std::vector<std::string>& there,
                                    std::vector<std::string> here) {
  std::vector<std::string> missing;
  for (const std::string& option : there) {
    const auto found = std::find(here.begin(), here.end(), option);
    if (found == here.end()) {
      missing.push_back(option);
    } else {
      here.erase(found);
    }
  }
  return missing;
}

void add_options(std::vector<std::string>& differences, std::string_view there,
                 std::string_view here) {
  const std::vector<std::string> of_bundle = options_of(there);
  const std::vector<std::string> wanted = options_of(here);
  const std::vector<std::string> only_there = missing_in(of_bundle, wanted);
  const std::vector<std::string> only_here = missing_in(wanted, of_bundle);
  for (std::size_t i = 0; i < std::max(only_there.size(), only_here.size()); ++i) {
    const std::string before =
        i < only_there.size() ? fmt::format("'{}' there", only_there[i]) : "";
    const std::string now = i < only_here.size() ? fmt::format("'{}' here", only_here[i]) : "";
    differences.push_back(
        fmt::format("option {}{}{}", before, before.empty() || now.empty() ? "" : ", ", now));
  }
  if (only_there.empty() && only_here.empty() && of_bundle != wanted) {
    differences.emplace_back("the order of the options");
  }
}

void add_headers(std::vector<std::string>& differences,
                 const std::vector<format::SourceFile>& there,
                 const std::vector<format::SourceFile>& here) {
  const auto texts_of = [](const std::vector<format::SourceFile>& files) {
    std::map<std::string_view, std::string_view> texts;
    for (const format::SourceFile& file : files) {
      texts.emplace(file.include_name, file.text);
    }
    return texts;
  };
  const auto of_bundle = texts_of(there);
  auto wanted = texts_of(here);
  for (const auto& [name, text] : of_bundle) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) {
      differences.push_back(fmt::format("header '{}' there", name));
    } else if (found->second != text) {
      differences.push_back(fmt::format("header '{}'", name));
    }
    wanted.erase(name);
  }
  for (const auto& [name, text] : wanted) {
    differences.push_back(fmt::format("header '{}' here", name));
  }
}

} // namespace

void NearestProgram::read() {
  format::ReadBudget budget = m_bundle.budget();
  std::size_t count = 0;
  for (std::uint32_t number = 0; number < m_bundle.group_count(); ++number) {
    const auto group = m_bundle.group(number);
    if (!group.has_value() || group->source_blob == format::k_no_index) {
      continue;
    }
    if (m_lines.count(group->source_blob) == 0 && count < k_most_line_hashes) {
      if (const auto source = m_bundle.read_source(*group, &budget)) {
        Lines lines = sorted_line_hashes(source->main.text);
        count += lines.size();
        m_lines.emplace(group->source_blob, std::move(lines));
      }
    }
    if (m_lines.count(group->source_blob) != 0) {
      m_all.emplace_back(number, group->source_blob);
    }
  }
}

Likeness NearestProgram::compare(const WantedProgram& wanted) {
  std::call_once(m_is_read, [this] { read(); });
  const Lines lines = sorted_line_hashes(wanted.text);
  std::vector<std::uint32_t> nearest; // groups of equal sources
  Likeness likeness;
  for (const auto& [group, blob] : m_all) {
    const Lines& there = m_lines.at(blob);
    const std::size_t common = common_count(there, lines);
    if (2 * common < std::max(there.size(), lines.size()) || common < likeness.common_lines) {
      continue;
    }
    if (common > likeness.common_lines) {
      nearest.clear();
      likeness.common_lines = common;
    }
    nearest.push_back(group);
  }
  for (const std::uint32_t group : nearest) {
    std::string one = difference(group, wanted);
    if (likeness.difference.empty() || (!one.empty() && one.size() < likeness.difference.size())) {
      likeness.difference = std::move(one);
    }
  }
  return likeness.difference.empty() ? Likeness{} : likeness;
}

// Empty if the group cannot be read, or nothing differs.
std::string NearestProgram::difference(std::uint32_t number, const WantedProgram& wanted) const {
  const auto group = m_bundle.group(number);
  if (!group.has_value()) {
    return {};
  }
  const auto source = m_bundle.read_source(*group);
  if (!source.has_value()) {
    return {};
  }
  std::vector<std::string> differences;
  if (const std::size_t line = first_changed_line(source->main.text, wanted.text); line != 0) {
    differences.push_back(fmt::format("line {} of the source", line));
  }
  add_headers(differences, source->headers, wanted.headers);
  add_options(differences, source::parse_build_options(group->options.str()).normalized,
              wanted.options);
  if (differences.empty()) {
    return {};
  }
  if (differences.size() > k_most_differences) {
    differences.resize(k_most_differences);
  }
  const std::string name = base::digest_from_hex(group->program.str())
                               ? fmt::format("({})", closure::name_for_people(*source))
                               : fmt::format("'{}'", group->program);
  return fmt::format("its program {} differs in {}", name, fmt::join(differences, "; "));
}

} // namespace clbin::loader
