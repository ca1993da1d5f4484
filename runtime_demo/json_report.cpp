#include "reports.hpp"

#include <nlohmann/json.hpp>

namespace runtime_demo {

namespace {

using Json = nlohmann::ordered_json;

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
  case Outcome::passed:
    return "passed";
  case Outcome::skipped:
    return "skipped";
  case Outcome::expected_failure:
    return "expected failure";
  case Outcome::failed:
    break;
  }
  return "failed";
}

Json first_result_json(const FirstResult& first) {
  return {{"origin", first.origin}, {"load_ms", first.load_ms}, {"launch_ms", first.launch_ms}};
}

Json measurement_json(const Measurement& measurement) {
  Json json{{"kernel", measurement.kernel->name},
            {"program", measurement.kernel->program},
            {"variant", measurement.kernel->variant},
            {"device", measurement.device_index},
            {"size", {measurement.size.m, measurement.size.n, measurement.size.l}},
            {"result", outcome_name(measurement.outcome)},
            {"reason", measurement.reason}};
  if (measurement.launches_ms.empty()) {
    return json;
  }
  json["first"] = first_result_json(measurement.first);
  json["first_from_source"] =
      measurement.from_source ? first_result_json(*measurement.from_source) : Json();
  json["kernel_ms"] = measurement.kernel_ms();
  json["launches_ms"] = measurement.launches_ms;
  json["clock"] = measurement.timed_by_host ? "host" : "event";
  json["mflops"] = measurement.mflops();
  json["gigabytes_per_second"] = measurement.gigabytes_per_second();
  json["serial_cpu_ms"] = measurement.serial.seconds * 1e3;
  json["serial_cpu_part_run"] = measurement.serial.measured;
  json["times_serial_cpu"] = measurement.times_serial();
  json["largest_error"] = measurement.largest_error;
  json["allowed_error"] = measurement.allowed_error;
  return json;
}

} // namespace

std::string json_report(const std::vector<Device>& devices, std::uint64_t seed,
                        std::span<const Measurement> measurements) {
  Json report{{"seed", seed},
              {"serial_cpu", "plain loops, one thread, compiled with -O2"},
              {"devices", Json::array()},
              {"measurements", Json::array()}};
  for (const Device& device : devices) {
    report["devices"].push_back({{"index", device.index},
                                 {"platform", device.platform},
                                 {"name", device.name},
                                 {"driver_version", device.driver_version},
                                 {"fp64", device.has_double}});
  }
  for (const Measurement& measurement : measurements) {
    report["measurements"].push_back(measurement_json(measurement));
  }
  // Names from drivers can contain any bytes. Those that are not UTF-8 are replaced.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace runtime_demo
