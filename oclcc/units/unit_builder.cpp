#include "units/unit.hpp"

#include "base/text.hpp"
#include "terminal/shell_quoting.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace oclcc {

void UnitQueue::add(Lane lane, std::size_t unit) {
  auto found = std::ranges::find(m_lanes, lane, &Units::lane);
  if (found == m_lanes.end()) {
    m_lanes.push_back({lane});
    found = m_lanes.end() - 1;
  }
  found->units.push_back(unit);
}

std::optional<Lane> UnitQueue::choose(std::optional<Lane> current) {
  if (current) {
    Units& own = *std::ranges::find(m_lanes, *current, &Units::lane);
    if (!own.units.empty()) {
      return current;
    }
    if (own.sessions > 0) {
      --own.sessions;
    }
  }
  Units* chosen = nullptr;
  for (Units& lane : m_lanes) {
    // units / (sessions + 1), compared without division
    if (!lane.units.empty() &&
        (chosen == nullptr ||
         lane.units.size() * (chosen->sessions + 1) > chosen->units.size() * (lane.sessions + 1))) {
      chosen = &lane;
    }
  }
  if (chosen == nullptr) {
    return std::nullopt;
  }
  ++chosen->sessions;
  return chosen->lane;
}

std::optional<std::size_t> UnitQueue::front(Lane lane) const {
  const auto found = std::ranges::find(m_lanes, lane, &Units::lane);
  return found == m_lanes.end() || found->units.empty() ? std::nullopt
                                                        : std::optional(found->units.front());
}

std::optional<std::size_t> UnitQueue::take(Lane lane) {
  const auto unit = front(lane);
  if (unit) {
    std::ranges::find(m_lanes, lane, &Units::lane)->units.pop_front();
  }
  return unit;
}

namespace {

// What a thread does next: the next unit of the lane that it serves.
struct Choice {
  Lane lane;
  std::size_t unit = 0;
};

// The state that the threads share.
class Work {
public:
  explicit Work(const BuildPlan& plan) : m_plan(plan), m_results(plan.units.size()) {
    for (std::size_t unit = 0; unit < plan.units.size(); ++unit) {
      if (const auto input = plan.units[unit].input) {
        m_dependents.emplace(*input, unit);
        ++m_waiting;
      } else {
        queue(unit);
      }
    }
  }

  // Blocks while every unit that is left waits for another one. Chooses a lane like
  // UnitQueue::choose, without removing its next unit; std::nullopt if no unit is left.
  [[nodiscard]] std::optional<Choice> choose(std::optional<Lane> current) {
    std::unique_lock lock(m_mutex);
    for (;;) {
      if (const auto lane = m_queue.choose(current)) {
        return Choice{*lane, *m_queue.front(*lane)};
      }
      if (m_waiting == 0) {
        return std::nullopt;
      }
      current.reset(); // the lane has lost this thread
      m_changed.wait(lock);
    }
  }

  // Removes the next unit of the lane; std::nullopt if other threads have taken all of them.
  [[nodiscard]] std::optional<std::size_t> take(Lane lane) {
    const std::lock_guard lock(m_mutex);
    return m_queue.take(lane);
  }

  void finish(std::size_t unit, UnitResult result) {
    const std::lock_guard lock(m_mutex);
    m_results[unit] = std::move(result);
    m_finished.push_back(unit);
    m_changed.notify_all();
  }

  // Blocks until the next unit is finished.
  [[nodiscard]] std::size_t next_finished() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return !m_finished.empty(); });
    const std::size_t unit = m_finished.front();
    m_finished.pop_front();
    return unit;
  }

  // Queues the units that need `unit`, or finishes them as skipped if it was not built. Call it for
  // each finished unit, after its result was reported.
  void release_dependents(std::size_t unit, bool was_built) {
    const std::lock_guard lock(m_mutex);
    const auto [begin, end] = m_dependents.equal_range(unit);
    for (auto dependent = begin; dependent != end; ++dependent) {
      --m_waiting;
      if (was_built) {
        queue(dependent->second);
      } else {
        m_results[dependent->second].state = UnitResult::State::skipped;
        m_finished.push_back(dependent->second);
      }
    }
    m_changed.notify_all();
  }

  [[nodiscard]] UnitResult& result(std::size_t unit) { return m_results[unit]; }
  [[nodiscard]] std::vector<UnitResult> take_results() { return std::move(m_results); }

private:
  void queue(std::size_t unit) {
    const PlannedUnit& planned = m_plan.units[unit];
    m_queue.add(
        {planned.compiler, m_plan.compilers[planned.compiler]->lane_of(planned.unit.target)}, unit);
  }

  const BuildPlan& m_plan;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  UnitQueue m_queue;
  std::size_t m_waiting = 0; // units whose input is not built yet
  std::multimap<std::size_t, std::size_t> m_dependents;
  std::vector<UnitResult> m_results;
  std::deque<std::size_t> m_finished; // not yet reported to the caller
};

UnitResult build_one(const BuildPlan& plan, std::size_t index, CompilerSession& session) {
  Unit unit = plan.units[index].unit;
  if (plan.complete) {
    if (const auto complete = plan.complete(index, unit); !complete) {
      UnitResult result;
      result.failure = complete.error().message;
      return result;
    }
  }
  return session.build(unit);
}

// What one thread does.
void serve(const BuildPlan& plan, Work& work, const std::stop_token& useless) {
  std::map<std::size_t, std::unique_ptr<CompilerSession>> sessions; // by compiler
  std::optional<Lane> current;
  while (const auto choice = work.choose(current)) {
    current = choice->lane;
    const auto [compiler, lane] = choice->lane;
    auto& session = sessions[compiler];
    if (!session) {
      session = plan.compilers[compiler]->start_session(lane, useless);
    }
    session->get_ready_for(plan.units[choice->unit].unit.target);
    if (const auto unit = work.take(choice->lane)) {
      const auto build = [&] { return build_one(plan, *unit, *session); };
      work.finish(*unit, plan.make ? plan.make(*unit, build) : build());
    }
  }
}

void announce(const BuildPlan& plan, unsigned sessions) {
  std::vector<std::size_t> counts(plan.compilers.size());
  for (const PlannedUnit& planned : plan.units) {
    ++counts[planned.compiler];
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    plan.compilers[i]->expect({counts[i], sessions});
  }
}

} // namespace

std::vector<UnitResult> build_units(const BuildPlan& plan,
                                    const std::function<void(std::size_t done, std::size_t unit,
                                                             UnitResult& result)>& on_finished) {
  const std::size_t thread_count =
      std::min<std::size_t>(std::max(plan.jobs, 1U), plan.units.size());
  announce(plan, static_cast<unsigned>(thread_count));
  Work work(plan);
  std::stop_source all_built;
  std::vector<std::jthread> threads;
  threads.reserve(thread_count);
  for (std::size_t i = 0; i < thread_count; ++i) {
    threads.emplace_back(
        [&plan, &work, useless = all_built.get_token()] { serve(plan, work, useless); });
  }
  for (std::size_t done = 1; done <= plan.units.size(); ++done) {
    const std::size_t unit = work.next_finished();
    const bool was_built = is_built(work.result(unit));
    on_finished(done, unit, work.result(unit));
    work.release_dependents(unit, was_built);
  }
  all_built.request_stop();
  threads.clear();
  return work.take_results();
}

namespace {

// Applications write "-D NAME=VALUE", too.
std::vector<std::string> with_joined_macros(std::vector<std::string> words) {
  std::vector<std::string> options;
  bool is_macro = false;
  for (std::string& word : words) {
    const bool awaits = !is_macro && base::awaits_macro(word);
    if (is_macro) {
      options.back() += word;
    } else {
      options.push_back(std::move(word));
    }
    is_macro = awaits;
  }
  return options;
}

} // namespace

BuildOptions BuildOptions::recorded(std::string text) {
  BuildOptions options;
  options.m_recorded = std::move(text);
  return options;
}

std::string BuildOptions::text() const {
  return m_recorded.has_value() ? *m_recorded : join_options(m_words);
}

std::vector<std::string> BuildOptions::words() const {
  return m_recorded.has_value() ? with_joined_macros(split_options(*m_recorded)) : m_words;
}

bool is_built(const UnitResult& result) {
  return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
}

} // namespace oclcc
