// Measures the cost of oclcc itself: many units in one call of the compile mode. The compiler costs
// next to nothing: it is the worker stub of the tests, whose "binary" consists of the source and
// the options.
//
//   batch [PROGRAMS...]        each: PROGRAMS × 4 variants × 3 devices; default: 84 and 1000
//
// For each number of programs, makes three calls, each in a separate process: one without the
// compile cache, one that fills it, and one that hits it. Prints for each call the time per unit,
// the peak resident memory of oclcc's process and the maximum number of open files; then the cost
// of a unit in the largest batch, divided by that in the smallest. Exit status 1 if a limit is not
// met.
#include "base/file_io.hpp"
#include "compile.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_units_a_program = 4 * 3UL; // variants, devices
constexpr std::size_t k_source_bytes = 20000;
constexpr std::size_t k_most_mib = 256;
constexpr std::size_t k_most_files = 64;
constexpr double k_flat = 1.25; // a unit of 12,000 relative to one of 1,008; includes noise

// Consists of a few different words, and therefore compresses about as well as source.
std::string source_text(std::size_t number, std::size_t size_bytes) {
  constexpr const char* k_words[] = {"float ", "global ", "int ", "i", "+ ", "* ", "(", ");\n"};
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(number + 1));
  std::string text = fmt::format("// {}\n", number);
  while (text.size() < size_bytes) {
    text += k_words[random() % std::size(k_words)];
  }
  return text;
}

std::size_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::strtoull(line.c_str() + 6, nullptr, 10);
    }
  }
  return 0;
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

oclcc::Options batch_options(const fs::path& folder, std::size_t programs, std::size_t size_bytes) {
  oclcc::Options options;
  options.jobs = 2;
  options.output = folder / "batch.clbin";
  for (const char* variant : {"a", "b", "c", "d"}) {
    options.variants.push_back({variant, {fmt::format("-DV={}", variant)}});
  }
  for (std::size_t i = 0; i < programs; ++i) {
    const fs::path file = folder / fmt::format("p{}.cl", i);
    std::ofstream(file) << source_text(i, size_bytes);
    options.inputs.push_back({file, file.stem().string()});
  }
  return options;
}

enum class CacheStep { none, fill, use };

struct Cost {
  int exit_code = 1;
  double ms_a_unit = 0;
  std::size_t peak_mib = 0;
  std::size_t open_files = 0;
};

Cost measure(const oclcc::Options& options, CacheStep step, const fs::path& folder) {
  oclcc::worker::WorkerSettings settings;
  settings.executable = OCLCC_WORKER_STUB;
  settings.arguments = {"devices"};
  clbin::cache::CacheSettings cache;
  cache.why_off = "a benchmark";
  if (step != CacheStep::none) {
    cache = clbin::cache::CacheSettings::from_environment(clbin::cache::this_process());
    cache.use = clbin::cache::CacheUse::on;
    cache.folder = folder / "cache";
    cache.max_bytes = 8ULL << 30U;
  }
  std::atomic<std::size_t> most_files = 0;
  std::jthread watch([&most_files](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      most_files = std::max(most_files.load(), open_files());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  oclcc::Reporter reporter(oclcc::ColorMode::never, oclcc::Verbosity::normal);
  const auto begin = std::chrono::steady_clock::now();
  Cost cost;
  cost.exit_code = static_cast<int>(oclcc::compile(options, settings, {cache}, reporter));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  cost.ms_a_unit = took.count() / static_cast<double>(options.inputs.size() * k_units_a_program);
  cost.peak_mib = peak_kib() / 1024;
  cost.open_files = most_files;
  return cost;
}

// Runs in a separate process, so that the peak is that of this call alone.
Cost measure_apart(const oclcc::Options& options, CacheStep step, const fs::path& folder) {
  int ends[2] = {-1, -1};
  Cost cost;
  if (::pipe(ends) != 0) {
    return cost;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    cost = measure(options, step, folder);
    const bool told = ::write(ends[1], &cost, sizeof(cost)) == ssize_t{sizeof(cost)};
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  if (::read(ends[0], &cost, sizeof(cost)) != ssize_t{sizeof(cost)}) {
    cost.exit_code = 1;
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return cost;
}

constexpr std::pair<CacheStep, const char*> k_steps[] = {{CacheStep::none, "no cache"},
                                                         {CacheStep::fill, "cache filled"},
                                                         {CacheStep::use, "from cache"}};

// Returns the costs of k_steps; empty if a call failed.
std::vector<Cost> measure_batch(std::size_t programs) {
  auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-bench-");
  if (!folder) {
    std::fprintf(stderr, "batch: %s\n", folder.error().message.c_str());
    return {};
  }
  const oclcc::Options options = batch_options(folder->path(), programs, k_source_bytes);
  std::vector<Cost> costs;
  for (const auto& [step, name] : k_steps) {
    costs.push_back(measure_apart(options, step, folder->path()));
    const Cost& cost = costs.back();
    if (cost.exit_code != 0) {
      std::fprintf(stderr, "batch: exit %d\n", cost.exit_code);
      return {};
    }
    std::printf(
        "%6zu units  %-12s  %7.3f ms a unit  peak %4zu MiB  %3zu open files  bundle %zu KiB\n",
        programs * k_units_a_program, name, cost.ms_a_unit, cost.peak_mib, cost.open_files,
        static_cast<std::size_t>(fs::file_size(folder->path() / "batch.clbin")) / 1024);
    std::fflush(stdout);
  }
  return costs;
}

const char* verdict(bool is_met) {
  return is_met ? "met" : "NOT MET";
}

bool is_flat(const std::vector<Cost>& smallest, const std::vector<Cost>& largest) {
  bool all_met = true;
  for (std::size_t step = 0; step < std::size(k_steps); ++step) {
    const double ratio = largest[step].ms_a_unit / smallest[step].ms_a_unit;
    const bool is_met = ratio <= k_flat && largest[step].peak_mib < k_most_mib &&
                        largest[step].open_files <= k_most_files;
    std::printf("%-12s  a unit of the largest batch over one of the smallest: %.2f  %s\n",
                k_steps[step].second, ratio, verdict(is_met));
    all_met = all_met && is_met;
  }
  return all_met;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  if (sizes.empty()) {
    sizes = {84, 1000};
  }
  std::vector<std::vector<Cost>> costs;
  for (const std::size_t programs : sizes) {
    costs.push_back(measure_batch(programs));
    if (costs.back().empty()) {
      return 2;
    }
  }
  return is_flat(costs.front(), costs.back()) ? 0 : 1;
}
