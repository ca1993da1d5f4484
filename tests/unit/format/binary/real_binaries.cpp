#include "real_binaries.hpp"
#include "support/project_folders.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbin::test {

base::Bytes real_binary(std::string_view name) {
  const auto folder = test::tests_folder() / "unit/format/binaries";
  std::ifstream file(folder / name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_FALSE(text.empty()) << name;
  const base::ByteView view = base::as_bytes(text);
  return {view.begin(), view.end()};
}

void for_each_damage(const base::Bytes& bytes, const std::function<void(base::ByteView)>& read) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const base::Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    read(prefix);
  }
  base::Bytes flipped = bytes;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask{static_cast<std::uint8_t>(1U << (bit % 8))};
    flipped[bit / 8] ^= mask;
    read(flipped);
    flipped[bit / 8] ^= mask;
  }
}

} // namespace clbin::test
