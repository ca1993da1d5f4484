// The files of binaries/, and what becomes of them when they are damaged.
#pragma once

#include "base/byte_codec.hpp"

#include <functional>
#include <string_view>

namespace clbin::test {

[[nodiscard]] base::Bytes real_binary(std::string_view name);

// Calls `read` with each shorter beginning of `bytes`, then with each of its bits flipped alone.
// `read` must not crash; each copy is as large as its bytes, so that sanitizers see a read beyond.
void for_each_damage(const base::Bytes& bytes, const std::function<void(base::ByteView)>& read);

} // namespace clbin::test
