#include "golden/encrypted_bundles.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"

#include <array>

namespace clbin::test {

namespace {

base::RecipientSecretKey recipient_of(const std::array<unsigned char, 32>& bytes) {
  return base::RecipientSecretKey::from_bytes(std::as_bytes(std::span(bytes))).value();
}

base::Bytes encrypted(const base::Bytes& bundle, const format::Encryption& encryption) {
  const format::BundleReader reader = must_open(bundle);
  const format::BundleReader* const input = &reader;
  return format::merge_bundles({&input, 1}, &encryption).value();
}

} // namespace

std::shared_ptr<const base::ContentKey> golden_content_key() {
  base::Bytes bytes(base::ContentKey::k_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  return base::ContentKey::from_bytes(bytes).value();
}

base::RecipientSecretKey alice() {
  return recipient_of({0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1,
                       0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0,
                       0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a});
}

base::RecipientSecretKey bob() {
  return recipient_of({0x5d, 0xab, 0x08, 0x7e, 0x62, 0x4a, 0x8a, 0x4b, 0x79, 0xe1, 0x7f,
                       0x8b, 0x83, 0x80, 0x0e, 0xe6, 0x6f, 0x3b, 0xb1, 0x29, 0x26, 0x18,
                       0xb6, 0xfd, 0x1c, 0x2f, 0x8b, 0x27, 0xff, 0x88, 0xe0, 0xeb});
}

std::vector<std::pair<std::string, base::Bytes>> encrypted_bundles() {
  const base::Bytes sample = must_write(sample_input());
  const format::Encryption by_key = format::encryption_with(golden_content_key());
  const std::array recipients = {alice().public_key(), bob().public_key()};
  format::Encryption by_all = format::encryption_for(golden_content_key(), recipients).value();
  by_all.slots.push_back(by_key.slots[0]);
  return {{"content.clbin", encrypted(sample, by_key)},
          {"recipients.clbin", encrypted(sample, by_all)},
          {"small.clbin", encrypted(bundle_to_sign(k_signed_payload), by_key)}};
}

} // namespace clbin::test
