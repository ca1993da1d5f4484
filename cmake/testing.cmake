include(GoogleTest)

# Only the tested code is optimized: a test's own code takes longer to optimize than to run.
add_library(test_settings INTERFACE)
target_link_libraries(test_settings INTERFACE standard_settings GTest::gtest GTest::gmock)
target_compile_options(test_settings INTERFACE -O0)

# Headers that most tests include, parsed once, because they take half of a test's compile time.
# None is of this project, so a change never rebuilds all tests.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
add_library(test_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_precompile_headers(test_headers PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <csignal> <cstdint> <cstdlib> <cstring> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <utility> <vector> <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(test_headers PRIVATE test_settings)
set_target_properties(test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(test_headers PRIVATE -fPIE) # as CMake compiles an executable
# Lets ccache distinguish precompiled headers: gcc then names the one that it uses, and clang writes
# no time into it.
target_compile_options(test_settings INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# The programs that run the tests of a label. A sanitizer build compiles no others.
add_custom_target(unit_tests)
add_custom_target(thread_tests)

# clbin_define_programs(TARGET MACRO=program…): each macro is the path of a target, which is built
# before TARGET runs.
function(clbin_define_programs target)
  foreach(definition IN LISTS ARGN)
    string(REGEX MATCH "(.+)=(.+)" definition ${definition})
    target_compile_definitions(${target} PRIVATE
      "${CMAKE_MATCH_1}=\"$<TARGET_FILE:${CMAKE_MATCH_2}>\"")
    add_dependencies(${target} ${CMAKE_MATCH_2})
  endforeach()
endfunction()

# clbin_add_test_library(NAME a.cpp… [PUBLIC x…] [DEFINITIONS X=1…]): a static library for tests.
function(clbin_add_test_library name)
  clbin_add_library(${name} STATIC SOURCES ${ARGN} INCLUDES ${PROJECT_SOURCE_DIR}/tests PRIVATE GTest::gtest)
endfunction()

# clbin_add_command_test(NAME LABELS x… COMMAND … [VENDORS folder] [PROPERTIES …])
# The command can be a script of the folder. VENDORS are the platforms that it sees.
function(clbin_add_command_test name)
  cmake_parse_arguments(arg "" "VENDORS" "LABELS;COMMAND;PROPERTIES" ${ARGN})
  list(POP_FRONT arg_COMMAND program)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${program})
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/${program})
  endif()
  if(program MATCHES "[.]py$")
    set(program Python3::Interpreter ${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" ${arg_PROPERTIES})
  if(arg_VENDORS)
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT "OCL_ICD_VENDORS=${arg_VENDORS};RUSTICL_ENABLE=llvmpipe")
  endif()
endfunction()

# clbin_add_unit_test(NAME a.cpp… LIBRARIES x… [EXCLUDE regex] [LABELS unit] [TIMEOUT 120]
#                     [PROGRAMS MACRO=program…] [DEFINITIONS X=1…] [ONE_PROCESS])
# Creates one executable of the sources, which may be patterns.
# Tests with the label "unit" need no driver; those of a program are one ctest case, because a
# process takes longer to start than most of them to run. Tests with "opencl" need a driver, and are
# a ctest case each, with the platforms of this machine and with new, empty caches. ONE_PROCESS makes
# them one ctest case, too: for tests that call drivers only in child processes. "faults" adds the
# fault-injecting layer (tests/support/fault_layer.hpp). The target thread_tests builds tests with
# "threads" for ThreadSanitizer. "slow" tests are not part of the edit-test loop.
function(clbin_add_unit_test name)
  cmake_parse_arguments(arg ONE_PROCESS "TIMEOUT;EXCLUDE" "LIBRARIES;LABELS;PROGRAMS;DEFINITIONS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${arg_EXCLUDE})
  endif()
  set(support ${PROJECT_SOURCE_DIR}/tests/support)
  set(timeout 120)
  set(vendors "")
  set(environment "")
  if("opencl" IN_LIST arg_LABELS)
    set(timeout 300) # seconds; some start a process that initialises every driver per fault
    set(vendors VENDORS ${CLBIN_PLATFORMS})
    set(environment OCL_ICD_VENDORS=${CLBIN_PLATFORMS} RUSTICL_ENABLE=llvmpipe)
    list(APPEND sources ${support}/driver_environment.cpp)
  endif()
  if("faults" IN_LIST arg_LABELS)
    list(APPEND sources ${support}/fault_layer.cpp)
    list(APPEND arg_PROGRAMS CLBIN_FAULT_LAYER=clbin_faults) # opened at run time, not linked
  endif()
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  set(cost 0)
  if(arg_LABELS MATCHES "slow|faults")
    set(cost 100) # ctest starts the longest tests first
  endif()

  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} project_folders test_settings GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 12) # for several cores
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  clbin_define_programs(${name} ${arg_PROGRAMS})
  foreach(label IN ITEMS unit thread)
    if(arg_LABELS MATCHES ${label})
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
  if(arg_LABELS STREQUAL "unit" OR arg_ONE_PROCESS)
    math(EXPR timeout "${timeout} * 5")
    clbin_add_command_test(${name} LABELS ${arg_LABELS} COMMAND ${name} --gtest_brief=1
      ${vendors} PROPERTIES COST ${cost} TIMEOUT ${timeout})
    return()
  endif()
  # Tests with further labels keep their own processes, for example because they start a driver.
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 120)
  # Not through PROPERTIES, because gtest_discover_tests (3.25) loses the separators of lists in it.
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  file(WRITE ${properties_file}
    "if(${name}_TESTS)\n"
    "  set_tests_properties(\${${name}_TESTS} PROPERTIES\n"
    "    LABELS \"${arg_LABELS}\" COST ${cost} TIMEOUT ${timeout} ENVIRONMENT \"${environment}\")\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()
