#include "command_line/option_table.hpp"

#include "terminal/shell_quoting.hpp"

#include <fmt/format.h>
#include <numeric>

namespace oclcc {

namespace {

constexpr std::uint64_t k_max_response_file_bytes = 16ULL << 20U;
constexpr unsigned k_max_response_file_depth = 16;
constexpr std::size_t k_max_response_files = 1000; // every reading counts
constexpr std::uint64_t k_max_response_bytes = 64ULL << 20U;
constexpr std::size_t k_max_words = 1'000'000;

// What the response files of a command line have cost. A few files that name one another several
// times would otherwise be read billions of times.
struct ResponseFiles {
  std::vector<std::filesystem::path>& names;
  std::uint64_t bytes = 0;
};

Result<std::vector<std::string>> read_response_file(const std::string& path, ResponseFiles& read) {
  read.names.push_back(base::to_path(path));
  if (read.names.size() > k_max_response_files) {
    return refused("more than {} response files are read: the next one is '@{}'",
                   k_max_response_files, path);
  }
  auto bytes = base::read_whole_file(base::to_path(path), k_max_response_file_bytes);
  if (!bytes) {
    Error error = std::move(bytes.error());
    if (error.code == ErrorCode::limit_exceeded) { // whose exit status is that of bundles
      error.code = ErrorCode::file_read;
    }
    return tl::unexpected(std::move(error));
  }
  read.bytes += bytes->size();
  if (read.bytes > k_max_response_bytes) {
    return refused("response files have more than {} bytes in all with '@{}'", k_max_response_bytes,
                   path);
  }
  const std::string_view text = base::as_text(*bytes);
  if (text.find('\0') != std::string_view::npos) {
    return refused("'{}' is not text: it contains a zero byte", path);
  }
  SplitWords split = split_words(text);
  if (split.ends_within_quotes) {
    return refused("'{}' ends within quotes", path);
  }
  return std::move(split.words);
}

Result<void> expand_into(const std::vector<std::string>& words, unsigned depth, ResponseFiles& read,
                         std::vector<std::string>& result) {
  bool only_inputs = false;
  for (const std::string& word : words) {
    only_inputs = only_inputs || word == "--";
    if (result.size() == k_max_words) {
      return refused("response files expand to more than {} words", k_max_words);
    }
    if (only_inputs || word.size() < 2 || word.front() != '@') {
      result.push_back(word);
      continue;
    }
    if (depth == k_max_response_file_depth) {
      return refused("response files are nested more than {} deep at '{}'",
                     k_max_response_file_depth, word);
    }
    CLBIN_TRY_ASSIGN(const auto words_of_file, read_response_file(word.substr(1), read));
    CLBIN_TRY(expand_into(words_of_file, depth + 1, read, result));
  }
  return {};
}

// Counts insertions, deletions, replacements and swaps of neighbours, each with cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    std::swap(before_previous, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

} // namespace

std::string alternatives(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    list += fmt::format("{}{}", separator, names[i]);
  }
  return list;
}

Result<std::vector<std::string>> expand_response_files(const std::vector<std::string>& words,
                                                       std::vector<std::filesystem::path>& files) {
  std::vector<std::string> result;
  ResponseFiles read{files};
  CLBIN_TRY(expand_into(words, 0, read, result));
  return result;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  // At most a third of the letters may differ, dashes not counted: nothing is similar to "-x".
  const std::size_t first_letter = std::min(word.find_first_not_of('-'), word.size());
  std::size_t best_distance = (word.size() - first_letter) / 3 + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance != 0 && distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

void add_source_words(const Options& options, std::vector<std::string>& words) {
  words.insert(words.end(), options.driver_options.begin(), options.driver_options.end());
  for (const auto& folder : options.include_folders) {
    words.push_back("-I" + folder.string());
  }
  for (const auto& file : options.forced_includes) {
    if (file.string().starts_with('@')) { // would be a response file as a word of its own
      words.push_back("-include" + file.string());
    } else {
      words.insert(words.end(), {"-include", file.string()});
    }
  }
  for (const PrefixMapping& mapping : options.prefix_map) {
    words.push_back(fmt::format("-ffile-prefix-map={}={}", mapping.old_prefix, mapping.new_prefix));
  }
  for (const Specialization& wanted : options.specializations) {
    const auto& [x, y, z] = wanted.size;
    words.insert(words.end(), {"--specialize", fmt::format("{}={}x{}x{}", wanted.kernel, x, y, z)});
  }
  if (options.absent_variants == AbsentVariants::refuse) {
    words.emplace_back("-Werror=variant");
  }
  if (options.source == SourcePolicy::drop) {
    words.emplace_back("--no-source");
  }
  if (options.cubin == CubinPolicy::emit) {
    words.emplace_back("--emit-cubin");
  }
}

std::vector<std::string> variant_words(const Options& options, const Variant& variant) {
  std::vector<std::string> words =
      option_words("--variant", fmt::format("{}={}", variant.name, join_options(variant.options)));
  const auto required = options.requirements.find(variant.name);
  if (required != options.requirements.end()) {
    words.insert(words.end(), {"--requires", fmt::format("{}={}", variant.name,
                                                         fmt::join(required->second, ","))});
  }
  return words;
}

} // namespace oclcc
