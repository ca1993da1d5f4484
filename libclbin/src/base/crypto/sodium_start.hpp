// Used by the sources of this folder, which alone include libsodium.
#pragma once

namespace clbin::base {

// Chooses libsodium's fastest implementations for this processor and opens its source of random
// bytes. A failure needs no handling: hashing and checking signatures are correct without this
// call, and random_bytes then ends the process. Thread-safe.
void start_sodium() noexcept;

} // namespace clbin::base
