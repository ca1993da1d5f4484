// Measurements: the order that they give to variants, and how bundles keep them.
#include "format/bundle/measurements.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::sample_measurement;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Ms = std::vector<Measurement>;

Measurement refused(Measurement measurement, MeasurementOutcome outcome) {
  measurement.outcome = outcome;
  measurement.reason = "why";
  measurement.median_ns = 0;
  return measurement;
}

Measurement in_launch(Measurement measurement, std::uint64_t size) {
  measurement.global_size[0] = size;
  return measurement;
}

Measurement with_local(Measurement measurement, std::uint64_t size) {
  measurement.local_size = {size, 1, 1};
  return measurement;
}

// Returns the order for devices of this nearness to that of the first measurement.
std::vector<std::string> order(const Ms& measurements, Nearness nearness = Nearness::driver) {
  const auto ranked = rank_variants("p", measurements);
  const auto found = ranked.find(ranking_key(nearness, "p", measurements[0].device).value());
  return found == ranked.end() ? std::vector<std::string>() : found->second;
}

TEST(VariantRanking, OfOneDeviceIsByTheLeastTotalOverItsLaunches) {
  EXPECT_THAT(order({in_launch(sample_measurement("a", "d", 100), 1),
                     in_launch(sample_measurement("a", "d", 900), 2),
                     in_launch(sample_measurement("b", "d", 300), 1),
                     in_launch(sample_measurement("b", "d", 600), 2)}),
              ElementsAre("b", "a"));
}

TEST(VariantRanking, CountsTheBestLocalSizeOfALaunch) {
  EXPECT_THAT(
      order({sample_measurement("a", "d", 200), with_local(sample_measurement("a", "d", 90), 8),
             sample_measurement("b", "d", 100)}),
      ElementsAre("a", "b"));
}

TEST(VariantRanking, LeavesOutWhatWasRefusedOrNotMeasuredInEveryLaunch) {
  using enum MeasurementOutcome;
  for (const MeasurementOutcome outcome : {wrong_result, crashed, timed_out}) {
    EXPECT_THAT(order({sample_measurement("a", "d", 1),
                       refused(with_local(sample_measurement("a", "d", 1), 8), outcome),
                       sample_measurement("b", "d", 100)}),
                ElementsAre("b"));
  }
  // Another local size serves.
  EXPECT_THAT(order({sample_measurement("a", "d", 1),
                     refused(with_local(sample_measurement("a", "d", 1), 8), failed),
                     sample_measurement("b", "d", 100)}),
              ElementsAre("a", "b"));
  EXPECT_THAT(order({sample_measurement("a", "d", 1), sample_measurement("b", "d", 100),
                     in_launch(sample_measurement("b", "d", 100), 2)}),
              ElementsAre("b"));
  EXPECT_THAT(order({refused(sample_measurement("a", "d", 1), crashed)}), IsEmpty());
}

TEST(VariantRanking, OfEqualOnesBeginsWithTheDefault) {
  EXPECT_THAT(order({sample_measurement("b", "d", 7), sample_measurement("a", "d", 7),
                     sample_measurement("default", "d", 7)}),
              ElementsAre("default", "a", "b"));
}

TEST(VariantRanking, OfSeveralDevicesIsByTheGeometricMean) {
  // The sum of the times of "a" is the least, because one device is slow.
  Ms all{sample_measurement("a", "slow", 1000), sample_measurement("b", "slow", 1100),
         sample_measurement("a", "fast", 20), sample_measurement("b", "fast", 10)};
  EXPECT_THAT(order(all), ElementsAre("a", "b"));
  EXPECT_THAT(order(all, Nearness::vendor), ElementsAre("b", "a"));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("b", "a"));
  all.push_back(sample_measurement("c", "fast", 1)); // not measured on the other one
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("b", "a"));
  all.push_back(
      refused(with_local(sample_measurement("b", "slow", 1), 8), MeasurementOutcome::wrong_result));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("a"));
  // A device on which nothing ran decides nothing.
  all.push_back(refused(sample_measurement("a", "broken", 1), MeasurementOutcome::failed));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("a"));
}

// A device with small work-groups must not leave nothing but small ones to all others.
TEST(VariantRanking, CountsADeviceThatCannotLaunchAVariantOnlyForTheOthers) {
  using enum MeasurementOutcome;
  Ms all{with_local(sample_measurement("large", "first", 100), 256),
         with_local(sample_measurement("small", "first", 200), 16),
         with_local(sample_measurement("small", "limited", 50), 16),
         refused(with_local(sample_measurement("large", "limited", 1), 256), failed)};
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("large", "small"));
  // Nor is it the best because it was measured less: the mean of its devices counts.
  all.push_back(with_local(sample_measurement("large", "second", 400), 256));
  all.push_back(with_local(sample_measurement("small", "second", 100), 16));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("small", "large"));
  // What fails although the device launches larger work-groups is a fault.
  all.push_back(with_local(sample_measurement("other", "limited", 60), 512));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("small"));
  all.pop_back();
  all.push_back(refused(with_local(sample_measurement("large", "limited", 1), 512), crashed));
  EXPECT_THAT(order(all, Nearness::any), ElementsAre("small"));
}

TEST(VariantRanking, TellsDriversDevicesArchitecturesVendorsAndPlatformsApart) {
  const auto key = [](Nearness nearness, const std::function<void(MeasuredDevice&)>& change) {
    Measurement measurement = sample_measurement("a", "d", 1);
    measurement.device.architecture = "gfx90a:sramecc+:xnack-";
    change(measurement.device);
    return ranking_key(nearness, "p", measurement.device).value();
  };
  const auto is_same = [&](Nearness nearness, const std::function<void(MeasuredDevice&)>& change) {
    return key(nearness, change) == key(nearness, [](MeasuredDevice&) {});
  };
  const auto other_driver = [](MeasuredDevice& d) { d.driver_version = "2"; };
  const auto other_name = [](MeasuredDevice& d) { d.device_name = "e"; };
  const auto other_features = [](MeasuredDevice& d) { d.architecture = "gfx90a"; };
  const auto other_architecture = [](MeasuredDevice& d) { d.architecture = "gfx942"; };
  const auto other_type = [](MeasuredDevice& d) { d.type = DeviceType::cpu; };
  const auto other_platform = [](MeasuredDevice& d) { d.platform_name = "rusticl"; };
  EXPECT_FALSE(is_same(Nearness::driver, other_driver));
  EXPECT_TRUE(is_same(Nearness::device, other_driver));
  EXPECT_FALSE(is_same(Nearness::device, other_name));
  EXPECT_TRUE(is_same(Nearness::architecture, other_name));
  EXPECT_TRUE(is_same(Nearness::architecture, other_features));
  EXPECT_FALSE(is_same(Nearness::architecture, other_architecture));
  EXPECT_TRUE(is_same(Nearness::vendor, other_architecture));
  EXPECT_FALSE(is_same(Nearness::vendor, other_type));
  EXPECT_FALSE(is_same(Nearness::vendor, other_platform));
  EXPECT_TRUE(is_same(Nearness::any, other_platform));
  MeasuredDevice unknown = sample_measurement("a", "d", 1).device;
  EXPECT_FALSE(ranking_key(Nearness::architecture, "p", unknown).has_value());
  EXPECT_NE(ranking_key(Nearness::any, "p", unknown), ranking_key(Nearness::any, "q", unknown));
}

TEST(VariantRanking, DoesNotOverflow) {
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_THAT(order({in_launch(sample_measurement("a", "d", most), 1),
                     in_launch(sample_measurement("a", "d", most), 2),
                     in_launch(sample_measurement("b", "d", 1), 1),
                     in_launch(sample_measurement("b", "d", 1), 2)}),
              ElementsAre("b", "a"));
  Ms many;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    many.push_back(sample_measurement(fmt::format("v{}", i), "d", 1 + most / 1000 * i));
  }
  EXPECT_EQ(order(many).size(), k_max_ranked);
  EXPECT_EQ(order(many).front(), "v0");
}

TEST(Measurements, BreakARuleWithoutASizeATimeOrADigest) {
  EXPECT_EQ(broken_rule(sample_measurement("a", "d", 1)), "");
  const std::vector<std::pair<std::function<void(Measurement&)>, std::string_view>> cases{
      {[](Measurement& m) { m.kernel = ""; }, "its kernel or variant is empty"},
      {[](Measurement& m) { m.dimensions = 4; }, "its dimensions are not 1, 2 or 3"},
      {[](Measurement& m) { m.global_size[1] = 2; },
       "its sizes are not those of a launch in its dimensions"},
      {[](Measurement& m) { m.local_size[0] = 2; },
       "its sizes are not those of a launch in its dimensions"},
      {[](Measurement& m) { m.median_ns = 0; },
       "it was measured, but its median_ns or rounds is 0"},
      {[](Measurement& m) { m.rounds = 0; }, "it was measured, but its median_ns or rounds is 0"},
      {[](Measurement& m) { m.reason = "x"; }, "it was measured, but has the reason of a refusal"},
      {[](Measurement& m) { m.outcome = MeasurementOutcome::crashed; },
       "it was refused, but has a time"},
      {[](Measurement& m) { m.source = std::string(64, 'A'); },
       "its source is not 64 lower-case hexadecimal digits"}};
  for (const auto& [change, rule] : cases) {
    Measurement measurement = sample_measurement("a", "d", 1);
    change(measurement);
    EXPECT_EQ(broken_rule(measurement), rule);
    Manifest manifest;
    manifest.measurements = {measurement};
    const auto decoded = decode_manifest(encode_manifest(manifest));
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(decoded.error().code, ErrorCode::manifest_invalid);
    EXPECT_THAT(decoded.error().message, HasSubstr("measurements[0]"));
  }
}

// A launch with a number, a buffer of floats that it changes, and one of integers.
KnownAnswer sample_answer(std::string variant, float result = 1) {
  KnownAnswer answer{std::move(variant), "k", 1, {8, 1, 1}, {4, 1, 1}};
  LaunchArgument number;
  number.number = Bytes(4, std::byte{7});
  LaunchArgument floats{.kind = ArgumentKind::buffer, .type = ElementType::f32, .count = 1};
  LaunchArgument integers{.kind = ArgumentKind::buffer, .type = ElementType::i32, .count = 4};
  LaunchArgument input = integers;
  input.fill = Fill::random;
  input.is_constant = true;
  answer.arguments = {number, floats, integers, input};
  answer.device = "platform / device / 1.0";
  const auto* const bytes = reinterpret_cast<const std::byte*>(&result);
  answer.results = {{1, Bytes(bytes, bytes + sizeof result), ""}, {2, {}, std::string(64, 'a')}};
  return answer;
}

void expect_broken(const KnownAnswer& answer, std::string_view rule, const std::string& place) {
  EXPECT_EQ(broken_rule(answer), rule);
  Manifest manifest;
  manifest.answers = {answer};
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, ErrorCode::manifest_invalid);
  EXPECT_THAT(decoded.error().message, HasSubstr(place));
}

TEST(KnownAnswers, BreakARuleIfTheirResultsAreNotThoseOfTheirBuffers) {
  EXPECT_EQ(broken_rule(sample_answer("a")), "");
  constexpr std::string_view k_results =
      "its results are not those of the buffers that the launch changes";
  constexpr std::string_view k_bytes =
      "an argument has no bytes, or all of them have more than 64 MiB";
  const std::vector<std::pair<std::function<void(KnownAnswer&)>, std::string_view>> cases{
      {[](KnownAnswer& a) { a.kernel = ""; }, "its kernel or variant is empty"},
      {[](KnownAnswer& a) { a.global_size[2] = 2; },
       "its sizes are not those of a launch in its dimensions"},
      {[](KnownAnswer& a) { a.tolerance = "2"; }, "its tolerance is not a number from 0 to 1"},
      {[](KnownAnswer& a) { a.tolerance = "nan"; }, "its tolerance is not a number from 0 to 1"},
      {[](KnownAnswer& a) { a.arguments[0].number.clear(); }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[3].count = 1ULL << 62U; }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[3].count = (64ULL << 20U) / 4; }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[1].is_constant = true; }, k_results},
      {[](KnownAnswer& a) { a.arguments[1].count = 2; }, k_results},
      {[](KnownAnswer& a) { a.results.pop_back(); }, k_results},
      {[](KnownAnswer& a) { a.results.push_back(a.results.back()); }, k_results},
      {[](KnownAnswer& a) { std::swap(a.results[0], a.results[1]); }, k_results},
      {[](KnownAnswer& a) { a.results[0].argument = 0xffffffff; }, k_results},
      {[](KnownAnswer& a) { a.results[0].digest = a.results[1].digest; }, k_results},
      {[](KnownAnswer& a) { a.results[1].digest.pop_back(); }, k_results},
      {[](KnownAnswer& a) {
         a.arguments[1].count = (1ULL << 18U) + 1;
         a.results[0].contents.resize(4 * a.arguments[1].count);
       },
       k_results},
      {[](KnownAnswer& a) {
         a.arguments.clear();
         a.results.clear();
       },
       k_results}};
  for (const auto& [change, rule] : cases) {
    KnownAnswer answer = sample_answer("a");
    change(answer);
    expect_broken(answer, rule, "answers[0]");
  }
}

// Bundles. ----------------------------------------------------------------------------------------

BundleInput measured_input(Ms measurements) {
  BundleInput input;
  ProgramInput& program = input.programs.emplace_back();
  program.name = "p";
  program.variants = {{"a", ""}, {"b", "-DB"}, {"default", ""}};
  program.entries = {test::sample_entry("a", test::sample_device("d"), test::sample_ptx(50, "")),
                     test::sample_entry("b", test::sample_device("d"), test::sample_ptx(60, ""))};
  program.measurements = std::move(measurements);
  return input;
}

// Of the source sample_source("s").
BundleInput with_source(BundleInput input, std::string_view text = "s") {
  input.programs[0].source = test::sample_source(text);
  for (Measurement& measurement : input.programs[0].measurements) {
    measurement.source =
        base::to_hex(base::digest_of(encode_source_package(test::sample_source("s"))));
  }
  return input;
}

Ms measurements_in(const BundleReader& reader) {
  const auto manifest = reader.read_manifest(reader.group(0).value());
  EXPECT_TRUE(manifest) << manifest.error().message;
  return manifest ? manifest->measurements : Ms();
}

std::vector<std::string> ranked_in(const BundleReader& reader, const MeasuredDevice& device) {
  const auto ranked = reader.ranked_groups("p", ranking_key(Nearness::driver, "p", device).value());
  EXPECT_TRUE(ranked) << ranked.error().message;
  std::vector<std::string> names;
  for (const RankedGroup& group : ranked->value_or(std::vector<RankedGroup>())) {
    names.push_back(group.group.variant);
  }
  return names;
}

base::Result<Bytes> merged(const BundleReader& a, const BundleReader& b) {
  return merge_bundles(std::array{&a, &b});
}

const Measurement k_slow = sample_measurement("a", "d", 900);
const Measurement k_fast = sample_measurement("b", "d", 300);

TEST(MeasuredBundle, KeepsMeasurementsAndTheirOrderOfVariants) {
  const Bytes bytes = test::must_write(with_source(measured_input({k_fast, k_slow})));
  EXPECT_EQ(bytes, test::must_write(with_source(measured_input({k_slow, k_fast, k_slow}))));
  const BundleReader reader = test::must_open(bytes);
  EXPECT_EQ(reader.prefix().minor, 2);
  ASSERT_TRUE(reader.verify().has_value()) << reader.verify().error().message;
  EXPECT_EQ(measurements_in(reader),
            with_source(measured_input({k_slow, k_fast})).programs[0].measurements);
  EXPECT_THAT(ranked_in(reader, k_slow.device), ElementsAre("b", "a"));
  EXPECT_EQ(repack_bundle(reader, {3}).value(), bytes);
  EXPECT_FALSE(test::must_open(test::must_write(measured_input({}))).has_rankings());
}

TEST(MeasuredBundle, RefusesWhatCannotHaveBeenMeasured) {
  const auto refusal = [](const BundleInput& input) {
    const auto written = write_bundle(input, {});
    EXPECT_FALSE(written.has_value());
    return written ? std::string() : written.error().message;
  };
  EXPECT_EQ(refusal(measured_input({sample_measurement("c", "d", 1)})),
            "program 'p' has a measurement of kernel 'k', variant 'c', which cannot be: the "
            "program does not list the variant");
  EXPECT_THAT(refusal(measured_input({sample_measurement("a", "d", 0)})),
              HasSubstr("its median_ns or rounds is 0"));
  EXPECT_THAT(refusal(with_source(measured_input({k_slow}), "another")),
              HasSubstr("it is of another source"));
}

TEST(MeasuredBundle, IsUnitedByMergeInAnyOrder) {
  Measurement again = k_slow;
  again.median_ns = 100;
  again.rounds = 9; // more than the others
  const auto one = test::must_open(test::must_write(measured_input({k_slow})), "one.clbin");
  const auto two = test::must_open(test::must_write(measured_input({k_fast, again})), "two.clbin");
  const auto both = merged(one, two);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(*both, merged(two, one).value());
  const auto reader = test::must_open(*both);
  ASSERT_TRUE(reader.verify().has_value()) << reader.verify().error().message;
  EXPECT_EQ(measurements_in(reader), (Ms{again, k_fast}));
  EXPECT_THAT(ranked_in(reader, k_slow.device), ElementsAre("a", "b"));
}

TEST(MeasuredBundle, PrefersARefusalToATimeWhenMerged) {
  const Measurement wrong = refused(k_slow, MeasurementOutcome::wrong_result);
  EXPECT_TRUE(replaces(wrong, k_slow));
  EXPECT_FALSE(replaces(k_slow, wrong));
  EXPECT_FALSE(replaces(wrong, wrong));
}

BundleInput answered_input(std::vector<KnownAnswer> answers) {
  BundleInput input = with_source(measured_input({}));
  input.programs[0].answers = std::move(answers);
  return input;
}

TEST(KnownAnswers, AreKeptByEveryChangeOfABundleAndRemovedIfAskedFor) {
  const BundleInput input = answered_input({sample_answer("b"), sample_answer("a")});
  const Bytes bytes = test::must_write(input);
  EXPECT_EQ(bytes, test::must_write(answered_input(
                       {sample_answer("a"), sample_answer("b"), sample_answer("a")})));
  const BundleReader reader = test::must_open(bytes);
  ASSERT_TRUE(reader.verify().has_value()) << reader.verify().error().message;
  const auto manifest = reader.read_manifest(reader.group(0).value());
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->answers, (std::vector{sample_answer("a"), sample_answer("b")}));
  EXPECT_EQ(repack_bundle(reader, {3}).value(), bytes);
  EXPECT_EQ(strip_bundle(reader, {.measurements = KeepMeasurements::no})->bytes, bytes);
  const BundleReader without = test::must_open(test::must_write(answered_input({})));
  EXPECT_EQ(strip_bundle(reader, {.answers = KeepAnswers::no})->bytes,
            test::must_write(answered_input({})));
  EXPECT_EQ(merged(without, reader).value(), bytes);
  EXPECT_EQ(merged(reader, without).value(), bytes);
}

TEST(KnownAnswers, OfOneLaunchThatDifferAreAConflict) {
  const auto one = test::must_open(test::must_write(answered_input({sample_answer("a", 1)})));
  const auto two = test::must_open(test::must_write(answered_input({sample_answer("a", 2)})));
  const auto both = merged(one, two);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().code, ErrorCode::conflict);
  EXPECT_THAT(both.error().message, HasSubstr("program 'p', variant 'a' has two different known "
                                              "answers of one launch of kernel 'k'"));
  // The same answer from two devices is kept once, whatever the order.
  KnownAnswer other = sample_answer("a", 1);
  other.device = "another";
  const auto again = test::must_open(test::must_write(answered_input({other})));
  EXPECT_EQ(merged(one, again).value(), test::must_write(answered_input({other})));
  EXPECT_EQ(merged(again, one).value(), test::must_write(answered_input({other})));
  EXPECT_THAT(write_bundle(answered_input({sample_answer("c")}), {}).error().message,
              HasSubstr("the program does not list the variant"));
}

// Recorded launches. ------------------------------------------------------------------------------

std::string digest_text(std::string_view data) {
  return base::to_hex(base::digest_of(base::as_bytes(data)));
}

constexpr std::string_view k_before = "what was there before it"; // 6 floats
constexpr std::string_view k_after = "what was there after it.";  // likewise
constexpr std::string_view k_pixels = "pppppppppppppppp";         // 2x2 of RGBA, 8 bits

// A launch with a buffer of floats that it changes, an image, a sampler and NULL.
KnownAnswer recorded_answer(std::string variant) {
  KnownAnswer answer{std::move(variant), "k", 1, {8, 1, 1}, {}};
  LaunchArgument buffer{.kind = ArgumentKind::buffer, .type = ElementType::f32};
  buffer.fill = Fill::stored;
  buffer.count = 6;
  buffer.digest = digest_text(k_before);
  LaunchArgument image{.kind = ArgumentKind::image, .type = ElementType::u8};
  image.fill = Fill::stored;
  image.count = k_pixels.size();
  image.is_constant = true;
  image.digest = digest_text(k_pixels);
  image.properties = {0x10F1, 0x10B5, 0x10D2, 2, 2, 0, 0}; // 2D, RGBA, UNORM_INT8
  LaunchArgument sampler{.kind = ArgumentKind::sampler};
  sampler.properties = {0, 0x1130, 0x1140};
  LaunchArgument null{.kind = ArgumentKind::buffer};
  null.is_constant = true;
  answer.arguments = {buffer, image, sampler, null};
  answer.device = "platform / device / 1.0";
  answer.results = {{0, {}, digest_text(k_after)}};
  return answer;
}

BundleInput recorded_input(std::vector<KnownAnswer> answers) {
  BundleInput input = answered_input(std::move(answers));
  for (const std::string_view data : {k_before, k_after, k_pixels}) {
    const base::ByteView bytes = base::as_bytes(data);
    input.programs[0].data.emplace(digest_text(data), Bytes(bytes.begin(), bytes.end()));
  }
  return input;
}

TEST(RecordedAnswers, KeepTheirDataThroughEveryChangeOfABundle) {
  const Bytes bytes = test::must_write(recorded_input({recorded_answer("a"), sample_answer("a")}));
  const BundleReader reader = test::must_open(bytes);
  ASSERT_TRUE(reader.verify().has_value()) << reader.verify().error().message;
  auto manifest = reader.read_manifest(reader.group(0).value());
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->answers.size(), 2U);
  KnownAnswer& recorded = *std::ranges::find_if(manifest->answers, is_recorded);
  EXPECT_EQ(recorded, recorded_answer("a"));
  ReadBudget budget = reader.budget();
  const auto data = reader.read_data(recorded, budget);
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->size(), 2U);
  EXPECT_EQ(base::as_text((*data)[0]), k_before);
  EXPECT_EQ(base::as_text((*data)[1]), k_pixels);
  EXPECT_EQ(base::as_text(recorded.results[0].contents), k_after);
  EXPECT_EQ(recorded.results[0].digest, "");
  EXPECT_EQ(repack_bundle(reader, {3}).value(), bytes);
  EXPECT_EQ(strip_bundle(reader, {.measurements = KeepMeasurements::no})->bytes, bytes);
  EXPECT_EQ(merged(reader, test::must_open(test::must_write(answered_input({})))).value(), bytes);
}

TEST(RecordedAnswers, AreRemovedWithTheirData) {
  const BundleReader reader =
      test::must_open(test::must_write(recorded_input({recorded_answer("a"), sample_answer("a")})));
  EXPECT_EQ(strip_bundle(reader, {.answers = KeepAnswers::only_others})->bytes,
            test::must_write(answered_input({sample_answer("a")})));
  EXPECT_EQ(strip_bundle(reader, {.answers = KeepAnswers::no})->bytes,
            test::must_write(answered_input({})));
  EXPECT_EQ(strip_bundle(reader, {.answers = KeepAnswers::only_recorded})->bytes,
            test::must_write(recorded_input({recorded_answer("a")})));
}

// Anyone could read what was left of them as hidden blobs.
TEST(RecordedAnswers, AreRemovedWithTheirVariantAndTheirProgram) {
  const BundleReader with =
      test::must_open(test::must_write(recorded_input({recorded_answer("a")})));
  const BundleReader without = test::must_open(test::must_write(answered_input({})));
  const auto without_a = [](const BundleReader& reader) {
    const auto keep = [&reader](const EntryView& entry) {
      return reader.group(entry.group)->variant != "a";
    };
    return strip_bundle(reader, {keep, KeepSource::no}).value().bytes;
  };
  EXPECT_EQ(without_a(with), without_a(without));
}

TEST(RecordedAnswers, AreSkippedByReadersThatDoNotKnowThem) {
  Manifest manifest;
  manifest.answers = {recorded_answer("a"), sample_answer("a")};
  const Bytes json = encode_manifest(manifest);
  const std::string_view text = base::as_text(json);
  const std::size_t known = text.find(R"("answers":[)");
  const std::size_t recorded = text.find(R"("recorded_answers":[)");
  ASSERT_LT(known, recorded);
  EXPECT_EQ(text.substr(known, recorded - known).find("stored"), std::string_view::npos);
  EXPECT_NE(text.substr(recorded).find(R"("fill":"stored")"), std::string_view::npos);
}

TEST(RecordedAnswers, AreReadFromAnEncryptedBundle) {
  const auto key = base::ContentKey::generate();
  WriteOptions options;
  options.encryption = encryption_with(key);
  const Bytes bytes = write_bundle(recorded_input({recorded_answer("a")}), options).value();
  EXPECT_EQ(base::as_text(bytes).find(k_before), std::string_view::npos);
  BundleReader reader = test::must_open(bytes);
  ASSERT_TRUE(reader.unlock(key));
  ASSERT_TRUE(reader.verify().has_value()) << reader.verify().error().message;
  KnownAnswer answer = recorded_answer("a");
  ReadBudget budget = reader.budget();
  EXPECT_EQ(base::as_text(reader.read_data(answer, budget).value()[0]), k_before);
}

TEST(RecordedAnswers, OfOneLaunchThatDifferAreNoConflict) {
  KnownAnswer other = recorded_answer("a");
  other.device = "another";
  other.results[0].digest = digest_text(k_before);
  const auto one = test::must_open(test::must_write(recorded_input({recorded_answer("a")})));
  const auto two = test::must_open(test::must_write(recorded_input({other})));
  const auto both = merged(one, two);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(*both, merged(two, one).value());
  const auto reader = test::must_open(*both);
  EXPECT_TRUE(reader.verify());
  EXPECT_EQ(reader.read_manifest(reader.group(0).value())->answers, std::vector{other});
}

TEST(RecordedAnswers, BreakARuleIfTheirDataAreNotThoseOfTheirKind) {
  EXPECT_EQ(broken_rule(recorded_answer("a")), "");
  constexpr std::string_view k_kind =
      "the data or properties of an argument are not those of its kind";
  constexpr std::string_view k_bytes = "an argument has no bytes, or all of them have more than 1 "
                                       "GiB";
  constexpr std::string_view k_results =
      "its results are not those of the buffers that the launch changes";
  const std::vector<std::pair<std::function<void(KnownAnswer&)>, std::string_view>> cases{
      {[](KnownAnswer& a) { a.arguments[0].digest.pop_back(); }, k_kind},
      {[](KnownAnswer& a) { a.arguments[0].kind = ArgumentKind::local; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[0].count = 1ULL << 62U; }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[0].count = (1ULL << 28U) + 1; }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[0].count = 0; }, k_bytes},
      {[](KnownAnswer& a) { a.arguments[1].count = 15; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[1].properties[0] = 0x10F6; }, k_kind}, // of a buffer
      {[](KnownAnswer& a) { a.arguments[1].properties[2] = 0x10D4; }, k_kind}, // 565
      {[](KnownAnswer& a) { a.arguments[1].properties[3] = ~0ULL; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[1].properties[4] = 0; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[1].properties.pop_back(); }, k_kind},
      {[](KnownAnswer& a) { a.arguments[1].fill = Fill::zero; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[2].properties.clear(); }, k_kind},
      {[](KnownAnswer& a) { a.arguments[3].properties = {1}; }, k_kind},
      {[](KnownAnswer& a) { a.arguments[3].is_constant = false; }, k_bytes},
      {[](KnownAnswer& a) { a.results[0].contents = Bytes(24); }, k_results},
      {[](KnownAnswer& a) { a.results[0].digest.clear(); }, k_results},
      {[](KnownAnswer& a) { a.results[0].argument = 9; }, k_results}};
  for (const auto& [change, rule] : cases) {
    KnownAnswer answer = recorded_answer("a");
    change(answer);
    expect_broken(answer, rule, "recorded_answers[0]");
  }
}

TEST(RecordedAnswers, WithoutTheirDataOrWithOthersAreDamage) {
  BundleInput input = recorded_input({recorded_answer("a")});
  input.programs[0].data.erase(digest_text(k_after));
  const BundleReader reader = test::must_open(test::must_write(input));
  const auto verified = reader.verify();
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, ErrorCode::damaged);
  EXPECT_THAT(verified.error().message,
              HasSubstr("the data of argument 0 of a recorded launch of kernel 'k': no blob has "
                        "the digest " +
                        digest_text(k_after)));
  KnownAnswer other = recorded_answer("a");
  other.arguments[0].count = 5;
  const BundleReader sized = test::must_open(test::must_write(recorded_input({other})));
  EXPECT_THAT(sized.verify().error().message, HasSubstr("they have 24 bytes, not 20"));
  ReadBudget budget = sized.budget();
  EXPECT_EQ(sized.read_data(other, budget).error().code, ErrorCode::damaged);
}

TEST(MeasuredBundle, OfAnotherSourceIsRefusedByMerge) {
  const auto source =
      test::must_open(test::must_write(with_source(measured_input({}), "another")), "source.clbin");
  BundleInput results = with_source(measured_input({k_slow}));
  results.programs[0].source.reset();
  const auto measured = test::must_open(test::must_write(results), "results.clbin");
  for (const auto& both : {merged(source, measured), merged(measured, source)}) {
    ASSERT_FALSE(both.has_value());
    EXPECT_EQ(both.error().code, ErrorCode::conflict);
    EXPECT_THAT(both.error().message,
                HasSubstr("program 'p' has measurements in 'results.clbin' of another source than "
                          "the one in 'source.clbin'"));
  }
  results.programs[0].measurements[0].source = std::string(64, '0');
  const auto others = test::must_open(test::must_write(results), "others.clbin");
  const auto both = merged(measured, others);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().message, "'others.clbin': program 'p' has measurements of another source "
                                  "than those in 'results.clbin'");
}

TEST(MeasuredBundle, LosesMeasurementsByStrip) {
  const auto reader =
      test::must_open(test::must_write(with_source(measured_input({k_slow, k_fast}))));
  const auto without = strip_bundle(reader, {.measurements = KeepMeasurements::no});
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(without->bytes, test::must_write(with_source(measured_input({}))));
  // Of the variants that are left.
  const auto of_a = strip_bundle(
      reader, {[](const EntryView& entry) { return entry.index == 0; }, KeepSource::no});
  ASSERT_TRUE(of_a) << of_a.error().message;
  EXPECT_EQ(measurements_in(test::must_open(of_a->bytes)).size(), 1U);
}

TEST(MeasuredBundle, LosesVariantsThatAreTheBestNowhereIfTheyArePruned) {
  const auto pruned = [](const Ms& measurements) {
    const auto reader =
        test::must_open(test::must_write(with_source(measured_input(measurements))));
    const auto result = strip_bundle(reader, {.losers = KeepLosers::no});
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_TRUE(test::must_open(result->bytes).verify());
    return *result;
  };
  const StripResult result = pruned({k_slow, k_fast, sample_measurement("default", "d", 950)});
  EXPECT_THAT(result.removed_losers, ElementsAre("program 'p', variant 'a'"));
  EXPECT_THAT(result.dropped_names, IsEmpty());
  EXPECT_EQ(result.dropped_entries, 1U);
  const auto reader = test::must_open(result.bytes);
  EXPECT_THAT(ranked_in(reader, k_fast.device), ElementsAre("b", "default"));
  EXPECT_EQ(measurements_in(reader).size(), 2U);
  // "a" is the best of another device, or of no device, because it was not measured.
  EXPECT_THAT(pruned({k_slow, k_fast, sample_measurement("a", "e", 1)}).removed_losers, IsEmpty());
  EXPECT_THAT(pruned({k_fast}).removed_losers, IsEmpty());
  EXPECT_THAT(pruned({}).removed_losers, IsEmpty());
  // "a" is the best for small problems, and refused there.
  Measurement small = in_launch(sample_measurement("a", "d", 1), 2);
  const Measurement small_of_b = in_launch(sample_measurement("b", "d", 2), 2);
  EXPECT_THAT(pruned({k_slow, k_fast, small, small_of_b}).removed_losers, IsEmpty());
  small = refused(small, MeasurementOutcome::wrong_result);
  EXPECT_THAT(pruned({k_slow, k_fast, small, small_of_b}).removed_losers,
              ElementsAre("program 'p', variant 'a'"));
  // A class of another kernel is none of this one.
  Measurement of_other = sample_measurement("a", "d", 1);
  Measurement of_other_b = sample_measurement("b", "d", 2);
  of_other.kernel = of_other_b.kernel = "other";
  EXPECT_THAT(
      pruned({k_slow, k_fast, in_launch(of_other, 2), in_launch(of_other_b, 2)}).removed_losers,
      ElementsAre("program 'p', variant 'a'"));
  // Refused everywhere, with no better one.
  EXPECT_THAT(pruned({refused(k_slow, MeasurementOutcome::crashed),
                      refused(k_fast, MeasurementOutcome::wrong_result)})
                  .removed_losers,
              IsEmpty());
  // Refused on each device, it would not be loaded there.
  EXPECT_THAT(pruned({refused(k_slow, MeasurementOutcome::wrong_result), k_fast}).removed_losers,
              ElementsAre("program 'p', variant 'a'"));
}

TEST(MeasuredBundle, SendsResultsBackWithoutSourceAndBinaries) {
  const auto whole =
      test::must_open(test::must_write(with_source(measured_input({k_slow, k_fast}))));
  const auto only = strip_bundle(whole, {.measurements = KeepMeasurements::only});
  ASSERT_TRUE(only) << only.error().message;
  const auto results = test::must_open(only->bytes);
  ASSERT_TRUE(results.verify().has_value()) << results.verify().error().message;
  EXPECT_EQ(results.entry_count(), 0U);
  EXPECT_EQ(results.group_count(), 2U); // "default" was not measured
  EXPECT_EQ(results.blob_count(), 1U);  // the manifest
  const auto plain = test::must_open(test::must_write(with_source(measured_input({}))));
  const auto united = merged(plain, results);
  ASSERT_TRUE(united) << united.error().message;
  EXPECT_EQ(*united, test::must_write(with_source(measured_input({k_slow, k_fast}))));
  const auto none = strip_bundle(plain, {.measurements = KeepMeasurements::only});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
}

TEST(MeasuredBundle, RefusesRankingsThatAreNotThoseOfItsPrograms) {
  BundleInput input = measured_input({k_slow, k_fast});
  input.programs.push_back(test::sample_input().programs[0]);
  const test::CraftedBundle good(test::must_write(input));
  EXPECT_TRUE(test::must_open(good.build()).verify().has_value());
  const std::uint64_t key = ranking_key(Nearness::driver, "p", k_slow.device).value();
  const auto expect_damaged = [&](test::CraftedBundle crafted, std::string_view message) {
    const auto verified = test::must_open(crafted.build()).verify();
    ASSERT_FALSE(verified.has_value()) << message;
    EXPECT_EQ(verified.error().code, ErrorCode::damaged);
    EXPECT_THAT(verified.error().message, HasSubstr(message));
    // A look-up finds an error or something harmless.
    (void)test::must_open(crafted.build()).ranked_groups("p", key);
  };
  constexpr std::size_t k_group = 8;
  constexpr std::size_t k_rank = 12;
  test::CraftedBundle crafted = good;
  crafted.swap_records(SectionKind::ranking, 0, 1);
  expect_damaged(crafted, "ranking 0: rank is 1, expected 0");
  crafted = good;
  crafted.set_u64(SectionKind::ranking, 0, 0, ~std::uint64_t{0});
  expect_damaged(crafted, "ranking 1: it is out of order");
  crafted = good;
  crafted.set_u32(SectionKind::ranking, 0, k_rank, 1);
  expect_damaged(crafted, "ranking");
  crafted = good;
  crafted.set_u32(SectionKind::ranking, 0, k_group,
                  crafted.u32_at(SectionKind::ranking, 1, k_group));
  expect_damaged(crafted, "or ranked before");
  crafted = good;
  crafted.set_u32(SectionKind::ranking, 1, k_group, 99);
  expect_damaged(crafted, "ranking 1: group 99 is beyond the");
  crafted = good; // a record without a group is the only one of its key
  crafted.set_u32(SectionKind::ranking, 0, k_group, k_no_index);
  expect_damaged(crafted, "ranking 1: group");
  crafted = good;
  crafted.set_u32(SectionKind::ranking, 1, k_group, k_no_index);
  expect_damaged(crafted, "ranking 1: group 4294967295 is beyond the");
  for (std::uint32_t group = 0; group < 6; ++group) { // one of them is of the other program
    crafted = good;
    for (std::uint32_t i = 0; i < crafted.section(SectionKind::ranking).record.count; ++i) {
      crafted.set_u32(SectionKind::ranking, i, k_group, group);
    }
    const auto reader = test::must_open(crafted.build());
    EXPECT_FALSE(reader.verify().has_value());
    const auto ranked = reader.ranked_groups("p", key);
    EXPECT_TRUE(ranked || ranked.error().code == ErrorCode::damaged);
    EXPECT_TRUE(!ranked || ranked->value().front().group.program == "p");
  }
}

TEST(MeasuredBundle, IsReadWithoutItsMeasurementsByOlderReaders) {
  // They skip an unknown section, and unknown members of a manifest.
  test::CraftedBundle crafted(test::must_write(measured_input({k_slow, k_fast})));
  EXPECT_EQ(crafted.section(SectionKind::ranking).record.flags, k_section_paged);
}

TEST(MeasuredBundle, LimitsTheTimeOfALookUp) {
  Ms many;
  BundleInput input = measured_input({});
  for (int i = 0; i < 200; ++i) {
    const std::string name = fmt::format("v{}", i);
    input.programs[0].variants.push_back({name, ""});
    many.push_back(sample_measurement(name, "d", 1 + static_cast<std::uint64_t>(i)));
  }
  input.programs[0].measurements = many;
  EXPECT_EQ(ranked_in(test::must_open(test::must_write(input)), many[0].device).size(),
            k_max_ranked);
}

} // namespace
} // namespace clbin::format
