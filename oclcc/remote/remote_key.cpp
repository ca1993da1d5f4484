#include "remote/remote_key.hpp"

#include "base/file_io.hpp"
#include "base/text.hpp"

#include <CL/cl.h>
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace oclcc::remote {

using clbin::base::Digest;
using clbin::cache::Recipe;
using clbin::cache::ShowValue;

namespace {

// A new label leaves all older entries behind, so that no client reads what another means.
constexpr std::string_view k_key_label = "oclcc-remote-unit-1";
constexpr std::uint64_t k_max_cpuinfo_bytes = 16U << 20U;

Digest key_of_recipe(const Recipe& recipe) {
  clbin::base::Hasher hasher;
  hasher.add_field(k_key_label);
  hasher.add(clbin::cache::recipe_key(recipe).bytes);
  return hasher.finish();
}

bool is_features(std::string_view name) {
  return name == "flags" || name == "Features"; // of x86 and of Arm
}

bool is_model(std::string_view name) {
  constexpr std::string_view k_names[] = {"vendor_id",       "cpu family",       "model",
                                          "CPU implementer", "CPU architecture", "CPU variant",
                                          "CPU part"};
  return std::ranges::find(k_names, name) != std::end(k_names);
}

std::string sorted_words(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) {
      words.insert(word);
    }
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

} // namespace

std::optional<std::string> processor_of(std::string_view cpuinfo) {
  std::set<std::string> facts; // cores differ in some processors
  bool has_features = false;
  for (const std::string_view line : clbin::base::split_lines(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view name = clbin::base::without_blanks(line.substr(0, colon));
    const std::string_view value = clbin::base::without_blanks(line.substr(colon + 1));
    if (is_features(name)) {
      has_features = true;
      facts.insert(fmt::format("{}: {}", name, sorted_words(value)));
    } else if (is_model(name)) {
      facts.insert(fmt::format("{}: {}", name, value));
    }
  }
  return has_features ? std::optional(fmt::format("{}", fmt::join(facts, "\n"))) : std::nullopt;
}

std::string read_cpuinfo() {
  const auto bytes = clbin::base::read_whole_file("/proc/cpuinfo", k_max_cpuinfo_bytes);
  return bytes.has_value() ? std::string(clbin::base::as_text(*bytes)) : std::string();
}

RemoteKeys::RemoteKeys(const CompilerFacts& facts, const std::filesystem::path& executable,
                       const std::vector<BuildTarget>& targets, ContentDigests& digests,
                       std::string_view cpuinfo)
    : m_facts(facts), m_targets(&targets), m_processor(processor_of(cpuinfo)) {
  m_facts.executable = digests.of(executable).value_or("");
  for (const BuildTarget& target : targets) {
    const bool has_library = target.device && !target.device->driver_library.empty();
    m_libraries.push_back(has_library ? digests.of(target.device->driver_library) : std::nullopt);
  }
}

std::optional<Digest> RemoteKeys::key_of(const Unit& unit, std::size_t target) const {
  const BuildTarget& built = (*m_targets)[target];
  if (m_facts.executable.empty()) {
    return std::nullopt;
  }
  if (!built.device) {
    return built.shared_facts ? std::optional(key_of_recipe(offline_unit_recipe(
                                    {}, unit, built.target.spec, *built.shared_facts, m_facts)))
                              : std::nullopt;
  }
  const bool is_processor = (built.device->type & CL_DEVICE_TYPE_CPU) != 0;
  if (!m_libraries[target] || (is_processor && !m_processor)) {
    return std::nullopt;
  }
  Recipe recipe = unit_recipe({}, unit, *built.device, *m_libraries[target], m_facts);
  if (is_processor) {
    recipe.ingredients.push_back({"processor", *m_processor, ShowValue::no});
  }
  return key_of_recipe(recipe);
}

std::optional<Digest> RemoteKeys::converted_key(const std::optional<Digest>& input,
                                                std::size_t target) const {
  const auto& facts = (*m_targets)[target].shared_facts;
  if (!input || !facts) {
    return std::nullopt;
  }
  const Recipe source{{}, {{"input", clbin::base::to_hex(*input), ShowValue::no}}};
  return key_of_recipe(converted_recipe({}, source, *facts));
}

} // namespace oclcc::remote
