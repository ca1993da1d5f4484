// Ranks the entries that fit a device, and explains why others do not. No OpenCL, no files.
#pragma once

#include "format/bundle/bundle_reader.hpp"

namespace clbin::matching {

// The rule that led to an attempt; the first that fit are preferred. Numbers are those of
// clbin_rule.
enum class Rule : std::uint8_t {
  none = 0,           // the bundle's tables could not be read
  exact_identity = 1, // made for this identity
  compatible = 2,     // made for another device, but accepted by the vendor's rule
  il = 3,             // an intermediate language that the device's driver can build from
  not_compatible = 4,
  user_cache = 5, // this and the following are no rules of entries
  recompiled = 6,
  several_devices = 7,
  source = 8,
  same_process = 9, // an earlier build of this process
};
// Returns the name for reports. Null-terminated.
[[nodiscard]] constexpr std::string_view to_string(Rule rule) noexcept {
  constexpr std::string_view k_names[]{
      "",           "exact identity", "compatible",      "IL",     "not compatible",
      "user cache", "recompiled",     "several devices", "source", "same process"};
  return k_names[static_cast<std::size_t>(rule)];
}

// When a load attempts a candidate: before it asks the user cache, or after.
enum class Turn : std::uint8_t { before_user_cache, after_user_cache };

struct Candidate {
  format::EntryView entry;
  Rule rule = Rule::not_compatible;
  Turn turn = Turn::after_user_cache; // of rules exact_identity and compatible
  std::uint8_t preference = 0;        // Verdict::preference
  bool is_of_series = false;          // made for another GPU of the device's series
  std::uint32_t bundle = 0;           // which of several, if the caller ranks those of several
  // A sentence: "made for this device", "PTX for sm_90 is above the device's sm_80".
  std::string reason;
};

// Returns the candidates to attempt, best first, in a total and deterministic order: by turn, then
// rule, but a cubin that fits before PTX that was made for this device, because the driver compiles
// PTX when it is loaded (18 times longer, bench/results/offline_targets.md). Entries that
// share a binary and its options yield one candidate. Reads only the table pages that can contain
// candidates. Errors: any error of the reader.
[[nodiscard]] base::Result<std::vector<Candidate>>
rank_candidates(const format::BundleReader& bundle, const format::GroupView& group,
                const format::DeviceIdentity& device);

// Sorts the candidates of several bundles as rank_candidates sorts those of one.
void sort_by_rank(std::vector<Candidate>& candidates);

// Returns the records of packs that have a binary for the device, in their order. A binary for
// other address sizes may be among them.
[[nodiscard]] std::vector<format::PackRecord> packs_for(std::span<const format::PackRecord> packs,
                                                        const format::DeviceIdentity& device);

// Returns the entries of an intermediate language that the device accepts, best first: candidate 4
// of libclbin(3), "Loading". Otherwise like rank_candidates.
[[nodiscard]] base::Result<std::vector<Candidate>> rank_il(const format::BundleReader& bundle,
                                                           const format::GroupView& group,
                                                           const format::DeviceIdentity& device);

// Returns every entry of the group with its verdict, for reports: first those that fit, best first,
// then the others in table order. Reads the whole group.
[[nodiscard]] base::Result<std::vector<Candidate>>
explain_candidates(const format::BundleReader& bundle, const format::GroupView& group,
                   const format::DeviceIdentity& device);

// Returns the bytes of a candidate for its device's driver. Errors: those of the reader, and
// damaged if their kind is not that of the entry, by which the candidate was chosen.
[[nodiscard]] base::Result<base::Bytes> read_candidate(const format::BundleReader& bundle,
                                                       const Candidate& candidate,
                                                       format::ReadBudget* budget = nullptr);

} // namespace clbin::matching
