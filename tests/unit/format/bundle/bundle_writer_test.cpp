#include "format/bundle/bundle_writer.hpp"

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/manifest.hpp"
#include "support/bundle_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

base::Error write_error(const BundleInput& input) {
  const auto written = write_bundle(input, {3});
  EXPECT_FALSE(written.has_value());
  return written ? base::Error{} : written.error();
}

BlobView blob_of(const BundleReader& reader, const EntryView& entry) {
  return reader.blob(entry.blob).value();
}

BundleInput one_entry(Bytes payload) {
  ProgramInput program;
  program.name = "matmul";
  program.variants = {{"default", ""}};
  program.entries = {test::sample_entry("default", test::sample_device("cpu"), std::move(payload))};
  return {"test 1.0", {program}};
}

TEST(BundleWriter, WritesWhatTheReaderReadsBack) {
  const BundleInput input = test::sample_input();
  const BundleReader reader = test::must_open(test::must_write(input));
  ASSERT_EQ(reader.group_count(), 3U);
  ASSERT_EQ(reader.entry_count(), 7U);

  const GroupView group = reader.find_group("matmul", "default").value();
  EXPECT_EQ(group.program, "matmul");
  EXPECT_EQ(group.variant, "default");
  EXPECT_EQ(group.options, "");
  ASSERT_EQ(group.entry_count, 3U);

  const Target target = test::sample_device("cpu-a");
  const auto found = reader.find_exact(group, target_digest(target)).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, BinaryKind::poclbin);
  EXPECT_EQ(found[0].type, PayloadType::executable);
  EXPECT_EQ(found[0].address_bits, 64);
  EXPECT_EQ(found[0].options, "-DN=4");
  EXPECT_EQ(found[0].target.device_name, "cpu-a");
  EXPECT_EQ(found[0].target.family, DeviceFamily::pocl);
  EXPECT_EQ(found[0].target.platform_name, "Portable Computing Language");
  EXPECT_EQ(found[0].target.driver_version, "3.1");
  EXPECT_THAT(found[0].kernels, ElementsAre("add", "multiply"));
  EXPECT_EQ(reader.read_blob(found[0].blob).value(),
            test::bytes_kept_in(input.programs[0].entries[2].payload));

  const Manifest manifest = reader.read_manifest(group).value();
  EXPECT_EQ(manifest.producer, "test 1.0");
  EXPECT_EQ(manifest.program, "matmul");
  ASSERT_EQ(manifest.entries.size(), 5U);
  const ManifestEntry& row = manifest.entries[found[0].manifest_row];
  EXPECT_EQ(row.target, target);
  EXPECT_EQ(row.build_log, "1 warning generated.\n");
  EXPECT_EQ(row.tools, input.programs[0].entries[2].tools);
  EXPECT_EQ(row.kernels[1], input.programs[0].entries[2].kernels[0]);

  EXPECT_EQ(reader.read_source(group).value(), *input.programs[0].source);
  EXPECT_EQ(reader.find_group("reduce", "default")->options, "-DWIDTH=8");
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

TEST(BundleWriter, DoesNotDependOnTheOrderOfItsInput) {
  const BundleInput input = test::sample_input();
  const Bytes expected = test::must_write(input);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ASSERT_EQ(test::must_write(test::shuffled(input, seed)), expected) << "seed " << seed;
  }
}

TEST(BundleWriter, UnpackGivesTheInputBack) {
  const Bytes bytes = test::must_write(test::sample_input());
  const BundleReader reader = test::must_open(bytes);
  EXPECT_EQ(test::must_write(unpack_bundle(reader).value()), bytes);
}

TEST(BundleWriter, WritesABundleOfNothing) {
  const BundleReader reader = test::must_open(test::must_write({"test 1.0", {}}));
  EXPECT_EQ(reader.group_count(), 0U);
  EXPECT_TRUE(reader.verify().has_value());
  EXPECT_EQ(reader.find_group("matmul", "default").error().message,
            "no program 'matmul' (there is: none)");
}

TEST(BundleWriter, KeepsAProgramThatHasSourceOnly) {
  ProgramInput program;
  program.name = "matmul";
  program.source = test::sample_source("kernel void f() {}\n");
  program.variants = {{"default", "-DX"}};
  const BundleReader reader = test::must_open(test::must_write({"test 1.0", {program}}));
  EXPECT_TRUE(reader.verify().has_value());
  const GroupView group = reader.find_group("matmul", "default").value();
  EXPECT_EQ(group.entry_count, 0U);
  EXPECT_EQ(reader.read_source(group).value(), *program.source);
}

TEST(BundleWriter, StoresEqualPayloadsOnce) {
  const BundleReader reader = test::must_open(test::must_write(test::sample_input()));
  // 7 entries: cpu-a's and cpu-b's payloads are equal, and so are both of sm_70. 2 manifests and 1
  // source.
  EXPECT_EQ(reader.blob_count(), 5U + 2U + 1U);
}

TEST(BundleWriter, VariantsOfAProgramShareManifestAndSource) {
  const BundleReader reader = test::must_open(test::must_write(test::sample_input()));
  const GroupView plain = reader.find_group("matmul", "default").value();
  const GroupView fast = reader.find_group("matmul", "fast").value();
  EXPECT_EQ(plain.manifest_blob, fast.manifest_blob);
  EXPECT_EQ(plain.source_blob, fast.source_blob);
  EXPECT_NE(plain.source_blob, k_no_index);
  EXPECT_EQ(reader.find_group("reduce", "default")->source_blob, k_no_index);
}

TEST(BundleWriter, CompressesSimilarPayloadsAgainstOneOfThem) {
  const Bytes common = test::random_bytes(4000, 1);
  BundleInput input = one_entry(test::sample_ptx(50, base::as_text(common)));
  for (const unsigned sm : {60U, 70U, 80U}) {
    input.programs[0].entries.push_back(
        test::sample_entry("default", test::sample_device(fmt::format("gpu {}", sm)),
                           test::sample_ptx(sm, base::as_text(common))));
  }
  const BundleReader reader = test::must_open(test::must_write(input));
  std::size_t referring = 0;
  std::uint64_t stored_bytes = 0;
  for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
    const BlobView blob = blob_of(reader, reader.entry(i).value());
    referring += blob.reference != k_no_index ? 1U : 0U;
    stored_bytes += blob.stored_bytes;
  }
  EXPECT_EQ(referring, 3U);
  EXPECT_LT(stored_bytes, 4600U);
  EXPECT_TRUE(reader.verify().has_value());
}

TEST(BundleWriter, StoresWhatDoesNotShrink) {
  const Bytes payload = test::random_bytes(1000, 5);
  const BundleReader reader = test::must_open(test::must_write(one_entry(payload)));
  const EntryView entry = reader.entry(0).value();
  const BlobView blob = blob_of(reader, entry);
  EXPECT_EQ(blob.codec, 0);
  EXPECT_EQ(blob.stored_bytes, 1000U);
  EXPECT_EQ(blob.raw_digest, blob.stored_digest);
  EXPECT_EQ(reader.read_blob(entry.blob).value(), payload);
  EXPECT_EQ(reader.decompressed_count(), 0U);
}

TEST(BundleWriter, UsesSourcesThatWereCompressedBeforeAtTheSameLevel) {
  BundleInput input = one_entry(Bytes(1000));
  SourcePackage source{{"k.cl", "k.cl", std::string(1000, ' ')}, {}};
  input.programs[0].source = source;
  auto frames = std::make_shared<SourceFrames>();
  frames->compression_level = 19;
  ASSERT_TRUE(compress_source(source, *frames).has_value());
  ASSERT_EQ(frames->frames.size(), 1U);
  const auto sources = [&frames] { return frames; };
  EXPECT_EQ(write_bundle(input, {.sources = sources}).value(), write_bundle(input, {}).value());

  // A frame that differs shows whether it is used.
  const Bytes raw = encode_source_package(source);
  frames->frames.begin()->second = store_alone(raw);
  const auto codec_with = [&](int level) {
    const auto bytes = write_bundle(input, {.compression_level = level, .sources = sources});
    const BundleReader reader = test::must_open(bytes.value());
    EXPECT_EQ(reader.read_source(reader.group(0).value()).value(), source);
    return reader.blob(reader.group(0).value().source_blob).value().codec;
  };
  EXPECT_EQ(codec_with(19), 0);
  EXPECT_EQ(codec_with(18), 1);
}

TEST(BundleWriter, TakesAPayloadThatIsASourceToo) {
  BundleInput input = one_entry({});
  input.programs[0].source = test::sample_source("kernel void f() {}\n");
  input.programs[0].entries[0].payload = encode_source_package(*input.programs[0].source);
  const BundleReader reader = test::must_open(test::must_write(input));
  EXPECT_TRUE(reader.verify().has_value());
  EXPECT_EQ(reader.blob_count(), 2U);
}

TEST(BundleWriter, TakesTheSameEntryTwice) {
  BundleInput input = one_entry(test::bytes_of("same"));
  input.programs[0].entries.push_back(input.programs[0].entries[0]);
  input.programs[0].entries[1].build_log = "another log";
  const Bytes bytes = test::must_write(input);
  std::swap(input.programs[0].entries[0], input.programs[0].entries[1]);
  EXPECT_EQ(test::must_write(input), bytes);
  EXPECT_EQ(test::must_open(bytes).entry_count(), 1U);
}

TEST(BundleWriter, TakesTwoKindsForOneTarget) {
  BundleInput input = one_entry(test::sample_ptx(70, ""));
  input.programs[0].entries.push_back(input.programs[0].entries[0]);
  input.programs[0].entries[1].payload = test::bytes_of("something else");
  const BundleReader reader = test::must_open(test::must_write(input));
  EXPECT_TRUE(reader.verify().has_value());
  const GroupView group = reader.find_group("matmul", "default").value();
  const auto found = reader.find_exact(group, target_digest(test::sample_device("cpu"))).value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, BinaryKind::unknown);
  EXPECT_EQ(found[1].kind, BinaryKind::ptx);
}

TEST(BundleWriter, RefusesTwoPayloadsForOneTargetAndKind) {
  BundleInput input = one_entry(test::sample_ptx(70, "// a"));
  input.programs[0].entries.push_back(input.programs[0].entries[0]);
  input.programs[0].entries[1].payload = test::sample_ptx(70, "// b");
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message,
            "program 'matmul', variant 'default' has two different binaries of kind ptx for 'cpu'");
}

TEST(BundleWriter, WritesTheSameBytesInPartsAndFromAFile) {
  BundleInput input = test::sample_input();
  const auto whole = write_bundle(input, {3});
  ASSERT_TRUE(whole) << whole.error().message;
  const auto file = base::SpillFile::create();
  ASSERT_TRUE(file) << file.error().message;
  for (ProgramInput& program : input.programs) {
    for (EntryInput& entry : program.entries) {
      entry.payload = base::KeptBytes::spill(*file, test::bytes_kept_in(entry.payload)).value();
    }
  }
  Bytes parts;
  std::size_t count = 0;
  const auto written = write_bundle(input, {3, *file}, [&](base::ByteView part) {
    parts.insert(parts.end(), part.begin(), part.end());
    ++count;
    return base::Result<void>();
  });
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_GT(count, 2U);
  EXPECT_TRUE(parts == *whole);
}

TEST(BundleWriter, StopsAtAnErrorOfTheSink) {
  const auto written = write_bundle(test::sample_input(), {3}, [](base::ByteView) {
    return base::Result<void>(base::fail(ErrorCode::file_write, "no room"));
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "no room");
}

TEST(BundleWriter, RefusesAnEmptyPayload) {
  const base::Error error = write_error(one_entry({}));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message, "program 'matmul', variant 'default': an entry has no payload");
}

TEST(BundleWriter, RefusesAVariantThatIsNotListed) {
  BundleInput input = one_entry(test::bytes_of("x"));
  input.programs[0].entries[0].variant = "fast";
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message,
            "program 'matmul' has an entry of variant 'fast', which it does not list");
}

TEST(BundleWriter, RefusesMoreFilesOfASourceThanAReaderTakes) {
  BundleInput input = one_entry(test::bytes_of("x"));
  SourcePackage& source = input.programs[0].source.emplace();
  source.main = {"matmul.cl", "matmul.cl", "kernel void k() {}"};
  for (std::uint32_t number = 0; number < 1U << 17U; ++number) {
    const std::string name = fmt::format("{}.h", number);
    source.headers.push_back({name, name, ""});
  }
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message, "program 'matmul': source: more than 131072 files");
}

TEST(BundleWriter, RefusesAManifestThatAReaderRefuses) {
  BundleInput input = one_entry(test::bytes_of("x"));
  input.programs[0].entries[0].build_log = std::string(1U << 20U, 'w');
  EXPECT_TRUE(write_bundle(input, {3}).has_value());

  input.programs[0].entries[0].build_log = std::string(16U << 20U, 'w');
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  const std::regex message("program 'matmul': more than [0-9]+ bytes of memory");
  EXPECT_TRUE(std::regex_match(error.message, message)) << error.message;
}

TEST(BundleWriter, RefusesMoreRawBytesThanAReaderReads) {
  BundleDraft draft;
  draft.programs["matmul"].variants = {{"default", {"default", ""}}};
  for (const std::string_view name : {"a", "b", "c"}) {
    FrameDraft frame;
    frame.stored = test::bytes_of(name);
    frame.codec = BlobCodec::zstd;
    frame.raw_bytes = 1ULL << 30U;
    add_frame(draft, base::digest_of(base::as_bytes(name)), std::move(frame));
  }
  const auto written = assemble_bundle(std::move(draft));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(written.error().message,
            "the bundle: the call needs more than its limit of 2147483648 raw bytes");
}

// 200 programs of 50 entries.
// Like an amalgamation: most lines differ from each other.
TEST(BundleWriter, WritesALargeSourceThatAReaderReads) {
  constexpr std::size_t k_source_bytes = 30U << 20U;
  BundleInput input = one_entry(test::bytes_of("x"));
  SourcePackage& source = input.programs[0].source.emplace();
  source.main = {"matmul.cl", "matmul.cl", ""};
  for (std::uint64_t number = 1; source.main.text.size() < k_source_bytes; ++number) {
    source.main.text +=
        fmt::format("float f{0}(float x) {{ return x * {0}.5f; }}\n", number * 0x9e3779b9U);
  }
  const BundleReader reader = test::must_open(test::must_write(input));
  const auto read = reader.read_source(reader.find_group("matmul", "default").value());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->main.text, source.main.text);
}

TEST(BundleWriter, RefusesNamesThatAreEmptyOrTwice) {
  const BundleInput valid = one_entry(test::bytes_of("x"));

  BundleInput twice = valid;
  twice.programs.push_back(twice.programs[0]);
  EXPECT_EQ(write_error(twice).message, "there are two programs 'matmul'");

  BundleInput nameless = valid;
  nameless.programs[0].name = "";
  EXPECT_EQ(write_error(nameless).message,
            "a program has a name that is empty or contains a zero byte");

  BundleInput zero = valid;
  zero.programs[0].variants[0].name = std::string("a\0b", 3);
  EXPECT_THAT(write_error(zero).message, HasSubstr("program 'matmul': a variant has a name that"));

  BundleInput variants = valid;
  variants.programs[0].variants.push_back({"default", "-O0"});
  EXPECT_EQ(write_error(variants).message, "program 'matmul' has two variants 'default'");

  BundleInput none = valid;
  none.programs[0].variants.clear();
  EXPECT_EQ(write_error(none).message, "program 'matmul' has no variant");
}

TEST(BundleWriter, RefusesKernelNamesThatTheTableCannotHold) {
  const BundleInput valid = one_entry(test::bytes_of("x"));

  BundleInput semicolon = valid;
  semicolon.programs[0].entries[0].kernels[0].name = "a;b";
  EXPECT_EQ(write_error(semicolon).message,
            "program 'matmul': the name of kernel 'a;b' contains a semicolon");

  BundleInput twice = valid;
  twice.programs[0].entries[0].kernels[0].name = "add";
  EXPECT_EQ(write_error(twice).message, "program 'matmul': an entry has kernel 'add' twice");

  BundleInput nameless = valid;
  nameless.programs[0].entries[0].kernels[0].name = "";
  EXPECT_EQ(write_error(nameless).code, ErrorCode::invalid_argument);
}

TEST(BundleWriter, RefusesSourceThatTheReaderWouldRefuse) {
  BundleInput input = one_entry(test::bytes_of("x"));
  input.programs[0].source = test::sample_source("");
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message, "program 'matmul': source: the main file is empty");
}

TEST(BundleWriter, RefusesTextThatIsTooLongForTheTable) {
  BundleInput input = one_entry(test::bytes_of("x"));
  input.programs[0].variants[0].options.assign((1U << 20U) + 1, 'x');
  const base::Error error = write_error(input);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr("has 1048577 bytes, at most 1048576 are allowed"));
}

} // namespace
} // namespace clbin::format
