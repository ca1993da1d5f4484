#include "modes/tuning_rounds.hpp"

#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::GroupSize;
using clbin::format::KernelReflection;
using testing::ElementsAre;
using testing::HasSubstr;
using State = TuningResult::State;

template <typename Number>
base::Bytes bytes_of(const std::vector<Number>& numbers) {
  base::Bytes bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

base::Bytes floats(const std::vector<float>& numbers) {
  return bytes_of(numbers);
}

// ---- Work-groups -------------------------------------------------------------------------------

TEST(WorkGroups, AreTheDriversChoiceThePreferredMultipleAndPowersOfTwo) {
  KernelReflection kernel;
  kernel.preferred_multiple = 24;
  kernel.max_work_group_size = 128;
  EXPECT_THAT(work_groups_to_try(kernel, {4096, 4096, 4096}, 1),
              ElementsAre(GroupSize{}, GroupSize{24, 1, 1}, GroupSize{16, 1, 1},
                          GroupSize{32, 1, 1}, GroupSize{64, 1, 1}, GroupSize{128, 1, 1}));
  kernel.max_work_group_size = 64;
  EXPECT_THAT(work_groups_to_try(kernel, {32, 4096, 4096}, 2),
              ElementsAre(GroupSize{}, GroupSize{24, 1, 1}, GroupSize{16, 1, 1}, GroupSize{4, 4, 1},
                          GroupSize{32, 1, 1}, GroupSize{8, 4, 1}, GroupSize{8, 8, 1}));
  kernel.max_work_group_size = 1;
  EXPECT_THAT(work_groups_to_try(kernel, {}, 1), ElementsAre(GroupSize{}));
}

// ---- Rounds ------------------------------------------------------------------------------------

// Plays a device on which each variant takes the time, or fails, as told.
class TuningRounds : public testing::Test {
protected:
  struct Behaviour {
    std::uint64_t host_ns = 5'000'000;
    std::uint64_t device_ns = 0;
    float result = 1;
    std::optional<Refusal> refusal{};
    std::optional<GroupSize> refused_size{}; // otherwise, each size is refused
    std::string error{};
    std::uint32_t works_for = ~0U; // launches, before the refusal
  };

  TuningRounds() {
    m_kernel.name = "k";
    format::KernelArgument buffer;
    buffer.name = "a";
    buffer.type_name = "float*";
    buffer.address_space = format::AddressSpace::global;
    m_kernel.arguments = {buffer};
    m_kernel.required_work_group_size = {8, 1, 1};
    m_kernel.max_work_group_size = 64;
    settings.is_out_of_time = [this] { return calls >= most_calls; };
  }

  tl::expected<worker::LaunchReply, Refusal> launch(const worker::LaunchRequest& request) {
    ++calls;
    Behaviour& behaviour = behaviours[request.variant];
    const bool fails_here =
        !behaviour.refused_size || *behaviour.refused_size == request.local_size;
    if (behaviour.refusal && fails_here && (request.launches == 0) == (behaviour.works_for == 0)) {
      return tl::unexpected(*behaviour.refusal);
    }
    if (request.launches != 0 && !behaviour.error.empty()) {
      return tl::unexpected(Refusal{format::MeasurementOutcome::failed, behaviour.error});
    }
    worker::LaunchReply reply;
    reply.kernel = m_kernel;
    reply.origin = "entry";
    reply.max_sizes = {4096, 4096, 4096};
    reply.times.assign(request.launches, {behaviour.host_ns, behaviour.device_ns});
    order += request.launches == 0 ? "" : request.variant;
    if (request.read_back == worker::ReadBack::buffers) {
      const float first = result_of_size ? result_of_size(request.local_size) : behaviour.result;
      reply.buffers = {floats({first, 2})};
    }
    if (change_reply) {
      change_reply(request, reply);
    }
    return reply;
  }

  TunedLaunch tuned(const std::string& text = "k=64:zero(f32,2)") {
    const auto launches = read_launches(text);
    EXPECT_TRUE(launches) << launches.error().message;
    std::vector<TunedVariant> variants;
    for (const auto& [name, behaviour] : behaviours) {
      variants.push_back({name, {}, {}});
    }
    auto result =
        tune_launch(launches->front(), "p", variants, settings,
                    [this](const worker::LaunchRequest& request) { return launch(request); });
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : TunedLaunch();
  }

  // "a measured 7, b refused: reason"
  static std::string texts(const TunedLaunch& launch) {
    std::vector<std::string> texts;
    for (const TuningResult& result : launch.results) {
      const format::Measurement& known = result.measurement;
      texts.push_back(
          result.state == State::refused
              ? fmt::format("{} {}: {}", known.variant, name_of(known.outcome), known.reason)
              : fmt::format("{} {} ns, {} launches", known.variant, known.median_ns, known.rounds));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  KernelReflection m_kernel;
  TuningSettings settings;
  std::map<std::string, Behaviour> behaviours;
  std::function<float(const GroupSize& local)> result_of_size;
  std::function<void(const worker::LaunchRequest&, worker::LaunchReply&)> change_reply;
  std::string order; // of the launches, by variant
  std::size_t calls = 0;
  std::size_t most_calls = 1000;
};

TEST_F(TuningRounds, LaunchTheVariantsInTurnAndSortThemByMedian) {
  behaviours["a"].host_ns = 15'000'000;
  behaviours["b"].host_ns = 12'500'000;
  EXPECT_EQ(texts(tuned()), "b 12500000 ns, 7 launches; a 15000000 ns, 7 launches");
  EXPECT_EQ(order, "ababababababab");
}

TEST_F(TuningRounds, GoOnWithVariantsThatTakeNearlyTheSameTime) {
  behaviours["a"].host_ns = 15'000'000;
  behaviours["b"].host_ns = 16'500'000;
  behaviours["c"].host_ns = 16'500'005;
  change_reply = [&](const worker::LaunchRequest& request, worker::LaunchReply& reply) {
    if (request.variant == "a" && calls < 24) { // the first rounds are disturbed
      std::ranges::fill(reply.times, worker::LaunchTime{16'000'000, 0});
    }
  };
  behaviours["d"].host_ns = 25'000'000;
  EXPECT_EQ(texts(tuned()), "a 15000000 ns, 21 launches; b 16500000 ns, 21 launches; "
                            "c 16500005 ns, 21 launches; d 25000000 ns, 7 launches");
  EXPECT_EQ(order.substr(28 - 4, 10), "abcdabcabc");
  EXPECT_EQ(order.substr(order.size() - 6), "abcabc");
}

TEST_F(TuningRounds, EndEarlierIfLaunchesAreLong) {
  behaviours["a"].host_ns = 400'000'000;
  behaviours["b"].host_ns = 400'000'001;
  EXPECT_EQ(texts(tuned()), "a 400000000 ns, 9 launches; b 400000001 ns, 9 launches");
  behaviours["a"].host_ns = 1'000'000'001;
  behaviours["b"].host_ns = 1'000'000'002;
  EXPECT_EQ(texts(tuned()), "a 1000000001 ns, 7 launches; b 1000000002 ns, 7 launches");
}

TEST_F(TuningRounds, DoNotRepeatAVariantThatIsTwiceAsSlow) {
  behaviours["a"].host_ns = 30'000'005;
  behaviours["b"].host_ns = 15'000'000;
  behaviours["c"].host_ns = 29'500'000;
  EXPECT_EQ(texts(tuned()),
            "b 15000000 ns, 7 launches; c 29500000 ns, 7 launches; a 30000005 ns, 1 launches");
}

TEST_F(TuningRounds, LaunchAShortKernelSeveralTimesARound) {
  behaviours["a"].host_ns = 2'500'000;
  EXPECT_EQ(texts(tuned()), "a 2500000 ns, 25 launches");
}

TEST_F(TuningRounds, RefuseAVariantWithAnotherResult) {
  behaviours["a"];
  behaviours["b"].result = 3;
  const TunedLaunch launch = tuned();
  EXPECT_EQ(launch.results[1].state, State::refused);
  EXPECT_THAT(texts(launch),
              HasSubstr("b wrong_result: the result differs from that of variant 'a': argument 0, "
                        "element 0 is 3, not 1 (tolerance 0.0001)"));
  settings.tolerance = 1;
  behaviours["b"].result = 1.5;
  EXPECT_THAT(texts(tuned()), Not(HasSubstr("wrong_result")));
}

TEST_F(TuningRounds, CompareTheBuffersThatBothVariantsCanWrite) {
  behaviours["a"];
  behaviours["b"];
  m_kernel.arguments->push_back(m_kernel.arguments->front());
  float second = 3;
  change_reply = [&](const worker::LaunchRequest& request, worker::LaunchReply& reply) {
    // The first argument of b is const.
    if (request.variant == "b") {
      reply.kernel.arguments->front().is_const = true;
    }
    if (!reply.buffers.empty()) {
      reply.buffers = {floats({second, 4, 5})};
      if (request.variant == "a") {
        reply.buffers = {floats({1, 2}), floats({3, 4, 5})};
      }
    }
  };
  const std::string text = "k=64:zero(f32,2),zero(f32,3)";
  EXPECT_EQ(texts(tuned(text)), "a 5000000 ns, 41 launches; b 5000000 ns, 41 launches");
  second = 9;
  EXPECT_THAT(texts(tuned(text)), HasSubstr("b wrong_result: the result differs from that of "
                                            "variant 'a': argument 1, element 0 is 9, not 3"));
}

TEST_F(TuningRounds, RefuseResultsThatAreNotThoseOfTheArguments) {
  behaviours["a"];
  change_reply = [](const worker::LaunchRequest& /*request*/, worker::LaunchReply& reply) {
    reply.buffers.assign(reply.buffers.size(), floats({1}));
  };
  EXPECT_EQ(texts(tuned()), "a failed: the worker returned 4 bytes for argument 0, not 8");
  change_reply = [](const worker::LaunchRequest& /*request*/, worker::LaunchReply& reply) {
    reply.buffers.resize(reply.buffers.size() * 2);
  };
  EXPECT_EQ(texts(tuned()), "a failed: the worker returned 2 buffers, not 1");
  change_reply = [](const worker::LaunchRequest& /*request*/, worker::LaunchReply& reply) {
    reply.buffers.clear();
  };
  EXPECT_EQ(texts(tuned()), "a failed: the worker returned 0 buffers, not 1");
}

TEST_F(TuningRounds, KeepWhatTheFirstVariantComputesAsAnAnswerOfEach) {
  settings.results = KeepResults::yes;
  behaviours["a"].result = 2;
  behaviours["b"].result = 2.0001F;
  behaviours["c"].result = 3;
  const TunedLaunch launch = tuned();
  ASSERT_EQ(launch.answers.size(), 2U);
  for (const format::KnownAnswer& answer : launch.answers) {
    EXPECT_EQ(answer.kernel, "k");
    EXPECT_EQ(answer.local_size, (GroupSize{8, 1, 1}));
    EXPECT_EQ(broken_rule(answer), "");
    EXPECT_EQ(answer.results[0].contents, floats({2, 2}));
    const auto found = [&](float result) {
      return difference_of_answer(answer, *results_of(answer.arguments, {floats({result, 2})}))
          .value_or("none");
    };
    EXPECT_EQ(found(2.0001F), "none");
    EXPECT_EQ(found(2.001F),
              "argument 0, element 0 is 2.000999927520752, not 2 (tolerance 0.0001)");
  }
  EXPECT_EQ(launch.why_no_answers, "variant 'c' did not run");
  settings.results = KeepResults::no;
  EXPECT_THAT(tuned().answers, testing::IsEmpty());
}

TEST_F(TuningRounds, KeepNoAnswerThatDependsOnTheWorkGroupOrIsTooLarge) {
  settings.results = KeepResults::yes;
  m_kernel.required_work_group_size = {};
  behaviours["a"];
  result_of_size = [](const GroupSize& size) { return static_cast<float>(size[0]); };
  const TunedLaunch launch = tuned();
  EXPECT_THAT(launch.answers, testing::IsEmpty());
  EXPECT_EQ(launch.why_no_answers,
            "the result depends on the work-group, which LOCAL does not name");
  result_of_size = nullptr;
  change_reply = [](const worker::LaunchRequest& /*request*/, worker::LaunchReply& reply) {
    reply.buffers.assign(reply.buffers.size(), base::Bytes((1U << 20U) + 4));
  };
  EXPECT_EQ(tuned("k=64,16:zero(f32,262145)").why_no_answers,
            "it computes 1048580 bytes of floating-point numbers, and at most 1048576 are kept");
}

TEST_F(TuningRounds, GoOnBehindAVariantThatFails) {
  behaviours["a"].refusal = {MeasurementOutcome::crashed, "it crashed"};
  behaviours["b"].refusal = {MeasurementOutcome::timed_out, "it hung"};
  behaviours["b"].works_for = 0; // not even loads
  behaviours["c"].error = "clEnqueueNDRangeKernel failed";
  behaviours["d"].host_ns = 15'000'000;
  EXPECT_EQ(texts(tuned()),
            "d 15000000 ns, 7 launches; a crashed: it crashed; b timed_out: it hung; c failed: "
            "clEnqueueNDRangeKernel failed");
}

TEST_F(TuningRounds, UseTheClockOfTheDeviceIfItIsCredible) {
  settings.clock = TuningClock::device;
  behaviours["a"] = {.host_ns = 15'000'000, .device_ns = 10'000'000};
  behaviours["b"] = {.host_ns = 15'000'000, .device_ns = 12'500'000};
  TunedLaunch launch = tuned();
  EXPECT_EQ(launch.clock, TuningClock::device);
  EXPECT_EQ(launch.results[0].measurement.median_ns, 10'000'000U);
  behaviours["b"].device_ns = 1;
  launch = tuned();
  EXPECT_EQ(launch.clock, TuningClock::host);
  EXPECT_EQ(launch.results[0].measurement.median_ns, 15'000'000U);
}

TEST_F(TuningRounds, RefuseAWorkGroupThatIsTooLarge) {
  behaviours["a"];
  m_kernel.required_work_group_size = {};
  EXPECT_EQ(texts(tuned("k=256,128:zero(f32,2)")),
            "a failed: work-groups of 128 have more than the 64 work-items that the device allows "
            "for the kernel");
  EXPECT_EQ(texts(tuned("k=8192,8192:zero(f32,2)")),
            "a failed: work-groups of 8192 have more than the 4096 work-items that the device "
            "allows in dimension 0");
  EXPECT_EQ(texts(tuned("k=100,8:zero(f32,2)")),
            "a failed: the global size 100 is not a multiple of the work-group 8");
}

TEST_F(TuningRounds, TryTheWorkGroupsThatDivideTheGlobalSize) {
  behaviours["a"];
  m_kernel.required_work_group_size = {};
  m_kernel.preferred_multiple = 7;
  std::vector<GroupSize> sizes;
  for (const TuningResult& result : tuned("k=96:zero(f32,2)").results) {
    sizes.push_back(result.measurement.local_size);
  }
  EXPECT_THAT(sizes, ElementsAre(GroupSize{}, GroupSize{16, 1, 1}, GroupSize{32, 1, 1}));
}

TEST_F(TuningRounds, DoNotBlameAVariantForAWorkGroupThatNobodyNamed) {
  behaviours["a"];
  m_kernel.required_work_group_size = {};
  m_kernel.max_work_group_size = 16;
  result_of_size = [](const GroupSize& local) { return local[0] == 16 ? 5.0F : 1.0F; };
  const TunedLaunch launch = tuned();
  ASSERT_EQ(launch.results.size(), 2U);
  EXPECT_EQ(launch.results[1].state, State::refused);
  EXPECT_EQ(launch.results[1].measurement.outcome, MeasurementOutcome::failed);
  EXPECT_THAT(launch.results[1].measurement.reason, HasSubstr("depends on the work-group"));
}

TEST_F(TuningRounds, BlameNoVariantIfTheResultsDependOnTheWorkGroup) {
  behaviours["a"];
  behaviours["b"];
  m_kernel.required_work_group_size = {};
  m_kernel.max_work_group_size = 16;
  // The driver's choice is 8 for a, and 4 for b.
  change_reply = [](const worker::LaunchRequest& request, worker::LaunchReply& reply) {
    const float chosen = request.variant == "a" ? 8 : 4;
    const auto local = static_cast<float>(request.local_size[0]);
    reply.buffers.assign(reply.buffers.size(), floats({local == 0 ? chosen : local, 2}));
  };
  const std::string why = ": name LOCAL, because the result of variant 'a' depends on the "
                          "work-group: argument 0, element 0 is ";
  EXPECT_EQ(texts(tuned()), "a 5000000 ns, 13 launches; "
                            "a failed" +
                                why +
                                "16, not 8 (tolerance 0.0001); "
                                "b failed" +
                                why +
                                "4, not 8 (tolerance 0.0001); "
                                "b failed" +
                                why + "16, not 8 (tolerance 0.0001)");
}

TEST_F(TuningRounds, DoNotBlameAVariantForACrashInAWorkGroupThatNobodyNamed) {
  m_kernel.required_work_group_size = {};
  for (const auto outcome : {MeasurementOutcome::crashed, MeasurementOutcome::timed_out}) {
    behaviours["a"] = {.refusal = Refusal{outcome, "it ended"},
                       .refused_size = GroupSize{32, 1, 1}};
    EXPECT_EQ(texts(tuned()), "a 5000000 ns, 41 launches; a 5000000 ns, 41 launches; "
                              "a failed: it ended; a failed: it ended");
  }
  EXPECT_EQ(texts(tuned("k=64,32:zero(f32,2)")), "a timed_out: it ended");
}

TEST_F(TuningRounds, TryTheWorkGroupsForWhichTheSizesHaveValues) {
  behaviours["a"];
  m_kernel.required_work_group_size = {};
  const auto sizes_of = [this](const std::string& text) {
    std::vector<std::uint64_t> sizes;
    for (const TuningResult& result : tuned(text).results) {
      EXPECT_EQ(result.state, State::measured);
      sizes.push_back(result.measurement.local_size[0]);
    }
    return sizes;
  };
  change_reply = [](const worker::LaunchRequest& request, worker::LaunchReply& reply) {
    if (!reply.buffers.empty()) {
      reply.buffers = {base::Bytes(request.arguments.front().count * sizeof(float))};
    }
  };
  // The driver's choice has no local0, and 96/64 is not whole.
  EXPECT_THAT(sizes_of("k=96:zero(f32,local0/local0)"), ElementsAre(16U, 32U));
  EXPECT_THAT(sizes_of("k[96/local0]=192:zero(f32,2)"), ElementsAre(16U, 32U));
}

TEST_F(TuningRounds, EndIfNoWorkGroupThatIsTriedHasSizes) {
  m_kernel.required_work_group_size = {};
  const auto message = [this](const std::string& text) {
    const auto launches = read_launches(text);
    EXPECT_TRUE(launches) << launches.error().message;
    const auto result =
        tune_launch(launches->front(), "p", {{"v", {}, {}}}, settings,
                    [this](const worker::LaunchRequest& request) { return launch(request); });
    return result ? "none" : result.error().message;
  };
  EXPECT_EQ(message("k=64:zero(f32,local0*NONE)"),
            "--launch 'k=64:zero(f32,local0*NONE)', variant 'v': argument 0 'a': 'local0*NONE': "
            "'NONE' has no value, and no default such as NONE?16");
  EXPECT_EQ(message("k=7*(7/local0):zero(f32,2)"),
            "--launch 'k=7*(7/local0):zero(f32,2)', variant 'v': '7*(7/local0)' is 49/64, which is "
            "not a whole number");
}

TEST_F(TuningRounds, RefuseAVariantIfNoWorkGroupDividesTheGlobalSize) {
  behaviours["a"];
  m_kernel.required_work_group_size = {};
  EXPECT_EQ(texts(tuned("k=ceil(7/local0)*3:zero(f32,2)")),
            "a failed: no work-group that is tried divides the global size");
}

TEST_F(TuningRounds, LaunchAVariantThatCrashesOnce) {
  behaviours["a"].refusal = {MeasurementOutcome::crashed, "it crashed"};
  m_kernel.required_work_group_size = {};
  EXPECT_EQ(texts(tuned()), "a crashed: it crashed; a failed: it crashed; a failed: it crashed; "
                            "a failed: it crashed");
  EXPECT_EQ(calls, 2U); // a load and a launch
}

TEST_F(TuningRounds, EndWhenTheTimeIsOver) {
  behaviours["a"].host_ns = 15'000'000;
  behaviours["b"].host_ns = 15'000'000;
  most_calls = 3; // two loads and one launch
  const TunedLaunch launch = tuned();
  EXPECT_EQ(launch.results[0].state, State::measured);
  EXPECT_EQ(launch.results[0].measurement.rounds, 1U);
  EXPECT_EQ(launch.results[1].state, State::out_of_time);
}

TEST_F(TuningRounds, DoNotMeasureAgainWhatIsKnown) {
  behaviours["a"].host_ns = 15'000'000;
  behaviours["b"].result = 3;
  settings.known = [](const format::Measurement& wanted) {
    EXPECT_EQ(wanted.kernel, "k");
    EXPECT_EQ(wanted.global_size, (GroupSize{64, 1, 1}));
    EXPECT_EQ(wanted.local_size, (GroupSize{8, 1, 1}));
    std::optional<format::Measurement> known;
    if (wanted.variant == "a") {
      known = wanted;
      known->median_ns = 5;
      known->rounds = 9;
    }
    return known;
  };
  const TunedLaunch launch = tuned();
  // Its result is needed once, for the others.
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(launch.results[0].state, State::known);
  EXPECT_EQ(launch.results[0].measurement.rounds, 9U);
  EXPECT_EQ(launch.results[1].measurement.outcome, MeasurementOutcome::wrong_result);
}

TEST_F(TuningRounds, AreKeptOneByOneWhenTheRunIsKilled) {
  behaviours["a"].host_ns = 15'000'000;
  behaviours["b"].host_ns = 20'000'000;
  behaviours["c"].refusal = Refusal{MeasurementOutcome::crashed, "boom"};
  behaviours["d"].result = 3;
  behaviours["e"].host_ns = 15'500'000; // close to a: both go on
  const std::string all = texts(tuned());
  const std::string whole_order = order;
  const std::size_t whole_calls = calls;
  const auto behaviours_before = behaviours;
  for (std::size_t killed = 0; killed < whole_calls; ++killed) {
    behaviours = behaviours_before;
    worker::TuningProgress progress;
    settings.begun = {};
    settings.keep = [&](const worker::TuningProgress& round) { progress = round; };
    calls = 0;
    order.clear();
    struct Killed {};
    change_reply = [&](const worker::LaunchRequest&, worker::LaunchReply&) {
      if (calls > killed) {
        throw Killed();
      }
    };
    EXPECT_THROW(tuned(), Killed);
    change_reply = nullptr;
    const std::string before = order;
    order.clear();
    settings.begun = progress;
    EXPECT_EQ(texts(tuned()), all) << killed;
    // Again: the round in progress, and the launch whose result is expected.
    EXPECT_LE(before.size() + order.size(), whole_order.size() + 4 + 1) << killed;
  }
}

TEST_F(TuningRounds, ThatAreKeptDoNotProtectACandidateWhoseResultIsNeededAgain) {
  behaviours["a"].host_ns = 15'000'000;
  worker::TuningProgress progress;
  settings.keep = [&](const worker::TuningProgress& round) { progress = round; };
  (void)tuned();
  settings.begun = progress;
  behaviours["a"].error = "no longer";
  EXPECT_EQ(texts(tuned()), "a failed: no longer");
}

TEST_F(TuningRounds, ThatAreKeptOfAnotherLaunchAreIgnored) {
  behaviours["a"].host_ns = 15'000'000;
  worker::TuningProgress progress;
  settings.keep = [&](const worker::TuningProgress& round) { progress = round; };
  (void)tuned();
  settings.begun = progress;
  order.clear();
  behaviours["a"].host_ns = 12'500'000;
  EXPECT_EQ(texts(tuned("k=128:zero(f32,2)")), "a 12500000 ns, 7 launches");
}

TEST_F(TuningRounds, EndIfTheLaunchDoesNotFit) {
  const auto launches = read_launches("k=64:zero(i32,2)");
  const auto result =
      tune_launch(launches->front(), "p", {{"v", {}, {}}}, settings,
                  [this](const worker::LaunchRequest& request) { return launch(request); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "--launch 'k=64:zero(i32,2)', variant 'v': argument 0 'a': it is "
            "a 'float*', not a buffer of i32");
}

} // namespace
} // namespace oclcc
