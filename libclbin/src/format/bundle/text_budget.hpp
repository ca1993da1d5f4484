// Limits what is copied of texts that any number of records may name.
#pragma once

#include "format/bundle/bundle_reader.hpp"

#include <cstdint>

namespace clbin::format {

// For work on a whole bundle that keeps or prints the names, options and kernels of its records.
// 16 MiB + 4 times the file: far beyond any bundle that was not made to exhaust memory.
class TextBudget {
public:
  // `total_bytes`: of the bundle.
  explicit TextBudget(std::uint64_t total_bytes) noexcept;

  // limit_exceeded. The bytes of all texts of the record, without those of its program and variant
  // for an entry.
  [[nodiscard]] base::Result<void> take(const GroupView& group);
  [[nodiscard]] base::Result<void> take(const EntryView& entry);
  [[nodiscard]] base::Result<void> take(std::uint64_t bytes);

private:
  std::uint64_t m_limit;
  std::uint64_t m_left;
};

} // namespace clbin::format
