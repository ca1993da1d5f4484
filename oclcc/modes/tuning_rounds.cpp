#include "modes/tuning_rounds.hpp"

#include "base/text.hpp"
#include "format/bundle/measurements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>

namespace oclcc {

using format::GroupSize;
using worker::CandidateTimes;
using worker::LaunchReply;
using worker::LaunchTime;

namespace {

constexpr std::uint32_t k_rounds = 7;
constexpr std::uint64_t k_slow_factor = 2; // times the best: not repeated
// A round of short launches has several, so that a round takes about this time.
constexpr std::uint64_t k_round_ns = 10'000'000;
constexpr std::uint64_t k_most_launches = 20;
// What takes at most this share of the best time runs in further rounds, of up to a second for
// each.
constexpr double k_close_factor = 1.1;
constexpr std::uint64_t k_close_rounds = 14;
constexpr std::uint64_t k_close_ns = 1'000'000'000;
// A launch takes over 1/1000 of the time that the host waits for it.
constexpr std::uint64_t k_least_credible = 1000;

// ---- Times -------------------------------------------------------------------------------------

std::uint64_t time_of(const LaunchTime& time, TuningClock clock) {
  return std::max<std::uint64_t>(clock == TuningClock::device ? time.device_ns : time.host_ns, 1);
}

bool is_credible(const LaunchTime& time) {
  return time.device_ns > time.host_ns / k_least_credible && time.device_ns <= time.host_ns;
}

// Of sorted numbers, with linear interpolation.
std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = place - static_cast<double>(below);
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(sorted[below]) * (1 - rest) +
                                                 static_cast<double>(sorted[above]) * rest));
}

// ---- One launch --------------------------------------------------------------------------------

MeasurementOutcome outcome_of(worker::WorkerFailure failure) {
  switch (failure) {
  case worker::WorkerFailure::crashed:
    return MeasurementOutcome::crashed;
  case worker::WorkerFailure::timed_out:
    return MeasurementOutcome::timed_out;
  default:
    return MeasurementOutcome::failed;
  }
}

struct Candidate {
  const TunedVariant* variant = nullptr;
  BoundLaunch bound{};
  TuningResult result{};
  std::vector<LaunchTime> times{};
  bool is_repeated = true;
  bool is_trial = false; // the work-group is only one of those to try
};

// What a launch leaves in the buffers that its kernel can write, by argument.
using Results = std::map<std::size_t, base::Bytes>;

// The worker is not trusted. Its buffers are in the order of the arguments.
tl::expected<Results, Refusal> buffers_by_argument(std::span<const LaunchArgument> arguments,
                                                   std::vector<base::Bytes> buffers) {
  const auto refused = [](std::string reason) {
    return tl::unexpected(Refusal{MeasurementOutcome::failed, std::move(reason)});
  };
  const auto wanted = static_cast<std::size_t>(std::ranges::count_if(arguments, format::is_result));
  if (buffers.size() != wanted) {
    return refused(fmt::format("the worker returned {} buffers, not {}", buffers.size(), wanted));
  }
  Results results;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!format::is_result(arguments[i])) {
      continue;
    }
    base::Bytes& bytes = buffers[results.size()];
    const std::uint64_t size = arguments[i].count * element_bytes(arguments[i].type);
    if (bytes.size() != size) {
      return refused(fmt::format("the worker returned {} bytes for argument {}, not {}",
                                 bytes.size(), i, size));
    }
    results.emplace(i, std::move(bytes));
  }
  return results;
}

bool is_multiple(const GroupSize& global, const GroupSize& local) {
  for (std::size_t i = 0; i < global.size(); ++i) {
    if (local[i] != 0 && global[i] % local[i] != 0) {
      return false;
    }
  }
  return true;
}

class LaunchTuner {
public:
  LaunchTuner(const LaunchDescription& description, const std::string& program,
              const TuningSettings& settings, const Launch& launch)
      : m_description(description), m_program(program), m_settings(settings), m_launch(launch) {}

  Result<TunedLaunch> tune(const std::vector<TunedVariant>& variants) {
    m_tuned.dimensions = static_cast<std::uint32_t>(m_description.global_size.size());
    for (const TunedVariant& variant : variants) {
      CLBIN_TRY(prepare(variant));
    }
    for (Candidate& candidate : m_candidates) {
      candidate.result.measurement.dimensions = m_tuned.dimensions;
      candidate.result.measurement.global_size = m_tuned.class_size;
      take_known(candidate);
      take_begun(candidate);
    }
    m_total = m_candidates.size() * k_rounds;
    for (Candidate& candidate : m_candidates) {
      run_first(candidate);
    }
    end_round();
    stop_slow_ones();
    while (m_rounds < k_rounds) {
      run_round(m_rounds + 1 == k_rounds);
    }
    repeat_close_ones();
    return finish();
  }

private:
  using State = TuningResult::State;

  // Loads the variant, and adds its candidates.
  Result<void> prepare(const TunedVariant& variant) {
    if (m_settings.is_out_of_time()) {
      add(variant, {}).is_repeated = false;
      return {};
    }
    worker::LaunchRequest request;
    request.program = m_program;
    request.variant = variant.name;
    request.kernel = m_description.kernel;
    report_progress(variant.name);
    auto reply = m_launch(std::move(request));
    if (!reply) {
      Candidate& candidate = add(variant, {});
      refuse(candidate, reply.error());
      return {};
    }
    format::KernelReflection kernel = reply->kernel;
    const auto recorded =
        std::ranges::find(variant.kernels, kernel.name, &format::KernelReflection::name);
    if (!kernel.arguments && recorded != variant.kernels.end()) {
      kernel.arguments = recorded->arguments; // drivers know them of what they compile
    }
    return base::in_context(add_candidates(variant, kernel, *reply),
                            fmt::format("{}, variant '{}'", told(m_description), variant.name));
  }

  Result<void> add_candidates(const TunedVariant& variant, const format::KernelReflection& kernel,
                              const LaunchReply& reply) {
    const MacroValues macros = macro_values(variant.options);
    if (!m_description.local_size.empty() || kernel.required_work_group_size[0] != 0) {
      CLBIN_TRY_ASSIGN(BoundLaunch bound, bind_launch(m_description, kernel, macros, {}));
      Candidate& candidate = add(variant, std::move(bound));
      candidate.result.origin = reply.origin;
      check_work_group(candidate, kernel, reply.max_sizes);
      return {};
    }
    std::vector<BoundLaunch> bound;
    CLBIN_TRY_ASSIGN(bound, bind_trials(kernel, macros, reply.max_sizes));
    for (BoundLaunch& trial : bound) {
      Candidate& candidate = add(variant, std::move(trial));
      candidate.result.origin = reply.origin;
      candidate.is_trial = candidate.bound.local_size[0] != 0;
    }
    if (bound.empty()) {
      Candidate& candidate = add(variant, {});
      candidate.result.origin = reply.origin;
      refuse(candidate,
             {MeasurementOutcome::failed, "no work-group that is tried divides the global size"});
    }
    return {};
  }

  // Sizes may have no value for some work-groups: the driver's choice has no local0. An error if
  // they have none for any.
  Result<std::vector<BoundLaunch>> bind_trials(const format::KernelReflection& kernel,
                                               const MacroValues& macros,
                                               const GroupSize& max_sizes) const {
    std::vector<BoundLaunch> trials;
    bool has_sizes = false;
    std::optional<base::Error> last_error;
    for (const GroupSize& size : work_groups_to_try(kernel, max_sizes, m_tuned.dimensions)) {
      auto bound = bind_launch(m_description, kernel, macros, size);
      if (!bound) {
        last_error = std::move(bound.error());
        continue;
      }
      if (bound->global_size[0] == 0) {
        continue; // the global size depends on the work-group
      }
      has_sizes = true;
      if (is_multiple(bound->global_size, bound->local_size)) {
        trials.push_back(*std::move(bound));
      }
    }
    if (last_error && !has_sizes) {
      return tl::unexpected(*std::move(last_error));
    }
    return trials;
  }

  // The first launch of all determines the class, if the description does not.
  Candidate& add(const TunedVariant& variant, BoundLaunch bound) {
    Candidate& candidate = m_candidates.emplace_back();
    candidate.variant = &variant;
    candidate.result.measurement.variant = variant.name;
    candidate.result.measurement.kernel = m_description.kernel;
    candidate.result.measurement.local_size = bound.local_size;
    candidate.result.launched_size = bound.global_size;
    if (m_tuned.class_size[0] == 0) {
      m_tuned.class_size = bound.class_size;
    }
    candidate.bound = std::move(bound);
    return candidate;
  }

  void check_work_group(Candidate& candidate, const format::KernelReflection& kernel,
                        const GroupSize& max_sizes) {
    const GroupSize& local = candidate.bound.local_size;
    const std::string text = size_text(local, candidate.bound.dimensions);
    for (std::size_t i = 0; i < local.size(); ++i) {
      if (max_sizes[i] != 0 && local[i] > max_sizes[i]) {
        return refuse(candidate, {MeasurementOutcome::failed,
                                  fmt::format("work-groups of {} have more than the {} work-items "
                                              "that the device allows in dimension {}",
                                              text, max_sizes[i], i)});
      }
    }
    if (kernel.max_work_group_size && format::items_of(local) > *kernel.max_work_group_size) {
      return refuse(candidate,
                    {MeasurementOutcome::failed,
                     fmt::format("work-groups of {} have more than the {} work-items that the "
                                 "device allows for the kernel",
                                 text, *kernel.max_work_group_size)});
    }
    if (!is_multiple(candidate.bound.global_size, local)) {
      refuse(
          candidate,
          {MeasurementOutcome::failed,
           fmt::format("the global size {} is not a multiple of the work-group {}",
                       size_text(candidate.bound.global_size, candidate.bound.dimensions), text)});
    }
  }

  void take_known(Candidate& candidate) {
    if (candidate.result.state == State::refused || !m_settings.known) {
      return;
    }
    if (auto known = m_settings.known(candidate.result.measurement)) {
      candidate.result.measurement = *std::move(known);
      candidate.result.state = State::known;
      candidate.is_repeated = false;
    }
  }

  // Takes what an interrupted run has measured.
  void take_begun(Candidate& candidate) {
    const auto& all = m_settings.begun.candidates;
    const auto begun = candidate.result.state == State::out_of_time
                           ? std::ranges::find(all, digest_of(candidate), &CandidateTimes::launch)
                           : all.end();
    if (begun == all.end()) {
      return;
    }
    m_begun_rounds = m_settings.begun.rounds;
    if (begun->outcome != MeasurementOutcome::measured) {
      refuse(candidate, {begun->outcome, begun->reason});
    } else if (!begun->times.empty()) {
      candidate.times = begun->times;
      candidate.result.state = State::measured;
    }
  }

  void run_round(bool is_last) {
    for (Candidate& candidate : m_candidates) {
      repeat(candidate, is_last);
    }
    end_round();
  }

  // After the first round of a run that goes on with those of another one, all rounds of that one
  // are done.
  void end_round() {
    m_rounds = std::max(m_rounds + 1, m_begun_rounds);
    if (!m_settings.keep) {
      return;
    }
    worker::TuningProgress progress{m_rounds};
    for (const Candidate& candidate : m_candidates) {
      const auto& measurement = candidate.result.measurement;
      if (candidate.result.state == State::measured || candidate.result.state == State::refused) {
        progress.candidates.push_back(
            {digest_of(candidate), measurement.reason, measurement.outcome, candidate.times});
      }
    }
    m_settings.keep(progress);
  }

  // A kernel may depend on its work-groups: what happens in one that nobody chose says nothing
  // about the variant, which loads must not exclude.
  static void refuse(Candidate& candidate, const Refusal& refusal) {
    candidate.is_repeated = false;
    candidate.times.clear();
    candidate.result.state = State::refused;
    candidate.result.measurement.outcome =
        candidate.is_trial ? MeasurementOutcome::failed : refusal.outcome;
    candidate.result.measurement.reason = refusal.reason;
  }

  // After a crash or a hang of one work-group, the others need not do so, too.
  void refuse_other_work_groups(const Candidate& candidate, const Refusal& cause) {
    if (cause.outcome == MeasurementOutcome::failed) {
      return;
    }
    for (Candidate& other : m_candidates) {
      if (other.variant == candidate.variant && other.result.state == State::out_of_time) {
        refuse(other, cause);
      }
    }
  }

  void report_progress(const std::string& variant) {
    if (m_settings.progress) {
      m_settings.progress(m_done, m_total, variant);
    }
  }

  [[nodiscard]] worker::LaunchRequest request_of(const Candidate& candidate) const {
    worker::LaunchRequest request;
    request.program = m_program;
    request.variant = candidate.variant->name;
    request.kernel = m_description.kernel;
    request.arguments = candidate.bound.arguments;
    request.dimensions = candidate.bound.dimensions;
    request.global_size = candidate.bound.global_size;
    request.local_size = candidate.bound.local_size;
    return request;
  }
  [[nodiscard]] std::string digest_of(const Candidate& candidate) const {
    return base::to_hex(base::digest_of(worker::encode(request_of(candidate))));
  }

  // Launches the candidate, and refuses it if that fails. Returns whether it ran.
  std::optional<LaunchReply> launch(Candidate& candidate, std::uint32_t launches,
                                    worker::ReadBack read_back) {
    report_progress(candidate.variant->name);
    worker::LaunchRequest request = request_of(candidate);
    request.launches = launches;
    request.read_back = read_back;
    auto reply = m_launch(std::move(request));
    if (!reply) {
      refuse(candidate, reply.error());
      refuse_other_work_groups(candidate, reply.error());
      return std::nullopt;
    }
    if (read_back == worker::ReadBack::buffers) {
      auto results = buffers_by_argument(candidate.bound.arguments, std::move(reply->buffers));
      const auto refusal = results ? compare(candidate, *std::move(results))
                                   : std::optional<Refusal>(results.error());
      if (refusal) {
        refuse(candidate, *refusal);
        return std::nullopt;
      }
    }
    return *std::move(reply);
  }

  std::optional<Refusal> compare_with_recorded(const Candidate& candidate, Results results) const {
    format::KnownAnswer expected = *m_settings.expected;
    if (m_settings.tolerance) {
      expected.tolerance = fmt::format("{}", *m_settings.tolerance);
    }
    std::vector<format::ExpectedBuffer> found;
    for (auto& result : results) {
      const format::ElementType type = candidate.bound.arguments[result.first].type;
      found.push_back(format::expected_buffer(result.first, type, std::move(result.second)));
    }
    const auto difference = format::difference_of_answer(expected, found);
    return difference
               ? std::optional<Refusal>(
                     {MeasurementOutcome::wrong_result,
                      fmt::format("the result differs from the recorded one: {}", *difference)})
               : std::nullopt;
  }

  // The first result is the expected one. Drivers and variants differ in what is constant.
  std::optional<Refusal> compare(const Candidate& candidate, Results results) {
    if (m_settings.expected) {
      return compare_with_recorded(candidate, std::move(results));
    }
    if (m_reference == nullptr) {
      m_reference = &candidate;
      m_expected = std::move(results);
      return std::nullopt;
    }
    for (const auto& [index, bytes] : results) {
      const auto expected = m_expected.find(index);
      if (expected == m_expected.end()) {
        continue;
      }
      const auto found = format::difference_of_results(
          expected->second, bytes, candidate.bound.arguments[index].type, m_settings.tolerance);
      if (found) {
        return refusal_of(candidate, fmt::format("argument {}, {}", index, *found));
      }
    }
    return std::nullopt;
  }

  // Another work-group of the reference shows that its result depends on the one that the driver or
  // --tune chose. The results of other variants then say nothing.
  Refusal refusal_of(const Candidate& candidate, const std::string& where) {
    m_depends_on_work_group =
        m_depends_on_work_group ||
        (candidate.variant == m_reference->variant && &candidate != m_reference);
    const std::string& name = m_reference->variant->name;
    if (m_depends_on_work_group) {
      return {MeasurementOutcome::failed,
              fmt::format("name LOCAL, because the result of variant '{}' depends on the "
                          "work-group: {}",
                          name, where)};
    }
    return {MeasurementOutcome::wrong_result,
            fmt::format("the result differs from that of variant '{}': {}", name, where)};
  }

  [[nodiscard]] std::uint64_t typical_ns(const Candidate& candidate) const {
    if (candidate.result.state == State::known) {
      return candidate.result.measurement.median_ns;
    }
    return time_of(candidate.times.front(), m_tuned.clock);
  }

  // Of two launches, the first one may compile, and touches the memory for the first time. Of what
  // was measured before, only the first candidate runs, because its result is expected of others.
  void run_first(Candidate& candidate) {
    const bool is_measured = has_time(candidate);
    const bool is_wanted = is_measured ? m_reference == nullptr : candidate.is_repeated;
    if (!is_wanted || m_settings.is_out_of_time()) {
      return;
    }
    const Candidate before = candidate;
    auto reply = launch(candidate, is_measured ? 1 : 2, worker::ReadBack::buffers);
    ++m_done;
    if (is_measured && (reply || before.result.state == State::known)) {
      candidate = before;
    } else if (reply && reply->times.size() == 2) {
      candidate.times = {reply->times.back()};
      candidate.result.state = State::measured;
    }
  }

  // Times of two clocks do not compare. The device's is used if each variant has such a time.
  void choose_clock() {
    const bool is_device = std::ranges::all_of(m_candidates, has_credible_times);
    m_tuned.clock = is_device ? m_settings.clock : TuningClock::host;
  }

  void stop_slow_ones() {
    choose_clock();
    std::uint64_t best = ~0ULL;
    for (const Candidate& candidate : m_candidates) {
      if (has_time(candidate)) {
        best = std::min(best, typical_ns(candidate));
      }
    }
    for (Candidate& candidate : m_candidates) {
      candidate.is_repeated = candidate.is_repeated && has_time(candidate) &&
                              typical_ns(candidate) <= best * k_slow_factor;
    }
    const auto repeated = std::ranges::count(m_candidates, true, &Candidate::is_repeated);
    m_total =
        m_done + static_cast<std::size_t>(repeated) * (k_rounds - std::min(m_rounds, k_rounds));
  }

  static bool has_time(const Candidate& candidate) {
    return candidate.result.state == State::measured ||
           (candidate.result.state == State::known &&
            candidate.result.measurement.outcome == MeasurementOutcome::measured);
  }

  void repeat(Candidate& candidate, bool is_last) {
    if (!candidate.is_repeated || m_settings.is_out_of_time()) {
      return;
    }
    const std::uint64_t launches =
        std::clamp<std::uint64_t>(k_round_ns / typical_ns(candidate), 1, k_most_launches);
    const auto reply = launch(candidate, static_cast<std::uint32_t>(launches),
                              is_last ? worker::ReadBack::buffers : worker::ReadBack::none);
    ++m_done;
    if (reply) {
      candidate.times.insert(candidate.times.end(), reply->times.begin(), reply->times.end());
    }
  }

  // Between variants that take nearly the same time, chance would decide.
  void repeat_close_ones() {
    choose_clock();
    std::uint64_t best = ~0ULL;
    for (const Candidate& candidate : m_candidates) {
      best = candidate.is_repeated ? std::min(best, median_ns(candidate)) : best;
    }
    for (Candidate& candidate : m_candidates) {
      candidate.is_repeated =
          candidate.is_repeated &&
          static_cast<double>(median_ns(candidate)) <= static_cast<double>(best) * k_close_factor;
    }
    const auto close = std::ranges::count(m_candidates, true, &Candidate::is_repeated);
    if (close < 2) {
      return;
    }
    const std::uint64_t rounds = k_rounds + std::min(k_close_rounds, k_close_ns / best);
    m_total +=
        static_cast<std::size_t>(close) * (rounds - std::min<std::uint64_t>(m_rounds, rounds));
    while (m_rounds < rounds) {
      run_round(m_rounds + 1 == rounds);
    }
  }

  // Drivers miss single launches: PoCL reports the same time for the begin and the end of some.
  static bool has_credible_times(const Candidate& candidate) {
    const auto credible = std::ranges::count_if(candidate.times, is_credible);
    return static_cast<std::size_t>(credible) * 2 >= candidate.times.size();
  }

  // In ascending order.
  [[nodiscard]] std::vector<std::uint64_t> counted_times(const Candidate& candidate) const {
    std::vector<std::uint64_t> sorted;
    for (const LaunchTime& time : candidate.times) {
      if (m_tuned.clock == TuningClock::host || is_credible(time)) {
        sorted.push_back(time_of(time, m_tuned.clock));
      }
    }
    std::ranges::sort(sorted);
    return sorted;
  }
  [[nodiscard]] std::uint64_t median_ns(const Candidate& candidate) const {
    return quantile(counted_times(candidate), 0.5);
  }

  void take_times(Candidate& candidate) const {
    const std::vector<std::uint64_t> sorted = counted_times(candidate);
    format::Measurement& measurement = candidate.result.measurement;
    measurement.median_ns = quantile(sorted, 0.5);
    measurement.spread_ns = quantile(sorted, 0.75) - quantile(sorted, 0.25);
    measurement.rounds = static_cast<std::uint32_t>(sorted.size());
  }

  // Of each variant, the work-group that took the least time.
  void take_answers() {
    if (m_settings.results == KeepResults::no) {
      return;
    }
    std::map<std::string_view, const Candidate*> best;
    for (const Candidate& candidate : m_candidates) {
      const Candidate*& known = best.try_emplace(candidate.variant->name, nullptr).first->second;
      const auto median_of = [](const Candidate& one) { return one.result.measurement.median_ns; };
      if (candidate.result.state == State::measured &&
          (known == nullptr || median_of(candidate) < median_of(*known))) {
        known = &candidate;
      }
    }
    for (const auto& [variant, candidate] : best) {
      std::string why = candidate == nullptr ? fmt::format("variant '{}' did not run", variant)
                                             : take_answer(*candidate);
      m_tuned.why_no_answers =
          m_tuned.why_no_answers.empty() ? std::move(why) : m_tuned.why_no_answers;
    }
  }

  // Returns why there is no answer, or an empty text.
  std::string take_answer(const Candidate& candidate) {
    if (m_depends_on_work_group) {
      return "the result depends on the work-group, which LOCAL does not name";
    }
    format::KnownAnswer answer{candidate.variant->name,    m_description.kernel,
                               candidate.bound.dimensions, candidate.bound.global_size,
                               candidate.bound.local_size, candidate.bound.arguments};
    answer.tolerance = m_settings.tolerance ? fmt::format("{}", *m_settings.tolerance) : "";
    if (m_description.recorded) { // the data are in the bundle
      answer.results = m_description.recorded->results;
      answer.local_size = m_description.recorded->local_size;
      m_tuned.answers.push_back(std::move(answer));
      return {};
    }
    std::uint64_t bytes = 0;
    for (const auto& [index, contents] : m_expected) {
      const LaunchArgument& argument = answer.arguments[index];
      if (format::is_result(argument)) {
        answer.results.push_back(format::expected_buffer(index, argument.type, contents));
        bytes += answer.results.back().contents.size();
      }
    }
    if (bytes > format::k_max_answer_bytes) {
      return fmt::format("it computes {} bytes of floating-point numbers, and at most {} are kept",
                         bytes, format::k_max_answer_bytes);
    }
    if (const std::string_view broken = broken_rule(answer); !broken.empty()) {
      return std::string(broken);
    }
    m_tuned.answers.push_back(std::move(answer));
    return {};
  }

  TunedLaunch finish() {
    choose_clock();
    for (Candidate& candidate : m_candidates) {
      if (candidate.result.state == State::measured) {
        take_times(candidate);
      }
    }
    take_answers();
    for (Candidate& candidate : m_candidates) {
      m_tuned.results.push_back(std::move(candidate.result));
    }
    std::ranges::stable_sort(m_tuned.results, {}, [](const TuningResult& result) {
      const std::uint64_t median = result.measurement.median_ns;
      return median == 0 ? ~0ULL : median;
    });
    return std::move(m_tuned);
  }

  const LaunchDescription& m_description;
  const std::string& m_program;
  const TuningSettings& m_settings;
  const Launch& m_launch;
  TunedLaunch m_tuned{};
  std::deque<Candidate> m_candidates{};
  const Candidate* m_reference = nullptr; // whose results are expected
  bool m_depends_on_work_group = false;   // the result of the reference
  Results m_expected{};
  std::uint32_t m_begun_rounds = 0; // of an interrupted run
  std::uint32_t m_rounds = 0;
  std::size_t m_done = 0;
  std::size_t m_total = 0;
};

} // namespace

Result<TunedLaunch> tune_launch(const LaunchDescription& description, const std::string& program,
                                const std::vector<TunedVariant>& variants,
                                const TuningSettings& settings, const Launch& launch) {
  return LaunchTuner(description, program, settings, launch).tune(variants);
}

tl::expected<LaunchReply, Refusal> LaunchingWorker::launch(worker::LaunchRequest request) {
  const auto ended = [this] {
    return tl::unexpected(Refusal{MeasurementOutcome::failed, m_error->message});
  };
  if (m_error) {
    return ended();
  }
  const auto process = m_device.worker_for(request);
  if (!process) {
    m_error = process.error();
    return ended();
  }
  auto reply = (*process)->launch(request, m_device.name(), m_timeout);
  if (!reply) {
    return tl::unexpected(Refusal{outcome_of((*process)->failure()), reply.error().message});
  }
  if (reply->is_device_gone) {
    m_error = Error{ErrorCode::no_device,
                    fmt::format("'{}' is no longer available: {}", m_device.name(), reply->error)};
    return ended();
  }
  if (!reply->error.empty()) {
    return tl::unexpected(Refusal{MeasurementOutcome::failed, std::move(reply->error),
                                  std::move(reply->failed_call)});
  }
  return *std::move(reply);
}

worker::LaunchRequest launch_of(const format::KnownAnswer& answer) {
  worker::LaunchRequest request;
  request.kernel = answer.kernel;
  request.arguments = answer.arguments;
  request.dimensions = answer.dimensions;
  request.global_size = answer.global_size;
  request.local_size = answer.local_size;
  request.launches = 1;
  request.read_back = worker::ReadBack::buffers;
  return request;
}

tl::expected<std::vector<format::ExpectedBuffer>, Refusal>
results_of(std::span<const LaunchArgument> arguments, std::vector<base::Bytes> buffers) {
  auto by_argument = buffers_by_argument(arguments, std::move(buffers));
  if (!by_argument) {
    return tl::unexpected(std::move(by_argument.error()));
  }
  std::vector<format::ExpectedBuffer> results;
  for (auto& [index, bytes] : *by_argument) {
    results.push_back(format::expected_buffer(index, arguments[index].type, std::move(bytes)));
  }
  return results;
}

TuningClock clock_of(format::DeviceFamily family) noexcept {
  switch (family) {
  case format::DeviceFamily::rusticl:
  case format::DeviceFamily::oclgrind:
  case format::DeviceFamily::unknown:
    return TuningClock::host;
  default:
    return TuningClock::device;
  }
}

std::vector<GroupSize> work_groups_to_try(const format::KernelReflection& kernel,
                                          const GroupSize& max_sizes, std::uint32_t dimensions) {
  constexpr std::uint64_t k_least = 16;
  constexpr std::uint64_t k_most = 1024;
  const std::uint64_t limit = std::min(kernel.max_work_group_size.value_or(k_most), k_most);
  std::vector<GroupSize> sizes{{}};
  const auto add = [&](const GroupSize& size) {
    bool fits = format::items_of(size) <= limit;
    for (std::size_t i = 0; i < size.size(); ++i) {
      fits = fits && (max_sizes[i] == 0 || size[i] <= max_sizes[i]);
    }
    if (fits && std::ranges::find(sizes, size) == sizes.end()) {
      sizes.push_back(size);
    }
  };
  if (kernel.preferred_multiple.value_or(0) != 0) {
    add({*kernel.preferred_multiple, 1, 1});
  }
  for (std::uint64_t items = k_least; items <= limit; items *= 2) {
    add({items, 1, 1});
    std::uint64_t height = 1;
    while (dimensions > 1 && height * height * 4 <= items) {
      height *= 2;
    }
    add({items / height, height, 1});
  }
  return sizes;
}

} // namespace oclcc
