// Reads the files of binaries/, and damages copies of them.
#pragma once

#include "base/byte_codec.hpp"

#include <functional>
#include <string_view>

namespace clbin::test {

[[nodiscard]] base::Bytes real_binary(std::string_view name);

// Calls `read` with each prefix of `bytes`, then with each single bit flipped. `read` must not
// crash. Sanitizers detect reads beyond the end, because each copy is exactly as large as its
// bytes.
void for_each_damage(const base::Bytes& bytes, const std::function<void(base::ByteView)>& read);

} // namespace clbin::test
