// Makes one bundle of what the layer recorded.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle/bundle_reader.hpp"

namespace oclcc {

struct LoggedLaunch {
  std::string program;
  format::RecordedLaunch launch;
};

// Parses "PROGRAM VARIANT KERNEL DIMENSIONS X Y Z", without a line end; " offset" follows if the
// launch has a global offset other than 0. KERNEL may contain spaces. X, Y and Z are 0 for a local
// size of NULL. std::nullopt for any other text.
[[nodiscard]] std::optional<LoggedLaunch> parse_launch(std::string_view line);

// Returns a bundle of the programs, in the order of their names.
[[nodiscard]] format::BundleInput bundle_of(std::map<std::string, format::ProgramInput>&& programs);

// The union of recordings. Of two entries of the same program, variant, target and kind, keeps the
// one that was added first, because no two builds of some drivers are equal.
class Recording {
public:
  // Payloads are kept in `spill`.
  explicit Recording(std::shared_ptr<base::SpillFile> spill) : m_spill(std::move(spill)) {}

  // Adds the programs of a bundle. conflict: a program has another source, or a variant other
  // options, than what was added before; then nothing is added. Errors of the reader.
  [[nodiscard]] Result<void> add(const format::BundleReader& bundle, SourcePolicy source);
  // Adds the files that the layer wrote to `folder`: bundles, and logs of launches. Prints a
  // warning for each file that is incomplete or damaged, for lines that are no launch of a recorded
  // program, for each program that nothing identifies when it is built again, and for each build
  // option that contains a path.
  void add_folder(const std::filesystem::path& folder, SourcePolicy source, Reporter& reporter);

  // Why an application may have recorded nothing, for a note.
  [[nodiscard]] std::string why_empty() const;
  // Whether the application has linked programs, which the layer does not record.
  [[nodiscard]] bool lacks_linked_programs() const noexcept { return m_has_linked; }
  [[nodiscard]] std::size_t program_count() const noexcept { return m_programs.size(); }
  [[nodiscard]] format::BundleInput take() { return bundle_of(std::exchange(m_programs, {})); }

private:
  using Program = format::ProgramInput;
  [[nodiscard]] Result<void> check(const Program& program) const;
  void add(Program program);
  void add_file(const std::filesystem::path& file, SourcePolicy source, Reporter& reporter);
  void add_launches(const std::filesystem::path& file, Reporter& reporter);
  void warn_of_what_is_not_served(Reporter& reporter) const;
  void warn_of_paths_in_options(Reporter& reporter) const;
  static void add_answer(format::KnownAnswer answer,
                         const std::map<std::string, base::KeptBytes>& data, Program& program);
  void add_omissions(const std::filesystem::path& file);
  void warn_of_omissions(Reporter& reporter) const;
  void add_loaders(const std::filesystem::path& file);
  // Returns whether the program and its variant are recorded.
  bool add_launch(std::string_view line);

  std::shared_ptr<base::SpillFile> m_spill;
  std::map<std::string, Program> m_programs;
  std::set<std::string> m_entries;   // keys of those added
  std::set<std::string> m_omissions; // why the data of launches are not recorded
  bool m_has_linked = false;
  bool m_has_used_layer = false; // a process of the application has loaded it
  std::string m_second_loader;   // whose builds the layer does not see; empty if there is none
};

} // namespace oclcc
