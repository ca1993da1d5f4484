// A bundle that is measured, and the bundle with its measurements.
#pragma once

#include "command_line/bundle_file.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "modes/tuning_rounds.hpp"

#include <map>

namespace oclcc {

// Of the name of a variant and that of the options that --tune adds to it.
inline constexpr char k_variant_separator = '+';

// Writes the bundle anew as often as there are results, so that a run that is killed loses only
// those of the launch that is being measured. Not thread-safe.
class MeasuredBundle {
public:
  // Reads and verifies a bundle, which must not be encrypted, and adds variants: "base+NAME" with
  // further options for each variant "base" of a program with source, or for those that `bases`
  // names. `output` is the input, or another file. Errors: those of read_valid_bundle;
  // invalid_argument: the bundle is encrypted; file_write: the output cannot be written.
  [[nodiscard]] static Result<MeasuredBundle> open(const std::filesystem::path& input,
                                                   const std::filesystem::path& output,
                                                   std::span<const Variant> variants = {},
                                                   const std::vector<std::string>& bases = {});

  [[nodiscard]] const format::BundleReader& reader() const noexcept { return m_reader; }
  [[nodiscard]] base::ByteView bytes() const noexcept { return *m_bytes; }

  // Returns the digest of the program's source; empty if there is none.
  [[nodiscard]] const std::string& source_of(const std::string& program) const {
    return m_programs.at(program).source;
  }
  // Returns the measurement of the same variant, launch and device that the input contains;
  // std::nullopt if there is none, or it is of another source.
  [[nodiscard]] std::optional<format::Measurement> find(const std::string& program,
                                                        const format::Measurement& wanted) const;
  // Adds a measurement, of which `source` is set, or replaces that of the same place.
  void add(const std::string& program, format::Measurement measurement);
  // Adds a known answer. Keeps the one that there is of the same launch, unless the results differ:
  // then nobody knows the answer, and the launch has none from now on. conflict says where they
  // differ.
  [[nodiscard]] Result<void> add(const std::string& program, format::KnownAnswer answer);
  // Whether `variant` may compute what was recorded of the variant `recorded`: not if it is another
  // one that the application has built, or is made of that one.
  [[nodiscard]] bool can_replace(const std::string& program, const std::string& recorded,
                                 const std::string& variant) const;
  // Returns the launches that were recorded with their data.
  [[nodiscard]] std::vector<LaunchDescription> recorded_launches() const;
  // Removes all known answers of the launches of this kernel, apart from recorded ones.
  void remove_answers(const std::string& program, const std::string& kernel);

  // Writes the bundle to the output. Errors: file_write, also if another process has changed the
  // input that is to be replaced; any error of reading the bundle.
  [[nodiscard]] Result<void> write();
  // Whether write() removes signatures.
  [[nodiscard]] Result<bool> is_signed() const;

private:
  struct Program {
    std::string source; // a digest; empty if there is none
    std::map<std::string, format::VariantInput> variants;
    std::set<format::Measurement, format::ByPlace> measurements;
    std::set<format::KnownAnswer, format::ByPlace> answers;
    std::set<format::KnownAnswer, format::ByPlace> disputed; // of which none is kept
    std::set<std::string> built; // variants that an application was seen to build
  };

  MeasuredBundle(std::shared_ptr<const base::Bytes> bytes, format::BundleReader reader)
      : m_bytes(std::move(bytes)), m_reader(std::move(reader)) {}
  [[nodiscard]] Result<void> read_programs();
  [[nodiscard]] Result<base::Bytes> make() const;

  std::shared_ptr<const base::Bytes> m_bytes;
  format::BundleReader m_reader; // of m_bytes
  std::filesystem::path m_output;
  std::shared_ptr<const base::ByteSource> m_replaced; // the file that write() replaces, if it does
  std::map<std::string, Program> m_programs;
};

} // namespace oclcc
