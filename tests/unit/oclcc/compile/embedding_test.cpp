#include "compile/output_plan.hpp"
#include "format/binary/elf_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace oclcc::embed {
namespace {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using testing::HasSubstr;

Bytes object_of(const ObjectTarget& target, const Bytes& bundle) {
  auto frame = frame_object(target, "k", bundle.size());
  EXPECT_TRUE(frame.has_value()) << frame.error().message;
  Bytes object = frame->before;
  object.insert(object.end(), bundle.begin(), bundle.end());
  object.insert(object.end(), frame->after.begin(), frame->after.end());
  return object;
}

TEST(SymbolName, IsMadeOfTheOutputsStem) {
  EXPECT_EQ(default_symbol("matmul"), "matmul_clbin");
  EXPECT_EQ(default_symbol("my-kernels.v2"), "my_kernels_v2_clbin");
  EXPECT_EQ(default_symbol("2d"), "k2d_clbin");
  EXPECT_EQ(default_symbol("_Z"), "k_Z_clbin");
  EXPECT_EQ(default_symbol("\xc3\xa4"), "k___clbin");
  EXPECT_EQ(default_symbol(""), "k_clbin");
}

TEST(SymbolName, EveryDefaultIsAllowed) {
  for (const char* const stem : {"", "_", "__a", "_A", "1", "int", "\xff", "a b"}) {
    EXPECT_TRUE(check_symbol(default_symbol(stem)).has_value()) << stem;
  }
}

TEST(SymbolName, RefusesWhatIsNoNameInC) {
  for (const char* const symbol : {"", "2d", "a-b", "a b", "\xc3\xa4", "a$"}) {
    const auto checked = check_symbol(symbol);
    ASSERT_FALSE(checked.has_value()) << symbol;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(checked.error().message, HasSubstr("not an identifier in C"));
  }
}

TEST(ObjectFile, HoldsTheBundleInReadOnlyDataAtAMultipleOfEight) {
  const Bytes bundle(13, std::byte{0x5a});
  for (const char* const triple : {"x86_64-linux-gnu", "i686-linux-gnu", "riscv64-linux-gnu"}) {
    const auto target = object_target(triple);
    ASSERT_TRUE(target.has_value()) << target.error().message;
    const Bytes object = object_of(*target, bundle);
    const auto elf = clbin::format::parse_elf(object);
    ASSERT_TRUE(elf.has_value()) << triple;
    EXPECT_EQ(elf->address_bits, target->address_bits);
    EXPECT_EQ(elf->machine, target->machine);
    EXPECT_EQ(elf->flags, target->flags);
    EXPECT_EQ(elf->type, 1) << "relocatable";
    ASSERT_GT(elf->sections.size(), 1U);
    const auto rodata = elf->sections[1].bytes;
    EXPECT_EQ((rodata.data() - object.data()) % 8, 0);
    ASSERT_EQ(rodata.size(), 16U + target->address_bits / 8U);
    EXPECT_TRUE(std::equal(bundle.begin(), bundle.end(), rodata.begin()));
    EXPECT_EQ(rodata[16], std::byte{13}) << "the size, little-endian";
  }
}

TEST(ObjectFile, WritesItsNumbersInTheOrderOfTheTarget) {
  const auto target = object_target("s390x-linux-gnu");
  ASSERT_TRUE(target.has_value());
  const Bytes object = object_of(*target, Bytes(8));
  EXPECT_EQ(object[5], std::byte{2}) << "big-endian";
  EXPECT_EQ(object[18], std::byte{0});
  EXPECT_EQ(object[19], std::byte{22}) << "s390";
}

TEST(ObjectFile, RefusesABundleThatA32BitTargetCannotHold) {
  const auto target = object_target("armv7-linux-gnueabihf");
  ASSERT_TRUE(target.has_value());
  const auto frame = frame_object(*target, "k", 0x7fffffff);
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(frame.error().message, "a bundle of 2147483647 bytes is too large for an object file "
                                   "of a 32-bit machine");
}

TEST(ObjectTarget, NamesTheArchitecturesItKnows) {
  const auto target = object_target("vax-dec-ultrix");
  ASSERT_FALSE(target.has_value());
  EXPECT_THAT(target.error().message, HasSubstr("unknown architecture 'vax'; known are x86_64, "));
}

TEST(ObjectTarget, KnowsTheMachineThatRunsThis) {
  EXPECT_TRUE(object_target(host_triple()).has_value()) << host_triple();
}

TEST(EmbeddedText, DeclaresTheArrayAndItsSize) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
  OutputPlan plan;
  plan.embedding.symbol = "k";
  plan.embed_header = folder.path() / "k.h";
  auto output = clbin::base::OutputFile::open(folder.path() / "k.o").value();
  Reporter reporter(ColorMode::never, Verbosity::quiet);
  ASSERT_TRUE(write_embedding_files(plan, {}, output, reporter));
  const Bytes bytes = clbin::base::read_whole_file(*plan.embed_header, 4096).value();
  const std::string header(clbin::base::as_text(bytes));
  EXPECT_THAT(header, HasSubstr("extern const unsigned char k[];\nextern const size_t k_size;\n"));
  EXPECT_THAT(header, HasSubstr("extern \"C\" {"));
}

} // namespace
} // namespace oclcc::embed
