#include "loader/rungs.hpp"

namespace clbin::loader {
namespace {

bool is_allowed(Rung rung, const LoadRequest& request) {
  const bool has_constants = !request.constants.empty();
  const bool is_variant_of_bundle = !has_constants && request.extra_options.empty();
  switch (rung) {
  case Rung::own_entries:
  case Rung::compatible_entries:
  case Rung::recompiled_entry:
    return request.fallback != FallbackPolicy::always && is_variant_of_bundle;
  case Rung::user_cache:
  case Rung::build_of_others:
    return request.fallback == FallbackPolicy::if_needed;
  case Rung::il: // run-time options need a preprocessor, which IL is past
    return has_constants ? request.fallback != FallbackPolicy::never
                         : request.fallback == FallbackPolicy::if_needed && is_variant_of_bundle;
  case Rung::source: // constants are a concept of IL
    return request.fallback != FallbackPolicy::never && !has_constants;
  }
  return false;
}

// For several devices there is no IL, because they share one build. A binary recompiled by the
// driver then counts like any other, because the load stores none of them.
std::vector<Rung> order_of(const LoadRequest& request) {
  using enum Rung;
  if (request.devices.size() > 1) {
    return {own_entries, user_cache, compatible_entries, recompiled_entry, build_of_others, source};
  }
  return {own_entries, user_cache, compatible_entries, build_of_others, recompiled_entry,
          il,          source};
}

} // namespace

std::vector<Rung> rungs_of(const LoadRequest& request) {
  std::vector<Rung> rungs = order_of(request);
  std::erase_if(rungs, [&](Rung rung) { return !is_allowed(rung, request); });
  return rungs;
}

std::optional<matching::Turn> turn_of(Rung rung) noexcept {
  switch (rung) {
  case Rung::own_entries:
    return matching::Turn::before_user_cache;
  case Rung::compatible_entries:
    return matching::Turn::after_user_cache;
  default:
    return std::nullopt;
  }
}

Origin origin_of(Rung rung) noexcept {
  switch (rung) {
  case Rung::own_entries:
  case Rung::compatible_entries:
    return Origin::entry;
  case Rung::user_cache:
  case Rung::build_of_others:
    return Origin::user_cache;
  case Rung::recompiled_entry:
  case Rung::il:
    return Origin::il;
  case Rung::source:
    return Origin::source;
  }
  return Origin::none;
}

} // namespace clbin::loader
