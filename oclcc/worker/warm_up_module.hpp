// A trivial program in SPIR-V, with which a driver's compiler is warmed up.
#pragma once

#include "base/byte_codec.hpp"

namespace oclcc::worker {

// Returns a valid module of SPIR-V 1.0 for 64-bit devices, with one kernel, `warm_up`, which has no
// parameters and does nothing. Its bytes are static.
[[nodiscard]] clbin::base::ByteView warm_up_module() noexcept;

} // namespace oclcc::worker
