#include "base/crypto/sodium_start.hpp"

#include <sodium.h>

namespace clbin::base {

void start_sodium() noexcept {
  static const int status = sodium_init(); // thread-safe
  (void)status;
}

} // namespace clbin::base
