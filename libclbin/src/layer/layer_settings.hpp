// The settings of the layer: its configuration file and the variables CLBIN_LAYER_*.
#pragma once

#include "base/crypto/ed25519.hpp"
#include "cache/cache_settings.hpp"
#include "model/record.hpp"

namespace clbin::layer {

enum class Mode : std::uint8_t {
  cache,  // bundles, then the user cache, then a build, which is kept
  serve,  // bundles, then a build; the user cache is not used
  record, // a build, whose source is written to a directory
  strict, // bundles, then the user cache; a build fails
};
constexpr std::array<std::string_view, 4> names_of(Mode /*unused*/) {
  return {"cache", "serve", "record", "strict"};
}

enum class SignatureUse : std::uint8_t { ignored, required };

// Changes the build options of some programs.
struct OptionRule {
  enum class Subject : std::uint8_t { program, kernel };
  enum class Action : std::uint8_t { append, replace };
  Subject subject = Subject::program;
  std::string name; // the first digits of a program's digest, or a kernel
  Action action = Action::append;
  std::string options;

  friend bool operator==(const OptionRule&, const OptionRule&) = default;
};

struct LayerSettings {
  Mode mode = Mode::cache;
  std::vector<std::filesystem::path> bundles;
  std::filesystem::path log; // empty: none; "-": standard error
  std::filesystem::path record_folder;
  bool records_binaries = false;
  bool records_source = true;
  std::uint64_t recorded_data_bytes = 0; // at most so many of launches; 0: none
  bool caches_pocl = false;
  std::vector<OptionRule> rules; // in the order of the file
  // If a signature is required, only bundles that one of the keys signs serve. Required without a
  // key, if a setting of signatures is wrong: then no bundle serves.
  SignatureUse signatures = SignatureUse::ignored;
  std::vector<base::PublicKey> public_keys;
  std::uint64_t least_counter = 0;
  bool has_unsigned_cache = false; // the user cache serves although a signature is required
};

struct SettingsRead {
  LayerSettings settings;
  // One line for each setting that is wrong, and therefore ignored: "layer.conf:3: unknown …".
  std::vector<std::string> problems;
  // Whether a part of the file cannot be read or is not understood: it may require signatures.
  bool is_file_unclear = false;
  bool names_keys = false; // `public-keys` is given
};

// Reads the file that CLBIN_LAYER_CONFIG names, then the variables, which override it. Never fails.
[[nodiscard]] SettingsRead read_settings(const cache::ProcessEnvironment& environment);

// Applies the text of a configuration file. `file` is its name in problems. Does not check how
// settings of the file and the variables belong together; read_settings does.
void apply_configuration(std::string_view text, const std::string& file, SettingsRead& result);

// The names by which rules choose a program.
struct RuledProgram {
  std::string_view digest; // 64 hexadecimal digits
  std::string_view text;   // empty for IL
};

// Returns the options with every matching rule applied, in the order of the rules. A rule for a
// kernel matches a program whose text contains the kernel's name as a whole word.
[[nodiscard]] std::string apply_rules(const std::vector<OptionRule>& rules,
                                      const RuledProgram& program, std::string_view options);

} // namespace clbin::layer
