#include "format/bundle/signatures.hpp"

#include "format/bundle/bundle_tables.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::SecretKey;
using testing::ElementsAre;

SecretKey key_number(unsigned char number) {
  std::array<std::byte, 32> seed{};
  seed[0] = std::byte{number};
  return SecretKey::from_seed(seed);
}

base::Digest sample_root() {
  return base::digest_of(base::as_bytes("a root"));
}

Bytes sample_to_sign() {
  return test::must_write(test::sample_input());
}

base::Result<std::vector<TrailingRecord>> records_of(ByteView bundle, RecordSelection selection) {
  const auto source = base::memory_source(bundle);
  CLBIN_TRY_ASSIGN(const OpenedDirectory opened,
                   open_directory(*source, {}, TrailingBytes::refuse));
  return read_trailing_records(*source, opened.prefix, selection);
}

std::vector<std::uint32_t> kinds_of(const std::vector<TrailingRecord>& records) {
  std::vector<std::uint32_t> kinds;
  std::transform(records.begin(), records.end(), std::back_inserter(kinds),
                 [](const TrailingRecord& record) { return record.kind; });
  return kinds;
}

TEST(TrailingRecords, SignMessagesThatDifferInTheirContext) {
  const base::Digest root = sample_root();
  const Bytes signature = signature_message(root);
  EXPECT_EQ(signature.size(), 43U);
  EXPECT_EQ(base::as_text(ByteView(signature).first(11)), "clbin-sig-1");
  const Bytes counter = counter_message(root, 0x0102);
  EXPECT_EQ(counter.size(), 55U);
  EXPECT_EQ(base::as_text(ByteView(counter).first(15)), "clbin-counter-1");
  EXPECT_EQ(counter[47], std::byte{2});
  EXPECT_EQ(counter[48], std::byte{1});
  const Bytes vouch = vouch_message(key_number(1).public_key());
  EXPECT_EQ(vouch.size(), 45U);
  EXPECT_EQ(base::as_text(ByteView(vouch).first(13)), "clbin-vouch-1");
}

TEST(TrailingRecords, HoldUntilAnyFieldChanges) {
  const base::Digest root = sample_root();
  const base::Digest other_root = base::digest_of({});
  const SecretKey key = key_number(1);
  const base::PublicKey other_key = key_number(2).public_key();

  SignatureRecord signature = sign_root(root, key);
  EXPECT_TRUE(holds(signature, root));
  EXPECT_FALSE(holds(signature, other_root));
  signature.key = other_key;
  EXPECT_FALSE(holds(signature, root));

  CounterRecord counter = sign_counter(root, 7, key);
  EXPECT_TRUE(holds(counter, root));
  EXPECT_FALSE(holds(counter, other_root));
  counter.counter = 8;
  EXPECT_FALSE(holds(counter, root));

  VouchRecord vouch = vouch_for(other_key, key);
  EXPECT_TRUE(holds(vouch, {}));
  vouch.new_key = key_number(3).public_key();
  EXPECT_FALSE(holds(vouch, {}));
}

TEST(TrailingRecords, RoundTripWithTheSizesOfThePage) {
  const base::Digest root = sample_root();
  const SecretKey key = key_number(1);
  const TrailingRecord signature = to_trailing_record(sign_root(root, key));
  EXPECT_EQ(signature.bytes.size(), 96U);
  EXPECT_TRUE(holds(read_signed<SignatureRecord>(signature).value(), root));
  const TrailingRecord counter = to_trailing_record(sign_counter(root, ~0ULL, key));
  EXPECT_EQ(counter.bytes.size(), 104U);
  EXPECT_EQ(read_signed<CounterRecord>(counter)->counter, ~0ULL);
  EXPECT_TRUE(holds(read_signed<CounterRecord>(counter).value(), root));
  const TrailingRecord vouch = to_trailing_record(vouch_for(key_number(2).public_key(), key));
  EXPECT_EQ(vouch.bytes.size(), 128U);
  EXPECT_TRUE(holds(read_signed<VouchRecord>(vouch).value(), {}));
  EXPECT_EQ(signature.flags | counter.flags | vouch.flags, 0U);
  EXPECT_THAT(kinds_of({signature, counter, vouch}), ElementsAre(1, 16, 17));
}

TEST(TrailingRecords, AreReplacedOnlyIfTheirKeysAreEqual) {
  const base::Digest root = sample_root();
  const SecretKey one = key_number(1);
  const SecretKey two = key_number(2);
  std::vector<TrailingRecord> records;
  put_record(records, to_trailing_record(sign_root(root, one)));
  put_record(records, to_trailing_record(sign_root(root, two)));
  put_record(records, to_trailing_record(sign_counter(root, 5, one)));
  put_record(records, to_trailing_record(vouch_for(two.public_key(), one)));
  put_record(records, to_trailing_record(vouch_for(key_number(3).public_key(), one)));
  ASSERT_EQ(records.size(), 5U);
  put_record(records, to_trailing_record(sign_root(root, one)));
  put_record(records, to_trailing_record(sign_counter(root, 6, one)));
  put_record(records, to_trailing_record(vouch_for(two.public_key(), one)));
  ASSERT_EQ(records.size(), 5U);
  const auto counter =
      std::find_if(records.begin(), records.end(), [](const TrailingRecord& record) {
        return is_of_kind(record, TrailingKind::counter);
      });
  EXPECT_EQ(read_signed<CounterRecord>(*counter)->counter, 6U);
}

TEST(TrailingRecords, AreWrittenInOneOrderAndUnknownOnesStay) {
  const Bytes unsigned_bundle = sample_to_sign();
  test::CraftedBundle crafted(unsigned_bundle);
  crafted.append_trailing(77, 0, test::random_bytes(5, 1));
  crafted.append_trailing(3, 0, {});
  const Bytes bundle = crafted.build();
  const base::Digest root = test::must_open(bundle).root_digest();

  auto records = records_of(bundle, RecordSelection::all).value();
  ASSERT_THAT(kinds_of(records), ElementsAre(77, 3));
  put_record(records, to_trailing_record(vouch_for(key_number(2).public_key(), key_number(1))));
  put_record(records, to_trailing_record(sign_root(root, key_number(2))));
  put_record(records, to_trailing_record(sign_counter(root, 1, key_number(2))));
  put_record(records, to_trailing_record(sign_root(root, key_number(1))));
  const Bytes signed_bundle = with_trailing_records(bundle, records).value();
  EXPECT_TRUE(test::must_open(signed_bundle).verify().has_value());
  EXPECT_EQ(test::must_open(signed_bundle).root_digest(), root);

  const auto written = records_of(signed_bundle, RecordSelection::all).value();
  EXPECT_THAT(kinds_of(written), ElementsAre(1, 1, 16, 17, 77, 3));
  EXPECT_LT(written[0].bytes, written[1].bytes);
  EXPECT_THAT(kinds_of(records_of(signed_bundle, RecordSelection::known).value()),
              ElementsAre(1, 1, 16, 17));
  EXPECT_TRUE(records_of(signed_bundle, RecordSelection::none)->empty());
  std::reverse(records.begin() + 2, records.end()); // the known ones
  EXPECT_EQ(with_trailing_records(bundle, records), signed_bundle);

  auto stripped = written;
  remove_signatures(stripped);
  EXPECT_EQ(with_trailing_records(signed_bundle, stripped), bundle);
  EXPECT_EQ(with_trailing_records(signed_bundle, {}), unsigned_bundle);
}

TEST(TrailingRecords, AreAtMostSixteen) {
  const Bytes bundle = sample_to_sign();
  const base::Digest root = test::must_open(bundle).root_digest();
  std::vector<TrailingRecord> records;
  for (unsigned char i = 0; i < 16; ++i) {
    put_record(records, to_trailing_record(sign_root(root, key_number(i))));
  }
  EXPECT_TRUE(with_trailing_records(bundle, records).has_value());
  put_record(records, to_trailing_record(sign_root(root, key_number(16))));
  const auto result = with_trailing_records(bundle, records);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().message,
            "a bundle has at most 16 trailing records, and this one would have 17");
}

TEST(TrailingRecords, AreNotAddedToADamagedBundle) {
  Bytes bundle = sample_to_sign();
  bundle[40] ^= std::byte{1};
  const auto result = with_trailing_records(bundle, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::digest_mismatch);
}

TEST(TrailingRecords, AreRefusedInAnotherSize) {
  const Bytes bundle = sample_to_sign();
  for (const auto& [kind, message] :
       {std::pair(1U, "trailing record 0: a signature has 96 bytes, not 8"),
        std::pair(16U, "trailing record 0: a counter has 104 bytes, not 8"),
        std::pair(17U, "trailing record 0: a vouch has 128 bytes, not 8")}) {
    test::CraftedBundle crafted(bundle);
    crafted.append_trailing(kind, 0, test::random_bytes(8, 1));
    const auto reader = test::open_bytes(crafted.build());
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().code, ErrorCode::damaged);
    EXPECT_EQ(reader.error().message, message);
  }
}

} // namespace
} // namespace clbin::format
