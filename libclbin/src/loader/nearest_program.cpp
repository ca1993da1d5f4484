#include "loader/nearest_program.hpp"

#include "base/text.hpp"
#include "cache/cache_recipe.hpp"
#include "closure/run_time_closure.hpp"

#include <fmt/format.h>

namespace clbin::loader {

namespace {

using Changes = std::vector<cache::IngredientChange>;

constexpr std::size_t k_most_differences = 3;
constexpr std::size_t k_most_lines = 4U << 20U; // of a bundle

std::vector<std::uint32_t> sorted_lines(std::string_view text) {
  std::vector<std::uint32_t> lines = cache::line_digests_of(text);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::size_t common_count(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common.size();
}

// As the user cache compares programs.
cache::Recipe recipe_of(const WantedProgram& program) {
  cache::Recipe recipe;
  cache::add_source(recipe, base::digest_of(base::as_bytes(program.text)), program.headers);
  recipe.line_digests = cache::line_digests_of(program.text);
  for (const std::string_view word : base::words_between_spaces(program.options)) {
    if (word != "-cl-kernel-arg-info") { // oclcc adds it
      recipe.ingredients.push_back({"option", std::string(word)});
    }
  }
  return recipe;
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
    if (m_lines.count(group->source_blob) == 0 && count < k_most_lines) {
      if (const auto source = m_bundle.read_source(*group, &budget)) {
        Lines lines = sorted_lines(source->main.text);
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
  const Lines lines = sorted_lines(wanted.text);
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
  const std::string options = source::parse_build_options(group->options.str()).normalized;
  const cache::Recipe there = recipe_of({source->main.text, source->headers, options});
  const auto changes = cache::compare_with_stored(recipe_of(wanted), cache::encode_recipe(there));
  std::vector<std::string> differences;
  for (const cache::IngredientChange& change : changes.value_or(Changes())) {
    if (differences.size() < k_most_differences) {
      differences.push_back(cache::describe(change));
    }
  }
  if (differences.empty()) {
    return {};
  }
  const std::string name = base::digest_from_hex(group->program.str())
                               ? closure::name_in_parentheses(*source)
                               : fmt::format(" '{}'", group->program);
  return fmt::format("its program{} differs in {}", name, fmt::join(differences, "; "));
}

} // namespace clbin::loader
