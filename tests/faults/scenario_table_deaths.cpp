// Rows of the table in which a fault ends the process.
#include "faults/scenario_table.hpp"

namespace clbin::test {

namespace {

const std::string k_no_binary = "clCreateProgramWithBinary";

const StartRow k_well{"", "entry" + k_right, {"loaded exact identity"}};

// The entry is in quarantine: none of its bytes reach the driver, and source is built.
StartRow held_back(const std::string& faults) {
  return {faults,
          "source" + k_right,
          {"not attempted exact identity", "not attempted user cache",
           "not attempted not compatible", "loaded source"},
          {},
          k_no_binary};
}

StartRow dies(const std::string& faults, const std::string& how = "SIGSEGV") {
  return {faults, how};
}

StartRow later(StartRow row, int days) {
  row.days_later = days;
  return row;
}

// Two crashes, then quarantine, even if the fault no longer occurs.
Scenario quarantined(const std::string& name, const std::string& faults,
                     const std::string& signal) {
  return {name,
          BundleKind::both,
          {},
          {dies(faults, signal), dies(faults, signal), held_back(faults), held_back(faults),
           held_back("")}};
}

const std::string k_crash = "crash at=clCreateProgramWithBinary";

} // namespace

std::vector<Scenario> loading_death_scenarios() {
  std::vector<Scenario> rows;
  for (const char* call : {"clCreateProgramWithBinary", "clBuildProgram"}) {
    for (const char* signal : {"SIGSEGV", "SIGABRT"}) {
      rows.push_back(
          quarantined(std::string(signal) + " in " + call,
                      std::string("crash origin=binary at=") + call + " signal=" + signal, signal));
    }
  }
  // After the driver itself built the binary, with the threads that it started.
  rows.push_back(
      on_each(quarantined("SIGBUS when asked for the kernels",
                          "crash origin=binary at=clGetProgramInfo signal=SIGBUS", "SIGBUS")));
  rows.push_back(quarantined("SIGFPE when a refused program is released",
                             "refuse style=program-with-error\n"
                             "crash origin=binary at=clReleaseProgram signal=SIGFPE",
                             "SIGFPE"));
  for (const char* call : {"clCreateProgramWithBinary", "clBuildProgram"}) {
    rows.push_back(quarantined(std::string("a panic of Rust in ") + call,
                               std::string("panic origin=binary at=") + call, "SIGABRT"));
  }
  for (const char* call : {"clCreateProgramWithBinary", "clBuildProgram"}) {
    const std::string faults = std::string("hang origin=binary at=") + call;
    StartRow killed = dies(faults, "SIGKILL");
    killed.kill_at = "-> hang";
    rows.push_back({std::string("hangs in ") + call + " and is killed",
                    BundleKind::both,
                    {},
                    {killed, killed, held_back(faults), held_back("")}});
  }
  return rows;
}

std::vector<Scenario> quarantine_scenarios() {
  StartRow another_driver{"answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=\"lifted 1.0\"",
                          "entry" + k_right,
                          {"loaded exact identity"}};
  return {
      {"one death", BundleKind::both, {}, {dies(k_crash), k_well}},
      {"two deaths with a start that went well between them",
       BundleKind::both,
       {},
       {dies(k_crash), k_well, dies(k_crash), held_back("")}},
      {"two deaths more than a day apart",
       BundleKind::both,
       {},
       {dies(k_crash), later(dies(k_crash), 2), later(k_well, 2)}},
      {"lifted after 30 days",
       BundleKind::both,
       {},
       {dies(k_crash), dies(k_crash), later(held_back(""), 29), later(k_well, 31)}},
      {"lifted after 30 days, and earned again",
       BundleKind::both,
       {},
       {dies(k_crash), dies(k_crash), later(dies(k_crash), 31), later(dies(k_crash), 31),
        later(held_back(""), 31)}},
      {"the clock is set back during quarantine",
       BundleKind::both,
       {},
       {dies(k_crash), dies(k_crash), later(held_back(""), -400), later(k_well, -369)}},
      {"lifted by another driver",
       BundleKind::two_drivers,
       {},
       {dies(k_crash), dies(k_crash), another_driver}},
      {"without a cache nobody remembers",
       BundleKind::both,
       {},
       {dies(k_crash), dies(k_crash), dies(k_crash), k_well},
       Needs::any_platform,
       {{"CLBIN_CACHE", "0"}}},
      {"no source",
       BundleKind::entries,
       {},
       {dies(k_crash), dies(k_crash), {k_crash, "CLBIN_ERROR_BINARY_REFUSED"}}},
      {"source not allowed",
       BundleKind::both,
       {"--fallback", "never"},
       {dies(k_crash),
        dies(k_crash),
        {k_crash, "CLBIN_ERROR_BINARY_REFUSED", {}, {}, k_no_binary}}},
      {"a part of a device",
       BundleKind::both,
       {"--sub-device"},
       {dies(k_crash), dies(k_crash), held_back("")},
       Needs::sub_devices},
  };
}

// Crashes that the loaded bytes did not cause, or that were not in a load. No quarantine follows.
std::vector<Scenario> other_death_scenarios() {
  const std::string at_launch = "crash at=clEnqueueNDRangeKernel";
  const std::string at_source = "crash at=clCompileProgram signal=SIGABRT";
  const StartRow from_source{"", "source" + k_right};
  return {
      on_each({"dies at the launch",
               BundleKind::both,
               {},
               {dies(at_launch), dies(at_launch), dies(at_launch), k_well}}),
      {"no memory at the launch",
       BundleKind::both,
       {},
       {{"fail at=clEnqueueNDRangeKernel code=CL_OUT_OF_HOST_MEMORY",
         "entry clEnqueueNDRangeKernel=-6 clEnqueueNDRangeKernel=-6"},
        k_well}},
      {"dies while source is compiled",
       BundleKind::source,
       {},
       {dies(at_source, "SIGABRT"), dies(at_source, "SIGABRT"), dies(at_source, "SIGABRT"),
        from_source}},
      {"hangs while source is compiled and is killed",
       BundleKind::source,
       {},
       {{"hang at=clCompileProgram", "SIGKILL", {}, {}, {}, "-> hang"}, from_source}},
  };
}

} // namespace clbin::test
