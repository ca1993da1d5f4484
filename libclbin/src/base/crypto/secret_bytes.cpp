#include "base/crypto/secret_bytes.hpp"

#include "base/crypto/sodium_start.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <new>
#include <sodium.h>
#include <sys/mman.h>
#include <unistd.h>

namespace clbin::base {

namespace {

// A copy of the process that fork() makes has zeros in its place, if the system can.
void wipe_on_fork(std::byte* bytes, std::size_t size_bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(bytes) % page;
  (void)::madvise(bytes - before, before + size_bytes, MADV_WIPEONFORK);
}

} // namespace

SecretBytes::SecretBytes(std::size_t size_bytes) : m_size(size_bytes) {
  start_sodium();
  m_bytes.reset(static_cast<std::byte*>(sodium_malloc(std::max<std::size_t>(size_bytes, 1))));
  if (m_bytes == nullptr) {
    throw std::bad_alloc();
  }
  wipe_on_fork(m_bytes.get(), size_bytes);
  std::fill_n(m_bytes.get(), size_bytes, std::byte{0});
}

SecretBytes SecretBytes::copy_of(ByteView bytes) {
  SecretBytes copy(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.writable().begin());
  return copy;
}

void SecretBytes::shorten(std::size_t size_bytes) noexcept {
  assert(size_bytes <= m_size);
  wipe(writable().subspan(size_bytes));
  m_size = size_bytes;
}

void SecretBytes::Wiped::operator()(std::byte* bytes) const noexcept {
  sodium_free(bytes); // overwrites them first
}

void wipe(std::span<std::byte> bytes) noexcept {
  sodium_memzero(bytes.data(), bytes.size());
}

void fill_randomly(std::span<std::byte> bytes) noexcept {
  start_sodium();
  randombytes_buf(bytes.data(), bytes.size());
}

} // namespace clbin::base
