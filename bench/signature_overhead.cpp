// Opens signed bundles with and without a required signature, and compares the difference with the
// time that libsodium alone takes for the same signatures in the same run. Exit status 1 if more
// than the limit of doc/performance.md is left for a signature.
#include "call_times.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/signatures.hpp"
#include "support/bundle_samples.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sodium.h>
#include <string>
#include <vector>

namespace {

using namespace clbin;
using bench::median_of;
using bench::microseconds_of;
using bench::value_of;

constexpr int k_runs = 2001;
constexpr double k_max_microseconds = 20; // of one signature, beyond libsodium

struct Case {
  std::string name;
  base::Bytes bundle;
  format::SignaturePolicy policy;
  // Of each signature that the policy makes the verifier check.
  std::vector<std::pair<base::PublicKey, base::Signature>> signatures;
  std::vector<base::Bytes> messages;
};

base::SecretKey key_number(unsigned char number) {
  std::array<std::byte, 32> seed{};
  seed[0] = std::byte{number};
  return base::SecretKey::from_seed(seed);
}

Case with_signatures(const base::Bytes& bundle, unsigned char count) {
  const base::Digest root = test::must_open(bundle).root_digest();
  Case made{std::to_string(count) + (count == 1 ? " signature" : " signatures"), {}, {}, {}, {}};
  std::vector<format::TrailingRecord> records;
  for (unsigned char number = 1; number <= count; ++number) {
    const format::SignatureRecord record = format::sign_root(root, key_number(number));
    records.push_back(to_trailing_record(record));
    made.policy.keys.push_back(record.key);
    made.signatures.emplace_back(record.key, record.signature);
    made.messages.push_back(format::signature_message(root));
  }
  made.bundle = value_of(format::with_trailing_records(bundle, records));
  return made;
}

Case with_vouch(const base::Bytes& bundle) {
  const base::Digest root = test::must_open(bundle).root_digest();
  const auto signature = format::sign_root(root, key_number(1));
  const auto counter = format::sign_counter(root, 7, key_number(1));
  const auto vouch = format::vouch_for(signature.key, key_number(2));
  return {"signature, counter and vouch",
          value_of(format::with_trailing_records(bundle, {to_trailing_record(signature),
                                                          to_trailing_record(counter),
                                                          to_trailing_record(vouch)})),
          {{vouch.old_key}, 7},
          {{signature.key, signature.signature},
           {counter.key, counter.signature},
           {vouch.old_key, vouch.signature}},
          {format::signature_message(root), format::counter_message(root, 7),
           format::vouch_message(signature.key)}};
}

void verify_with_sodium(const Case& measured) {
  for (std::size_t i = 0; i < measured.signatures.size(); ++i) {
    const auto& [key, signature] = measured.signatures[i];
    const base::Bytes& message = measured.messages[i];
    if (crypto_sign_verify_detached(
            reinterpret_cast<const unsigned char*>(signature.bytes.data()),
            reinterpret_cast<const unsigned char*>(message.data()), message.size(),
            reinterpret_cast<const unsigned char*>(key.bytes.data())) != 0) {
      std::fprintf(stderr, "signature_overhead: a signature does not hold\n");
      std::exit(1);
    }
  }
}

bool measure(const Case& measured) {
  const auto source = base::memory_source(measured.bundle);
  constexpr auto k_refuse = format::TrailingBytes::refuse;
  std::vector<double> plain;
  std::vector<double> required;
  std::vector<double> sodium;
  std::vector<double> beyond;
  for (int run = 0; run < k_runs; ++run) {
    plain.push_back(
        microseconds_of([&] { (void)value_of(format::BundleReader::open(source, {}, k_refuse)); }));
    required.push_back(microseconds_of([&] {
      (void)value_of(format::BundleReader::open(source, {}, k_refuse, measured.policy));
    }));
    sodium.push_back(microseconds_of([&] { verify_with_sodium(measured); }));
    beyond.push_back(required.back() - plain.back() - sodium.back());
  }
  const double each = median_of(beyond) / static_cast<double>(measured.signatures.size());
  const bool met = each <= k_max_microseconds;
  std::printf(
      "%-28s open %5.1f us, required %7.1f us, libsodium alone %7.1f us; beyond it %5.1f us "
      "a signature (floor %.0f)  %s\n",
      measured.name.c_str(), median_of(plain), median_of(required), median_of(sodium), each,
      k_max_microseconds, met ? "met" : "NOT MET");
  return met;
}

} // namespace

int main() {
  if (sodium_init() < 0) {
    return 1;
  }
  const base::Bytes bundle = test::must_write(test::sample_input());
  bool met = true;
  for (const Case& each :
       {with_signatures(bundle, 1), with_vouch(bundle), with_signatures(bundle, 16)}) {
    met = measure(each) && met;
  }
  return met ? 0 : 1;
}
