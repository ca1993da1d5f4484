#include "loader/pocl_keeping.hpp"

#include "base/text.hpp"
#include "source/recorded_names.hpp"

namespace clbin::loader {

using base::Digest;
using base::ErrorCode;
using base::Result;
using format::GroupView;

namespace {

constexpr std::string_view k_argument_info = "-cl-kernel-arg-info";

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

} // namespace

std::vector<std::filesystem::path> listed_paths(std::string_view list) {
  std::vector<std::filesystem::path> paths;
  while (!list.empty()) {
    const std::string_view path = list.substr(0, list.find(':'));
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.emplace_back(path);
    }
    list.remove_prefix(std::min(list.size(), path.size() + 1));
  }
  return paths;
}

// A bundle, and which of its groups were made from which source.
class BuilderState::IndexedBundle {
public:
  IndexedBundle(std::shared_ptr<const format::BundleReader> bundle,
                DecryptedBuilds decrypted_builds)
      : m_bundle(std::move(bundle)), m_decrypted_builds(decrypted_builds), m_nearest(*m_bundle) {}

  [[nodiscard]] const std::shared_ptr<const format::BundleReader>& reader() const noexcept {
    return m_bundle;
  }

  // Returns whether the user cache must not contain what is built of the bundle's source.
  [[nodiscard]] bool is_secret() const {
    return m_bundle->is_encrypted() && m_decrypted_builds == DecryptedBuilds::refused;
  }

  [[nodiscard]] Likeness compare(const WantedProgram& wanted) { return m_nearest.compare(wanted); }

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
    const auto [begin, end] = m_groups.equal_range(source);
    const bool has_source = code == ErrorCode::no_such_variant || begin != end;
    match.source = has_source ? Contains::yes : m_unread;
    for (auto group = begin; group != end && !match.group.has_value(); ++group) {
      CLBIN_TRY_ASSIGN(GroupView view, m_bundle->group(group->second));
      const std::string recorded = source::parse_build_options(view.options.str()).normalized;
      if (without_argument_info(recorded) == wanted) {
        match.group = std::move(view);
      }
    }
    return match;
  }

private:
  // Leaves out groups that are damaged or beyond the limits: they cannot be found by their source.
  void index() {
    format::ReadBudget budget = m_bundle->budget();
    std::map<std::uint32_t, std::optional<Digest>> sources; // by blob
    for (std::uint32_t number = 0; number < m_bundle->group_count(); ++number) {
      const auto group = m_bundle->group(number);
      if (!group.has_value()) {
        m_unread = Contains::unknown;
        continue;
      }
      if (group->source_blob == format::k_no_index) {
        continue;
      }
      const auto [known, is_new] = sources.try_emplace(group->source_blob);
      if (is_new) {
        const auto source = m_bundle->read_source(*group, &budget);
        known->second =
            source.has_value() ? std::optional(source::source_digest(*source)) : std::nullopt;
      }
      if (known->second.has_value()) {
        m_groups.emplace(*known->second, number);
      } else {
        m_unread = Contains::unknown;
      }
    }
  }

  std::shared_ptr<const format::BundleReader> m_bundle;
  DecryptedBuilds m_decrypted_builds;
  NearestProgram m_nearest;
  std::once_flag m_is_indexed;
  // Immutable once m_is_indexed is set.
  std::multimap<Digest, std::uint32_t> m_groups;
  Contains m_unread = Contains::no; // whether a source that is not in m_groups is in the bundle
};

BuilderState::BuilderState(const cache::CacheSettings& of_user_cache,
                           const cache::CacheSettings& of_quarantine,
                           UnsignedSource unsigned_source, Reuse reuse)
    : m_cache(of_user_cache, of_quarantine), m_on_pocl(of_user_cache.on_pocl),
      m_of_pocl(of_user_cache.of_pocl), m_unsigned_source(unsigned_source), m_reuse(reuse),
      m_pocl_keeping(std::make_unique<PoclKeeping>(*this)) {}

BuilderState::~BuilderState() = default;

void BuilderState::add_bundle(std::shared_ptr<const format::BundleReader> bundle,
                              DecryptedBuilds decrypted_builds) {
  const std::lock_guard lock(m_mutex);
  m_bundles.push_back(std::make_shared<IndexedBundle>(std::move(bundle), decrypted_builds));
}

void BuilderState::add_warning(std::string warning) {
  const std::lock_guard lock(m_mutex);
  if (std::find(m_warnings.begin(), m_warnings.end(), warning) == m_warnings.end()) {
    m_warnings.push_back(std::move(warning));
  }
}

std::vector<std::string> BuilderState::warnings() const {
  const std::lock_guard lock(m_mutex);
  return m_warnings;
}

bool BuilderState::has_secret_bundles() const {
  const std::lock_guard lock(m_mutex);
  return std::any_of(m_bundles.begin(), m_bundles.end(),
                     [](const auto& bundle) { return bundle->is_secret(); });
}

bool BuilderState::has_no_bundles() const {
  const std::lock_guard lock(m_mutex);
  return m_bundles.empty();
}

std::vector<std::shared_ptr<BuilderState::IndexedBundle>> BuilderState::bundles() const {
  const std::lock_guard lock(m_mutex);
  return m_bundles;
}

std::string BuilderState::explain_miss(const WantedProgram& wanted) const {
  Likeness most;
  std::string text = "no bundle contains a program like it";
  for (const auto& bundle : bundles()) {
    if (bundle->reader()->is_encrypted()) {
      continue;
    }
    Likeness likeness = bundle->compare(wanted);
    if (likeness.common_lines > most.common_lines) {
      text = fmt::format("{}: {}", base::in_quotes(bundle->reader()->name()), likeness.difference);
      most = std::move(likeness);
    }
  }
  return text;
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
