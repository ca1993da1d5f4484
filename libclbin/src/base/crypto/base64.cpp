#include "base/crypto/base64.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"

#include <sodium.h>

namespace clbin::base {

namespace {

constexpr int k_variant = sodium_base64_VARIANT_ORIGINAL;

std::size_t base64_size(std::size_t size_bytes) noexcept {
  return (size_bytes + 2) / 3 * 4;
}

} // namespace

SecretBytes to_secret_base64(ByteView bytes) {
  start_sodium();
  const std::size_t characters = base64_size(bytes.size());
  SecretBytes text(characters + 1);
  sodium_bin2base64(reinterpret_cast<char*>(text.writable().data()), text.size(),
                    sodium_input(bytes), bytes.size(), k_variant);
  text.shorten(characters); // no null terminator
  return text;
}

std::string to_base64(ByteView bytes) {
  return std::string(as_text(to_secret_base64(bytes).view()));
}

std::optional<SecretBytes> from_base64(std::string_view text, std::size_t size_bytes) {
  if (text.size() != base64_size(size_bytes)) {
    return std::nullopt;
  }
  start_sodium();
  SecretBytes bytes(size_bytes);
  std::size_t decoded = 0;
  const int status = sodium_base642bin(sodium_output(bytes.writable()), size_bytes, text.data(),
                                       text.size(), nullptr, &decoded, nullptr, k_variant);
  if (status != 0 || decoded != size_bytes) {
    return std::nullopt;
  }
  return bytes;
}

} // namespace clbin::base
