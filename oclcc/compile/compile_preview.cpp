#include "compile/compile_output.hpp"

#include "compile/unit_plan.hpp"
#include "targets/patterns.hpp"
#include "terminal/shell_quoting.hpp"

namespace oclcc {

namespace {

using Words = std::vector<std::string>;

std::string command_line(const Words& words) {
  return fmt::format(" oclcc{}\n", plan::shell_text(words));
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Appends an option and its value, if there is one.
void append(Words& words, std::string_view option, const std::optional<std::string>& value) {
  if (value) {
    append(words, option_words(option, *value));
  }
}

void append(Words& words, std::string_view option,
            const std::optional<std::filesystem::path>& file) {
  append(words, option, file ? std::optional(file->string()) : std::nullopt);
}

// A signed or encrypted output takes nothing from the cache, and its parts must not either. The
// parts are encrypted if there is a key that later commands can read.
void add_trust_words(const Options& options, Words& words) {
  append(words, "--encrypt-key", options.encryption.key);
  if (options.signing.is_requested() || options.encryption.is_requested()) {
    words.emplace_back("--no-cache");
  }
}

// For whom the last command that writes a bundle encrypts it.
void add_recipient_words(const Options& options, Words& words) {
  for (const std::string& recipient : options.encryption.recipients) {
    append(words, option_words("--encrypt-for", recipient));
  }
}

Words unit_words(const Job& job, const UnitPlace& place, const Options& options,
                 const std::string& output) {
  const BuildTarget& target = job.targets[place.target];
  const Program& program = job.programs[place.program];
  Words words = target.device ? Words{"--device", device_number(*target.device)}
                              : Words{"--target", target.target.spec};
  add_source_words(options, words);
  for (const auto& [name, path] : options.tools) {
    append(words, {"--tool", fmt::format("{}={}", name, path.string())});
  }
  for (const DeviceOptions& added : options.device_options) {
    if (target.device && matches_pattern(*target.device, added.pattern)) {
      append(words, {"--device-option", fmt::format("{}={}", device_number(*target.device),
                                                    join_options(added.options))});
    }
  }
  if (!options.variants.empty()) {
    append(words, variant_words(options, options.variants[place.variant]));
  }
  if (program.need == ProgramNeed::optional) {
    append(words, option_words("--optional", program.name));
  }
  add_trust_words(options, words);
  // A name with "=" is that of a file, because --program would end it there.
  const bool is_stem = program.name.find('=') != std::string::npos;
  if (!is_stem) {
    append(words, option_words("--program", fmt::format("{}={}", program.name, program.path)));
  }
  append(words, {"-o", output});
  if (is_stem) {
    append(words, {"--", program.path});
  }
  return words;
}

// Who signs the output.
void add_signing_words(const Options& options, std::string_view key_option, Words& words) {
  const SigningOptions& signing = options.signing;
  append(words, key_option, signing.key);
  if (signing.command) {
    append(words, option_words("--sign-with", *signing.command));
    append(words, option_words("--public-key", options.public_keys.front()));
  }
  if (signing.counter) {
    append(words, {"--counter", std::to_string(*signing.counter)});
  }
  append(words, "--passphrase-file", signing.passphrase_file);
}

// Properties of the output other than its name.
void add_output_words(const Options& options, Words& words) {
  append(words, "--emit", options.emit);
  append(words, "--symbol", options.symbol);
  append(words, "--host-triple", options.host_triple);
  append(words, "--embed-header", options.embed_header);
}

// The only command, which writes the output itself.
std::string whole_command(Words words, const Options& options) {
  add_output_words(options, words);
  add_recipient_words(options, words);
  add_signing_words(options, "--sign-key", words);
  return command_line(words);
}

// The names of intermediate files begin with it.
std::string stem_of(const OutputPlan& output) {
  const std::filesystem::path stem = output.path.parent_path() / output.path.stem();
  return stem == "-" ? "./-" : file_word(stem);
}

// Differs from all `others`: names may contain the dots that are between them here.
std::string unit_name(const Job& job, const UnitPlace& place, const OutputPlan& output,
                      const Words& others) {
  const BuildTarget& target = job.targets[place.target];
  std::string names =
      fmt::format("{}.{}.{}", job.programs[place.program].name, job.variants[place.variant].name,
                  target.device ? device_number(*target.device) : target.target.spec);
  std::ranges::replace(names, ':', '-');
  std::ranges::replace(names, '/', '-');
  const std::string stem = fmt::format("{}.{}", stem_of(output), names);
  std::string file = stem + ".clbin";
  for (int number = 2; std::ranges::find(others, file) != others.end(); ++number) {
    file = fmt::format("{}.{}.clbin", stem, number);
  }
  return file;
}

// Of a module: the command copies it into a bundle.
Words module_words(const Options& options, const IlProgram& module, const std::string& output) {
  Words words;
  for (const std::string& word : options.driver_options) {
    if (word.starts_with("-cl-")) {
      words.push_back(word);
    }
  }
  add_trust_words(options, words);
  append(words, option_words("--program", fmt::format("{}={}", module.program.name, module.path)));
  append(words, {"-o", output});
  return words;
}

} // namespace

std::string preview_of(const Job& job, const Options& options, const OutputPlan& output) {
  std::string text = fmt::format("oclcc {}\n", OCLCC_VERSION);
  const std::vector<UnitPlace> places = places_of(job);
  if (places.empty() && job.modules.size() == 1) {
    return text + whole_command(module_words(options, job.modules.front(), file_word(output.path)),
                                options);
  }
  if ((places.size() == 1 && job.modules.empty()) || output.form == OutputForm::raw_binary) {
    for (const UnitPlace& place : places) {
      text += whole_command(unit_words(job, place, options, file_word(output.path)), options);
    }
    return text;
  }
  Words merge = {"--merge"};
  for (const UnitPlace& place : places) {
    merge.push_back(unit_name(job, place, output, merge));
    text += command_line(unit_words(job, place, options, merge.back()));
  }
  for (const IlProgram& module : job.modules) {
    merge.push_back(fmt::format("{}.{}.spirv.clbin", stem_of(output), module.program.name));
    text += command_line(module_words(options, module, merge.back()));
  }
  // A merge copies payloads; only a repacked bundle equals that of a single run, byte for byte.
  const std::string stem = stem_of(output);
  const std::string merged = stem + ".merged.clbin";
  append(merge, "--decrypt-key", options.encryption.key);
  append(merge, {"-o", merged});
  text += command_line(merge);
  const bool is_bundle = output.form == OutputForm::bundle;
  const std::string packed = is_bundle ? file_word(output.path) : stem + ".packed.clbin";
  Words repack = {"--repack", merged};
  append(repack, "--decrypt-key", options.encryption.key);
  if (!options.encryption.recipients.empty()) {
    append(repack, "--encrypt-key", options.encryption.key);
    add_recipient_words(options, repack);
  }
  append(repack, {"-o", packed});
  text += command_line(repack);
  if (options.signing.is_requested()) {
    Words sign = {"--sign"};
    add_signing_words(options, "--key", sign);
    append(sign, "--decrypt-key", options.encryption.key);
    sign.push_back(packed);
    text += command_line(sign);
  }
  if (!is_bundle) { // embedded, or made into launchers
    Words last = {packed, "-o", file_word(output.path)};
    add_output_words(options, last);
    text += command_line(last);
  }
  return text;
}

} // namespace oclcc
