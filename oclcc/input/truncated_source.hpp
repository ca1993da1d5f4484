// Reads what is left of a bundle that was cut.
#pragma once

#include "base/file_io.hpp"

#include <memory>

namespace oclcc {

// `source` with the size that its prefix declares; what lies beyond its real end cannot be read
// (truncated, with where it ends). Null unless `source` holds a whole prefix that declares more
// bytes than there are.
[[nodiscard]] std::shared_ptr<const clbin::base::ByteSource>
as_if_whole(std::shared_ptr<const clbin::base::ByteSource> source);

} // namespace oclcc
