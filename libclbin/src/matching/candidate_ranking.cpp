#include "matching/candidate_ranking.hpp"

#include "matching/vendor_rules.hpp"

#include <tuple>

namespace clbin::matching {
namespace {

using base::Result;
using format::BinaryInfo;
using format::BundleReader;
using format::DeviceIdentity;
using format::EntryView;
using format::GroupView;
using format::PayloadType;

// An identity with the digests of the targets that are this device, computed once.
struct Device {
  explicit Device(const DeviceIdentity& device)
      : identity(device),
        short_form(short_identity(device)), own_digests{format::identity_digest(device)} {
    if (short_form) {
      own_digests.push_back(format::identity_digest(*short_form));
      if (const auto series = series_identity(*short_form)) {
        series_digest = format::identity_digest(*series);
      }
    }
  }
  [[nodiscard]] bool is(const format::TargetView& target) const {
    return std::ranges::find(own_digests, target.digest) != own_digests.end();
  }
  [[nodiscard]] bool is_of_series(const format::TargetView& target) const {
    return !is(target) && series_digest == target.digest;
  }

  const DeviceIdentity& identity;
  std::optional<DeviceIdentity> short_form;
  std::vector<base::Digest> own_digests;
  std::optional<base::Digest> series_digest;
};

BinaryInfo info_of(const EntryView& entry) {
  BinaryInfo info = format::info_from_match_key(entry.match_key);
  info.address_bits = entry.address_bits;
  return info;
}

std::string_view to_text(PayloadType type) {
  switch (type) {
  case PayloadType::library:
    return "a library";
  case PayloadType::compiled_object:
    return "a compiled object";
  default:
    return "a payload of unknown type";
  }
}

// Returns the reason that excludes the entry under every rule; empty if there is none.
std::string common_obstacle(const EntryView& entry, const DeviceIdentity& device) {
  if (entry.type != PayloadType::executable) {
    return fmt::format("contains {}, but this device requires an executable", to_text(entry.type));
  }
  if (entry.kind != info_of(entry).kind) {
    return fmt::format("is listed as {} but sorted as {}", format::to_string(entry.kind),
                       format::to_string(info_of(entry).kind));
  }
  if (entry.address_bits != 0 && device.address_bits != 0 &&
      entry.address_bits != device.address_bits) {
    return fmt::format("made for {}-bit addresses, but this device has {}-bit addresses",
                       entry.address_bits, device.address_bits);
  }
  return {};
}

// Returns the first difference: "driver version '3.1' there, '3.2' here".
std::string difference(const format::TargetView& target, const Device& full) {
  const bool is_short = target.platform_name.empty() && full.short_form;
  const DeviceIdentity& device = is_short ? *full.short_form : full.identity;
  if (target.origin == format::TargetOrigin::offline) {
    return fmt::format("'{}' there, '{}' here", format::told(target.spec), device.device_name);
  }
  const std::tuple<std::string_view, const format::SharedText&, const std::string&> fields[] = {
      {"platform", target.platform_name, device.platform_name},
      {"device", target.device_name, device.device_name},
      {"driver version", target.driver_version, device.driver_version},
  };
  for (const auto& [name, made_for, own] : fields) {
    if (!made_for.empty() && made_for != own) {
      return fmt::format("{} '{}' there, '{}' here", name, format::told(made_for), own);
    }
  }
  return "the names are equal, but the rest of the identity differs";
}

// For an entry of the device's series: its kind is unknown, like those of all phones.
Verdict judge_series(const BinaryInfo& info, const format::TargetView& series,
                     const Device& device) {
  Verdict verdict = judge_own(info, device.identity);
  if (verdict.fit == Fit::yes) {
    verdict.reason = fmt::format("made for the series '{}', and this device is '{}'",
                                 format::told(series.device_name), device.short_form->device_name);
  }
  return verdict;
}

Candidate judge(EntryView entry, const Device& device) {
  const BinaryInfo info = info_of(entry);
  const bool is_il = info.kind == format::BinaryKind::spirv;
  const bool is_own = device.is(entry.target);
  Candidate judged;
  judged.reason = common_obstacle(entry, device.identity);
  if (judged.reason.empty()) {
    judged.is_of_series = !is_il && device.is_of_series(entry.target);
    Verdict verdict = is_il                 ? judge_il(info, device.identity)
                      : is_own              ? judge_own(info, device.identity)
                      : judged.is_of_series ? judge_series(info, entry.target, device)
                                            : judge_foreign(info, device.identity);
    judged.preference = verdict.preference;
    judged.reason = std::move(verdict.reason);
    if (verdict.fit == Fit::yes) {
      judged.rule = is_il ? Rule::il : is_own ? Rule::exact_identity : Rule::compatible;
    } else if (verdict.needs_same_device) {
      judged.reason += ": " + difference(entry.target, device);
    }
  }
  judged.entry = std::move(entry);
  return judged;
}

bool is_own_ptx(const Candidate& judged) {
  return judged.rule == Rule::exact_identity && judged.entry.kind == format::BinaryKind::ptx;
}

// Gives turns: own entries, and cubins instead of own PTX, come before the user cache.
void set_turns(std::vector<Candidate>& judged) {
  const bool has_own_ptx = std::any_of(judged.begin(), judged.end(), is_own_ptx);
  for (Candidate& candidate : judged) {
    const bool is_own = candidate.rule == Rule::exact_identity;
    const bool is_sooner = has_own_ptx && candidate.rule == Rule::compatible &&
                           candidate.entry.kind == format::BinaryKind::cubin;
    candidate.turn = is_own || is_sooner ? Turn::before_user_cache : Turn::after_user_cache;
  }
}

// Compares the turn, then the rule (exact before compatible, but own PTX last of its turn), then
// the vendor's preference, then the match key (the higher key has the higher architecture and
// version), then the order of the table.
bool is_better(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& judged) {
    const EntryView& entry = judged.entry;
    return std::tuple(judged.turn, is_own_ptx(judged), judged.rule, 0xffU - judged.preference,
                      ~entry.match_key, judged.bundle, entry.index);
  };
  return rank(a) < rank(b);
}

// Adds the entries of a range of match keys that `is_wanted` accepts after they were judged.
Result<void> add_range(const BundleReader& bundle, const GroupView& group, const KeyRange& range,
                       const Device& device, const auto& is_wanted, std::vector<Candidate>& kept) {
  CLBIN_TRY_ASSIGN(const format::EntryRange found,
                   bundle.find_key_range(group, range.low, range.high));
  for (std::uint32_t index = 0; index < found.count; ++index) {
    CLBIN_TRY_ASSIGN(EntryView entry, bundle.entry(found.first + index, group));
    Candidate judged = judge(std::move(entry), device);
    if (is_wanted(judged)) {
      kept.push_back(std::move(judged));
    }
  }
  return {};
}

bool is_binary(const Candidate& candidate) {
  return candidate.rule == Rule::exact_identity || candidate.rule == Rule::compatible;
}

// The digests of targets whose entries are for the device, without its vendor's rule.
std::vector<base::Digest> exact_digests(const Device& device) {
  std::vector<base::Digest> digests = device.own_digests;
  if (device.series_digest) {
    digests.push_back(*device.series_digest);
  }
  return digests;
}

// Sorts, and removes repeated binaries with the same options, which are one object if equal.
std::vector<Candidate> ranked(std::vector<Candidate> judged) {
  sort_by_rank(judged);
  std::set<std::pair<std::uint32_t, const void*>> seen;
  std::erase_if(judged, [&](const Candidate& one) {
    const EntryView& entry = one.entry;
    return !seen.emplace(entry.blob, entry.options.identity()).second;
  });
  return judged;
}

} // namespace

void sort_by_rank(std::vector<Candidate>& candidates) {
  set_turns(candidates);
  std::sort(candidates.begin(), candidates.end(), is_better);
}

std::vector<format::PackRecord> packs_for(std::span<const format::PackRecord> packs,
                                          const DeviceIdentity& identity) {
  std::set<std::uint64_t> own;
  for (const base::Digest& digest : exact_digests(Device(identity))) {
    own.insert(base::leading_u64(digest));
  }
  const std::vector<KeyRange> ranges = compatible_key_ranges(identity);
  const auto verdict_of = [&](const format::PackRecord& pack) {
    const BinaryInfo info = format::info_from_match_key(pack.match_key);
    if (own.contains(pack.target_key)) {
      return judge_own(info, identity);
    }
    const bool may_fit = std::ranges::any_of(ranges, [&](const KeyRange& range) {
      return pack.match_key >= range.low && pack.match_key <= range.high;
    });
    return may_fit ? judge_foreign(info, identity) : Verdict();
  };
  std::vector<format::PackRecord> fitting;
  std::ranges::copy_if(packs, std::back_inserter(fitting), [&](const format::PackRecord& pack) {
    return verdict_of(pack).fit == Fit::yes;
  });
  return fitting;
}

Result<std::vector<Candidate>> rank_candidates(const BundleReader& bundle, const GroupView& group,
                                               const DeviceIdentity& identity) {
  const Device device(identity);
  std::vector<Candidate> judged;
  for (const base::Digest& digest : exact_digests(device)) {
    CLBIN_TRY_ASSIGN(std::vector<EntryView> own, bundle.find_exact(group, digest));
    for (EntryView& entry : own) {
      Candidate one = judge(std::move(entry), device);
      if (is_binary(one)) {
        judged.push_back(std::move(one));
      }
    }
  }
  const auto is_foreign = [&](const Candidate& candidate) {
    return is_binary(candidate) && !device.is(candidate.entry.target);
  };
  for (const KeyRange& range : compatible_key_ranges(identity)) {
    CLBIN_TRY(add_range(bundle, group, range, device, is_foreign, judged));
  }
  return ranked(std::move(judged));
}

Result<std::vector<Candidate>> rank_il(const BundleReader& bundle, const GroupView& group,
                                       const DeviceIdentity& identity) {
  const Device device(identity);
  const auto is_il = [](const Candidate& candidate) { return candidate.rule == Rule::il; };
  std::vector<Candidate> judged;
  for (const KeyRange& range : il_key_ranges(identity)) {
    CLBIN_TRY(add_range(bundle, group, range, device, is_il, judged));
  }
  return ranked(std::move(judged));
}

Result<std::vector<Candidate>> explain_candidates(const BundleReader& bundle,
                                                  const GroupView& group,
                                                  const DeviceIdentity& identity) {
  const Device device(identity);
  std::vector<Candidate> fitting;
  std::vector<Candidate> others;
  for (std::uint32_t index = 0; index < group.entry_count; ++index) {
    CLBIN_TRY_ASSIGN(EntryView entry, bundle.entry(group.first_entry + index, group));
    Candidate judged = judge(std::move(entry), device);
    auto& list = judged.rule == Rule::not_compatible ? others : fitting;
    list.push_back(std::move(judged));
  }
  sort_by_rank(fitting);
  std::move(others.begin(), others.end(), std::back_inserter(fitting));
  return fitting;
}

Result<base::Bytes> read_candidate(const BundleReader& bundle, const Candidate& candidate,
                                   format::ReadBudget* budget) {
  const EntryView& entry = candidate.entry;
  CLBIN_TRY_ASSIGN(base::Bytes bytes, bundle.read_blob(entry.blob, budget));
  const format::BinaryKind kind = format::classify_binary(bytes).kind;
  if (kind != entry.kind) {
    return base::fail(base::ErrorCode::damaged,
                      "payload of entry {} of '{}' is {}, but the table records {}", entry.index,
                      bundle.name(), format::to_string(kind), format::to_string(entry.kind));
  }
  return bytes;
}

} // namespace clbin::matching
