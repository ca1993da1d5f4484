// Input: the text of a configuration file, for the layer and for oclcc. A strict model, which
// shares no code with the readers and looks at bytes, says which files are clear. Other files must
// close what they may have been meant to close. A file that any editor shows with a line that
// requires signatures requires them.
#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "fuzz_check.hpp"
#include "layer/layer_settings.hpp"
#include "remote/remote_settings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/core.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using clbin::fuzz::require;
using clbin::layer::SignatureUse;

// The name of a key file in the working directory.
constexpr const char* k_key = "K";

// ---- The model ----

struct Names {
  std::vector<std::string> trust;  // required once, and at most once
  std::vector<std::string> others; // outside the sections
  std::vector<std::string> rules;  // in sections; empty: there are no sections
};

const Names k_layer{{"public-keys", "least-counter", "unsigned"},
                    {"mode", "bundles", "log", "record", "record-binaries", "record-data",
                     "record-source", "cache-pocl"},
                    {"append-options", "replace-options"}};
const Names k_oclcc{{"remote-public-key", "remote-sign-key"},
                    {"remote", "remote-token", "remote-token-file", "remote-netrc",
                     "remote-read-only", "remote-timeout"},
                    {}};

struct Model {
  bool is_clear = true;
  std::map<std::string, std::string> trust; // values by name
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  for (const std::string& known : names) {
    if (known == name) {
      return true;
    }
  }
  return false;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.pop_back();
  }
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.erase(0, 1);
  }
  return text;
}

// Returns the size of the character at `at` if it may stand in a file, otherwise 0.
std::size_t plain_size(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    const bool ends_line = first == '\n' || (first == '\r' && byte(1) == '\n');
    return first == '\t' || ends_line || (first >= 0x20 && first != 0x7F) ? 1 : 0;
  }
  unsigned value = 0;
  std::size_t size = 0;
  if (first >= 0xC0 && first < 0xE0 && follows(1)) {
    value = (first & 0x1FU) << 6U | (byte(1) & 0x3FU);
    size = value >= 0x80 ? 2 : 0;
  } else if (first >= 0xE0 && first < 0xF0 && follows(1) && follows(2)) {
    value = (first & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    size = value >= 0x800 && (value < 0xD800 || value > 0xDFFF) ? 3 : 0;
  } else if (first >= 0xF0 && first < 0xF8 && follows(1) && follows(2) && follows(3)) {
    value = (first & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U |
            (byte(3) & 0x3FU);
    size = value >= 0x10000 && value <= 0x10FFFF ? 4 : 0;
  }
  const bool is_odd = (value >= 0x80 && value <= 0x9F) || value == 0x2028 || value == 0x2029;
  return is_odd ? 0 : size;
}

bool is_plain(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = plain_size(text, at);
    if (size == 0) {
      return false;
    }
    at += size;
  }
  return true;
}

bool is_section(const std::string& line) {
  if (line.size() < 2 || line.back() != ']') {
    return false;
  }
  const std::string inside = trimmed(line.substr(1, line.size() - 2));
  const std::size_t blank = inside.find_first_of(" \t");
  if (blank == std::string::npos) {
    return false;
  }
  const std::string kind = inside.substr(0, blank);
  const std::string name = trimmed(inside.substr(blank));
  if (kind == "program") {
    return name.size() >= 8 && name.size() <= 64 &&
           name.find_first_not_of("0123456789abcdef") == std::string::npos;
  }
  return kind == "kernel" && name.find_first_of(" \t=") == std::string::npos;
}

void read_model_line(const std::string& line, const Names& names, bool& is_in_section,
                     Model& model) {
  if (line.empty() || line.front() == '#') {
    return;
  }
  if (line.front() == '[') {
    is_in_section = true;
    model.is_clear = model.is_clear && !names.rules.empty() && is_section(line);
    return;
  }
  const std::size_t equals = line.find('=');
  const std::string name = trimmed(line.substr(0, equals));
  const bool is_trust = !is_in_section && has(names.trust, name);
  const bool is_known =
      is_in_section ? has(names.rules, name) : is_trust || has(names.others, name);
  if (equals == std::string::npos || !is_known || (is_trust && model.trust.contains(name))) {
    model.is_clear = false;
  } else if (is_trust) {
    model.trust[name] = trimmed(line.substr(equals + 1));
  }
}

Model model_of(std::string text, const Names& names) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.erase(0, 3);
  }
  Model model;
  model.is_clear = is_plain(text);
  bool is_in_section = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    read_model_line(trimmed(line), names, is_in_section, model);
    begin = end + 1;
  }
  return model;
}

// ---- What editors show ----

// Returns whether an editor that ends lines at any of these characters shows a line that begins
// with a setting of trust.
bool shows_trust(const std::string& text, const Names& names) {
  static const std::vector<std::string> ends = {
      "\n",   "\r",       "\v",           "\f",
      "\x1c", "\x1d",     "\x1e",         std::string(1, '\0'),
      "\x85", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
  std::string lines = text;
  for (const std::string& end : ends) {
    for (std::size_t at = lines.find(end); at != std::string::npos; at = lines.find(end, at + 1)) {
      // Not the 0x85 of another character: "…" is E2 80 A6, "à" is C3 A0, "Å" is C3 85.
      if (end == "\x85" && at > 0 && static_cast<unsigned char>(lines[at - 1]) >= 0x80) {
        continue;
      }
      lines.replace(at, end.size(), "\n");
    }
  }
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && has(names.trust, trimmed(line.substr(0, equals)))) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

// ---- The readers ----

// Changes to a folder with a key, and returns the name of a file for the text.
std::string prepare() {
  static const clbin::base::TemporaryFolder folder =
      clbin::base::TemporaryFolder::create({}, "settings-fuzz-").value();
  require(::chdir(folder.path().c_str()) == 0, "there is a folder");
  const auto key = clbin::base::SecretKey::from_seed(std::array<std::byte, 32>{}).public_key();
  const std::string text = clbin::base::minisign_public_key_file({{}, key});
  require(clbin::base::write_output_file(k_key, clbin::base::as_bytes(text)).has_value(),
          "there is a key");
  return fmt::format("/proc/self/fd/{}", ::memfd_create("configuration", 0));
}

clbin::layer::SettingsRead read_by_layer(const std::string& text) {
  static const std::string file = prepare();
  require(clbin::base::write_output_file(file, clbin::base::as_bytes(text)).has_value(),
          "the file can be written");
  const std::string number = file.substr(file.rfind('/') + 1);
  const int descriptor = std::stoi(number);
  require(::ftruncate(descriptor, static_cast<off_t>(text.size())) == 0 &&
              ::lseek(descriptor, 0, SEEK_SET) == 0,
          "the file contains the text alone");
  return clbin::layer::read_settings(
      {[](const char* name) -> std::optional<std::string> {
         return std::string(name) == "CLBIN_LAYER_CONFIG" ? std::optional(file) : std::nullopt;
       },
       clbin::cache::Rights::plain, [] { return std::filesystem::path(); }});
}

std::uint64_t counter_of(const std::string& text) {
  constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (const char digit : text) {
    const auto number = static_cast<std::uint64_t>(digit - '0');
    if (digit < '0' || digit > '9' || value > (k_most - number) / 10) {
      return k_most;
    }
    value = value * 10 + number;
  }
  return text.empty() ? k_most : value;
}

std::size_t count_keys(const std::string& paths) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= paths.size();) {
    const std::size_t end = std::min(paths.find(':', begin), paths.size());
    count += paths.substr(begin, end - begin) == k_key ? 1U : 0U;
    begin = end + 1;
  }
  return count;
}

void check_layer(const std::string& text) {
  const Model model = model_of(text, k_layer);
  const clbin::layer::SettingsRead read = read_by_layer(text);
  const clbin::layer::LayerSettings& settings = read.settings;
  require(!shows_trust(text, k_layer) || settings.signatures == SignatureUse::required,
          "a line that somebody sees requires signatures");
  if (!model.is_clear) {
    require(settings.signatures == SignatureUse::required, "an unclear file requires signatures");
    require(settings.public_keys.empty(), "an unclear file trusts nobody");
    require(!settings.has_unsigned_cache, "an unclear file uses no cache");
    require(!read.problems.empty(), "an unclear file is reported");
    return;
  }
  require(!read.is_file_unclear, "a clear file is understood");
  require((settings.signatures == SignatureUse::required) == !model.trust.empty(),
          "a clear file requires signatures if it says that");
  const auto value = [&](const char* name) {
    const auto found = model.trust.find(name);
    return found == model.trust.end() ? std::string() : found->second;
  };
  const std::string keys = value("public-keys");
  require(settings.public_keys.size() >= count_keys(keys), "every key is trusted");
  require(keys.find(k_key) != std::string::npos || settings.public_keys.empty(),
          "no other key is trusted");
  require(settings.least_counter ==
              (model.trust.contains("least-counter") ? counter_of(value("least-counter")) : 0),
          "the least counter is the number, or no counter is enough");
  const bool is_on = value("unsigned") == "1" || value("unsigned") == "yes";
  require(settings.has_unsigned_cache == is_on, "the cache is used if asked");
}

void check_oclcc(const std::string& text) {
  const Model model = model_of(text, k_oclcc);
  oclcc::remote::RemoteSettings settings;
  oclcc::remote::apply_remote_configuration(text, "oclcc.conf", settings);
  const bool has_problem = !settings.problems.empty();
  require(model.is_clear || has_problem, "an unclear file uses no remote cache");
  require(!shows_trust(text, k_oclcc) || has_problem || !settings.public_keys.empty() ||
              settings.sign_key.has_value(),
          "a line that somebody sees has an effect");
  if (model.is_clear && !has_problem && model.trust.contains("remote-public-key")) {
    std::string joined;
    for (const std::string& key : settings.public_keys) {
      joined += (joined.empty() ? "" : ":") + key;
    }
    std::string wanted = model.trust.at("remote-public-key");
    for (std::size_t at = wanted.find("::"); at != std::string::npos; at = wanted.find("::")) {
      wanted.erase(at, 1);
    }
    wanted.erase(0, wanted.starts_with(':') ? 1 : 0);
    wanted.erase(wanted.size() - (wanted.ends_with(':') ? 1 : 0));
    require(joined == wanted, "the keys are those of the line");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_layer(text);
  check_oclcc(text);
  return 0;
}
