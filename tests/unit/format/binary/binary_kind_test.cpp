#include "format/binary/binary_kind.hpp"

#include "real_binaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using test::real_binary;

Bytes bytes_of(std::string_view text) {
  const base::ByteView view = base::as_bytes(text);
  return {view.begin(), view.end()};
}

BinaryInfo classify_text(std::string_view text) {
  return classify_binary(base::as_bytes(text));
}

void overwrite(Bytes& bytes, std::size_t offset, std::uint8_t value) {
  ASSERT_LT(offset, bytes.size());
  bytes[offset] = std::byte{value};
}

// Returns a header of a format whose real binaries are large or need a driver that is not available
// here.
Bytes with_version(std::string_view before, std::uint32_t version, std::string_view after) {
  base::ByteWriter writer;
  writer.write_bytes(base::as_bytes(before));
  writer.write_u32(version);
  writer.write_bytes(base::as_bytes(after));
  return std::move(writer).take();
}

using namespace std::string_view_literals;

Bytes wrapped_bitcode() {
  base::ByteWriter writer;
  writer.write_u32(0x0B17C0DEU);
  writer.write_u32(0);
  writer.write_u32(20); // offset
  writer.write_u32(8);  // size
  writer.write_u32(7);  // CPU type
  writer.write_bytes(base::as_bytes("BC\xC0\xDE\x35\x14\0\0"sv));
  return std::move(writer).take();
}

// Returns a code object header like LLVM 19's for -mcode-object-version=6. No available tool makes
// one.
Bytes amd_object(std::uint8_t os_abi, std::uint8_t abi_version, std::uint32_t flags) {
  Bytes bytes = real_binary("gfx1030.v4.co");
  overwrite(bytes, 7, os_abi);
  overwrite(bytes, 8, abi_version);
  for (std::size_t index = 0; index < 4; ++index) {
    overwrite(bytes, 48 + index, static_cast<std::uint8_t>(flags >> (8 * index)));
  }
  return bytes;
}

// Returns a zebin with an IP version in its notes, as newer versions of ocloc write. Changes note 3
// (target metadata) of a real zebin to note 6 (product config).
Bytes zebin_with_product_config(std::uint32_t config) {
  Bytes bytes = real_binary("tgllp.zebin");
  const std::string_view text = base::as_text(bytes);
  const std::size_t at = text.find("\x08\0\0\0\x04\0\0\0\x03\0\0\0IntelGT\0"sv);
  EXPECT_NE(at, std::string_view::npos);
  overwrite(bytes, at + 8, 6);
  for (std::size_t index = 0; index < 4; ++index) {
    overwrite(bytes, at + 20 + index, static_cast<std::uint8_t>(config >> (8 * index)));
  }
  return bytes;
}

struct Sample {
  std::string name;
  Bytes bytes;
  BinaryInfo info;
  std::string description;
};

Sample sample(std::string_view name, const BinaryInfo& info, std::string_view description) {
  return {std::string(name), real_binary(name), info, std::string(description)};
}

BinaryInfo ptx_info(std::uint16_t version, std::uint16_t sm, char suffix, PtxFlavour flavour) {
  BinaryInfo info;
  info.kind = BinaryKind::ptx;
  info.address_bits = 64;
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = suffix;
  info.format_major = version / 10;
  info.format_minor = version % 10;
  info.ptx_flavour = flavour;
  return info;
}

BinaryInfo cubin_info(std::uint16_t sm, char suffix) {
  BinaryInfo info;
  info.kind = BinaryKind::cubin;
  info.address_bits = 64;
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = suffix;
  return info;
}

BinaryInfo amd_info(std::string_view target, std::uint16_t version) {
  const auto parsed = parse_amd_target(target);
  EXPECT_TRUE(parsed.has_value()) << target;
  BinaryInfo info = parsed.value_or(BinaryInfo{});
  info.address_bits = 64;
  info.format_major = version;
  return info;
}

BinaryInfo kind_info(BinaryKind kind, std::uint16_t version) {
  BinaryInfo info;
  info.kind = kind;
  info.format_major = version;
  return info;
}

std::vector<Sample> real_samples() {
  BinaryInfo zebin;
  zebin.kind = BinaryKind::intel_zebin;
  zebin.address_bits = 64;
  zebin.product_family = 29;
  BinaryInfo spirv;
  spirv.kind = BinaryKind::spirv;
  spirv.address_bits = 64;
  spirv.arch_major = 1;
  BinaryInfo gfx90a = amd_info("gfx90a:xnack-", 4);
  gfx90a.sramecc = AmdFeature::any;
  return {
      sample("sm_50.nvcl.ptx", ptx_info(40, 50, '\0', PtxFlavour::nvcl), "PTX 4.0 for sm_50"),
      sample("sm_50.cuda.ptx", ptx_info(40, 50, '\0', PtxFlavour::cuda),
             "PTX 4.0 for sm_50 (CUDA flavour)"),
      sample("sm_50.cuda12.cubin", cubin_info(50, '\0'), "cubin sm_50"),
      sample("sm_90a.cuda12.cubin", cubin_info(90, 'a'), "cubin sm_90a"),
      sample("sm_80.cubin", cubin_info(80, '\0'), "cubin sm_80"),
      sample("sm_90.cubin", cubin_info(90, '\0'), "cubin sm_90"),
      sample("sm_90a.cubin", cubin_info(90, 'a'), "cubin sm_90a"),
      sample("sm_100f.cubin", cubin_info(100, '\0'), "cubin sm_100"),
      sample("gfx906.v3.co", amd_info("gfx906:sramecc+:xnack+", 3),
             "AMD code object gfx906:sramecc+:xnack+"),
      sample("gfx90a-no-xnack.v4.co", gfx90a, "AMD code object gfx90a:xnack-"),
      sample("gfx1030.v4.co", amd_info("gfx1030", 4), "AMD code object gfx1030"),
      sample("tgllp.zebin", zebin, "Intel zebin of product family 29"),
      sample("kernel.spv", spirv, "SPIR-V 1.0"),
      sample("llvmpipe.rusticl", kind_info(BinaryKind::rusticl, 1), "rusticl binary, format 1"),
      sample("oclgrind.bc", kind_info(BinaryKind::llvm_bitcode, 0), "LLVM bitcode"),
  };
}

std::vector<Sample> made_samples() {
  BinaryInfo generic = amd_info("gfx9-4-generic", 6);
  generic.format_minor = 1;
  generic.xnack = AmdFeature::any;
  generic.sramecc = AmdFeature::any;
  BinaryInfo zebin;
  zebin.kind = BinaryKind::intel_zebin;
  zebin.address_bits = 64;
  zebin.arch_major = 12;
  zebin.arch_minor = 55;
  zebin.arch_stepping = 8;
  return {
      {"poclbin", with_version("poclbin\0\x0c{0]\xe9[\xee\x02"sv, 9, "rest"),
       kind_info(BinaryKind::poclbin, 9), "PoCL binary, format 9"},
      {"rusticl", with_version("rusticl\0"sv, 1, "\x04\0\0\0rest"sv),
       kind_info(BinaryKind::rusticl, 1), "rusticl binary, format 1"},
      {"clvk", with_version("clvk", 1, "rest"), kind_info(BinaryKind::clvk, 1),
       "clvk binary, format 1"},
      {"ar", bytes_of("!<arch>\n64.12.0.0"), kind_info(BinaryKind::ar_archive, 0), "ar archive"},
      {"fatbin", bytes_of("\x50\xED\x55\xBA\x01\0\x10\0"sv),
       kind_info(BinaryKind::nvidia_fatbin, 0), "NVIDIA fat binary"},
      {"offload bundle", bytes_of("__CLANG_OFFLOAD_BUNDLE__\x02"),
       kind_info(BinaryKind::offload_bundle, 0), "Clang offload bundle"},
      {"compressed offload bundle", bytes_of("CCOB\x03\0\x01\0"sv),
       kind_info(BinaryKind::offload_bundle, 3), "Clang offload bundle"},
      {"offload binary", with_version("\x10\xFF\x10\xAD", 1, "rest"),
       kind_info(BinaryKind::offload_binary, 1), "LLVM offload binary"},
      {"wrapped bitcode", wrapped_bitcode(), kind_info(BinaryKind::llvm_bitcode, 0),
       "LLVM bitcode"},
      {"generic code object", amd_object(64, 4, 0x0100055fU), generic,
       "AMD code object gfx9-4-generic"},
      {"code object of an unknown processor", amd_object(64, 4, 0xfeU), amd_info("gfx000", 6),
       "AMD code object of an unknown processor"},
      {"code object version 2", amd_object(64, 0, 0x1U), amd_info("gfx000", 2),
       "AMD code object of an unknown processor"},
      {"zebin with an IP version", zebin_with_product_config(0x030dc008U), zebin,
       "Intel zebin 12.55.8"},
  };
}

std::vector<Sample> samples() {
  std::vector<Sample> all = real_samples();
  for (Sample& made : made_samples()) {
    all.push_back(std::move(made));
  }
  return all;
}

TEST(BinaryKind, TellsWhatEachSampleSaysOfItself) {
  for (const Sample& expected : samples()) {
    const BinaryInfo info = classify_binary(expected.bytes);
    EXPECT_TRUE(info == expected.info) << expected.name << " was read as: " << describe(info);
    EXPECT_EQ(describe(info), expected.description) << expected.name;
  }
}

TEST(BinaryKind, ReadsEveryPrefixOfASampleAsTheWholeOrAsUnknown) {
  for (const Sample& expected : samples()) {
    for (std::size_t size = 0; size < expected.bytes.size(); ++size) {
      const Bytes prefix(expected.bytes.begin(),
                         expected.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const BinaryInfo info = classify_binary(prefix);
      EXPECT_TRUE(info == BinaryInfo{} || info == expected.info)
          << expected.name << " cut at " << size << " was read as: " << describe(info);
    }
    EXPECT_TRUE(classify_binary({expected.bytes.data(), 3}) == BinaryInfo{}) << expected.name;
  }
}

TEST(BinaryKind, SurvivesFlippedBitsOfASample) {
  for (Sample& subject : samples()) {
    for (std::size_t bit = 0; bit < subject.bytes.size() * 8; bit += 5) {
      const std::byte mask{static_cast<std::uint8_t>(1U << (bit % 8))};
      subject.bytes[bit / 8] ^= mask;
      const BinaryInfo info = classify_binary(subject.bytes);
      subject.bytes[bit / 8] ^= mask;
      EXPECT_NE(describe(info), "") << subject.name << ", bit " << bit;
      EXPECT_EQ(info_from_match_key(match_key(info, base::Digest{})).kind, info.kind);
    }
  }
}

TEST(BinaryKind, KnowsNoKindOfBytesThatAreNone) {
  EXPECT_TRUE(classify_binary({}) == BinaryInfo{});
  EXPECT_TRUE(classify_text("__kernel void add(__global float* a) {}") == BinaryInfo{});
  EXPECT_TRUE(classify_text("\x01\0\0\0 not rusticl"sv) == BinaryInfo{});
  EXPECT_EQ(describe(BinaryInfo{}), "unknown binary");
  EXPECT_EQ(describe(BinaryInfo{}, ""), "unknown binary");
  EXPECT_EQ(describe(BinaryInfo{}, "Intel(R) OpenCL"), "Intel(R) OpenCL binary");
  BinaryInfo rusticl;
  rusticl.kind = BinaryKind::rusticl;
  EXPECT_EQ(describe(rusticl, "rusticl"), "rusticl binary");
}

TEST(BinaryKind, IgnoresElfFilesOfOtherMachines) {
  Bytes host = real_binary("gfx1030.v4.co");
  overwrite(host, 18, 62); // EM_X86_64
  EXPECT_TRUE(classify_binary(host) == BinaryInfo{});
  EXPECT_TRUE(classify_binary(amd_object(65, 0, 0x36U)) == BinaryInfo{}) << "PAL, not HSA";
}

// A section table that refers 65,535 times to one section of 4 MiB of notes. Reading it each time
// would take hours.
TEST(BinaryKind, ReadsEachNoteOfAZebinOnce) {
  constexpr std::size_t count = 0xffff;
  constexpr std::size_t note_bytes = 4U << 20U;
  const Bytes real = real_binary("tgllp.zebin");
  base::ByteWriter file;
  file.write_bytes(base::ByteView(real).first(40));
  file.write_u64(64); // e_shoff
  file.write_zeros(10);
  file.write_u16(64); // e_shentsize
  file.write_u16(count);
  file.write_u16(0);
  for (std::size_t index = 0; index < count; ++index) {
    file.write_u32(0);
    file.write_u32(7); // SHT_NOTE
    file.write_zeros(16);
    file.write_u64(64 + count * 64); // sh_offset
    file.write_u64(note_bytes);
    file.write_zeros(24);
  }
  file.write_zeros(note_bytes);
  EXPECT_EQ(describe(classify_binary(file.view())), "Intel zebin");
}

TEST(BinaryKind, ReadsBigEndianSpirv) {
  Bytes swapped = real_binary("kernel.spv");
  for (std::size_t at = 0; at + 4 <= swapped.size(); at += 4) {
    std::swap(swapped[at], swapped[at + 3]);
    std::swap(swapped[at + 1], swapped[at + 2]);
  }
  EXPECT_TRUE(classify_binary(swapped) == classify_binary(real_binary("kernel.spv")));
}

TEST(BinaryKind, RefusesOldRusticlBinariesOfAnotherLength) {
  Bytes longer = real_binary("llvmpipe.rusticl");
  longer.push_back(std::byte{0});
  EXPECT_EQ(classify_binary(longer).kind, BinaryKind::unknown);
}

struct PtxCase {
  std::string_view text;
  std::string_view description; // with the address bits
};

TEST(BinaryKind, ReadsPtxHeaders) {
  // PTX ISA, "PTX Module Directives": .version, .target, .address_size (default: 32 bits).
  const std::vector<PtxCase> cases{
      {"//\n// Generated\n//\n\n.version 8.4\n.target sm_90, texmode_independent\n"
       ".address_size 64\n\n\t.entry",
       "PTX 8.4 for sm_90, 64"},
      {".version 8.0\n.target sm_90a, texmode_independent\n.address_size 64\n.func",
       "PTX 8.0 for sm_90a, 64"},
      {".version 8.8 .target sm_100f,texmode_independent .address_size 64 .func",
       "PTX 8.8 for sm_100f, 64"},
      {"/* c */ .version /* d */ 3.1\r\n.target sm_20, /* e */ texmode_independent\r\n.entry k()",
       "PTX 3.1 for sm_20, 32"},
      {".version 7.5\n.target sm_50, debug\n.address_size 32\n.entry k()",
       "PTX 7.5 for sm_50 (CUDA flavour), 32"},
      {".version 1.4\n.target map_f64_to_f32, sm_13, texmode_independent\n.entry k()",
       "PTX 1.4 for sm_13, 32"},
  };
  for (const PtxCase& expected : cases) {
    const BinaryInfo info = classify_text(expected.text);
    EXPECT_EQ(fmt::format("{}, {}", describe(info), info.address_bits), expected.description);
  }
}

TEST(BinaryKind, ReadsPtxThatEndsInNul) {
  const std::string text = std::string(base::as_text(real_binary("sm_50.nvcl.ptx"))) + '\0';
  EXPECT_EQ(describe(classify_text(text)), "PTX 4.0 for sm_50");
}

TEST(BinaryKind, RefusesPtxWithoutAWholeHeader) {
  for (const std::string_view text : {
           ".version 8.4"sv,
           ".version 8.4\n.target sm_90"sv,
           ".version 8.4\n.target sm_90, texmode_independent\n"sv,
           ".version 8.4\n.target sm_90, texmode_independent\n.address_size 6"sv,
           ".version 8.4\n.target sm_90, texmode_independent\n.address_size 48\n.entry"sv,
           ".version 8.4\n.target sm_90b\n.entry k"sv,
           ".version 8.4\n.target sm_9\n.entry k"sv,
           ".version 8.4\n.target sm_90000\n.entry k"sv,
           ".version 8.4\n.target sm_80, sm_90\n.entry k"sv,
           ".version 8.4\n.target texmode_independent\n.entry k"sv,
           ".version 8\n.target sm_90\n.entry k"sv,
           ".version 8.400\n.target sm_90\n.entry k"sv,
           ".version -8.4\n.target sm_90\n.entry k"sv,
           ".target sm_90\n.version 8.4\n.entry k"sv,
           ".version 8.4\n\0.target sm_90\n.entry k"sv,
           "/* .version 8.4\n.target sm_90\n.entry k"sv,
       }) {
    EXPECT_EQ(classify_text(text).kind, BinaryKind::unknown) << text;
  }
}

TEST(AmdTarget, NamesAndParsesTargetIds) {
  for (const std::string_view name :
       {"gfx600"sv, "gfx906"sv, "gfx90a"sv, "gfx90c"sv, "gfx942"sv, "gfx1030"sv, "gfx1201"sv,
        "gfx90a:sramecc+:xnack-"sv, "gfx908:sramecc-"sv, "gfx1010:xnack+"sv, "gfx9-generic"sv,
        "gfx9-4-generic:sramecc+"sv, "gfx10-3-generic"sv, "gfx12-generic"sv}) {
    const auto info = parse_amd_target(name);
    ASSERT_TRUE(info.has_value()) << name;
    EXPECT_EQ(amd_target_name(*info), name);
  }
  for (const std::string_view name :
       {""sv, "gfx"sv, "gfx9"sv, "gfx90"sv, "gfx90a:"sv, "gfx90ag"sv, "gfx90a:xnack"sv,
        "gfx90a:foo+"sv, "gfx90a:xnack+:"sv, "gfxa0a"sv, "gfx8-generic"sv, "sm_90"sv, "GFX90A"sv}) {
    EXPECT_FALSE(parse_amd_target(name).has_value()) << name;
  }
}

TEST(AmdTarget, KnowsTheGenericTargetOfAProcessor) {
  const auto generic_of = [](std::string_view name) {
    const auto generic = amd_generic_target(parse_amd_target(name).value_or(BinaryInfo{}));
    return generic ? amd_target_name(*generic) : "none";
  };
  EXPECT_EQ(generic_of("gfx906"), "gfx9-generic");
  EXPECT_EQ(generic_of("gfx90a"), "none");
  EXPECT_EQ(generic_of("gfx942"), "gfx9-4-generic");
  EXPECT_EQ(generic_of("gfx1013"), "gfx10-1-generic");
  EXPECT_EQ(generic_of("gfx1036"), "gfx10-3-generic");
  EXPECT_EQ(generic_of("gfx1151"), "gfx11-generic");
  EXPECT_EQ(generic_of("gfx1201"), "gfx12-generic");
}

TEST(MatchKey, HoldsTheFieldsOfKindsThatMatchByFields) {
  for (const Sample& subject : samples()) {
    if (subject.info.kind < BinaryKind::ptx || subject.info.kind > BinaryKind::spirv) {
      continue;
    }
    const std::uint64_t key = match_key(subject.info, base::digest_of(subject.bytes));
    EXPECT_TRUE(info_from_match_key(key) == subject.info) << subject.name;
    EXPECT_EQ(key, match_key(subject.info, base::Digest{})) << "does not depend on the target";
  }
}

TEST(MatchKey, HoldsTheTargetsDigestForAllOtherKinds) {
  base::Digest target;
  for (std::size_t index = 0; index < target.bytes.size(); ++index) {
    target.bytes[index] = std::byte{static_cast<std::uint8_t>(0x10 + index)};
  }
  EXPECT_EQ(match_key(kind_info(BinaryKind::poclbin, 9), target), 0x0710111213141516U);
  EXPECT_EQ(match_key(BinaryInfo{}, target), 0x0010111213141516U);
  EXPECT_TRUE(info_from_match_key(0x0710111213141516U) == kind_info(BinaryKind::poclbin, 0));
}

TEST(MatchKey, IsLaidOutAsClbin5Tells) {
  BinaryInfo info = ptx_info(75, 90, 'a', PtxFlavour::cuda);
  EXPECT_EQ(match_key(info, base::Digest{}), 0x0109000007056160U);
  info = amd_info("gfx90a:sramecc+:xnack-", 5);
  EXPECT_EQ(match_key(info, base::Digest{}), 0x0309000a0500002eU);
  info = amd_info("gfx9-4-generic", 6);
  info.format_minor = 1;
  EXPECT_EQ(match_key(info, base::Digest{}), 0x030904ff06010020U);
  info = BinaryInfo{};
  info.kind = BinaryKind::intel_zebin;
  info.product_family = 1270;
  EXPECT_EQ(match_key(info, base::Digest{}), 0x0400000004f60000U);
}

TEST(MatchKey, OrdersByArchitectureThenByVersion) {
  const auto key = [](std::uint16_t version, std::uint16_t sm) {
    return match_key(ptx_info(version, sm, '\0', PtxFlavour::nvcl), base::Digest{});
  };
  EXPECT_LT(key(87, 80), key(40, 89));
  EXPECT_LT(key(87, 90), key(40, 100));
  EXPECT_LT(key(40, 90), key(87, 90));
  EXPECT_LT(match_key(cubin_info(90, '\0'), {}), match_key(cubin_info(90, 'a'), {}));
}

TEST(MatchKey, TreatsNumbersItDoesNotKnowAsUnknown) {
  EXPECT_EQ(info_from_match_key(0x0eULL << 56U).kind, BinaryKind::unknown);
  EXPECT_EQ(info_from_match_key(~0ULL).kind, BinaryKind::unknown);
}

TEST(BinaryKind, HasANameForEachNumber) {
  EXPECT_EQ(to_string(BinaryKind::ptx), "ptx");
  EXPECT_EQ(to_string(BinaryKind::amd_code_object), "amd-code-object");
  EXPECT_EQ(to_string(BinaryKind::offload_binary), "offload-binary");
  EXPECT_EQ(to_string(BinaryKind::unknown), "unknown");
  EXPECT_EQ(to_string(static_cast<BinaryKind>(999)), "unknown");
}

} // namespace
} // namespace clbin::format
