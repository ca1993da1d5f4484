// Writes entries after the load that built them has returned: compressing, digesting and writing
// cost the caller no time.
#pragma once

#include "cache/user_cache.hpp"

#include <memory>
#include <string>

namespace clbin::cache {

struct StoreJob {
  Recipe recipe;
  std::string program;
  format::EntryInput entry;
  BuildClaim claim; // let go once the entry is there for those who wait
};

// One thread, which lives while there is something to write, takes no signals, and makes no call to
// OpenCL. A process that ends without destroying the queue loses what is not written yet, no more.
// In a child that was forked meanwhile there is no such thread: add() writes before it returns.
// Thread-safe.
class StoreQueue {
public:
  explicit StoreQueue(UserCache cache);
  // Waits until all is written.
  ~StoreQueue();
  StoreQueue(const StoreQueue&) = delete;
  StoreQueue& operator=(const StoreQueue&) = delete;

  // Where no thread can be had, writes before it returns.
  void add(StoreJob job);
  // What a store that has ended could not do, once; empty if none.
  [[nodiscard]] std::string take_warning();

private:
  struct Writer;
  [[nodiscard]] bool is_forked_child() const noexcept;

  UserCache m_cache;
  long m_owner; // process id
  std::unique_ptr<Writer> m_writer;
};

} // namespace clbin::cache
