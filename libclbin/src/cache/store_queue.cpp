#include "cache/keyed_store.hpp"

#include "base/system/process.hpp"

#include <condition_variable>
#include <exception>
#include <list>
#include <system_error>

namespace clbin::cache {

namespace {

// Returns a warning; empty if there is none. The claim is released with the job.
std::string carry_out(const KeyedStore& cache, StoreJob job) {
  try {
    return cache.store(job.recipe, job.program, std::move(job.entry));
  } catch (const std::exception& error) {
    return fmt::format("the {} did not store program '{}': {}", to_string(CacheKind::user),
                       job.program, error.what());
  }
}

} // namespace

struct StoreQueue::Writer {
  explicit Writer(const KeyedStore& to) : cache(to) {}

  // Starts the thread unless it is running. Does nothing if the system cannot create a thread.
  void start() {
    if (is_working) {
      return;
    }
    if (thread.joinable()) {
      thread.join(); // it has finished its work
    }
    try {
      thread = base::start_background_thread([this] { write_all(); });
      is_working = true;
    } catch (const std::system_error&) {
      is_working = false;
    }
  }

  void write_all() {
    std::unique_lock lock(mutex);
    while (!jobs.empty()) {
      StoreJob job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      std::string told = carry_out(cache, std::move(job));
      lock.lock();
      warning = warning.empty() ? std::move(told) : warning;
    }
    is_working = false;
    idle.notify_all();
  }

  const KeyedStore& cache;
  std::mutex mutex; // guards all members below
  std::list<StoreJob> jobs;
  std::string warning;
  bool is_working = false;
  std::thread thread;
  std::condition_variable idle; // is_working has become false
};

StoreQueue::StoreQueue(KeyedStore cache)
    : m_cache(std::move(cache)), m_owner(base::process_id()),
      m_writer(std::make_unique<Writer>(m_cache)) {}

StoreQueue::~StoreQueue() {
  if (is_forked_child()) {
    (void)m_writer.release(); // its mutex and thread belong to the parent
    return;
  }
  if (m_writer->thread.joinable()) {
    m_writer->thread.join();
  }
}

bool StoreQueue::is_forked_child() const noexcept {
  return base::process_id() != m_owner || base::are_other_threads_gone();
}

void StoreQueue::add(StoreJob job) {
  if (is_forked_child()) {
    (void)carry_out(m_cache, std::move(job));
    return;
  }
  const std::lock_guard lock(m_writer->mutex);
  m_writer->jobs.push_back(std::move(job));
  m_writer->start();
  if (!m_writer->is_working) {
    StoreJob own = std::move(m_writer->jobs.back());
    m_writer->jobs.pop_back();
    m_writer->warning = carry_out(m_cache, std::move(own));
  }
}

void StoreQueue::drain() {
  if (is_forked_child()) {
    return;
  }
  std::unique_lock lock(m_writer->mutex);
  m_writer->idle.wait(lock, [this] { return !m_writer->is_working; });
}

std::string StoreQueue::take_warning() {
  if (is_forked_child()) {
    return {};
  }
  const std::lock_guard lock(m_writer->mutex);
  return std::exchange(m_writer->warning, {});
}

} // namespace clbin::cache
