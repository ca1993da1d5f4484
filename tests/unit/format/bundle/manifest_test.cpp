#include "format/bundle/manifest.hpp"

#include "base/digest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::ErrorCode;

std::string digest_hex(std::string_view text) {
  return row_digest(base::digest_of(base::as_bytes(text)));
}

DeviceIdentity sample_identity() {
  DeviceIdentity identity;
  identity.platform_name = "Oclgrind";
  identity.platform_version = "OpenCL 3.0 (Oclgrind 21.10)";
  identity.vendor = "University of Bristol";
  identity.device_name = "Oclgrind Simulator";
  identity.vendor_id = 0xffffffffU;
  identity.driver_version = "Oclgrind 21.10";
  identity.device_version = "OpenCL 3.0";
  identity.opencl_c_versions = {"OpenCL C 1.2", "OpenCL C:3.0.0"};
  identity.il_versions = {"SPIR-V_1.2"};
  identity.address_bits = 64;
  identity.architecture = "sm_90";
  return identity;
}

KernelReflection sample_kernel() {
  KernelReflection kernel;
  kernel.name = "matmul";
  KernelArgument input;
  input.name = "a";
  input.type_name = "float*";
  input.address_space = AddressSpace::global;
  input.is_const = true;
  input.is_restrict = true;
  KernelArgument image;
  image.name = "image";
  image.type_name = "image2d_t";
  image.access = AccessQualifier::read_write;
  image.is_volatile = true;
  image.is_pipe = true;
  kernel.arguments = {input, image, KernelArgument()};
  kernel.argument_count = 3;
  kernel.attributes = "reqd_work_group_size(16, 16, 1)";
  kernel.required_work_group_size = {16, 16, 1};
  kernel.max_work_group_size = 256;
  kernel.preferred_multiple = 0;
  kernel.local_bytes = 2048;
  kernel.private_bytes = ~std::uint64_t{0};
  kernel.vendor = {{"registers", 40}, {"spill_bytes", 0}};
  return kernel;
}

Manifest sample_manifest() {
  Manifest manifest;
  manifest.producer = "oclcc 0.1.0";
  manifest.program = "matmul";
  ManifestEntry installed;
  installed.variant = "default";
  installed.target.identity = sample_identity();
  installed.options = "-cl-fast-relaxed-math -DTILE=\"16\"";
  installed.raw_digest = digest_hex("a");
  KernelReflection without_arguments;
  without_arguments.name = "empty";
  without_arguments.arguments.emplace();
  installed.kernels = {sample_kernel(), without_arguments};
  installed.build_log = "a.cl:3:10: warning: \xe9 unused\n";
  ManifestEntry offline;
  offline.variant = "fast";
  offline.target.origin = TargetOrigin::offline;
  offline.target.spec = "cubin:sm_90";
  offline.target.identity.architecture = "sm_90";
  offline.raw_digest = digest_hex("b");
  offline.tools = {{"clang", "15.0.6"}, {"ptxas", "13.0.88"}};
  offline.spec_constants = {{7, "scale", "float", 4, 0x3f800000}, {9, "", "bool", 1, 0}};
  manifest.entries = {installed, offline};
  manifest.launches = {{"default", "matmul", 2, {16, 16, 1}}, {"fast", "matmul", 1, {}}};
  manifest.builds = {{"default", installed.target, {"empty", "matmul"}}};
  return manifest;
}

std::string encoded(const Manifest& manifest) {
  return std::string(base::as_text(encode_manifest(manifest)));
}

base::Result<Manifest> decode(std::string_view json) {
  return decode_manifest(base::as_bytes(json));
}

void expect_refused(std::string_view json, const std::string& message) {
  const auto result = decode(json);
  ASSERT_FALSE(result.has_value()) << json;
  EXPECT_EQ(result.error().code, ErrorCode::manifest_invalid);
  EXPECT_EQ(result.error().message, message);
}

// Returns a manifest of one entry with one kernel that has these additional members.
std::string with_kernel_members(std::string_view members) {
  return fmt::format(R"({{"entries":[{{"kernels":[{{"name":"k",{}}}],"raw_digest":"{}"}}]}})",
                     members, digest_hex("a"));
}

TEST(Manifest, RoundTrips) {
  const Manifest manifest = sample_manifest();
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, manifest);
  EXPECT_EQ(encode_manifest(*decoded), encode_manifest(manifest));
}

TEST(Manifest, HasTheLaunchesAndBuildsOfARecording) {
  Manifest manifest;
  manifest.launches = {{"default", "k", 1, {}}, {"default", "k", 2, {16, 8, 1}, true}};
  Target target;
  target.identity.device_name = "GPU";
  manifest.builds = {{"default", target, {"k"}}};
  EXPECT_EQ(
      encoded(manifest),
      R"({"builds":[{"kernels":["k"],"target":{"identity":{"device_name":"GPU"}},)"
      R"("variant":"default"}],"launches":[{"dimensions":1,"kernel":"k","variant":"default"},)"
      R"({"dimensions":2,"has_offset":true,"kernel":"k","local_size":[16,8,1],"variant":"default"}]})");
}

TEST(Manifest, TellsLaunchesWithAnOffsetFromOthers) {
  Manifest manifest;
  manifest.launches = {{"default", "k", 1, {8, 1, 1}, false}, {"default", "k", 1, {8, 1, 1}, true}};
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, manifest);
}

TEST(Manifest, RefusesLaunchesThatCannotBe) {
  expect_refused(R"({"launches":[{"dimensions":1,"has_offset":1,"kernel":"k"}]})",
                 "launches[0].has_offset: expected true or false, found 1");
  expect_refused(R"({"launches":[{"dimensions":1}]})", "launches[0].kernel: missing");
  expect_refused(R"({"launches":[{"kernel":"k"}]})", "launches[0].dimensions: missing");
  for (const char* const number : {"0", "4"}) {
    expect_refused(
        fmt::format(R"({{"launches":[{{"dimensions":{},"kernel":"k"}}]}})", number),
        fmt::format("launches[0].dimensions: expected an integer from 1 to 3, found {}", number));
  }
  expect_refused(R"({"launches":[{"dimensions":1,"kernel":"k","local_size":[1]}]})",
                 "launches[0].local_size: expected 3 numbers, found 1");
  expect_refused(R"({"builds":[{"kernels":[1]}]})",
                 "builds[0].kernels[0]: expected a string, found 1");
}

TEST(Manifest, HasTheTextOfTheManualPage) {
  Manifest manifest;
  manifest.producer = "oclcc 0.1.0";
  manifest.program = "scale";
  ManifestEntry entry;
  entry.variant = "default";
  entry.target.origin = TargetOrigin::offline;
  entry.target.spec = "cubin:sm_90";
  entry.raw_digest = digest_hex("a");
  entry.tools = {{"ptxas", "13.0.88"}};
  KernelReflection kernel;
  kernel.name = "scale";
  kernel.required_work_group_size = {64, 1, 1};
  kernel.specialized_sizes = {{64, 1, 1}};
  KernelArgument argument;
  argument.name = "x";
  argument.type_name = "float*";
  argument.address_space = AddressSpace::global;
  kernel.arguments = {argument};
  kernel.vendor = {{"registers", 12}};
  entry.kernels = {kernel};
  manifest.entries = {entry};
  EXPECT_EQ(encoded(manifest),
            R"({"entries":[{"kernels":[{"arguments":[{"address_space":"global","name":"x",)"
            R"("type_name":"float*"}],"name":"scale","required_work_group_size":[64,1,1],)"
            R"("specialized_sizes":[[64,1,1]],)"
            R"("vendor":{"registers":12}}],"raw_digest":")" +
                digest_hex("a") +
                R"(","target":{"origin":"offline","spec":"cubin:sm_90"},)"
                R"("tools":{"ptxas":"13.0.88"},"variant":"default"}],)"
                R"("producer":"oclcc 0.1.0","program":"scale"})");
}

TEST(Manifest, HasSpecializationConstantsAsTheManualPageSays) {
  Manifest manifest;
  ManifestEntry entry;
  entry.raw_digest = digest_hex("a");
  entry.spec_constants = {{7, "scale", "float", 4, 0x3f800000}};
  manifest.entries = {entry};
  EXPECT_EQ(encoded(manifest), R"({"entries":[{"raw_digest":")" + digest_hex("a") +
                                   R"(","spec_constants":[{"default_bits":1065353216,"id":7,)"
                                   R"("name":"scale","size_bytes":4,"type_name":"float"}]}]})");
  expect_refused(R"({"entries":[{"raw_digest":")" + digest_hex("a") +
                     R"(","spec_constants":[{"id":-1}]}]})",
                 "entries[0].spec_constants[0].id: expected an unsigned integer, found -1");
}

TEST(Manifest, LeavesDefaultsOut) {
  EXPECT_EQ(encoded(Manifest()), "{}");
  EXPECT_EQ(decode("{}").value(), Manifest());
}

TEST(Manifest, KeepsUnknownApartFromNone) {
  const Manifest decoded = decode_manifest(encode_manifest(sample_manifest())).value();
  const auto& kernels = decoded.entries[0].kernels;
  EXPECT_EQ(kernels[0].preferred_multiple, 0U) << "known, and 0";
  EXPECT_FALSE(kernels[1].preferred_multiple.has_value()) << "not told";
  EXPECT_TRUE(kernels[1].arguments.has_value()) << "known, and none";
}

TEST(Manifest, RoundTripsTextsOfAnyBytes) {
  std::string all_bytes;
  for (unsigned value = 0; value < 256; ++value) {
    all_bytes.push_back(static_cast<char>(value));
  }
  Manifest manifest = sample_manifest();
  manifest.entries[0].build_log = all_bytes;
  manifest.entries[0].target.identity.device_name = "caf\xe9 \xf0\x9f\x98\x80";
  manifest.entries[0].tools[all_bytes] = all_bytes;
  manifest.entries[0].kernels[0].vendor[all_bytes] = 7;
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, manifest);
}

TEST(Manifest, EscapesBytesThatAreNotUtf8AsTheManualPageSays) {
  Manifest manifest;
  manifest.producer = "caf\xe9";
  EXPECT_EQ(encoded(manifest), R"({"producer":"caf\u0010e9"})");
}

TEST(Manifest, SkipsUnknownMembers) {
  EXPECT_EQ(decode(R"({"program":"p","new":{"deep":[1,-2,3e5,null,{"x":[true]}]}})")->program, "p");
  EXPECT_TRUE(decode(with_kernel_members(R"("occupancy":0.5)")).has_value());
}

TEST(Manifest, RefusesWrongTypes) {
  expect_refused("[]", "expected an object, found an array");
  expect_refused("7", "expected an object, found 7");
  expect_refused(R"({"entries":{}})", "entries: expected an array, found an object");
  expect_refused(R"({"entries":[null]})", "entries[0]: expected an object, found null");
  expect_refused(R"({"producer":1})", "producer: expected a string, found 1");
  expect_refused(R"({"program":["p"]})", "program: expected a string, found an array");
  expect_refused(with_kernel_members(R"("local_bytes":"7")"),
                 "entries[0].kernels[0].local_bytes: expected an unsigned integer, found a string");
  expect_refused(with_kernel_members(R"("local_bytes":null)"),
                 "entries[0].kernels[0].local_bytes: expected an unsigned integer, found null");
  expect_refused(with_kernel_members(R"("arguments":[{},{"const":1}])"),
                 "entries[0].kernels[0].arguments[1].const: expected true or false, found 1");
  expect_refused(
      with_kernel_members(R"("vendor":{"registers":true})"),
      "entries[0].kernels[0].vendor.registers: expected an unsigned integer, found true");
  expect_refused(with_kernel_members(R"("vendor":[])"),
                 "entries[0].kernels[0].vendor: expected an object, found an array");
  expect_refused(with_kernel_members(R"("arguments":[{"access":0}])"),
                 "entries[0].kernels[0].arguments[0].access: expected a string, found 0");
}

TEST(Manifest, RefusesNegativeNumbers) {
  expect_refused(with_kernel_members(R"("local_bytes":-1)"),
                 "entries[0].kernels[0].local_bytes: expected an unsigned integer, found -1");
  expect_refused(with_kernel_members(R"("required_work_group_size":[16,-1,1])"),
                 "entries[0].kernels[0].required_work_group_size[1]: expected an unsigned integer, "
                 "found -1");
}

TEST(Manifest, RefusesNumbersThatAreNoIntegers) {
  for (const std::string_view number : {"1e300", "1.0", "1e2", "18446744073709551616", "-0"}) {
    const std::string found = number == "-0" ? "0" : std::string(number);
    expect_refused(
        with_kernel_members(fmt::format(R"("private_bytes":{})", number)),
        fmt::format("entries[0].kernels[0].private_bytes: expected an unsigned integer, found {}",
                    found));
  }
}

TEST(Manifest, RefusesNumbersOutOfRange) {
  EXPECT_EQ(decode(with_kernel_members(R"("argument_count":4294967295)"))
                ->entries[0]
                .kernels[0]
                .argument_count,
            4294967295U);
  expect_refused(with_kernel_members(R"("argument_count":4294967296)"),
                 "entries[0].kernels[0].argument_count: expected an integer up to 4294967295, "
                 "found 4294967296");
}

TEST(Manifest, RefusesDuplicateKeys) {
  expect_refused(R"({"program":"a","program":"a"})", "duplicate key 'program'");
  expect_refused(with_kernel_members(R"("vendor":{"x":1,"x":1})"),
                 "entries[0].kernels[0].vendor: duplicate key 'x'");
  expect_refused(R"({"new":{"x":1,"x":2}})", "new: duplicate key 'x'");
}

TEST(Manifest, RefusesDepthAboveSixteen) {
  const auto with_depth = [](std::size_t depth) {
    return R"({"new":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_TRUE(decode(with_depth(16)).has_value());
  const auto result = decode(with_depth(17));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::manifest_invalid);
  EXPECT_TRUE(result.error().message.ends_with("nested deeper than 16"));
}

TEST(Manifest, RefusesWordsThatAreNotKnown) {
  expect_refused(with_kernel_members(R"("arguments":[{"address_space":"generic"}])"),
                 "entries[0].kernels[0].arguments[0].address_space: 'generic' is not known");
  expect_refused(fmt::format(R"({{"entries":[{{"raw_digest":"{}","target":{{"origin":""}}}}]}})",
                             digest_hex("a")),
                 "entries[0].target.origin: '' is not known");
}

TEST(Manifest, RefusesAWorkGroupSizeThatIsNoTriple) {
  expect_refused(with_kernel_members(R"("required_work_group_size":[16,16])"),
                 "entries[0].kernels[0].required_work_group_size: expected 3 numbers, found 2");
  expect_refused(with_kernel_members(R"("required_work_group_size":[1,2,3,4])"),
                 "entries[0].kernels[0].required_work_group_size: expected 3 numbers, found 4");
}

TEST(Manifest, NamesAPayloadByTheFirstDigitsOfItsDigest) {
  base::Digest digest;
  digest.bytes[0] = std::byte{0xab};
  digest.bytes[7] = std::byte{1};
  digest.bytes[8] = std::byte{2};
  EXPECT_EQ(row_digest(digest), "ab00000000000001");
}

TEST(Manifest, RefusesAnEntryWithoutItsDigest) {
  const std::string message = "entries[0].raw_digest: expected 16 lower-case hexadecimal digits";
  expect_refused(R"({"entries":[{}]})", "entries[0].raw_digest: missing");
  expect_refused(R"({"entries":[{"raw_digest":""}]})", message);
  expect_refused(fmt::format(R"({{"entries":[{{"raw_digest":"{}"}}]}})", std::string(16, 'g')),
                 message);
  expect_refused(fmt::format(R"({{"entries":[{{"raw_digest":"{}"}}]}})", std::string(16, 'A')),
                 message);
}

TEST(Manifest, RefusesAKernelWithoutItsName) {
  expect_refused(
      fmt::format(R"({{"entries":[{{"kernels":[{{}}],"raw_digest":"{}"}}]}})", digest_hex("a")),
      "entries[0].kernels[0].name: missing");
  expect_refused(fmt::format(R"({{"entries":[{{"kernels":[{{"name":""}}],"raw_digest":"{}"}}]}})",
                             digest_hex("a")),
                 "entries[0].kernels[0].name: empty");
}

TEST(Manifest, RefusesEscapesThatEncodingNeverWrites) {
  expect_refused(R"({"program":"\u001041"})",
                 "program: a character is escaped unnecessarily, or is not valid UTF-8");
  expect_refused(with_kernel_members(R"("vendor":{"\u0010zz":1})"),
                 "entries[0].kernels[0].vendor: U+0010 is not followed by two hexadecimal digits");
}

TEST(Manifest, RefusesWhatIsNotJson) {
  expect_refused("", "not valid JSON at byte 1");
  expect_refused("{\"program\":\"\xff\"}", "program: not valid JSON at byte 13");
  expect_refused("{} {}", "not valid JSON at byte 4");
}

TEST(Manifest, RefusesEveryTruncation) {
  const std::string json = encoded(sample_manifest());
  for (std::size_t size = 0; size < json.size(); ++size) {
    const auto result = decode(std::string_view(json).substr(0, size));
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code, ErrorCode::manifest_invalid) << size;
  }
}

TEST(Manifest, SurvivesFlippedBits) {
  const std::string json = encoded(sample_manifest());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * json.size(); bit += 7) {
    std::string changed = json;
    changed[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(changed[bit / 8]) ^ (1U << (bit % 8U)));
    const auto result = decode(changed);
    refused += result.has_value() ? 0U : 1U;
    if (!result.has_value()) {
      ASSERT_EQ(result.error().code, ErrorCode::manifest_invalid) << bit;
    }
  }
  EXPECT_GT(refused, json.size() / 7) << "at least every flipped highest bit";
}

TEST(Manifest, HoldsTenThousandEntriesWithinItsLimits) {
  Manifest manifest = sample_manifest();
  const ManifestEntry entry = manifest.entries[0];
  manifest.entries.assign(10000, entry);
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->entries.size(), 10000U);
  EXPECT_EQ(decoded->entries.back(), entry);
}

} // namespace
} // namespace clbin::format
