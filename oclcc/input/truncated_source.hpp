// Reads the remaining part of a truncated bundle.
#pragma once

#include "base/file_io.hpp"

#include <memory>

namespace oclcc {

// Returns `source` with the size that its prefix declares. Reads beyond the real end fail with
// truncated, which names the end. Returns null unless `source` contains a complete prefix and
// declares more bytes than it has.
[[nodiscard]] std::shared_ptr<const clbin::base::ByteSource>
as_if_whole(std::shared_ptr<const clbin::base::ByteSource> source);

} // namespace oclcc
