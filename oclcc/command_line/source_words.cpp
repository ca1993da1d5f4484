#include "command_line/source_words.hpp"

#include <fmt/format.h>

namespace oclcc {

void add_source_words(const Options& options, std::vector<std::string>& words) {
  words.insert(words.end(), options.driver_options.begin(), options.driver_options.end());
  for (const auto& folder : options.include_folders) {
    words.push_back("-I" + folder.string());
  }
  for (const auto& file : options.forced_includes) {
    words.insert(words.end(), {"-include", file.string()});
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

} // namespace oclcc
