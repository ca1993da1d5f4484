// Limits the copies of texts that any number of records may name.
#pragma once

#include "format/bundle/bundle_reader.hpp"

#include <cstdint>

namespace clbin::format {

// For operations on a whole bundle that keep or print the names, options and kernels of its
// records. The limit of 16 MiB + 4 times the size of the file far exceeds any bundle that was not
// made to exhaust memory.
class TextBudget {
public:
  // `total_bytes` is the size of the bundle.
  explicit TextBudget(std::uint64_t total_bytes) noexcept;

  // Deducts the bytes of all texts of the record; for an entry, without those of its program and
  // variant. Error: limit_exceeded.
  [[nodiscard]] base::Result<void> take(const GroupView& group);
  [[nodiscard]] base::Result<void> take(const EntryView& entry);
  [[nodiscard]] base::Result<void> take(std::uint64_t bytes);

private:
  std::uint64_t m_limit;
  std::uint64_t m_left;
};

} // namespace clbin::format
