#include "support/counted_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <malloc.h>

extern "C" {
void* __libc_malloc(std::size_t size_bytes);
void* __libc_calloc(std::size_t count, std::size_t size_bytes);
void* __libc_realloc(void* memory, std::size_t size_bytes);
void* __libc_memalign(std::size_t alignment, std::size_t size_bytes);
void __libc_free(void* memory);
}

namespace {

std::atomic<std::uint64_t> live_bytes{0};
std::atomic<std::uint64_t> taken_bytes{0};
std::atomic<std::uint64_t> peak_bytes{0};
std::atomic<std::uint64_t> limit_bytes{~std::uint64_t{0}};

bool is_refused(std::size_t size_bytes) {
  if (size_bytes <= limit_bytes && live_bytes <= limit_bytes - size_bytes) {
    return false;
  }
  errno = ENOMEM;
  return true;
}

void* count(void* memory) {
  if (memory != nullptr) {
    const std::size_t bytes = malloc_usable_size(memory);
    taken_bytes += bytes;
    const std::uint64_t live = live_bytes += bytes;
    std::uint64_t peak = peak_bytes;
    while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
    }
  }
  return memory;
}

void discount(void* memory) {
  live_bytes -= memory == nullptr ? 0 : malloc_usable_size(memory);
}

} // namespace

// All are visible to the shared libraries: what these take from a function that -fvisibility=hidden
// hides (posix_memalign) would be subtracted without having been added, because free() is here.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size_bytes) {
  return is_refused(size_bytes) ? nullptr : count(__libc_malloc(size_bytes));
}

void* calloc(std::size_t number, std::size_t size_bytes) {
  const bool overflows = size_bytes != 0 && number > SIZE_MAX / size_bytes;
  return overflows || is_refused(number * size_bytes) ? nullptr
                                                      : count(__libc_calloc(number, size_bytes));
}

void* realloc(void* memory, std::size_t size_bytes) {
  if (is_refused(size_bytes)) {
    return nullptr;
  }
  const std::size_t old = memory == nullptr ? 0 : malloc_usable_size(memory);
  void* const moved = __libc_realloc(memory, size_bytes);
  if (moved != nullptr || size_bytes == 0) {
    live_bytes -= old;
  }
  return count(moved);
}

void* aligned_alloc(std::size_t alignment, std::size_t size_bytes) {
  return is_refused(size_bytes) ? nullptr : count(__libc_memalign(alignment, size_bytes));
}

void* memalign(std::size_t alignment, std::size_t size_bytes) {
  return aligned_alloc(alignment, size_bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size_bytes) {
  *memory = aligned_alloc(alignment, size_bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

void free(void* memory) {
  discount(memory);
  __libc_free(memory);
}
}
#pragma GCC visibility pop

namespace clbin::test {

std::uint64_t live_memory() noexcept {
  return live_bytes;
}

std::uint64_t taken_memory() noexcept {
  return taken_bytes;
}

std::uint64_t peak_memory() noexcept {
  return peak_bytes;
}

void forget_peak() noexcept {
  peak_bytes = live_bytes.load();
}

void set_memory_limit(std::uint64_t bytes) noexcept {
  limit_bytes = bytes;
}

} // namespace clbin::test
