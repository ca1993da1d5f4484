include(GoogleTest)
clbin_find_googletest()

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

# clbin_add_test_library(NAME LIBRARIES x…): a static library of all other arguments, for tests.
function(clbin_add_test_library name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PUBLIC ${arg_LIBRARIES} PRIVATE standard_settings GTest::gtest)
endfunction()

# clbin_add_command_test(NAME LABELS x… COMMAND … [VENDORS folder] [PROPERTIES …])
# VENDORS are the platforms that the command sees.
function(clbin_add_command_test name)
  cmake_parse_arguments(arg "" "VENDORS" "LABELS;COMMAND;PROPERTIES" ${ARGN})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" ${arg_PROPERTIES})
  if(arg_VENDORS)
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT "OCL_ICD_VENDORS=${arg_VENDORS};RUSTICL_ENABLE=llvmpipe")
  endif()
endfunction()

# clbin_add_unit_test(NAME SOURCES a.cpp… LIBRARIES x… [EXCLUDE regex] [LABELS unit] [TIMEOUT 120]
#                     [PROGRAMS MACRO=program…] [ONE_PROCESS])
# Creates one executable of the sources, which may be patterns.
# Tests with the label "unit" need no driver; those of a program are one ctest case, because a
# process takes longer to start than most of them to run. Tests with "opencl" need a driver, and are
# a ctest case each, with the platforms of this machine and with new, empty caches. ONE_PROCESS makes
# them one ctest case, too: for tests that call drivers only in child processes. "faults" adds the
# fault-injecting layer (tests/support/fault_layer.hpp). The target thread_tests builds tests with
# "threads" for ThreadSanitizer. "slow" tests are not part of the edit-test loop.
function(clbin_add_unit_test name)
  cmake_parse_arguments(arg ONE_PROCESS "TIMEOUT;EXCLUDE" "SOURCES;LIBRARIES;LABELS;PROGRAMS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
    if("opencl" IN_LIST arg_LABELS)
      set(arg_TIMEOUT 300) # seconds; some start a process that initialises every driver per fault
    endif()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${arg_EXCLUDE})
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} project_folders test_settings GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  clbin_define_programs(${name} ${arg_PROGRAMS})
  set(environment "")
  if("opencl" IN_LIST arg_LABELS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/driver_environment.cpp)
    list(APPEND environment OCL_ICD_VENDORS=${CLBIN_PLATFORMS} RUSTICL_ENABLE=llvmpipe)
  endif()
  foreach(label IN ITEMS unit thread)
    if(arg_LABELS MATCHES ${label})
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
  if("faults" IN_LIST arg_LABELS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fault_layer.cpp)
    clbin_define_programs(${name} CLBIN_FAULT_LAYER=clbin_faults) # opened at run time, not linked
  endif()
  set(cost 0)
  if(arg_LABELS MATCHES "slow|faults")
    set(cost 100) # ctest starts the longest tests first
  endif()
  if(arg_LABELS STREQUAL "unit" OR arg_ONE_PROCESS)
    math(EXPR timeout "${arg_TIMEOUT} * 5")
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES
      LABELS "${arg_LABELS}" COST ${cost} TIMEOUT ${timeout} ENVIRONMENT "${environment}")
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
    "    LABELS \"${arg_LABELS}\" COST ${cost} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT \"${environment}\")\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()
