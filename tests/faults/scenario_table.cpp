#include "faults/scenario_table.hpp"

namespace clbin::test {

namespace {

const std::string k_exact = "loaded exact identity";
const std::string k_foreign = "not attempted not compatible";
const std::string k_missed = "not attempted user cache";
const std::string k_source = "loaded source";

// The driver rejects the entry in this way. The foreign entry is not tried, and source is built.
Scenario refused(const std::string& name, const std::string& faults, const std::string& answer) {
  return {name,
          BundleKind::both,
          {},
          {{faults,
            "source" + k_right,
            {"refused exact identity: " + answer, k_missed, k_foreign, k_source}}}};
}

Scenario loads_the_entry(const std::string& name, const std::string& faults) {
  return {name, BundleKind::both, {}, {{faults, "entry" + k_right, {k_exact}}}};
}

// The identity differs from the entry's: none of its bytes reach the driver.
Scenario identity_changed(const std::string& name, const std::string& faults) {
  return {name,
          BundleKind::both,
          {},
          {{faults,
            "source" + k_right,
            {k_missed, k_foreign, k_foreign, k_source},
            {},
            "clCreateProgramWithBinary"}},
          Needs::equal_identity};
}

} // namespace

std::vector<Scenario> refusal_scenarios() {
  const std::string create_refused = "clCreateProgramWithBinary -42";
  std::vector<Scenario> rows{
      on_each(loads_the_entry("nothing is wrong", "")),
      refused("create: no memory", "fail at=clCreateProgramWithBinary code=CL_OUT_OF_HOST_MEMORY",
              "clCreateProgramWithBinary -6"),
      refused("create: no resources", "refuse style=honest code=CL_OUT_OF_RESOURCES",
              "clCreateProgramWithBinary -5"),
      on_each(refused("build: failure with a log",
                      "fail at=clBuildProgram origin=binary code=CL_BUILD_PROGRAM_FAILURE "
                      "log=\"The program ISA is not compatible\"",
                      "clBuildProgram -11")),
      refused("build: a code of the vendor's own",
              "fail at=clBuildProgram origin=binary code=-9999", "clBuildProgram -9999"),
      refused("build: no memory", "fail at=clBuildProgram origin=binary code=CL_OUT_OF_HOST_MEMORY",
              "clBuildProgram -6"),
      on_each(refused("a kernel is lost", "lose-kernel kernel=twice origin=binary",
                      "clGetProgramInfo -46")),
      on_each(refused("a kernel is lost and the names are hidden",
                      "lose-kernel kernel=thrice origin=binary\nhide-kernel-names origin=binary",
                      "clCreateKernel -46")),
      refused("kernels cannot be created and the names are hidden",
              "hide-kernel-names origin=binary\n"
              "fail at=clCreateKernel origin=binary code=CL_OUT_OF_HOST_MEMORY",
              "clCreateKernel -6"),
      on_each(loads_the_entry("the names are hidden", "hide-kernel-names origin=binary")),
      on_each(loads_the_entry("the program tells nothing of itself",
                              "fail at=clGetProgramInfo origin=binary code=CL_OUT_OF_HOST_MEMORY")),
      on_each(loads_the_entry(
          "the build has no log",
          "fail at=clGetProgramBuildInfo origin=binary code=CL_OUT_OF_HOST_MEMORY")),
      on_each({"the driver builds the IR of the binary (Intel)",
               BundleKind::both,
               {},
               {{"build-log origin=binary text=\"warning: recompiled [-Wrecompiled-from-ir]\"",
                 "il" + k_right,
                 {"recompiled exact identity", k_missed, k_foreign, "loaded recompiled"}}}}),
      on_each(loads_the_entry("platforms and devices in the other order",
                              "reverse at=clGetPlatformIDs\nreverse at=clGetDeviceIDs")),
  };
  for (const char* style : {"honest", "null-success", "status-success", "unwritten-status",
                            "program-with-error", "last-status"}) {
    rows.push_back(refused(std::string("create refuses: ") + style,
                           std::string("refuse style=") + style, create_refused));
  }
  return rows;
}

std::vector<Scenario> changed_identity_scenarios() {
  return {
      on_each(
          identity_changed("driver upgraded",
                           "answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=\"999.1 new\"")),
      identity_changed("driver downgraded",
                       "answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=0"),
      identity_changed("driver tells no version",
                       "answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=\"\""),
      identity_changed("another device",
                       "answer at=clGetDeviceInfo name=CL_DEVICE_NAME value=\"another device\""),
      identity_changed("another platform",
                       "answer at=clGetPlatformInfo name=CL_PLATFORM_NAME value=\"Other\""),
      {"driver upgraded and taken back",
       BundleKind::both,
       {},
       {{"answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=999", "source" + k_right},
        {"", "entry" + k_right, {k_exact}}},
       Needs::equal_identity},
  };
}

std::vector<Scenario> error_scenarios() {
  const std::string refuse_build = "fail at=clBuildProgram origin=binary code=-11 log=\"no\"";
  const std::string upgrade = "answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=999";
  const std::string no_source = "fail at=clCompileProgram code=CL_COMPILE_PROGRAM_FAILURE";
  return {
      {"refused at create, no source",
       BundleKind::entries,
       {},
       {{"refuse style=honest", "CLBIN_ERROR_BINARY_REFUSED"}}},
      {"refused at create with success, no source",
       BundleKind::entries,
       {},
       {{"refuse style=null-success", "CLBIN_ERROR_BINARY_REFUSED"}}},
      {"refused at build, no source",
       BundleKind::entries,
       {},
       {{refuse_build, "CLBIN_ERROR_BINARY_REFUSED"}}},
      {"refused at build, source not allowed",
       BundleKind::both,
       {"--fallback", "never"},
       {{refuse_build,
         "CLBIN_ERROR_BINARY_REFUSED",
         {"refused exact identity: clBuildProgram -11", k_foreign},
         {},
         "clCreateProgramWithSource"}}},
      {"driver upgraded, no source",
       BundleKind::entries,
       {},
       {{upgrade, "CLBIN_ERROR_NO_SOURCE", {}, {}, "clCreateProgramWithBinary"}},
       Needs::equal_identity},
      {"driver upgraded, source not allowed",
       BundleKind::both,
       {"--fallback", "never"},
       {{upgrade, "CLBIN_ERROR_NO_MATCHING_ENTRY", {}, {}, "clCreateProgramWith"}},
       Needs::equal_identity},
      {"refused, and source does not compile",
       BundleKind::both,
       {},
       {{refuse_build + "\n" + no_source, "CLBIN_ERROR_BUILD_FAILED"}}},
      {"the device tells nothing of itself",
       BundleKind::both,
       {},
       {{"fail at=clGetDeviceInfo code=CL_OUT_OF_HOST_MEMORY", "CLBIN_ERROR_OPENCL_CALL"}}},
      {"the platform tells nothing of itself",
       BundleKind::both,
       {},
       {{"fail at=clGetPlatformInfo code=CL_OUT_OF_HOST_MEMORY", "CLBIN_ERROR_OPENCL_CALL"}}},
  };
}

std::vector<Scenario> source_scenarios() {
  return {
      on_each({"source alone",
               BundleKind::source,
               {},
               {{"", "source" + k_right, {k_missed, k_source}}}}),
      on_each({"source asked for",
               BundleKind::both,
               {"--fallback", "always"},
               {{"", "source" + k_right, {}, {}, "clCreateProgramWithBinary"}}}),
      on_each({"options of run time",
               BundleKind::both,
               {"--build-options", "-DTWICE=5"},
               {{"", "source 105 63", {}, {}, "clCreateProgramWithBinary"}}}),
      {"create fails once",
       BundleKind::source,
       {},
       {{"fail at=clCreateProgramWithSource code=CL_OUT_OF_HOST_MEMORY call=1",
         "CLBIN_ERROR_BUILD_FAILED"},
        {"", "source" + k_right}}},
      {"a header cannot be created",
       BundleKind::source,
       {},
       {{"fail at=clCreateProgramWithSource code=CL_OUT_OF_HOST_MEMORY call=2",
         "CLBIN_ERROR_BUILD_FAILED"}}},
      {"does not compile",
       BundleKind::source,
       {},
       {{"fail at=clCompileProgram code=CL_COMPILE_PROGRAM_FAILURE log=\"oops\"",
         "CLBIN_ERROR_BUILD_FAILED"}}},
      {"does not link",
       BundleKind::source,
       {},
       {{"fail at=clLinkProgram code=CL_LINK_PROGRAM_FAILURE", "CLBIN_ERROR_BUILD_FAILED"}}},
      on_each(
          {"links without options only",
           BundleKind::source,
           {"--build-options", "-cl-fast-relaxed-math"},
           {{"fail at=clLinkProgram code=CL_INVALID_LINKER_OPTIONS call=1", "source" + k_right}}}),
  };
}

std::vector<Scenario> several_devices_scenarios() {
  const std::vector<std::string> all{"--all-devices"};
  const std::string both_right = " 42 63 42 63";
  const std::string together = "loaded several devices";
  const std::string accepted = "accepted exact identity";
  return {
      {"two devices",
       BundleKind::both,
       all,
       {{"", "entry" + both_right, {accepted, accepted, together}}},
       Needs::two_devices},
      {"two devices in the other order",
       BundleKind::both,
       all,
       {{"reverse at=clGetDeviceIDs", "entry" + both_right, {accepted, accepted, together}}},
       Needs::two_devices},
      {"a context whose devices come in the other order",
       BundleKind::both,
       all,
       {{"reverse at=clGetContextInfo\nreverse at=clGetProgramInfo",
         "entry" + both_right,
         {accepted, accepted, together}}},
       Needs::two_devices},
      {"together refused: last device's status",
       BundleKind::both,
       all,
       {{"refuse style=last-status call=3",
         "source" + both_right,
         {accepted, accepted, "refused several devices: clCreateProgramWithBinary -42", k_source}}},
       Needs::two_devices},
      {"together refused at build",
       BundleKind::both,
       all,
       {{"fail at=clBuildProgram origin=binary call=3 code=-11",
         "source" + both_right,
         {accepted, accepted, "refused several devices: clBuildProgram -11", k_source}}},
       Needs::two_devices},
      {"together they kill the process",
       BundleKind::both,
       all,
       {{"crash at=clCreateProgramWithBinary call=3", "SIGSEGV"},
        {"crash at=clCreateProgramWithBinary call=3", "SIGSEGV"},
        {"crash at=clCreateProgramWithBinary call=3", "source" + both_right}},
       Needs::two_devices},
      {"together refused, no source",
       BundleKind::entries,
       all,
       {{"refuse style=honest call=3", "CLBIN_ERROR_SEVERAL_DEVICES_REFUSED"}},
       Needs::two_devices},
      {"one device's binary refused",
       BundleKind::both,
       all,
       {{"refuse style=honest call=2", "source" + both_right}},
       Needs::two_devices},
      {"one device has no binary",
       BundleKind::both,
       all,
       {{"answer at=clGetDeviceInfo name=CL_DEVICE_NAME value=other device=FIRST_DEVICE",
         "source" + both_right}},
       Needs::two_devices},
      {"one device has no binary, no source",
       BundleKind::entries,
       all,
       {{"answer at=clGetDeviceInfo name=CL_DEVICE_NAME value=other device=FIRST_DEVICE",
         "CLBIN_ERROR_NO_SOURCE"}},
       Needs::two_devices},
  };
}

std::vector<Scenario> sub_device_scenarios() {
  return {
      {"a part of a device",
       BundleKind::both,
       {"--sub-device"},
       {{"", "entry" + k_right, {k_exact}}},
       Needs::sub_devices},
      {"a part of a device, refused",
       BundleKind::both,
       {"--sub-device"},
       {{"refuse style=honest", "source" + k_right}},
       Needs::sub_devices},
  };
}

} // namespace clbin::test
