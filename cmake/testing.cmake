include(GoogleTest)

# Only the tested code is optimized: a test's own code takes longer to optimize than to run.
add_library(test_settings INTERFACE)
target_link_libraries(test_settings INTERFACE standard_settings GTest::gtest GTest::gmock)
# Lets ccache distinguish precompiled headers: gcc names the one in use, and clang writes no time.
target_compile_options(test_settings INTERFACE -O0 $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# Headers that most tests include, parsed once, because they take half of a test's compile time.
# None is of this project, so a change never rebuilds all tests.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
add_library(test_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_precompile_headers(test_headers PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <csignal> <cstdint> <cstdlib> <cstring> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <utility> <vector> <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(test_headers PRIVATE test_settings)
set_target_properties(test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF CLBIN_IS_TEST ON)
target_compile_options(test_headers PRIVATE $<$<NOT:$<BOOL:${WIN32}>>:-fPIE>) # as CMake compiles an executable

# The programs that run the tests of a label. A sanitizer build compiles no others.
add_custom_target(unit_tests)
add_custom_target(thread_tests)

# clbin_define_programs(TARGET MACRO=program…): each macro is the path of a target that is built before.
function(clbin_define_programs target)
  foreach(definition IN LISTS ARGN)
    string(REGEX MATCH "(.+)=(.+)" definition ${definition})
    target_compile_definitions(${target} PRIVATE "${CMAKE_MATCH_1}=\"$<TARGET_FILE:${CMAKE_MATCH_2}>\"")
    add_dependencies(${target} ${CMAKE_MATCH_2})
  endforeach()
endfunction()

# clbin_add_test_library(NAME a.cpp… [PUBLIC x…] [DEFINITIONS X=1…]): a static library for tests.
function(clbin_add_test_library name)
  clbin_add_library(${name} STATIC SOURCES ${ARGN} INCLUDES ${PROJECT_SOURCE_DIR}/tests PRIVATE GTest::gtest)
endfunction()

# clbin_add_command_test(NAME COMMAND … [LABELS unit] [VENDORS folder] [PROPERTIES …])
# The command can be a script of the folder. It sees the platforms of VENDORS (default: all). Its exit
# status 77 skips the test.
function(clbin_add_command_test name)
  cmake_parse_arguments(arg "" "VENDORS" "LABELS;COMMAND;PROPERTIES" VENDORS ${CLBIN_PLATFORMS} ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(CMAKE_CROSSCOMPILING AND NOT TARGET ${program}) # a script starts programs without the emulator
    return()
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${program})
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/${program})
  endif()
  if(program MATCHES "[.]py$")
    set(program ${CLBIN_PYTHON} ${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
    ENVIRONMENT "OCL_ICD_VENDORS=${arg_VENDORS};RUSTICL_ENABLE=llvmpipe" ${arg_PROPERTIES})
endfunction()

# clbin_add_unit_test(NAME a.cpp… [EXCLUDE regex] [LIBRARIES x…] [LABELS unit] [DEFINITIONS X=1…]
#                     [PROGRAMS MACRO=program…] [ONE_PROCESS])
# One executable of the sources, which may be patterns, and of the code in tests/support. Tests that need
# no driver, such as those with the label "unit", are one ctest case a program, because a process takes
# longer to start than most of them to run. Tests with "opencl" need a driver, and are a ctest case each,
# with new, empty caches; one, too, with ONE_PROCESS, which calls drivers only in child processes. "faults"
# adds the fault-injecting layer (tests/support/fault_layer.hpp), "threads" makes ThreadSanitizer run them
# (target thread_tests), and "slow" tests are not part of the edit-test loop.
function(clbin_add_unit_test name)
  cmake_parse_arguments(arg ONE_PROCESS "EXCLUDE" "LIBRARIES;LABELS;PROGRAMS;DEFINITIONS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if((CMAKE_CROSSCOMPILING AND "opencl" IN_LIST arg_LABELS) OR name MATCHES "^(${CLBIN_MEANINGLESS_TESTS})$")
    message(STATUS "Not built: ${name}, for which this system has no driver, or not what it tests")
    return()
  endif()
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if("opencl" IN_LIST arg_LABELS)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/support/driver_environment.cpp)
  endif()
  if("faults" IN_LIST arg_LABELS)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/support/fault_layer.cpp)
    list(APPEND arg_PROGRAMS CLBIN_FAULT_LAYER=clbin_faults) # opened at run time, not linked
  endif()
  set(cost 0)
  if(arg_LABELS MATCHES "slow|faults")
    set(cost 100) # ctest starts the longest tests first
  endif()

  clbin_add_program(${name} SOURCES ${sources} EXCLUDE ${arg_EXCLUDE} DEFINITIONS ${arg_DEFINITIONS}
    PRIVATE ${arg_LIBRARIES} test_support project_folders test_settings GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  set_target_properties(${name} PROPERTIES CLBIN_IS_TEST ON UNITY_BUILD_BATCH_SIZE 12) # for several cores
  clbin_define_programs(${name} ${arg_PROGRAMS})
  foreach(label IN ITEMS unit thread)
    if(arg_LABELS MATCHES ${label})
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
  if(NOT "opencl" IN_LIST arg_LABELS OR arg_ONE_PROCESS)
    clbin_add_command_test(${name} LABELS ${arg_LABELS} COMMAND ${name} --gtest_brief=1 PROPERTIES COST ${cost})
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120)
  # Not through PROPERTIES, because gtest_discover_tests (3.25) loses the separators of lists in it.
  file(CONFIGURE OUTPUT ${name}_properties.cmake @ONLY CONTENT [[
if(@name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES LABELS "@arg_LABELS@" COST @cost@
    ENVIRONMENT "OCL_ICD_VENDORS=@CLBIN_PLATFORMS@;RUSTICL_ENABLE=llvmpipe")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
endfunction()
