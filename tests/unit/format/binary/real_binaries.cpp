#include "real_binaries.hpp"
#include "support/project_folders.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
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

void expect_kernels_of_arguments_cl(const std::vector<format::KernelReflection>& kernels) {
  using ::testing::ElementsAre;
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].name, "every_space");
  EXPECT_EQ(kernels[0].argument_count, 11U);
  EXPECT_THAT(argument_texts(kernels[0]),
              ElementsAre("global const restrict float* in", "global volatile uint* out",
                          "constant const uchar4* table", "local float* scratch",
                          "private int count", "private float4 v", "private pair p",
                          "global pair* ps", "global scalar* s", "private ulong n",
                          "private uchar z"));
  EXPECT_EQ(kernels[1].name, "images");
  EXPECT_THAT(argument_texts(kernels[1]),
              ElementsAre("global read_only image2d_t in", "global write_only image2d_t out",
                          "private sampler_t s", "global read_only image3d_t cube"));
  EXPECT_EQ(kernels[2].name, "nothing");
  EXPECT_EQ(kernels[2].argument_count, 0U);
  ASSERT_TRUE(kernels[2].arguments.has_value());
  EXPECT_THAT(*kernels[2].arguments, ::testing::IsEmpty());
}

base::Bytes elf_with_section(const ElfHead& head, std::uint32_t section_type,
                             base::ByteView contents) {
  base::ByteWriter file;
  file.write_bytes(base::as_bytes(head.identification));
  file.write_u16(head.type);
  file.write_u16(head.machine);
  file.write_u32(1);
  file.write_zeros(16); // e_entry, e_phoff
  file.write_u64(64);   // e_shoff
  file.write_u32(head.flags);
  file.write_zeros(6);
  file.write_u16(64); // e_shentsize
  file.write_u16(1);  // e_shnum
  file.write_u16(0);
  file.write_u32(0);
  file.write_u32(section_type);
  file.write_zeros(16);
  file.write_u64(128); // sh_offset
  file.write_u64(contents.size());
  file.write_zeros(24);
  file.write_bytes(contents);
  return std::move(file).take();
}

void for_each_damage(const base::Bytes& bytes, const std::function<void(base::ByteView)>& read) {
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 1000) {
    const base::Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    read(prefix);
  }
  base::Bytes flipped = bytes;
  const std::size_t step = (bytes.size() * 8 / 4000) | 1U; // odd: reaches every bit of a byte
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += step) {
    const std::byte mask{static_cast<std::uint8_t>(1U << (bit % 8))};
    flipped[bit / 8] ^= mask;
    read(flipped);
    flipped[bit / 8] ^= mask;
  }
}

} // namespace clbin::test
