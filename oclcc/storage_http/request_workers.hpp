// Threads that serve one request of a connection at a time.
#pragma once

#include "base/file_io.hpp"
#include "storage_http/http_client.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace oclcc::storage_http {

inline constexpr std::size_t k_max_threads = 64; // requests in progress; others wait

// Owns the connections that it serves. The member functions must be called by one thread.
class RequestWorkers {
public:
  // `client` must outlive the object. `wake` is an eventfd that is written to when a request is
  // finished, and must outlive the object.
  RequestWorkers(HttpClient& client, int wake) : m_client(client), m_wake(wake) {}
  // Blocks until the requests in progress are finished.
  ~RequestWorkers();
  RequestWorkers(const RequestWorkers&) = delete;
  RequestWorkers& operator=(const RequestWorkers&) = delete;

  // Serves the next request of a connection. Does not block. Closes the connection if no thread
  // can be started.
  void add(clbin::base::FileDescriptor connection);
  // Returns the connections whose request is finished. Those that clients closed or sent garbage on
  // are closed and not returned.
  [[nodiscard]] std::vector<clbin::base::FileDescriptor> take_finished();
  // Returns true if no request is waiting or in progress.
  [[nodiscard]] bool are_idle();

private:
  void work();
  [[nodiscard]] bool serve(int connection) noexcept;

  HttpClient& m_client;
  int m_wake;
  std::mutex m_mutex; // of everything below but m_threads
  std::condition_variable m_added;
  std::deque<clbin::base::FileDescriptor> m_waiting;
  std::vector<clbin::base::FileDescriptor> m_finished;
  std::size_t m_in_progress = 0;
  bool m_is_ending = false;
  std::vector<std::thread> m_threads;
};

} // namespace oclcc::storage_http
