#include "storage_http/request_workers.hpp"

#include <cstdint>
#include <new>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace oclcc::storage_http {

using clbin::base::FileDescriptor;

RequestWorkers::~RequestWorkers() {
  {
    const std::lock_guard lock(m_mutex);
    m_is_ending = true;
    m_waiting.clear();
  }
  m_added.notify_all();
  for (std::thread& thread : m_threads) {
    thread.join();
  }
}

void RequestWorkers::add(FileDescriptor connection) {
  const std::lock_guard lock(m_mutex);
  m_waiting.push_back(std::move(connection));
  const std::size_t wanted = m_in_progress + m_waiting.size();
  if (m_threads.size() < wanted && m_threads.size() < k_max_threads) {
    try {
      m_threads.emplace_back(&RequestWorkers::work, this);
    } catch (const std::system_error&) {
      if (m_threads.empty()) {
        m_waiting.clear();
      }
    }
  }
  m_added.notify_one();
}

std::vector<FileDescriptor> RequestWorkers::take_finished() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_finished, {});
}

bool RequestWorkers::are_idle() {
  const std::lock_guard lock(m_mutex);
  return m_waiting.empty() && m_in_progress == 0;
}

void RequestWorkers::work() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_added.wait(lock, [this] { return m_is_ending || !m_waiting.empty(); });
    if (m_is_ending) {
      return;
    }
    FileDescriptor connection = std::move(m_waiting.front());
    m_waiting.pop_front();
    ++m_in_progress;
    lock.unlock();
    const bool goes_on = serve(connection.number());
    lock.lock();
    --m_in_progress;
    if (goes_on) {
      m_finished.push_back(std::move(connection));
    }
    const std::uint64_t one = 1;
    (void)!::write(m_wake, &one, sizeof one); // fails only if the counter is full, and awake
  }
}

// Returns false if the connection must be closed.
bool RequestWorkers::serve(int connection) noexcept {
  try {
    const auto request = receive_request(connection);
    return request && send_reply(connection, m_client.perform(*request));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

} // namespace oclcc::storage_http
