#include "format/bundle/signatures.hpp"

#include "format/bundle/bundle_reader.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using base::PublicKey;
using base::Result;
using base::SecretKey;
using testing::HasSubstr;

SecretKey policy_key(unsigned char number) {
  std::array<std::byte, 32> seed{};
  seed[0] = std::byte{number};
  return SecretKey::from_seed(seed);
}

PublicKey public_number(unsigned char number) {
  return policy_key(number).public_key();
}

base::Digest root() {
  return base::digest_of(base::as_bytes("a root"));
}

TrailingRecord signature_by(unsigned char number) {
  return to_trailing_record(sign_root(root(), policy_key(number)));
}

TrailingRecord counter_by(unsigned char number, std::uint64_t counter) {
  return to_trailing_record(sign_counter(root(), counter, policy_key(number)));
}

TrailingRecord vouch(unsigned char old_number, unsigned char new_number) {
  return to_trailing_record(vouch_for(public_number(new_number), policy_key(old_number)));
}

TrailingRecord with_flipped_bit(TrailingRecord record, std::size_t byte) {
  record.bytes[byte] ^= std::byte{1};
  return record;
}

void expect_refused(const std::vector<TrailingRecord>& records, const SignaturePolicy& policy,
                    ErrorCode code, const std::string& message) {
  const Result<std::uint64_t> result = check_signatures(root(), records, policy);
  ASSERT_FALSE(result.has_value()) << message;
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

void expect_accepted(const std::vector<TrailingRecord>& records, const SignaturePolicy& policy) {
  const Result<std::uint64_t> result = check_signatures(root(), records, policy);
  EXPECT_TRUE(result.has_value()) << result.error().message;
}

TEST(SignaturePolicy, AcceptsASignatureByAnyTrustedKey) {
  expect_accepted({signature_by(1)}, {{public_number(1)}});
  expect_accepted({signature_by(1)}, {{public_number(2), public_number(1)}});
  expect_accepted({signature_by(3), signature_by(1)}, {{public_number(1)}});
}

TEST(SignaturePolicy, RefusesABundleWithoutASignature) {
  const std::string message = "a signature is required, and the bundle has none";
  expect_refused({}, {{public_number(1)}}, ErrorCode::not_signed, message);
  expect_refused({counter_by(1, 5), vouch(1, 2)}, {{public_number(1)}}, ErrorCode::not_signed,
                 message);
  TrailingRecord required = signature_by(1);
  required.flags = k_trailing_required;
  expect_refused({required}, {{public_number(1)}}, ErrorCode::not_signed, message);
  expect_refused({{15, 0, test::random_bytes(96, 1)}}, {{public_number(1)}}, ErrorCode::not_signed,
                 message);
}

TEST(SignaturePolicy, NamesTheKeysThatAreNotTrusted) {
  expect_refused({signature_by(2)}, {{public_number(1)}}, ErrorCode::untrusted_key,
                 "the bundle is signed by no trusted key, but by " + to_hex(public_number(2)));
  expect_refused({signature_by(2)}, {}, ErrorCode::untrusted_key,
                 "the bundle is signed by no trusted key, but by " + to_hex(public_number(2)));
  std::vector<TrailingRecord> many;
  for (unsigned char number = 2; number < 8; ++number) {
    many.push_back(signature_by(number));
  }
  const Result<std::uint64_t> result = check_signatures(root(), many, {{public_number(1)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr(to_hex(public_number(5)) + " and 2 more"));
}

TEST(SignaturePolicy, RefusesABrokenSignatureOfATrustedKeyBesideOneThatHolds) {
  const std::string message = "the signature by key " + to_hex(public_number(1)) + " does not hold";
  const TrailingRecord broken = with_flipped_bit(signature_by(1), 40);
  expect_refused({broken}, {{public_number(1)}}, ErrorCode::bad_signature, message);
  expect_refused({signature_by(2), broken}, {{public_number(1), public_number(2)}},
                 ErrorCode::bad_signature, message);
  expect_accepted({signature_by(2), broken}, {{public_number(2)}}); // key 1 is not trusted
}

TEST(SignaturePolicy, RefusesTheSignatureOfAnotherBundle) {
  const TrailingRecord other = to_trailing_record(sign_root(base::digest_of({}), policy_key(1)));
  expect_refused({other}, {{public_number(1)}}, ErrorCode::bad_signature,
                 "the signature by key " + to_hex(public_number(1)) + " does not hold");
}

TEST(SignaturePolicy, FollowsVouchesFromATrustedKey) {
  const SignaturePolicy trusts_1{{public_number(1)}};
  expect_accepted({signature_by(2), vouch(1, 2)}, trusts_1);
  expect_accepted({signature_by(4), vouch(3, 4), vouch(2, 3), vouch(1, 2)}, trusts_1);
  expect_accepted({signature_by(2), counter_by(2, 9), vouch(1, 2)}, {{public_number(1)}, 9});
}

TEST(SignaturePolicy, FollowsNoVouchOfAnUntrustedKey) {
  const SignaturePolicy trusts_1{{public_number(1)}};
  const std::string message =
      "the bundle is signed by no trusted key, but by " + to_hex(public_number(3));
  expect_refused({signature_by(3), vouch(2, 3)}, trusts_1, ErrorCode::untrusted_key, message);
  // A cycle that no trusted key reaches, and the opposite direction.
  expect_refused({signature_by(3), vouch(2, 3), vouch(3, 2)}, trusts_1, ErrorCode::untrusted_key,
                 message);
  expect_refused({signature_by(3), vouch(3, 1)}, trusts_1, ErrorCode::untrusted_key, message);
  TrailingRecord required = vouch(1, 3);
  required.flags = k_trailing_required;
  expect_refused({signature_by(3), required}, trusts_1, ErrorCode::untrusted_key, message);
}

TEST(SignaturePolicy, EndsOnACycleOfVouches) {
  expect_accepted({signature_by(3), vouch(1, 2), vouch(2, 1), vouch(2, 3), vouch(3, 1)},
                  {{public_number(1)}});
}

TEST(SignaturePolicy, RefusesAVouchOfATrustedKeyThatDoesNotHold) {
  const std::string message = "the vouch by key " + to_hex(public_number(1)) + " does not hold";
  for (const std::size_t byte : {std::size_t{33}, std::size_t{70}}) { // the new key, the signature
    expect_refused({signature_by(2), with_flipped_bit(vouch(1, 2), byte)}, {{public_number(1)}},
                   ErrorCode::bad_signature, message);
  }
  expect_refused({signature_by(1), with_flipped_bit(vouch(1, 2), 70)}, {{public_number(1)}},
                 ErrorCode::bad_signature, message);
}

TEST(SignaturePolicy, RequiresACounterThatIsHighEnough) {
  const SignaturePolicy policy{{public_number(1)}, 5};
  expect_accepted({signature_by(1), counter_by(1, 5)}, policy);
  expect_accepted({signature_by(1), counter_by(1, ~0ULL)}, policy);
  expect_refused({signature_by(1)}, policy, ErrorCode::old_counter,
                 "the bundle has no counter by a trusted key, and 5 is the least one accepted");
  expect_refused({signature_by(1), counter_by(1, 4)}, policy, ErrorCode::old_counter,
                 "the counter is 4, and 5 is the least one accepted");
  expect_refused({signature_by(1), counter_by(2, 9)}, policy, ErrorCode::old_counter,
                 "the bundle has no counter by a trusted key, and 5 is the least one accepted");
  TrailingRecord required = counter_by(1, 9);
  required.flags = k_trailing_required;
  expect_refused({signature_by(1), required}, policy, ErrorCode::old_counter,
                 "the bundle has no counter by a trusted key, and 5 is the least one accepted");
  expect_accepted({signature_by(1)}, {{public_number(1)}, 0});
}

TEST(SignaturePolicy, ReturnsTheHighestCounterByATrustedKey) {
  const std::vector<TrailingRecord> records{signature_by(1), counter_by(1, 3), counter_by(2, 5),
                                            counter_by(3, 9)};
  for (const std::uint64_t least : {std::uint64_t{0}, std::uint64_t{5}}) {
    const SignaturePolicy policy{{public_number(1), public_number(2)}, least};
    EXPECT_EQ(check_signatures(root(), records, policy), 5U);
  }
  EXPECT_EQ(check_signatures(root(), {signature_by(1), counter_by(2, 5)}, {{public_number(1)}}),
            0U);
}

TEST(SignaturePolicy, RefusesABrokenCounterOfATrustedKey) {
  const std::string message = "the counter by key " + to_hex(public_number(1)) + " does not hold";
  for (const std::uint64_t least : {std::uint64_t{0}, std::uint64_t{5}}) {
    expect_refused({signature_by(1), with_flipped_bit(counter_by(1, 9), 32)},
                   {{public_number(1)}, least}, ErrorCode::bad_signature, message);
  }
  const TrailingRecord other =
      to_trailing_record(sign_counter(base::digest_of({}), 9, policy_key(1)));
  expect_refused({signature_by(1), other}, {{public_number(1)}, 5}, ErrorCode::bad_signature,
                 message);
}

// A key of small order "signs" everything with R of small order and S = 0.
TEST(SignaturePolicy, TrustsNoKeyOfSmallOrder) {
  PublicKey small_order;
  small_order.bytes[0] = std::byte{1};
  SignatureRecord record{small_order, {}};
  record.signature.bytes[0] = std::byte{1};
  expect_refused({to_trailing_record(record)}, {{small_order}}, ErrorCode::bad_signature,
                 "the signature by key " + to_hex(small_order) + " does not hold");
}

// ---- Opening ----

Result<BundleReader> open_required(Bytes bytes, const SignaturePolicy& policy) {
  return BundleReader::open(base::owning_source(std::move(bytes), "test.clbin"), {},
                            TrailingBytes::refuse, policy);
}

SignaturePolicy trusting_old_key() {
  return {{test::old_key().public_key()}, test::k_signed_counter};
}

Bytes signed_bundle() {
  return test::signed_with_counter(test::bundle_to_sign(test::k_signed_payload),
                                   test::k_signed_counter);
}

TEST(OpeningSigned, AcceptsAndVerifiesASignedBundle) {
  const auto reader = open_required(signed_bundle(), trusting_old_key());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_TRUE(reader->is_trusted());
  EXPECT_EQ(reader->counter(), test::k_signed_counter);
  EXPECT_TRUE(reader->verify().has_value());
  EXPECT_EQ(reader->signature_records()->size(), 3U);
  const auto unchecked = test::open_bytes(signed_bundle());
  ASSERT_TRUE(unchecked.has_value());
  EXPECT_FALSE(unchecked->is_trusted());
  EXPECT_EQ(unchecked->counter(), 0U);
}

TEST(OpeningSigned, RefusesAnUnsignedBundle) {
  const auto reader =
      open_required(test::bundle_to_sign(test::k_signed_payload), trusting_old_key());
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::not_signed);
  EXPECT_EQ(reader.error().message, "a signature is required, and the bundle has none");
}

// A damaged directory has other errors once it is parsed.
TEST(OpeningSigned, ParsesNoDirectoryThatIsNotSigned) {
  test::CraftedBundle crafted(test::bundle_to_sign(test::k_signed_payload));
  crafted.edit_sections = [](std::vector<SectionRecord>& sections) { sections[0].flags = 0; };
  const Bytes damaged = crafted.build();
  EXPECT_EQ(test::open_bytes(damaged).error().code, ErrorCode::damaged);
  EXPECT_EQ(open_required(damaged, trusting_old_key()).error().code, ErrorCode::not_signed);
}

TEST(OpeningSigned, RefusesAnUnknownRequiredRecordBesideASignature) {
  test::CraftedBundle crafted(signed_bundle());
  const auto records = test::must_open(signed_bundle()).signature_records().value();
  for (const TrailingRecord& record : records) {
    crafted.append_trailing(record.kind, record.flags, record.bytes);
  }
  crafted.append_trailing(77, k_trailing_required, {});
  const auto reader = open_required(crafted.build(), trusting_old_key());
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::unknown_required_section);
}

TEST(OpeningSigned, VerifyRefusesASignatureOfAnyKeyThatDoesNotHold) {
  const Bytes bundle = signed_bundle();
  auto records = test::must_open(bundle).signature_records().value();
  records.push_back(with_flipped_bit(signature_by(9), 60));
  const auto reader =
      open_required(with_trailing_records(bundle, records).value(), trusting_old_key());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const Result<void> verified = reader->verify();
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().code, ErrorCode::bad_signature);
  EXPECT_EQ(verified.error().message,
            "the signature by key " + to_hex(public_number(9)) + " does not hold");
  EXPECT_TRUE(test::open_bytes(with_trailing_records(bundle, records).value())->verify());
}

// Answers the second read of the same region with other bytes.
TEST(OpeningSigned, ParsesTheBytesWhoseDigestItComputed) {
  const Bytes bundle = signed_bundle();
  const Bytes other = test::signed_with_counter(test::bundle_to_sign(test::k_other_payload),
                                                test::k_signed_counter);
  ASSERT_EQ(bundle.size(), other.size());
  std::set<std::uint64_t> seen;
  const auto read = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    const Bytes& from = seen.insert(offset).second ? bundle : other;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return 0;
  };
  const auto reader = BundleReader::open(base::callback_source(read, bundle.size(), "callback"), {},
                                         TrailingBytes::refuse, trusting_old_key());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto payload = reader->read_blob(reader->entry(0)->blob);
  ASSERT_TRUE(payload.has_value()) << payload.error().message;
  EXPECT_EQ(base::as_text(*payload), test::k_signed_payload);
  // Every region has been read once, and now has the bytes of the other bundle.
  const auto again = reader->read_blob(reader->entry(0)->blob);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::digest_mismatch);
}

// In memory, bytes may follow the bundle: they are no records of it.
TEST(OpeningSigned, IgnoresRecordsBeyondTheEndInMemory) {
  const Bytes unsigned_bundle = test::bundle_to_sign(test::k_signed_payload);
  Bytes memory = signed_bundle();
  std::copy(unsigned_bundle.begin(), unsigned_bundle.begin() + k_prefix_bytes, memory.begin());
  const auto reader = BundleReader::open(base::memory_source(memory), {}, TrailingBytes::ignore,
                                         trusting_old_key());
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::not_signed);
}

} // namespace
} // namespace clbin::format
