#include "base/text.hpp"
#include "loader/run_time_program.hpp"

#include <fmt/format.h>

namespace clbin::loader {

using base::Digest;
using format::GroupView;

namespace {

constexpr std::string_view k_argument_info = "-cl-kernel-arg-info";
constexpr std::size_t k_most_differences = 3;
constexpr std::size_t k_most_lines = 4U << 20U; // of a bundle

using Lines = std::vector<std::uint32_t>; // cache::line_digests_of(), sorted

Lines sorted_lines(std::string_view text) {
  Lines lines = cache::line_digests_of(text);
  std::ranges::sort(lines);
  return lines;
}

// oclcc adds this option to every build and does not record it.
std::string without_argument_info(const std::string& normalized) {
  const auto words = base::split_option_words(normalized);
  if (!words.has_value()) {
    return normalized;
  }
  std::string text;
  bool is_macro = false;
  for (const base::OptionWord& word : *words) {
    if (is_macro || word.text != k_argument_info) {
      text += fmt::format("{}{}", text.empty() ? "" : word.space_before, word.text);
    }
    is_macro = !is_macro && base::awaits_macro(word.text);
  }
  return text;
}

enum class Contains : std::uint8_t { no, yes, unknown };

// What one bundle contains of a source.
struct BuilderMatch {
  Contains source = Contains::no; // with any options
  std::optional<GroupView> group; // with the options
};

// What a builder looks for. Borrows everything.
struct WantedProgram {
  std::string_view text;
  const std::vector<format::SourceFile>& headers;
  std::string_view options; // BuildOptions::normalized
};

struct Likeness {
  std::size_t common_lines = 0; // 0: no program has half of its lines in common with the wanted one
  // "its program 'blur' differs in line 3 of the source; option: '-DN=2' before, '-DN=1' now", as
  // the user cache explains a miss.
  std::string difference;
};

// As the user cache compares programs.
cache::Recipe recipe_of(const WantedProgram& program) {
  cache::Recipe recipe;
  cache::add_source(recipe, base::digest_of(base::as_bytes(program.text)), program.headers);
  recipe.line_digests = cache::line_digests_of(program.text);
  for (const std::string_view word : base::words_between_spaces(program.options)) {
    if (word != k_argument_info) {
      recipe.ingredients.push_back({"option", std::string(word)});
    }
  }
  return recipe;
}

} // namespace

// A bundle, and which of its groups were made from which source.
class BuilderState::IndexedBundle {
public:
  IndexedBundle(std::shared_ptr<const format::BundleReader> bundle,
                DecryptedBuilds decrypted_builds)
      : m_bundle(std::move(bundle)), m_decrypted_builds(decrypted_builds) {}

  [[nodiscard]] const std::shared_ptr<const format::BundleReader>& reader() const noexcept {
    return m_bundle;
  }

  // Returns whether the user cache must not contain what is built of the bundle's source.
  [[nodiscard]] bool is_secret() const {
    return m_bundle->is_encrypted() && m_decrypted_builds == DecryptedBuilds::refused;
  }

  [[nodiscard]] Result<BuilderMatch> find(const Digest& source, const std::string& options) {
    BuilderMatch match;
    auto named = m_bundle->find_group(base::to_hex(source), source::recorded_variant_name(options));
    if (named.has_value()) {
      match.source = Contains::yes;
      match.group = *std::move(named);
      return match;
    }
    const ErrorCode code = named.error().code;
    if (code != ErrorCode::no_such_program && code != ErrorCode::no_such_variant) {
      return tl::unexpected(std::move(named.error()));
    }
    std::call_once(m_is_indexed, [this] { index(); });
    const std::string wanted = without_argument_info(options);
    const auto indexed = m_sources.find(source);
    if (indexed == m_sources.end()) {
      match.source = code == ErrorCode::no_such_variant ? Contains::yes : m_unread;
      return match;
    }
    match.source = Contains::yes;
    for (const std::uint32_t number : indexed->second.groups) {
      CLBIN_TRY_ASSIGN(GroupView view, m_bundle->group(number));
      const std::string recorded = source::parse_build_options(view.options.str()).normalized;
      if (without_argument_info(recorded) == wanted) {
        match.group = std::move(view);
        break;
      }
    }
    return match;
  }

  // Returns how the program differs that has most lines in common with the wanted one. The first
  // call reads all sources once more. Never call it for an encrypted bundle: the answer tells about
  // its contents.
  [[nodiscard]] Likeness compare(const WantedProgram& wanted) {
    std::call_once(m_is_indexed, [this] { index(); });
    std::call_once(m_has_lines, [this] { read_lines(); });
    const Lines lines = sorted_lines(wanted.text);
    std::vector<std::uint32_t> nearest; // groups of equally similar sources
    Likeness likeness;
    for (const auto& [digest, source] : m_sources) {
      Lines common_lines;
      std::ranges::set_intersection(source.lines, lines, std::back_inserter(common_lines));
      const std::size_t common = common_lines.size();
      if (2 * common < std::max(source.lines.size(), lines.size()) ||
          common < likeness.common_lines) {
        continue;
      }
      if (common > likeness.common_lines) {
        nearest.clear();
        likeness.common_lines = common;
      }
      nearest.insert(nearest.end(), source.groups.begin(), source.groups.end());
    }
    std::ranges::sort(nearest);
    for (const std::uint32_t group : nearest) {
      std::string one = difference(group, wanted);
      if (likeness.difference.empty() ||
          (!one.empty() && one.size() < likeness.difference.size())) {
        likeness.difference = std::move(one);
      }
    }
    return likeness.difference.empty() ? Likeness{} : likeness;
  }

private:
  struct Source {
    std::vector<std::uint32_t> groups; // ascending
    Lines lines;                       // set by read_lines()
  };

  // Leaves out groups that are damaged or beyond the limits: they cannot be found by their source.
  void index() {
    format::ReadBudget budget = m_bundle->budget();
    std::map<std::uint32_t, Source*> known; // by blob; null: it cannot be read
    for (std::uint32_t number = 0; number < m_bundle->group_count(); ++number) {
      const auto group = m_bundle->group(number);
      if (!group.has_value()) {
        m_unread = Contains::unknown;
        continue;
      }
      if (group->source_blob == format::k_no_index) {
        continue;
      }
      const auto [place, is_new] = known.try_emplace(group->source_blob);
      if (is_new) {
        const auto source = m_bundle->read_source(*group, &budget);
        place->second = source.has_value() ? &m_sources[source::source_digest(*source)] : nullptr;
      }
      if (place->second != nullptr) {
        place->second->groups.push_back(number);
      } else {
        m_unread = Contains::unknown;
      }
    }
  }

  void read_lines() {
    format::ReadBudget budget = m_bundle->budget();
    std::size_t count = 0;
    for (auto& [digest, source] : m_sources) {
      const auto group = m_bundle->group(source.groups.front());
      if (!group.has_value() || count >= k_most_lines) {
        continue;
      }
      if (const auto read = m_bundle->read_source(*group, &budget)) {
        source.lines = sorted_lines(read->main.text);
        count += source.lines.size();
      }
    }
  }

  // Empty if the group cannot be read, or nothing differs.
  [[nodiscard]] std::string difference(std::uint32_t number, const WantedProgram& wanted) const {
    const auto group = m_bundle->group(number);
    const auto source =
        group.has_value() ? m_bundle->read_source(*group) : tl::unexpected(group.error());
    if (!source.has_value()) {
      return {};
    }
    const std::string options = source::parse_build_options(group->options.str()).normalized;
    const cache::Recipe there = recipe_of({source->main.text, source->headers, options});
    const auto changes = cache::compare_with_stored(recipe_of(wanted), cache::encode_recipe(there));
    std::vector<std::string> differences;
    for (const auto& change : changes.value_or(std::vector<cache::IngredientChange>())) {
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

  std::shared_ptr<const format::BundleReader> m_bundle;
  DecryptedBuilds m_decrypted_builds;
  std::once_flag m_is_indexed;
  std::once_flag m_has_lines;
  // Immutable once m_is_indexed is set, apart from the lines.
  std::map<Digest, Source> m_sources;
  Contains m_unread = Contains::no; // whether a source that is not in m_sources is in the bundle
};

BuilderState::BuilderState(const cache::CacheSettings& of_user_cache,
                           const cache::CacheSettings& of_quarantine,
                           UnsignedSource unsigned_source, Reuse reuse)
    : m_cache(of_user_cache, of_quarantine), m_unsigned_source(unsigned_source), m_reuse(reuse) {}

BuilderState::~BuilderState() = default;

void BuilderState::add_bundle(std::shared_ptr<const format::BundleReader> bundle,
                              DecryptedBuilds decrypted_builds) {
  const std::lock_guard lock(m_mutex);
  m_bundles.push_back(std::make_shared<IndexedBundle>(std::move(bundle), decrypted_builds));
}

void BuilderState::add_warning(std::string warning) {
  const std::lock_guard lock(m_mutex);
  if (std::ranges::find(m_warnings, warning) == m_warnings.end()) {
    m_warnings.push_back(std::move(warning));
  }
}

std::vector<std::string> BuilderState::warnings() const {
  const std::lock_guard lock(m_mutex);
  return m_warnings;
}

bool BuilderState::has_secret_bundles() const {
  const std::lock_guard lock(m_mutex);
  return std::ranges::any_of(m_bundles, [](const auto& bundle) { return bundle->is_secret(); });
}

bool BuilderState::has_no_bundles() const {
  const std::lock_guard lock(m_mutex);
  return m_bundles.empty();
}

std::vector<std::shared_ptr<BuilderState::IndexedBundle>> BuilderState::bundles() const {
  const std::lock_guard lock(m_mutex);
  return m_bundles;
}

std::string BuilderState::explain_miss(std::string_view text,
                                       const std::vector<format::SourceFile>& headers,
                                       std::string_view normalized_options) const {
  Likeness most;
  std::string difference = "no bundle contains a program like it";
  for (const auto& bundle : bundles()) {
    if (bundle->reader()->is_encrypted()) {
      continue;
    }
    Likeness likeness = bundle->compare({text, headers, normalized_options});
    if (likeness.common_lines > most.common_lines) {
      difference =
          fmt::format("{}: {}", base::in_quotes(bundle->reader()->name()), likeness.difference);
      most = std::move(likeness);
    }
  }
  return difference;
}

SourceMatches BuilderState::find_groups(const Digest& source, const std::string& normalized_options,
                                        std::vector<std::string>& warnings) const {
  SourceMatches matches;
  for (const auto& bundle : bundles()) {
    auto found = bundle->find(source, normalized_options);
    const bool may_contain = !found.has_value() || found->source != Contains::no;
    if (may_contain && bundle->is_secret()) {
      matches.encrypted = bundle->reader();
    }
    if (!found.has_value()) {
      const std::string name = base::in_quotes(bundle->reader()->name());
      const std::string& message = found.error().message;
      warnings.push_back(message.starts_with(name) ? message
                                                   : fmt::format("{}: {}", name, message));
      continue;
    }
    if (found->group.has_value()) {
      matches.groups.push_back({bundle->reader(), *std::move(found->group)});
    }
  }
  return matches;
}

} // namespace clbin::loader
