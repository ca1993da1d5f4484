// Which entries fit a device, best first, and why the others do not. Pure: no OpenCL, no files.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/identity/device_identity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clbin::matching {

// Rungs of the ladder that an entry can stand on.
enum class Rule : std::uint8_t {
  exact_identity, // made for this very identity
  compatible,     // another device's entry that the vendor's rule accepts
  il,             // an intermediate language that the device's driver can build from
  not_compatible,
};
// For reports: "exact identity", "compatible", "IL", "not compatible".
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;

struct Candidate {
  format::EntryView entry;
  Rule rule = Rule::not_compatible;
  std::string
      reason; // a sentence: "made for this device", "PTX for sm_90 is above the device's sm_80"
};

// Candidates to attempt, best first: total and deterministic. One binary is a candidate once,
// however many entries share it. Touches only the table pages that can hold one. Any reader error.
[[nodiscard]] base::Result<std::vector<Candidate>>
rank_candidates(const format::BundleReader& bundle, const format::GroupView& group,
                const format::DeviceIdentity& device);

// Entries of an intermediate language that the device takes, best first: rung 4 of the ladder. As
// rank_candidates otherwise.
[[nodiscard]] base::Result<std::vector<Candidate>> rank_il(const format::BundleReader& bundle,
                                                           const format::GroupView& group,
                                                           const format::DeviceIdentity& device);

// Every entry of the group with its verdict, for reports: first those that fit, best first, then
// the others in the order of the table. Reads the whole group.
[[nodiscard]] base::Result<std::vector<Candidate>>
explain_candidates(const format::BundleReader& bundle, const format::GroupView& group,
                   const format::DeviceIdentity& device);

// The bytes of a candidate, to be handed to its device's driver. Besides the reader's errors,
// damaged: the bytes are of another kind than the entry says, by which it was chosen.
[[nodiscard]] base::Result<base::Bytes> read_candidate(const format::BundleReader& bundle,
                                                       const Candidate& candidate,
                                                       format::ReadBudget* budget = nullptr);

} // namespace clbin::matching
