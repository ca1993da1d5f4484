#include "format/bundle/bundle_surgery.hpp"

#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

bool keep_none(const EntryView&) {
  return false;
}

Bytes must_merge(const std::vector<Bytes>& inputs) {
  std::vector<BundleReader> readers;
  for (const Bytes& input : inputs) {
    readers.push_back(test::must_open(input, fmt::format("input{}.clbin", readers.size())));
  }
  std::vector<const BundleReader*> pointers;
  for (const BundleReader& reader : readers) {
    pointers.push_back(&reader);
  }
  auto merged = merge_bundles(pointers);
  EXPECT_TRUE(merged.has_value()) << merged.error().message;
  for (const BundleReader& reader : readers) {
    EXPECT_LE(reader.decompressed_count(), reader.blob_count()) << "merge read a payload twice";
  }
  return merged ? std::move(*merged) : Bytes();
}

base::Error merge_error(const Bytes& a, const Bytes& b) {
  const BundleReader first = test::must_open(a, "first.clbin");
  const BundleReader second = test::must_open(b, "second.clbin");
  const std::vector<const BundleReader*> inputs = {&first, &second};
  const auto merged = merge_bundles(inputs);
  EXPECT_FALSE(merged.has_value());
  return merged ? base::Error{} : merged.error();
}

void expect_valid(const Bytes& bytes) {
  const auto verified = test::must_open(bytes).verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

// Returns one bundle for each entry of `input`. Each contains the source and all variants of its
// program.
std::vector<Bytes> units_of(const BundleInput& input) {
  std::vector<Bytes> units;
  for (const ProgramInput& program : input.programs) {
    for (const EntryInput& entry : program.entries) {
      ProgramInput unit = program;
      unit.entries = {entry};
      units.push_back(test::must_write({input.producer, {unit}}));
    }
  }
  return units;
}

// Programs of one name with overlapping entries, at different levels, so with different frames.
std::vector<Bytes> overlapping_bundles() {
  std::vector<Bytes> bundles;
  const std::string body = base::to_hex(base::digest_of({})) + std::string(300, 'x');
  const std::vector<std::vector<unsigned>> choices = {{50, 60, 70}, {60, 70, 80}, {70}, {80, 90}};
  int level = 1;
  for (const std::vector<unsigned>& choice : choices) {
    ProgramInput program;
    program.name = "matmul";
    program.variants = {{"default", ""}};
    for (const unsigned sm : choice) {
      program.entries.push_back(test::sample_entry(
          "default", test::sample_device(fmt::format("gpu {}", sm)), test::sample_ptx(sm, body)));
    }
    if (level > 1) {
      program.source = test::sample_source("kernel void f() {}\n");
    }
    bundles.push_back(write_bundle({fmt::format("test {}", level), {program}}, {level}).value());
    level += 6;
  }
  return bundles;
}

TEST(BundleMerge, OfTheUnitsRepackedIsTheBundleMadeInOneRun) {
  const BundleInput input = test::sample_input();
  const Bytes merged = must_merge(units_of(input));
  expect_valid(merged);
  const BundleReader reader = test::must_open(merged);
  EXPECT_EQ(repack_bundle(reader, {3}).value(), test::must_write(input));
  EXPECT_EQ(test::contents_of(reader).value(),
            test::contents_of(test::must_open(test::must_write(input))).value());
}

TEST(BundleMerge, DoesNotDependOnTheOrderOfItsInputs) {
  std::vector<Bytes> inputs = overlapping_bundles();
  inputs.push_back(test::must_write({"test 1.0", {test::sample_input().programs[1]}}));
  const Bytes expected = must_merge(inputs);
  expect_valid(expected);
  std::sort(inputs.begin(), inputs.end());
  std::size_t orders = 0;
  do {
    ASSERT_EQ(must_merge(inputs), expected);
    ++orders;
  } while (std::next_permutation(inputs.begin(), inputs.end()));
  EXPECT_EQ(orders, 120U);
}

TEST(BundleMerge, IsAssociative) {
  const std::vector<Bytes> inputs = overlapping_bundles();
  const Bytes all = must_merge(inputs);
  EXPECT_EQ(must_merge({must_merge({inputs[0], inputs[1]}), must_merge({inputs[2], inputs[3]})}),
            all);
  EXPECT_EQ(must_merge({inputs[0], must_merge({inputs[1], must_merge({inputs[2], inputs[3]})})}),
            all);
  EXPECT_EQ(must_merge({must_merge({must_merge({inputs[3], inputs[1]}), inputs[0]}), inputs[2]}),
            all);
}

TEST(BundleMerge, IsAssociativeWithHiddenPayloads) {
  std::vector<Bytes> inputs = overlapping_bundles();
  const BundleReader first = test::must_open(inputs[0]);
  const auto stripped = strip_bundle(
      first, {[](const EntryView& entry) { return entry.target.device_name != "gpu 50"; }});
  inputs[0] = stripped->bytes;
  const Bytes all = must_merge(inputs);
  expect_valid(all);
  EXPECT_EQ(must_merge({must_merge({inputs[0], inputs[2]}), must_merge({inputs[1], inputs[3]})}),
            all);
  EXPECT_EQ(must_merge({must_merge({inputs[0], must_merge({inputs[1], inputs[2]})}), inputs[3]}),
            all);
}

BundleInput requiring_input(const std::set<std::string>& required) {
  BundleInput input = test::sample_input();
  input.programs[0].variants[1].required = required; // "fast"
  return input;
}

TEST(BundleMerge, KeepsWhatVariantsRequire) {
  const BundleInput input = requiring_input({"cl_khr_fp16", "cl_intel_subgroups"});
  const Bytes bytes = test::must_write(input);
  const Bytes merged = must_merge(units_of(input));
  expect_valid(merged);
  const auto stripped = strip_bundle(test::must_open(bytes), {keep_none});
  for (const Bytes& made : {bytes, merged, stripped->bytes}) {
    const BundleReader reader = test::must_open(made);
    EXPECT_EQ(reader.prefix().minor, 1);
    EXPECT_THAT(reader.find_group("matmul", "fast")->required,
                ElementsAre("cl_intel_subgroups", "cl_khr_fp16"));
    EXPECT_TRUE(reader.find_group("matmul", "default")->required.empty());
    EXPECT_EQ(reader.groups_with_requirements("matmul")->size(), 1U);
    EXPECT_TRUE(reader.groups_with_requirements("reduce")->empty());
    EXPECT_EQ(unpack_bundle(reader)->programs[0].variants[1].required,
              input.programs[0].variants[1].required);
  }
  EXPECT_EQ(repack_bundle(test::must_open(merged), {3}).value(), bytes);
  const base::Error error = merge_error(bytes, test::must_write(requiring_input({"cl_khr_fp16"})));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message,
              HasSubstr("program 'matmul', variant 'fast' requires 'cl_khr_fp16' here and "
                        "'cl_intel_subgroups,cl_khr_fp16' in 'first.clbin'"));
}

TEST(BundleMerge, ConflictsWithABundleThatRequiresNothing) {
  EXPECT_EQ(merge_error(test::must_write(test::sample_input()),
                        test::must_write(requiring_input({"cl_khr_fp16"})))
                .code,
            ErrorCode::conflict);
}

// The bytes of format 1.1 are as frozen as those of tests/golden/v1.
TEST(BundleWriter, WritesTheSameSectionOfRequirementsForEver) {
  test::CraftedBundle crafted(test::must_write(requiring_input({"cl_khr_fp16", "b"})));
  const auto& section = crafted.sections.back();
  EXPECT_EQ(static_cast<std::uint32_t>(section.record.kind), 10U);
  EXPECT_EQ(section.record.flags, k_section_paged);
  ASSERT_EQ(section.record.count, 1U);
  ASSERT_EQ(section.bytes.size(), 8U);
  const BundleReader reader = test::must_open(crafted.build());
  EXPECT_EQ(crafted.u32_at(SectionKind::requirement, 0, 0),
            reader.find_group("matmul", "fast")->index);
  BundleInput wrong = requiring_input({"a;b"});
  EXPECT_EQ(write_bundle(wrong, {}).error().code, ErrorCode::invalid_argument);
}

// ---- Packs ----

PackRecord pack_of(const BundleReader& pack, const char* name) {
  const EntryView entry = pack.entry(0).value();
  return {entry.match_key, base::leading_u64(entry.target.digest), pack.root_digest(), name};
}

Bytes base_of(std::vector<PackRecord> packs) {
  WriteOptions options{1};
  options.packs = std::move(packs);
  BundleInput input = test::sample_input();
  for (ProgramInput& program : input.programs) {
    program.entries.clear();
  }
  return write_bundle(input, options).value();
}

TEST(BundleWriter, WritesTheSameSectionOfPacksForEver) {
  const Bytes unit = units_of(test::sample_input())[0];
  const PackRecord pack = pack_of(test::must_open(unit), "first");
  const Bytes base = base_of({pack});
  EXPECT_EQ(static_cast<int>(base.at(10)), 3); // the minor version
  test::CraftedBundle crafted(base);
  const auto& section = crafted.sections.back();
  EXPECT_EQ(static_cast<std::uint32_t>(section.record.kind), 12U);
  EXPECT_EQ(section.record.flags, k_section_paged);
  ASSERT_EQ(section.record.count, 1U);
  ASSERT_EQ(section.bytes.size(), 56U);
  EXPECT_NE(pack.match_key, pack.target_key);
  EXPECT_EQ(crafted.u64_at(SectionKind::pack, 0, 0), pack.match_key);
  EXPECT_EQ(crafted.u64_at(SectionKind::pack, 0, 8), pack.target_key);
  EXPECT_TRUE(std::ranges::equal(pack.root.bytes, ByteView(section.bytes).subspan(16, 32)));
  EXPECT_NE(crafted.u32_at(SectionKind::pack, 0, 48), 0U); // the name, a string
  EXPECT_EQ(crafted.u32_at(SectionKind::pack, 0, 52), 0U);
  EXPECT_EQ(test::must_open(base).packs().value().at(0).name, "first");
}

TEST(BundleMerge, NamesThePacksThatItDoesNotContain) {
  const std::vector<Bytes> packs = units_of(test::sample_input());
  const Bytes base = base_of(
      {pack_of(test::must_open(packs[0]), "first"), pack_of(test::must_open(packs[1]), "second")});
  const auto names = [](const Bytes& bytes) {
    std::vector<std::string> list;
    expect_valid(bytes);
    const auto packs_of_bytes = test::must_open(bytes).packs().value();
    for (const PackRecord& pack : packs_of_bytes) {
      list.push_back(pack.name.str());
    }
    return list;
  };
  EXPECT_THAT(names(must_merge({base})), ElementsAre("first", "second"));
  EXPECT_THAT(names(must_merge({packs[1], base})), ElementsAre("first"));
  EXPECT_THAT(names(must_merge({base, packs[1]})), ElementsAre("first"));
  EXPECT_THAT(names(must_merge({base, packs[0], packs[1]})), ElementsAre());
  EXPECT_THAT(names(strip_bundle(test::must_open(base), {.answers = KeepAnswers::no})->bytes),
              ElementsAre("first", "second"));
  EXPECT_EQ(repack_bundle(test::must_open(base), {1}).value(), base);
}

TEST(BundleMerge, ConflictsIfAPackHasTwoRoots) {
  const std::vector<Bytes> packs = units_of(test::sample_input());
  const base::Error error = merge_error(base_of({pack_of(test::must_open(packs[0]), "a")}),
                                        base_of({pack_of(test::must_open(packs[1]), "a")}));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message, HasSubstr("it has another pack 'a'"));
}

TEST(BundleMerge, WithItselfIsItself) {
  const Bytes bytes = test::must_write(test::sample_input());
  EXPECT_EQ(must_merge({bytes}), bytes);
  EXPECT_EQ(must_merge({bytes, bytes, bytes}), bytes);
}

TEST(BundleMerge, OfNothingIsEmpty) {
  const Bytes merged = must_merge({});
  expect_valid(merged);
  EXPECT_EQ(test::must_open(merged).group_count(), 0U);
}

TEST(BundleMerge, PrefersFramesWithoutAReference) {
  const std::vector<Bytes> inputs = overlapping_bundles();
  // inputs[2] contains only one payload. In inputs[0] and [1], it may have a reference.
  const BundleReader merged = test::must_open(must_merge(inputs));
  const GroupView group = merged.find_group("matmul", "default").value();
  const auto found = merged.find_exact(group, target_digest(test::sample_device("gpu 70"))).value();
  EXPECT_EQ(merged.blob(found[0].blob)->reference, k_no_index);
}

TEST(BundleMerge, KeepsTheGreatestProducer) {
  const BundleReader merged = test::must_open(must_merge(overlapping_bundles()));
  const GroupView group = merged.find_group("matmul", "default").value();
  EXPECT_EQ(merged.read_manifest(group)->producer, "test 7");
}

TEST(BundleMerge, TakesSourceFromTheInputThatHasIt) {
  BundleInput with = test::sample_input();
  BundleInput without = with;
  without.programs[0].source.reset();
  const Bytes merged = must_merge({test::must_write(without), test::must_write(with)});
  const BundleReader reader = test::must_open(merged);
  EXPECT_EQ(reader.read_source(reader.find_group("matmul", "fast").value()).value(),
            *with.programs[0].source);
}

TEST(BundleMerge, RefusesTwoSources) {
  const BundleInput input = test::sample_input();
  BundleInput other = input;
  other.programs[0].source->main.text += "// more\n";
  const base::Error error = merge_error(test::must_write(input), test::must_write(other));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.message,
            "'second.clbin': program 'matmul' has different source in 'first.clbin'");
}

TEST(BundleMerge, RefusesTwoSetsOfOptions) {
  const BundleInput input = test::sample_input();
  BundleInput other = input;
  other.programs[1].variants[0].options = "-DWIDTH=16";
  const base::Error error = merge_error(test::must_write(input), test::must_write(other));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.message, "'second.clbin': program 'reduce', variant 'default' has options "
                           "'-DWIDTH=16' here and '-DWIDTH=8' in 'first.clbin'");
}

TEST(BundleMerge, RefusesTwoPayloadsForOneTarget) {
  const BundleInput input = test::sample_input();
  BundleInput other = input;
  other.programs[0].entries[0].payload = test::sample_ptx(50, "// another one\n");
  const base::Error error = merge_error(test::must_write(input), test::must_write(other));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.message,
            "'second.clbin': program 'matmul', variant 'default' has two different binaries of "
            "kind ptx for 'nvptx:sm_50' (the other one is in 'first.clbin')");
}

TEST(BundleMerge, RefusesADamagedInputByName) {
  const Bytes bytes = test::must_write(test::sample_input());
  Bytes damaged = bytes;
  damaged[damaged.size() - 9] ^= std::byte{1};
  const base::Error error = merge_error(bytes, damaged);
  EXPECT_EQ(error.code, ErrorCode::digest_mismatch);
  EXPECT_THAT(error.message, HasSubstr("'second.clbin': blob "));
}

TEST(BundleMerge, RefusesAnEntryThatNoGroupNames) {
  constexpr std::size_t k_entry_count = 24;
  const Bytes bytes = test::must_write(test::sample_input());
  const std::uint32_t last = test::must_open(bytes).group_count() - 1;
  test::CraftedBundle crafted(bytes);
  crafted.set_u32(SectionKind::group, last, k_entry_count,
                  crafted.u32_at(SectionKind::group, last, k_entry_count) - 1);
  const Bytes changed = crafted.build();
  const BundleReader reader = test::must_open(changed);
  const BundleReader* const only = &reader;
  const auto merged = merge_bundles({&only, 1});
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::damaged);
  EXPECT_THAT(merged.error().message, HasSubstr("no group contains it"));
}

TEST(BundleMerge, DropsTrailingRecordsAndUnknownSections) {
  const Bytes bytes = test::must_write(test::sample_input());
  test::CraftedBundle crafted(bytes);
  crafted.append_trailing(1, 0, test::random_bytes(96, 1));
  crafted.sections.push_back(
      {{static_cast<SectionKind>(99), k_section_paged, 0, 0, 0, 0}, test::random_bytes(50, 1)});
  EXPECT_EQ(must_merge({crafted.build()}), bytes);
}

BundleInput recorded_input(std::vector<RecordedLaunch> launches,
                           std::vector<RecordedBuild> builds) {
  BundleInput input;
  ProgramInput& program = input.programs.emplace_back();
  program.name = "p";
  program.variants = {{"a", ""}, {"b", "-DB"}};
  program.launches = std::move(launches);
  program.builds = std::move(builds);
  return input;
}

const RecordedLaunch k_launch_of_a{"a", "k", 1, {64, 1, 1}};
const RecordedLaunch k_launch_of_b{"b", "k", 2, {}};

TEST(BundleMerge, UnitesRecordedLaunchesAndBuilds) {
  const Target cpu = test::sample_device("cpu-a");
  const auto one = test::must_open(
      test::must_write(recorded_input({k_launch_of_b, k_launch_of_a}, {{"a", cpu, {"k"}}})));
  const auto two = test::must_open(test::must_write(
      recorded_input({k_launch_of_a}, {{"a", cpu, {"j", "k"}}, {"b", cpu, {"k"}}})));
  const std::array<const BundleReader*, 2> forward = {&one, &two};
  const std::array<const BundleReader*, 2> backward = {&two, &one};
  const auto merged = merge_bundles(forward);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(*merged, merge_bundles(backward).value());
  const auto reader = test::must_open(*merged);
  const auto manifest = reader.read_manifest(reader.group(0).value());
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->launches, (std::vector{k_launch_of_a, k_launch_of_b}));
  EXPECT_EQ(manifest->builds,
            (std::vector<RecordedBuild>{{"a", cpu, {"j", "k"}}, {"b", cpu, {"k"}}}));
  EXPECT_EQ(repack_bundle(reader, {}).value(),
            write_bundle(recorded_input(manifest->launches, manifest->builds), {}).value());
}

TEST(BundleStrip, KeepsWhatWasRecordedOfTheVariantsThatAreLeft) {
  BundleInput input = recorded_input({k_launch_of_a, k_launch_of_b}, {});
  input.programs[0].entries = {
      test::sample_entry("a", test::sample_device("cpu-a"), test::sample_ptx(50, "")),
      test::sample_entry("b", test::sample_device("cpu-b"), test::sample_ptx(60, ""))};
  const auto reader = test::must_open(test::must_write(input));
  const auto stripped = strip_bundle(
      reader, {[](const EntryView& entry) { return entry.target.device_name == "cpu-a"; }});
  ASSERT_TRUE(stripped) << stripped.error().message;
  const auto rest = test::must_open(stripped->bytes);
  const auto manifest = rest.read_manifest(rest.group(0).value());
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->launches, std::vector{k_launch_of_a});
}

TEST(BundleWriter, RefusesARecordedLaunchThatCannotBe) {
  for (const RecordedLaunch& launch :
       {RecordedLaunch{"none", "k", 1, {}}, RecordedLaunch{"a", "", 1, {}},
        RecordedLaunch{"a", "k", 0, {}}, RecordedLaunch{"a", "k", 4, {}}}) {
    const auto written = write_bundle(recorded_input({launch}, {}), {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(written.error().message,
              fmt::format("program 'p' has a launch of kernel '{}' in {} dimensions, variant '{}', "
                          "which cannot be",
                          launch.kernel, launch.dimensions, launch.variant));
  }
  const auto written = write_bundle(recorded_input({}, {{"none", {}, {}}}), {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message,
            "program 'p' has a build of variant 'none', which it does not list");
}

TEST(BundleStrip, KeepingAllChangesNothing) {
  const Bytes bytes = test::must_write(test::sample_input());
  const BundleReader reader = test::must_open(bytes);
  const StripResult result = strip_bundle(reader, {}).value();
  EXPECT_EQ(result.bytes, bytes);
  EXPECT_EQ(result.hidden_count, 0U);
  EXPECT_LE(reader.decompressed_count(), reader.blob_count());
}

TEST(BundleStrip, KeepingNothingKeepsTheSource) {
  const BundleInput input = test::sample_input();
  const BundleReader reader = test::must_open(test::must_write(input));
  const StripResult result = strip_bundle(reader, {keep_none}).value();
  expect_valid(result.bytes);
  const BundleReader stripped = test::must_open(result.bytes);
  EXPECT_EQ(stripped.entry_count(), 0U);
  EXPECT_EQ(stripped.group_count(), 2U);
  EXPECT_EQ(stripped.blob_count(), 2U); // a manifest and the source
  EXPECT_EQ(stripped.read_source(stripped.find_group("matmul", "fast").value()).value(),
            *input.programs[0].source);
  EXPECT_EQ(result.hidden_count, 0U);
  EXPECT_EQ(result.dropped_entries, 7U);
  EXPECT_THAT(result.dropped_names, ElementsAre("program 'reduce'"));
}

TEST(BundleStrip, DropsAVariantOfWhichNothingIsLeft) {
  const BundleReader reader = test::must_open(test::must_write(test::sample_input()));
  const auto keep_50 = [](const EntryView& entry) { return entry.target.spec == "nvptx:sm_50"; };
  const StripResult result = strip_bundle(reader, {keep_50, KeepSource::no}).value();
  expect_valid(result.bytes);
  EXPECT_EQ(result.dropped_entries, 6U);
  EXPECT_THAT(result.dropped_names,
              ElementsAre("program 'matmul', variant 'fast'", "program 'reduce'"));
  EXPECT_EQ(test::must_open(result.bytes).group_count(), 1U);
}

TEST(BundleStrip, RefusesToLeaveNothing) {
  const BundleReader reader = test::must_open(test::must_write(test::sample_input()));
  const auto result = strip_bundle(reader, {keep_none, KeepSource::no});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().message,
            "nothing would remain: no program would have source or an entry");
}

TEST(BundleStrip, OfAnEmptyBundleIsThatBundle) {
  const Bytes bytes = test::must_write({"test 1.0", {}});
  EXPECT_EQ(strip_bundle(test::must_open(bytes), {keep_none, KeepSource::no})->bytes, bytes);
}

TEST(BundleStrip, KeepsOnlyTheNamesOfKernelsWithoutReflection) {
  const Bytes bytes = test::must_write(test::sample_input());
  const BundleReader reader = test::must_open(bytes);
  const StripResult result =
      strip_bundle(reader, {.reflection = KeepReflection::names_only}).value();
  expect_valid(result.bytes);
  EXPECT_LT(result.bytes.size(), bytes.size());
  const BundleReader stripped = test::must_open(result.bytes);
  const Manifest manifest = stripped.read_manifest(stripped.group(0).value()).value();
  ASSERT_FALSE(manifest.entries.empty());
  for (const ManifestEntry& entry : manifest.entries) {
    KernelReflection add;
    add.name = "add";
    KernelReflection multiply;
    multiply.name = "multiply";
    EXPECT_THAT(entry.kernels, ElementsAre(add, multiply));
  }
  EXPECT_THAT(stripped.entry(0)->kernels, ElementsAre("add", "multiply"));
}

TEST(BundleStrip, DropsTheSourceWhenTold) {
  const BundleReader reader = test::must_open(test::must_write(test::sample_input()));
  const StripResult result = strip_bundle(reader, {.source = KeepSource::no}).value();
  expect_valid(result.bytes);
  const BundleReader stripped = test::must_open(result.bytes);
  EXPECT_EQ(stripped.entry_count(), 7U);
  EXPECT_EQ(stripped.read_source(stripped.find_group("matmul", "fast").value()).error().code,
            ErrorCode::no_source);
  EXPECT_EQ(base::as_text(result.bytes).find("matmul.cl"), std::string_view::npos);
}

// Returns the bundle of one hub with `dependents` payloads compressed against it, and the name of
// the hub's device.
std::pair<Bytes, std::string> bundle_with_hub(unsigned dependents) {
  const std::string body(base::as_text(test::random_bytes(2000, 4)));
  ProgramInput program;
  program.name = "matmul";
  program.source = test::sample_source("kernel void f() {}\n");
  program.variants = {{"default", ""}};
  for (unsigned i = 0; i <= dependents; ++i) {
    program.entries.push_back(test::sample_entry(
        "default", test::sample_device(fmt::format("gpu {}", i)), test::sample_ptx(50 + i, body)));
  }
  const Bytes bytes = test::must_write({"test 1.0", {program}});
  const BundleReader reader = test::must_open(bytes);
  for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
    const EntryView entry = reader.entry(i).value();
    if (reader.blob(entry.blob)->reference == k_no_index) {
      return {bytes, entry.target.device_name};
    }
  }
  ADD_FAILURE() << "no hub";
  return {bytes, ""};
}

TEST(BundleStrip, KeepsAPayloadThatOthersNeedAndSaysSo) {
  const auto [bytes, hub] = bundle_with_hub(3);
  const BundleReader reader = test::must_open(bytes);
  const auto not_hub = [name = hub](const EntryView& entry) {
    return entry.target.device_name != name;
  };
  const StripResult result = strip_bundle(reader, {not_hub}).value();
  expect_valid(result.bytes);
  EXPECT_EQ(result.hidden_count, 1U);
  EXPECT_EQ(result.hidden_dependents, 3U);
  EXPECT_GT(result.hidden_stored_bytes, 1900U);
  EXPECT_LE(reader.decompressed_count(), 5U); // one for each of four payloads, and the source

  const BundleReader stripped = test::must_open(result.bytes);
  EXPECT_EQ(stripped.entry_count(), 3U);
  EXPECT_EQ(stripped.blob_count(), 6U); // three payloads, a hidden one, source and manifest
  const GroupView group = stripped.find_group("matmul", "default").value();
  EXPECT_TRUE(stripped.find_exact(group, target_digest(test::sample_device(hub)))->empty());

  const BundleReader repacked = test::must_open(repack_bundle(stripped, {3}).value());
  EXPECT_EQ(repacked.blob_count(), 5U);
  expect_valid(repack_bundle(stripped, {3}).value());

  // The hidden payload is removed when nothing depends on it.
  const StripResult again = strip_bundle(stripped, {keep_none}).value();
  EXPECT_EQ(again.hidden_count, 0U);
  EXPECT_EQ(test::must_open(again.bytes).blob_count(), 2U);
}

TEST(BundleStrip, ReportsAHiddenPayloadAgain) {
  const auto [bytes, hub] = bundle_with_hub(2);
  const BundleReader reader = test::must_open(bytes);
  const auto not_hub = [name = hub](const EntryView& entry) {
    return entry.target.device_name != name;
  };
  const StripResult first = strip_bundle(reader, {not_hub}).value();
  const StripResult second = strip_bundle(test::must_open(first.bytes), {}).value();
  EXPECT_EQ(second.bytes, first.bytes);
  EXPECT_EQ(second.hidden_count, 1U);
  EXPECT_EQ(second.hidden_dependents, 2U);
}

TEST(BundleStrip, ThenMergedWithTheRestHasAllAgain) {
  const auto [bytes, hub] = bundle_with_hub(3);
  const BundleReader reader = test::must_open(bytes);
  const auto is_hub = [name = hub](const EntryView& entry) {
    return entry.target.device_name == name;
  };
  const StripResult one = strip_bundle(reader, {is_hub}).value();
  const StripResult rest =
      strip_bundle(reader, {[&](const EntryView& entry) { return !is_hub(entry); }}).value();
  EXPECT_EQ(must_merge({one.bytes, rest.bytes}), bytes);
}

constexpr std::size_t k_raw_digest_end = 31;

std::uint8_t last_digest_byte(const BundleReader& reader, std::uint32_t blob) {
  return std::to_integer<std::uint8_t>(reader.blob(blob)->raw_digest.bytes.back());
}

// Returns the sample with a raw digest of `blob` that does not match its bytes. The manifest
// contains only the first bytes of a digest.
Bytes with_wrong_raw_digest(const Bytes& valid, std::uint32_t blob) {
  test::CraftedBundle crafted(valid);
  const std::uint8_t last = last_digest_byte(test::must_open(valid), blob);
  crafted.set_u8(SectionKind::blob, blob, k_raw_digest_end, static_cast<std::uint8_t>(last ^ 1U));
  return crafted.build();
}

std::string wrong_digest_text(std::uint32_t blob) {
  return fmt::format("blob {}: raw_digest does not match its raw bytes", blob);
}

// Returns every blob except the manifests, which strip and merge write anew.
std::vector<std::uint32_t> copied_blobs(const BundleReader& reader) {
  std::set<std::uint32_t> manifests;
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    manifests.insert(reader.group(i)->manifest_blob);
  }
  std::vector<std::uint32_t> blobs;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    if (!manifests.contains(i)) {
      blobs.push_back(i);
    }
  }
  return blobs;
}

TEST(BundleSurgery, RefusesAWrongRawDigest) {
  const Bytes bytes = bundle_with_hub(3).first;
  const std::vector<std::uint32_t> blobs = copied_blobs(test::must_open(bytes));
  ASSERT_EQ(blobs.size(), 5U); // the hub, three dependent payloads, and the source
  for (const std::uint32_t blob : blobs) {
    const Bytes wrong = with_wrong_raw_digest(bytes, blob);
    const BundleReader reader = test::must_open(wrong);
    const auto stripped = strip_bundle(reader, {});
    ASSERT_FALSE(stripped.has_value()) << blob;
    EXPECT_EQ(stripped.error().code, ErrorCode::digest_mismatch);
    EXPECT_EQ(stripped.error().message, wrong_digest_text(blob));
    const auto repacked = repack_bundle(reader, {3});
    ASSERT_FALSE(repacked.has_value()) << blob;
    EXPECT_EQ(repacked.error().code, ErrorCode::digest_mismatch);
    EXPECT_EQ(repacked.error().message, wrong_digest_text(blob));
    const BundleReader alone = test::must_open(wrong, "wrong.clbin");
    const BundleReader* const input = &alone;
    const auto merged = merge_bundles({&input, 1});
    ASSERT_FALSE(merged.has_value()) << blob;
    EXPECT_EQ(merged.error().code, ErrorCode::digest_mismatch);
    EXPECT_EQ(merged.error().message, fmt::format("'wrong.clbin': {}", wrong_digest_text(blob)));
  }
}

TEST(BundleMerge, PutsNoPayloadInThePlaceOfAnother) {
  const Bytes good = test::must_write(test::sample_input());
  const BundleReader reader = test::must_open(good);
  // Stores the frame of the smallest payload under the digest of another. merge keeps the smallest
  // of the frames with one digest.
  std::vector<std::uint32_t> blobs = copied_blobs(reader);
  std::erase_if(blobs,
                [&](std::uint32_t blob) { return reader.blob(blob)->reference != k_no_index; });
  const auto size_of = [&](std::uint32_t blob) { return reader.blob(blob)->stored_bytes; };
  const auto by_size = [&](std::uint32_t a, std::uint32_t b) { return size_of(a) < size_of(b); };
  const std::uint32_t least = *std::min_element(blobs.begin(), blobs.end(), by_size);
  const std::uint32_t victim = *std::max_element(blobs.begin(), blobs.end(), by_size);
  test::CraftedBundle crafted(good);
  constexpr std::size_t k_stored_digest = 32;
  constexpr std::size_t k_blob_bytes = 96;
  const base::ByteView records = crafted.section(SectionKind::blob).bytes;
  const Bytes from_stored_digest_on(
      records.begin() + static_cast<std::ptrdiff_t>(least * k_blob_bytes + k_stored_digest),
      records.begin() + static_cast<std::ptrdiff_t>((least + 1) * k_blob_bytes));
  crafted.set_bytes(SectionKind::blob, victim, k_stored_digest, from_stored_digest_on);
  const Bytes poisoned = crafted.build();
  ASSERT_LT(size_of(least), size_of(victim));
  for (const base::Error& error : {merge_error(good, poisoned), merge_error(poisoned, good)}) {
    EXPECT_EQ(error.code, ErrorCode::digest_mismatch);
    EXPECT_THAT(error.message, HasSubstr(wrong_digest_text(victim)));
  }
}

TEST(BundleSurgery, RefusesTwoEntriesOfOneManifestRow) {
  test::CraftedBundle crafted(test::must_write(test::sample_input()));
  const BundleReader valid = test::must_open(crafted.build());
  // Adds an entry twice, the second time with another kind. Only the kind distinguishes them.
  GroupView group = valid.group(valid.group_count() - 1).value();
  Bytes& entries = crafted.section(SectionKind::entry).bytes;
  Bytes& exact = crafted.section(SectionKind::exact).bytes;
  constexpr std::size_t k_entry_bytes = 32;
  constexpr std::size_t k_exact_bytes = 16;
  constexpr std::size_t k_group_entry_count = 24;
  const Bytes last_entry(entries.end() - k_entry_bytes, entries.end());
  const Bytes last_exact(exact.end() - k_exact_bytes, exact.end());
  entries.insert(entries.end(), last_entry.begin(), last_entry.end());
  exact.insert(exact.end(), last_exact.begin(), last_exact.end());
  crafted.set_u32(SectionKind::group, group.index, k_group_entry_count, group.entry_count + 1);
  const BundleReader reader = test::must_open(crafted.build());
  const auto stripped = strip_bundle(reader, {});
  ASSERT_FALSE(stripped.has_value());
  EXPECT_EQ(stripped.error().code, ErrorCode::manifest_invalid);
  EXPECT_THAT(stripped.error().message, HasSubstr(", which another entry names"));
}

// Hidden blobs with valid digests. Without a limit, a bundle of 1 MB would produce one of
// gigabytes.
TEST(BundleMerge, RefusesBlobsThatOverlap) {
  const Bytes good = test::must_write(test::sample_input());
  const std::uint32_t first = test::must_open(good).blob_count();
  test::CraftedBundle crafted(good);
  const Bytes payload = crafted.section(SectionKind::payload).bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t offset = 8 * i;
    const base::ByteView stored = base::ByteView(payload).subspan(offset);
    const base::Digest digest = base::digest_of(stored);
    base::ByteWriter record;
    record.write_bytes(digest.bytes);
    record.write_bytes(digest.bytes);
    record.write_u64(offset);
    record.write_u64(stored.size());
    record.write_u64(stored.size());
    record.write_u32(k_no_index);
    record.write_u32(0);
    Bytes& blobs = crafted.section(SectionKind::blob).bytes;
    blobs.insert(blobs.end(), record.view().begin(), record.view().end());
  }
  const Bytes overlapping = crafted.build();
  const base::Error error = merge_error(overlapping, good);
  EXPECT_EQ(error.code, ErrorCode::damaged);
  EXPECT_THAT(error.message, HasSubstr(": its stored bytes are those of other blobs too"));
  EXPECT_GT(test::must_open(overlapping).blob_count(), first);
}

TEST(BundleRepack, GivesTheSameBytesAgain) {
  const Bytes bytes = test::must_write(test::sample_input());
  EXPECT_EQ(repack_bundle(test::must_open(bytes), {3}).value(), bytes);
}

} // namespace
} // namespace clbin::format
