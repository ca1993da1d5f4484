// Digests of records.
#pragma once

#include "base/digest.hpp"
#include "model/record_writer.hpp"

namespace clbin::format {

template <typename Self>
class RecordHasher : public RecordWriter<Self> {
public:
  void put(std::uint64_t number) { m_hasher.add_u64(number); }
  void put(base::ByteView bytes) { m_hasher.add(bytes); }
  // Can be called only once.
  [[nodiscard]] base::Digest finish() { return m_hasher.finish(); }

private:
  base::Hasher m_hasher;
};

} // namespace clbin::format
