// Ranks the entries that fit a device, and explains why the others do not. Uses neither OpenCL nor
// files.
#pragma once

#include "format/bundle/bundle_reader.hpp"

namespace clbin::matching {

// The rule by which an entry fits a device, in order of preference.
enum class Rule : std::uint8_t {
  exact_identity, // made for this identity
  compatible,     // made for another device, but accepted by the vendor's rule
  il,             // an intermediate language that the device's driver can build from
  not_compatible,
};
// Returns the name for reports: "exact identity", "compatible", "IL", "not compatible".
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;

// When a load attempts a candidate: before it asks the user cache, or after.
enum class Turn : std::uint8_t { before_user_cache, after_user_cache };

struct Candidate {
  format::EntryView entry;
  Rule rule = Rule::not_compatible;
  Turn turn = Turn::after_user_cache; // of rules exact_identity and compatible
  std::string
      reason; // a sentence: "made for this device", "PTX for sm_90 is above the device's sm_80"
};

// Returns the candidates to attempt, best first, in a total and deterministic order: by turn, then
// rule, but a cubin that fits before PTX that was made for this device, because the driver compiles
// PTX when it is loaded (18 times longer, bench/results/offline_targets.md). Entries that
// share a binary and its options yield one candidate. Reads only the table pages that can contain
// candidates. Errors: any error of the reader.
[[nodiscard]] base::Result<std::vector<Candidate>>
rank_candidates(const format::BundleReader& bundle, const format::GroupView& group,
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
// damaged if the kind of the bytes differs from that of the entry, by which the candidate was
// chosen.
[[nodiscard]] base::Result<base::Bytes> read_candidate(const format::BundleReader& bundle,
                                                       const Candidate& candidate,
                                                       format::ReadBudget* budget = nullptr);

} // namespace clbin::matching
