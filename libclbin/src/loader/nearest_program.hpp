// Why no bundle of a builder contains a program: what differs from the one that is most like it.
#pragma once

#include "format/bundle/bundle_reader.hpp"

#include <mutex>
#include <unordered_map>

namespace clbin::loader {

// What is looked for. Borrows everything.
struct WantedProgram {
  std::string_view text;
  const std::vector<format::SourceFile>& headers;
  std::string_view options; // BuildOptions::normalized
};

struct Likeness {
  std::size_t common_lines = 0; // 0: no program has half of its lines in common with the wanted one
  // "its program 'blur' differs in line 3 of the source; option: '-DN=2' before, '-DN=1' now", as
  // the user cache explains a miss.
  std::string difference;
};

// The programs of one bundle, which must live as long. Thread-safe.
class NearestProgram {
public:
  explicit NearestProgram(const format::BundleReader& bundle) : m_bundle(bundle) {}

  // Returns how the program differs that has most lines in common with the wanted one. The first
  // call reads all sources, but not those that are damaged or beyond the limits. Never call it for
  // an encrypted bundle: the answer tells about its contents.
  [[nodiscard]] Likeness compare(const WantedProgram& wanted);

private:
  using Lines = std::vector<std::uint32_t>; // cache::line_digests_of(), sorted

  void read();
  [[nodiscard]] std::string difference(std::uint32_t group, const WantedProgram& wanted) const;

  const format::BundleReader& m_bundle;
  std::once_flag m_is_read;
  // Immutable once m_is_read is set.
  std::unordered_map<std::uint32_t, Lines> m_lines;           // by blob
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_all; // groups and their blobs
};

} // namespace clbin::loader
