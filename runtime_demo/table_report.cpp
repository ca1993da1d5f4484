#include "reports.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace runtime_demo {

namespace {

constexpr std::string_view k_row =
    "{:<30} {:<20} {:<15} {:<10} {:>9} {:>9} {:>11} {:>3} {:>11} {:>7} {:>10}  {}\n";

std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width);
}

std::string verdict(const Measurement& measurement) {
  switch (measurement.outcome) {
  case Outcome::passed:
    return "PASSED";
  case Outcome::skipped:
    return "skipped: " + measurement.reason;
  case Outcome::expected_failure:
    return "expected failure: " + measurement.reason;
  case Outcome::failed:
    break;
  }
  return "FAILED: " + measurement.reason;
}

struct ReportedCase {
  std::string_view kernel;
  std::string_view description;
  double cpu_mflops;
  double gpu_mflops;
};

// Reported for a Xeon E5649 and a Tesla M2090. "C(i,j)" is the kernel with a private accumulator.
constexpr double k_reported_serial_mflops = 887.2;
constexpr std::array k_lecture_cases{
    ReportedCase{"mat_mul", "C(i,j) per work-item, all global", 3926.1, 3720.9},
    ReportedCase{"mmul_row", "C row per work-item, all global", 3379.5, 4195.8},
    ReportedCase{"mmul_row_private", "C row per work-item, A row private", 3385.8, 8584.3},
    ReportedCase{"mmul_row_private_column_local", "C row per work-item, A private, B local",
                 10047.5, 8181.9},
    ReportedCase{"mmul_block", "block-oriented using local", 1534.0, 230416.7},
};

struct ReportedSpeedUp {
  std::string_view kernel;
  std::string_view from_source;
  std::string_view from_binary;
};

constexpr std::array k_blog_cases{
    ReportedSpeedUp{"matrixMul_local_ids", "slower", "-"},
    ReportedSpeedUp{"matrixMul_global_ids", "46", "57"},
    ReportedSpeedUp{"matrixMul_tiled", "61", "-"},
};

std::vector<std::string> devices_of(std::span<const Measurement> measurements) {
  std::vector<std::string> devices;
  for (const Measurement& measurement : measurements) {
    if (std::find(devices.begin(), devices.end(), measurement.device_index) == devices.end()) {
      devices.push_back(measurement.device_index);
    }
  }
  return devices;
}

const Measurement* find(std::span<const Measurement> measurements, std::string_view kernel,
                        const std::string& device) {
  const auto found =
      std::find_if(measurements.begin(), measurements.end(), [&](const Measurement& measurement) {
        return measurement.outcome == Outcome::passed && measurement.kernel->name == kernel &&
               measurement.device_index == device;
      });
  return found == measurements.end() ? nullptr : &*found;
}

bool has_series(std::span<const Measurement> measurements, Series series) {
  return std::any_of(measurements.begin(), measurements.end(), [&](const Measurement& one) {
    return one.outcome == Outcome::passed && one.kernel->series == series;
  });
}

double serial_mflops(const Measurement& measurement) {
  return floating_point_operations(*measurement.kernel, measurement.size) /
         measurement.serial.seconds / 1e6;
}

std::string lecture_serial_row(std::span<const Measurement> measurements,
                               const std::vector<std::string>& devices) {
  std::string row = fmt::format("{:<40} {:>10.1f} {:>10}", "sequential, one thread",
                                k_reported_serial_mflops, "-");
  for (const std::string& device : devices) {
    double mflops = 0;
    for (const ReportedCase& reported : k_lecture_cases) {
      const Measurement* const found = find(measurements, reported.kernel, device);
      mflops = found != nullptr ? serial_mflops(*found) : mflops;
    }
    row += fmt::format(" {:>12}", readable_number(mflops));
  }
  return row + "\n";
}

std::string speed_up(const Measurement& measurement, const FirstResult& first) {
  return readable_number(measurement.serial.seconds * 1e3 / first.total_ms());
}

} // namespace

std::string readable_number(double value) {
  if (value == 0) {
    return "-";
  }
  if (value >= 100) {
    return fmt::format("{:.0f}", value);
  }
  if (value >= 10) {
    return fmt::format("{:.1f}", value);
  }
  if (value >= 0.1) {
    return fmt::format("{:.2f}", value);
  }
  return value >= 0.001 ? fmt::format("{:.4f}", value) : fmt::format("{:.1e}", value);
}

std::string kernel_list() {
  std::string text;
  for (const KernelCase& kernel : kernel_catalog()) {
    text += fmt::format("{:<30} {:<20} {:<15} {:<44} {}\n", kernel.name, kernel.program,
                        to_string(kernel.source_size), kernel.source, describe_bound(kernel));
  }
  return text;
}

std::string preamble(const std::vector<Device>& devices, std::uint64_t seed) {
  std::string text;
  for (const Device& device : devices) {
    text += fmt::format("device {}: {}, {} (driver {})\n", device.index, device.platform,
                        device.name, device.driver_version);
  }
  return text + fmt::format("operands: uniform in [-1, 1), --seed {}\n\n", seed);
}

std::string table_header() {
  return fmt::format(k_row, "kernel", "device", "size", "loaded as", "load ms", "first ms",
                     "kernel ms", "n", "MFLOPS", "GB/s", "x serial", "result");
}

std::string table_row(const Measurement& measurement) {
  const FirstResult& first = measurement.first;
  const std::string device = measurement.device_index + " " + measurement.platform;
  return fmt::format(k_row, measurement.kernel->name, shortened(device, 20),
                     to_string(measurement.size), first.origin.empty() ? "-" : first.origin,
                     readable_number(first.load_ms), readable_number(first.launch_ms),
                     readable_number(measurement.kernel_ms()) +
                         (measurement.timed_by_host ? "h" : ""),
                     measurement.launches_ms.size(), readable_number(measurement.mflops()),
                     readable_number(measurement.gigabytes_per_second()),
                     readable_number(measurement.times_serial()), verdict(measurement));
}

std::string table_footnotes() {
  return "load ms: until the program is ready, once a program; first ms: the first launch; both by "
         "the host's clock.\n"
         "kernel ms: median of n further launches by event profiling (h: by the host's clock).\n"
         "GB/s: every operand read once and the result written once, where memory is the limit.\n"
         "x serial: times as fast as plain loops on one thread of this CPU, compiled with -O2, in "
         "the kernel's precision;\n"
         "  of products that take longer than a second a part is run, and the whole extrapolated.\n"
         "result: every element of the first and of the last launch compared with a product in "
         "higher precision;\n"
         "  --list prints each kernel's bound.\n";
}

std::string summary(std::span<const Measurement> measurements) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(measurements.begin(), measurements.end(),
                         [&](const Measurement& one) { return one.outcome == outcome; });
  };
  return fmt::format("{} passed, {} failed, {} expected to fail (a driver's own bug), {} skipped\n",
                     count(Outcome::passed), count(Outcome::failed),
                     count(Outcome::expected_failure), count(Outcome::skipped));
}

std::string best_variants(std::span<const Measurement> measurements) {
  std::string text;
  for (const std::string& device : devices_of(measurements)) {
    const Measurement* best = nullptr;
    std::size_t measured = 0;
    for (const Measurement& one : measurements) {
      if (one.kernel->series != Series::register_blocked || one.outcome != Outcome::passed ||
          one.device_index != device) {
        continue;
      }
      ++measured;
      best = best == nullptr || one.mflops() > best->mflops() ? &one : best;
    }
    if (best != nullptr) {
      text += fmt::format("best of {} register-blocked variants on {} {}: {}, {} GFLOPS\n",
                          measured, device, best->device_name, best->kernel->name,
                          readable_number(best->mflops() / 1e3));
    }
  }
  return text;
}

std::string lecture_table(std::span<const Measurement> measurements) {
  if (!has_series(measurements, Series::lecture_2017)) {
    return {};
  }
  const std::vector<std::string> devices = devices_of(measurements);
  std::string text = "MFLOPS of the 2017 lecture (Xeon E5649, Tesla M2090), and here\n";
  text += fmt::format("{:<40} {:>10} {:>10}", "case", "CPU then", "GPU then");
  for (const std::string& device : devices) {
    text += fmt::format(" {:>12}", "here " + device);
  }
  text += "\n" + lecture_serial_row(measurements, devices);
  for (const ReportedCase& reported : k_lecture_cases) {
    text += fmt::format("{:<40} {:>10.1f} {:>10.1f}", reported.description, reported.cpu_mflops,
                        reported.gpu_mflops);
    for (const std::string& device : devices) {
      const Measurement* const found = find(measurements, reported.kernel, device);
      text += fmt::format(" {:>12}", found != nullptr ? readable_number(found->mflops()) : "-");
    }
    text += "\n";
  }
  return text;
}

std::string blog_table(std::span<const Measurement> measurements) {
  if (!has_series(measurements, Series::blog_2009)) {
    return {};
  }
  constexpr std::string_view k_blog_row = "{:<22} {:<20} {:<15} {:>12} {:>12} {:>12} {:>12}\n";
  std::string text = "Times a serial CPU, to the first result, of the 2009 blog (1024x1024), and "
                     "here\n";
  text += fmt::format(k_blog_row, "kernel", "device", "size", "source then", "source here",
                      "PTX then", "bundle here");
  for (const ReportedSpeedUp& reported : k_blog_cases) {
    for (const std::string& device : devices_of(measurements)) {
      const Measurement* const found = find(measurements, reported.kernel, device);
      if (found == nullptr) {
        continue;
      }
      const bool first_is_source = found->first.origin == "source";
      text +=
          fmt::format(k_blog_row, reported.kernel, shortened(device + " " + found->platform, 20),
                      to_string(found->size), reported.from_source,
                      first_is_source      ? speed_up(*found, found->first)
                      : found->from_source ? speed_up(*found, *found->from_source)
                                           : "-",
                      reported.from_binary, first_is_source ? "-" : speed_up(*found, found->first));
    }
  }
  return text;
}

} // namespace runtime_demo
