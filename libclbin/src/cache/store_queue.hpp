// Writes cache entries after the load that built them has returned, so that compressing, digesting
// and writing do not delay the caller.
#pragma once

#include "cache/keyed_store.hpp"

#include <memory>
#include <string>

namespace clbin::cache {

struct StoreJob {
  Recipe recipe;
  std::string program;
  format::EntryInput entry;
  BuildClaim claim; // released after the entry is stored, for those who wait
};

// Uses one thread, which runs while there are entries to write, receives no signals, and does not
// call OpenCL. If the process exits without destroying the queue, entries that have not been
// written yet are lost, and nothing else. A forked child has no such thread: there, add() writes
// before it returns. Thread-safe.
class StoreQueue {
public:
  explicit StoreQueue(KeyedStore cache);
  // Blocks until all entries are written.
  ~StoreQueue();
  StoreQueue(const StoreQueue&) = delete;
  StoreQueue& operator=(const StoreQueue&) = delete;

  // If no thread can be created, writes before it returns.
  void add(StoreJob job);
  // Blocks until the entries that were added before are written.
  void drain();
  // Returns the warning of a finished store, once; empty if there is none.
  [[nodiscard]] std::string take_warning();

private:
  struct Writer;
  [[nodiscard]] bool is_forked_child() const noexcept;

  KeyedStore m_cache;
  long m_owner; // process id
  std::unique_ptr<Writer> m_writer;
};

} // namespace clbin::cache
