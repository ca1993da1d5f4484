#include "options.hpp"

#include <charconv>
#define CXXOPTS_NO_REGEX // takes a second less to compile
#include <cxxopts.hpp>
#include <fmt/format.h>

namespace runtime_demo {

namespace {

constexpr unsigned k_most_repeats = 100'000;

cxxopts::Options make_parser() {
  cxxopts::Options parser(
      "runtime_demo", "Runs the kernels of a bundle on every device, checks and measures them.");
  parser.positional_help("[BUNDLE]...");
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto texts = [] { return cxxopts::value<std::vector<std::string>>(); };
  auto add = parser.add_options();
  add("list", "list the kernels, one a line, and exit");
  add("kernel", "run this kernel only (may be repeated)", texts(), "NAME");
  add("size", "(M x N) * (N x L) instead of each kernel's own size; N alone is NxNxN", text(),
      "MxNxL");
  add("repeat", "timed launches a kernel (default: 10, or as many, at least 3, as fit in 5 s)",
      text(), "N");
  add("quick", "time launches for 0.25 s a kernel, at least 1; multiply at most 512x512 matrices "
               "on CPUs, and "
               "choose smaller operands if a launch would take longer than 0.3 s; "
               "with --plot, run only the kernels of the 2009 blog from source, too");
  add("device",
      "gpu, cpu, all, an index (0:1) or a part of a platform's or device's name (may be repeated)",
      texts(), "PATTERN");
  add("from-source", "build from the bundle's source instead of loading its entries");
  add("json", "print JSON instead of tables");
  add("plot", "write bars of GFLOPS and of time to first result, from source and from the bundle",
      text(), "FILE.svg");
  add("seed", "of the random operands (default: a fresh one, printed)", text(), "N");
  add("help", "print this and exit");
  add("version", "print the version and exit");
  add("bundle", "bundles to take the kernels from (default: those built with the demo)", texts());
  parser.parse_positional({"bundle"});
  return parser;
}

tl::unexpected<Error> refuse(std::string message) {
  return failure(ExitCode::command_line, std::move(message));
}

template <class Number>
Result<Number> parse_number(std::string_view option, const std::string& text, Number least,
                            Number most) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || stop != end || number < least || number > most) {
    return refuse(fmt::format("{} '{}' is not a number from {} to {}", option, text, least, most));
  }
  return number;
}

Result<std::size_t> parse_dimension(const std::string& whole, std::string_view part) {
  long long number = 0;
  const char* const end = part.data() + part.size();
  const auto [stop, code] = std::from_chars(part.data(), end, number);
  if (stop != end || code == std::errc::invalid_argument) {
    return refuse(fmt::format("size '{}' is neither MxNxL nor N", whole));
  }
  if (number < 1 && code == std::errc{}) {
    return refuse(fmt::format("size '{}': every size has to be at least 1", whole));
  }
  if (code != std::errc{}) {
    return refuse(fmt::format("size '{}' does not fit a number", whole));
  }
  return static_cast<std::size_t>(number);
}

std::string value_of(const cxxopts::ParseResult& parsed, const char* name) {
  return parsed.count(name) == 0 ? std::string() : parsed[name].as<std::string>();
}

std::vector<std::string> values_of(const cxxopts::ParseResult& parsed, const char* name) {
  return parsed.count(name) == 0 ? std::vector<std::string>()
                                 : parsed[name].as<std::vector<std::string>>();
}

Result<void> take_numbers(const cxxopts::ParseResult& parsed, Options& options) {
  if (parsed.count("size") > 0) {
    const Result<Size> size = parse_size(value_of(parsed, "size"));
    if (!size) {
      return tl::unexpected<Error>(size.error());
    }
    options.size = *size;
  }
  if (parsed.count("repeat") > 0) {
    const Result<unsigned> repeat =
        parse_number<unsigned>("--repeat", value_of(parsed, "repeat"), 1, k_most_repeats);
    if (!repeat) {
      return tl::unexpected<Error>(repeat.error());
    }
    options.repeat = *repeat;
  }
  if (parsed.count("seed") > 0) {
    const Result<std::uint64_t> seed =
        parse_number<std::uint64_t>("--seed", value_of(parsed, "seed"), 0, ~std::uint64_t{0});
    if (!seed) {
      return tl::unexpected<Error>(seed.error());
    }
    options.seed = *seed;
  }
  return {};
}

Mode mode_of(const cxxopts::ParseResult& parsed) {
  if (parsed.count("help") > 0) {
    return Mode::help;
  }
  if (parsed.count("version") > 0) {
    return Mode::version;
  }
  return parsed.count("list") > 0 ? Mode::list : Mode::run;
}

Result<Options> take_options(const cxxopts::ParseResult& parsed) {
  Options options;
  options.mode = mode_of(parsed);
  for (const std::string& path : values_of(parsed, "bundle")) {
    options.bundles.emplace_back(path);
  }
  options.kernels = values_of(parsed, "kernel");
  options.devices = values_of(parsed, "device");
  if (parsed.count("plot") > 0) {
    options.plot = value_of(parsed, "plot");
  }
  options.format = parsed.count("json") > 0 ? OutputFormat::json : OutputFormat::table;
  options.limits = parsed.count("quick") > 0 ? k_quick_limits : RunLimits();
  options.load_from = parsed.count("from-source") > 0 ? LoadFrom::source : LoadFrom::bundle;
  const Result<void> numbers = take_numbers(parsed, options);
  if (!numbers) {
    return tl::unexpected<Error>(numbers.error());
  }
  return options;
}

// cxxopts uses typographic quotation marks and starts with a capital letter.
std::string plain(std::string text) {
  for (const std::string_view mark : {"\u2018", "\u2019"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), "'");
    }
  }
  if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z') {
    text.front() = static_cast<char>(text.front() - 'A' + 'a');
  }
  return text;
}

} // namespace

Result<Size> parse_size(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('x', start), text.size());
    const Result<std::size_t> number =
        parse_dimension(text, std::string_view(text).substr(start, end - start));
    if (!number) {
      return tl::unexpected<Error>(number.error());
    }
    sizes.push_back(*number);
    start = end + 1;
  }
  if (sizes.size() == 1) {
    return Size{sizes[0], sizes[0], sizes[0]};
  }
  if (sizes.size() != 3) {
    return refuse(fmt::format("size '{}' is neither MxNxL nor N", text));
  }
  return Size{sizes[0], sizes[1], sizes[2]};
}

Result<Options> parse_options(const std::vector<std::string>& words) {
  std::vector<const char*> arguments{"runtime_demo"};
  for (const std::string& word : words) {
    arguments.push_back(word.c_str());
  }
  cxxopts::Options parser = make_parser();
  try {
    return take_options(parser.parse(static_cast<int>(arguments.size()), arguments.data()));
  } catch (const cxxopts::exceptions::exception& error) {
    return refuse(plain(error.what()));
  }
}

std::string help_text() {
  return make_parser().help();
}

} // namespace runtime_demo
