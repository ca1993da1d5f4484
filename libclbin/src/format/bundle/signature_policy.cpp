#include "format/bundle/signature_policy.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace clbin::format {

using base::Digest;
using base::ErrorCode;
using base::fail;
using base::PublicKey;
using base::Result;

namespace {

constexpr std::size_t k_max_listed_keys = 4;

// The signed records of a bundle whose bit 0 of the flags is clear.
struct SignedRecords {
  std::vector<SignatureRecord> signatures;
  std::vector<CounterRecord> counters;
  std::vector<VouchRecord> vouches;
};

Result<SignedRecords> read_signed(const std::vector<TrailingRecord>& records) {
  SignedRecords result;
  for (const TrailingRecord& record : records) {
    if ((record.flags & k_trailing_required) != 0) {
      continue;
    }
    if (is_of_kind(record, TrailingKind::ed25519_signature)) {
      CLBIN_TRY_ASSIGN(const SignatureRecord signature, read_signature_record(record));
      result.signatures.push_back(signature);
    } else if (is_of_kind(record, TrailingKind::counter)) {
      CLBIN_TRY_ASSIGN(const CounterRecord counter, read_counter_record(record));
      result.counters.push_back(counter);
    } else if (is_of_kind(record, TrailingKind::vouch)) {
      CLBIN_TRY_ASSIGN(const VouchRecord vouch, read_vouch_record(record));
      result.vouches.push_back(vouch);
    }
  }
  return result;
}

tl::unexpected<base::Error> broken(std::string_view noun, const PublicKey& key) {
  return fail(ErrorCode::bad_signature, "the {} by key {} does not hold", noun, to_hex(key));
}

bool contains(const std::vector<PublicKey>& keys, const PublicKey& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Adds the keys that trusted keys vouch for, those that these vouch for, and so on. Each vouch is
// used once, so that a cycle ends.
Result<std::vector<PublicKey>> trusted_keys(std::vector<VouchRecord> vouches,
                                            std::vector<PublicKey> keys) {
  const auto is_of_trusted = [&keys](const VouchRecord& vouch) {
    return contains(keys, vouch.old_key);
  };
  for (auto vouch = std::find_if(vouches.begin(), vouches.end(), is_of_trusted);
       vouch != vouches.end();
       vouch = std::find_if(vouches.begin(), vouches.end(), is_of_trusted)) {
    if (!holds(*vouch)) {
      return broken("vouch", vouch->old_key);
    }
    keys.push_back(vouch->new_key);
    vouches.erase(vouch);
  }
  return keys;
}

Result<void> check_signature_records(const Digest& root,
                                     const std::vector<SignatureRecord>& signatures,
                                     const std::vector<PublicKey>& keys) {
  std::string others;
  std::size_t other_count = 0;
  for (const SignatureRecord& signature : signatures) {
    if (!contains(keys, signature.key)) {
      if (other_count < k_max_listed_keys) {
        others += (others.empty() ? "" : ", ") + to_hex(signature.key);
      }
      ++other_count;
    } else if (!holds(signature, root)) {
      return broken("signature", signature.key);
    }
  }
  if (other_count < signatures.size()) {
    return {};
  }
  if (other_count > k_max_listed_keys) {
    others += fmt::format(" and {} more", other_count - k_max_listed_keys);
  }
  return fail(ErrorCode::untrusted_key, "the bundle is signed by no trusted key, but by {}",
              others);
}

Result<std::uint64_t> check_counters(const Digest& root, const std::vector<CounterRecord>& counters,
                                     const std::vector<PublicKey>& keys, std::uint64_t least) {
  std::optional<std::uint64_t> highest;
  for (const CounterRecord& counter : counters) {
    if (!contains(keys, counter.key)) {
      continue;
    }
    if (!holds(counter, root)) {
      return broken("counter", counter.key);
    }
    highest = std::max(highest.value_or(0), counter.counter);
  }
  if (least == 0) {
    return highest.value_or(0);
  }
  if (!highest.has_value()) {
    return fail(ErrorCode::old_counter,
                "the bundle has no counter by a trusted key, and {} is the least one accepted",
                least);
  }
  if (*highest < least) {
    return fail(ErrorCode::old_counter, "the counter is {}, and {} is the least one accepted",
                *highest, least);
  }
  return *highest;
}

} // namespace

Result<std::uint64_t> check_signatures(const Digest& root,
                                       const std::vector<TrailingRecord>& records,
                                       const SignaturePolicy& policy) {
  CLBIN_TRY_ASSIGN(SignedRecords found, read_signed(records));
  if (found.signatures.empty()) {
    return fail(ErrorCode::not_signed, "a signature is required, and the bundle has none");
  }
  CLBIN_TRY_ASSIGN(const std::vector<PublicKey> keys,
                   trusted_keys(std::move(found.vouches), policy.keys));
  CLBIN_TRY(check_signature_records(root, found.signatures, keys));
  return check_counters(root, found.counters, keys, policy.least_counter);
}

Result<void> check_every_signature(const Digest& root, const std::vector<TrailingRecord>& records) {
  CLBIN_TRY_ASSIGN(const SignedRecords found, read_signed(records));
  for (const SignatureRecord& signature : found.signatures) {
    if (!holds(signature, root)) {
      return broken("signature", signature.key);
    }
  }
  for (const CounterRecord& counter : found.counters) {
    if (!holds(counter, root)) {
      return broken("counter", counter.key);
    }
  }
  for (const VouchRecord& vouch : found.vouches) {
    if (!holds(vouch)) {
      return broken("vouch", vouch.old_key);
    }
  }
  return {};
}

} // namespace clbin::format
