#include "base/crypto/secret_bytes.hpp"

#include "base/crypto/sodium_start.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <sodium.h>
#include <sys/mman.h>
#include <unistd.h>

namespace clbin::base {

namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The bytes are whole pages, so that those that a copy of the process does not get contain nothing
// of sodium_free, which ends a process whose memory it does not recognize.
std::size_t whole_pages(std::size_t size_bytes) noexcept {
  const std::size_t page = page_bytes();
  return (std::max<std::size_t>(size_bytes, 1) + page - 1) / page * page;
}

} // namespace

SecretBytes::SecretBytes(std::size_t size_bytes) : m_size(size_bytes) {
  start_sodium();
  const std::size_t allocated = whole_pages(size_bytes);
  m_bytes.reset(static_cast<std::byte*>(sodium_malloc(allocated)));
  if (m_bytes == nullptr) {
    throw std::bad_alloc();
  }
  // A copy of the process that fork() makes has zeros in its place, if the system can.
  (void)::madvise(m_bytes.get(), allocated, MADV_WIPEONFORK);
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
