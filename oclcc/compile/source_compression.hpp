// Compresses the sources of a bundle while compilers run, because compressing them afterwards can
// take as long as building a unit.
#pragma once

#include "format/bundle/bundle_writer.hpp"

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace oclcc {

class SourceCompression {
public:
  // Ignores null pointers.
  explicit SourceCompression(
      std::vector<std::shared_ptr<const clbin::format::SourcePackage>> sources);

  // Starts a thread; call it at most once. The destructor waits until the source that the thread
  // compresses is finished. Sources of more than 256 KiB are left to the writer of the bundle, so
  // that a run that fails waits for some 0.1 s at most.
  void start();
  // Waits for the thread. Returns what was compressed, for WriteOptions with the default level.
  [[nodiscard]] std::shared_ptr<const clbin::format::SourceFrames> finish();

private:
  void compress(const std::stop_token& stop);

  std::vector<std::shared_ptr<const clbin::format::SourcePackage>> m_sources;
  std::shared_ptr<clbin::format::SourceFrames> m_frames; // the thread's until finish()
  std::jthread m_thread;                                 // last, so that it ends first
};

} // namespace oclcc
