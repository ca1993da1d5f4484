#include "loader/builder_state.hpp"

#include "source/recorded_names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace clbin::loader {

using base::Digest;
using base::ErrorCode;
using base::Result;
using format::GroupView;

namespace {

constexpr std::string_view k_argument_info = "-cl-kernel-arg-info";

// oclcc adds this option to every build and does not record it.
std::string without_argument_info(const std::string& normalized) {
  std::string text = " " + normalized + " ";
  const std::string word = " " + std::string(k_argument_info) + " ";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
    text.erase(at, word.size() - 1);
  }
  return text.size() < 2 ? std::string() : text.substr(1, text.size() - 2);
}

bool is_name_missing(ErrorCode code) {
  return code == ErrorCode::no_such_program || code == ErrorCode::no_such_variant;
}

} // namespace

// A bundle, and which of its groups were made from which source.
class BuilderState::IndexedBundle {
public:
  explicit IndexedBundle(std::shared_ptr<const format::BundleReader> bundle)
      : m_bundle(std::move(bundle)) {}

  [[nodiscard]] const std::shared_ptr<const format::BundleReader>& reader() const noexcept {
    return m_bundle;
  }

  [[nodiscard]] Result<std::optional<GroupView>> find(const Digest& source,
                                                      const std::string& options) {
    auto named = m_bundle->find_group(source::recorded_program_name(source),
                                      source::recorded_variant_name(options));
    if (named.has_value()) {
      return *std::move(named);
    }
    if (!is_name_missing(named.error().code)) {
      return tl::unexpected(std::move(named.error()));
    }
    std::call_once(m_is_indexed, [this] { index(); });
    const std::string wanted = without_argument_info(options);
    const auto [begin, end] = m_groups.equal_range(source);
    for (auto group = begin; group != end; ++group) {
      CLBIN_TRY_ASSIGN(GroupView view, m_bundle->group(group->second));
      const std::string recorded = source::parse_build_options(view.options.str()).normalized;
      if (without_argument_info(recorded) == wanted) {
        return view;
      }
    }
    return std::nullopt;
  }

private:
  // Damaged groups are left out: they cannot be found by their source.
  void index() {
    format::ReadBudget budget = m_bundle->budget();
    std::map<std::uint32_t, std::optional<Digest>> sources; // by blob
    for (std::uint32_t number = 0; number < m_bundle->group_count(); ++number) {
      const auto group = m_bundle->group(number);
      if (!group.has_value() || group->source_blob == format::k_no_index) {
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
      }
    }
  }

  std::shared_ptr<const format::BundleReader> m_bundle;
  std::once_flag m_is_indexed;
  std::multimap<Digest, std::uint32_t> m_groups; // immutable once m_is_indexed is set
};

BuilderState::BuilderState(const cache::CacheSettings& settings)
    : m_cache(settings), m_on_pocl(settings.on_pocl) {}

BuilderState::BuilderState(const cache::CacheSettings& of_user_cache,
                           const cache::CacheSettings& of_quarantine,
                           UnsignedSource unsigned_source)
    : m_cache(of_user_cache, of_quarantine), m_on_pocl(of_user_cache.on_pocl),
      m_unsigned_source(unsigned_source) {}

BuilderState::~BuilderState() = default;

void BuilderState::add_bundle(std::shared_ptr<const format::BundleReader> bundle) {
  const std::lock_guard lock(m_mutex);
  m_bundles.push_back(std::make_shared<IndexedBundle>(std::move(bundle)));
}

bool BuilderState::has_no_bundles() const {
  const std::lock_guard lock(m_mutex);
  return m_bundles.empty();
}

std::vector<BundleGroup> BuilderState::find_groups(const Digest& source,
                                                   const std::string& normalized_options,
                                                   std::vector<std::string>& warnings) const {
  std::vector<std::shared_ptr<IndexedBundle>> bundles;
  {
    const std::lock_guard lock(m_mutex);
    bundles = m_bundles;
  }
  std::vector<BundleGroup> groups;
  for (const auto& bundle : bundles) {
    auto found = bundle->find(source, normalized_options);
    if (!found.has_value()) {
      warnings.push_back(fmt::format("'{}': {}", bundle->reader()->name(), found.error().message));
    } else if (found->has_value()) {
      groups.push_back({bundle->reader(), std::move(**found)});
    }
  }
  return groups;
}

} // namespace clbin::loader
