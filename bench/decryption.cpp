// Reads blobs of an encrypted bundle and of the plain bundle with the same contents, and decrypts
// the same bytes with libsodium alone, in turn in one run. Exit status 1 if a decrypted read takes
// more than 1.15 times a plain read and libsodium's decryption together.
#include "call_times.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"

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

constexpr double k_max_ratio = 1.15;

// A payload of `size_bytes`, of which about a third is left after compression, like device code.
base::Bytes payload_of(std::size_t size_bytes) {
  base::Bytes payload;
  std::uint64_t seed = 0;
  while (payload.size() < size_bytes) {
    const std::string line = base::to_hex(base::digest_of(test::random_bytes(8, ++seed)));
    const std::string text = "  mov.b32 " + line.substr(0, 16) + ", %r1; add.s32 %r2, %r3, %r4;\n";
    const base::ByteView bytes = base::as_bytes(text);
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  payload.resize(size_bytes);
  return payload;
}

struct Case {
  std::string name;
  base::Bytes payload;
  int runs = 0;
};

// The stored bytes of the payload, as libsodium sees them: a message under a key.
struct Message {
  std::vector<unsigned char> key;
  std::vector<unsigned char> nonce;
  std::vector<unsigned char> associated;
  std::vector<unsigned char> sealed;
};

Message message_of(std::size_t plain_bytes) {
  Message message;
  message.key.resize(crypto_aead_xchacha20poly1305_ietf_KEYBYTES, 1);
  message.nonce.resize(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, 2);
  message.associated.resize(std::tuple_size_v<format::BlobBinding>, 3);
  message.sealed.resize(plain_bytes + crypto_aead_xchacha20poly1305_ietf_ABYTES);
  const std::vector<unsigned char> plain(plain_bytes, 4);
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      message.sealed.data(), nullptr, plain.data(), plain.size(), message.associated.data(),
      message.associated.size(), nullptr, message.nonce.data(), message.key.data());
  return message;
}

// `plain` has the size of the plaintext, and is reused.
void decrypt_with_sodium(const Message& message, std::vector<unsigned char>& plain) {
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(
          plain.data(), nullptr, nullptr, message.sealed.data(), message.sealed.size(),
          message.associated.data(), message.associated.size(), message.nonce.data(),
          message.key.data()) != 0) {
    std::fprintf(stderr, "decryption: a tag does not match\n");
    std::exit(1);
  }
}

format::BundleInput input_of(const base::Bytes& payload) {
  format::ProgramInput program;
  program.name = "k";
  program.variants = {{std::string(format::k_default_variant), ""}};
  program.entries = {
      test::sample_entry(format::k_default_variant, test::sample_device("d"), payload)};
  return {"decryption", {program}};
}

bool measure(const Case& measured) {
  const auto key = base::ContentKey::generate();
  const format::BundleInput input = input_of(measured.payload);
  format::WriteOptions options{.compression_level = 6};
  const format::BundleReader plain = test::must_open(value_of(write_bundle(input, options)));
  options.encryption = format::encryption_with(key);
  format::BundleReader encrypted = test::must_open(value_of(write_bundle(input, options)));
  if (!encrypted.unlock(key)) {
    std::fprintf(stderr, "decryption: the bundle does not open\n");
    std::exit(1);
  }
  const std::uint32_t plain_blob = value_of(plain.entry(0)).blob;
  const std::uint32_t encrypted_blob = value_of(encrypted.entry(0)).blob;
  const auto stored_bytes = static_cast<std::size_t>(value_of(plain.blob(plain_blob)).stored_bytes);
  const Message message = message_of(stored_bytes);
  std::vector<unsigned char> opened(stored_bytes);

  std::vector<double> plain_times;
  std::vector<double> encrypted_times;
  std::vector<double> sodium_times;
  std::vector<double> ratios;
  for (int run = 0; run < measured.runs; ++run) {
    plain_times.push_back(microseconds_of([&] { (void)value_of(plain.read_blob(plain_blob)); }));
    encrypted_times.push_back(
        microseconds_of([&] { (void)value_of(encrypted.read_blob(encrypted_blob)); }));
    sodium_times.push_back(microseconds_of([&] { decrypt_with_sodium(message, opened); }));
    ratios.push_back(encrypted_times.back() / (plain_times.back() + sodium_times.back()));
  }
  const double ratio = median_of(ratios);
  const bool met = ratio <= k_max_ratio;
  std::printf("%-14s stored %8zu: plain read %8.1f us, libsodium alone %8.1f us, decrypted read "
              "%8.1f us; ratio %.3f (limit %.2f)  %s\n",
              measured.name.c_str(), stored_bytes, median_of(plain_times), median_of(sodium_times),
              median_of(encrypted_times), ratio, k_max_ratio, met ? "met" : "NOT MET");
  return met;
}

} // namespace

int main() {
  if (sodium_init() < 0) {
    return 1;
  }
  bool met = true;
  for (const Case& each :
       {Case{"4 KiB", payload_of(4096), 4001}, Case{"64 KiB", payload_of(65536), 2001},
        Case{"1 MiB", payload_of(1048576), 401}, Case{"16 MiB", payload_of(16777216), 41},
        Case{"1 MiB random", test::random_bytes(1048576, 1), 401}}) {
    met = measure(each) && met;
  }
  return met ? 0 : 1;
}
