# clbin_add_kernels(NAME SOURCES a.cl… [INCLUDES folder…] [DEFINES X=1…] [OPTIONS -cl-…]
#                   [TARGETS pattern…] [VARIANTS name=options…] [OPTIONAL program…]
#                   [NO_SOURCE] [OUTPUT file.clbin] [EMBED [SYMBOL name] [LAUNCHERS]] | [INSTALL folder])
#
# Compiles OpenCL kernels into a bundle, once more whenever a source, or a header that it includes,
# changed. TARGETS are what `oclcc --device` takes; default: every device of this machine. OPTIONAL
# programs, named after their files' stems, need not compile: see --optional in oclcc(1).
#
# Without EMBED, NAME is a target that is part of ALL, and makes the bundle OUTPUT (default:
# NAME.clbin in the current binary folder; its path is the target's property CLBIN_BUNDLE); INSTALL
# installs it. With EMBED, NAME is a library to link, with a header NAME.h that declares the bundle
# as SYMBOL (default: NAME_clbin) and SYMBOL_size. LAUNCHERS also writes NAME.hpp, the kernels as typed
# functions of C++ (oclcc(1), LAUNCHERS); the library then brings what they need: clbin::clbin, OpenCL,
# and C++17. The project's languages are C, C++, or both.
function(clbin_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED;LAUNCHERS;NO_SOURCE" "OUTPUT;INSTALL;SYMBOL"
    "SOURCES;INCLUDES;DEFINES;OPTIONS;TARGETS;VARIANTS;OPTIONAL")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "clbin_add_kernels(${name}): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "clbin_add_kernels(${name}): SOURCES is missing")
  endif()
  if(arg_EMBED AND arg_INSTALL)
    message(FATAL_ERROR "clbin_add_kernels(${name}): a bundle is embedded or installed, not both")
  endif()
  if(arg_SYMBOL AND NOT arg_EMBED)
    message(FATAL_ERROR "clbin_add_kernels(${name}): SYMBOL needs EMBED")
  endif()
  if(arg_LAUNCHERS AND NOT arg_EMBED)
    message(FATAL_ERROR "clbin_add_kernels(${name}): LAUNCHERS needs EMBED")
  endif()
  if(NOT TARGET clbin::oclcc)
    message(FATAL_ERROR "clbin_add_kernels(${name}): oclcc was not found; install it, or set "
                        "CLBIN_OCLCC_EXECUTABLE")
  endif()

  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.clbin)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE
    OUTPUT_VARIABLE bundle)
  set(sources "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  set(arguments ${arg_OPTIONS})
  foreach(folder IN LISTS arg_INCLUDES)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND arguments -I${folder})
  endforeach()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND arguments -D${define})
  endforeach()
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND arguments --device ${target})
  endforeach()
  foreach(variant IN LISTS arg_VARIANTS)
    list(APPEND arguments --variant ${variant})
  endforeach()
  foreach(program IN LISTS arg_OPTIONAL)
    list(APPEND arguments --optional ${program})
  endforeach()
  if(arg_NO_SOURCE)
    list(APPEND arguments --no-source)
  endif()

  add_custom_command(OUTPUT ${bundle}
    COMMAND clbin::oclcc ${sources} ${arguments} -o ${bundle} -MD -MF ${bundle}.d
    DEPENDS ${sources} clbin::oclcc
    DEPFILE ${bundle}.d
    COMMENT "Compiling OpenCL kernels ${name}"
    VERBATIM)
  if(arg_EMBED)
    _clbin_embed(${name} ${bundle} "${arg_SYMBOL}" "${arg_LAUNCHERS}")
  else()
    add_custom_target(${name} ALL DEPENDS ${bundle})
  endif()
  set_target_properties(${name} PROPERTIES CLBIN_BUNDLE ${bundle})
  if(arg_INSTALL)
    install(FILES ${bundle} DESTINATION ${arg_INSTALL})
  endif()
endfunction()

# NAME as a static library of the bundle, whose header is found by those who link it.
function(_clbin_embed name bundle symbol launchers)
  if(NOT symbol)
    string(MAKE_C_IDENTIFIER ${name}_clbin symbol)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_embedded)
  file(MAKE_DIRECTORY ${folder})
  set(header ${folder}/${name}.h)
  set(machine "")
  # Object files are ELF's; elsewhere the compiler makes one of C.
  if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    set(embedded ${folder}/${name}.o)
    if(CMAKE_CROSSCOMPILING)
      set(machine --host-triple ${CMAKE_SYSTEM_PROCESSOR}-linux)
    endif()
  else()
    set(embedded ${folder}/${name}.c)
  endif()
  add_custom_command(OUTPUT ${embedded} ${header}
    COMMAND clbin::oclcc ${bundle} -o ${embedded} --embed-header ${header} --symbol ${symbol}
            ${machine}
    DEPENDS ${bundle} clbin::oclcc
    COMMENT "Embedding OpenCL kernels ${name}"
    VERBATIM)
  add_library(${name} STATIC ${embedded} ${header})
  # An object file has no language; any that the project has will do.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  elseif(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    message(FATAL_ERROR "clbin_add_kernels(${name}): EMBED needs the language C on this system")
  endif()
  target_include_directories(${name} INTERFACE ${folder})
  if(launchers)
    add_custom_command(OUTPUT ${folder}/${name}.hpp
      COMMAND clbin::oclcc ${bundle} -o ${folder}/${name}.hpp
      DEPENDS ${bundle} clbin::oclcc
      COMMENT "Writing launchers of OpenCL kernels ${name}"
      VERBATIM)
    # A target, because nothing is linked of a header: as a source of the library ninja would not make it.
    add_custom_target(${name}_launchers DEPENDS ${folder}/${name}.hpp)
    add_dependencies(${name} ${name}_launchers)
    if(NOT TARGET OpenCL::OpenCL)
      set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # for those who link NAME in other directories
      find_package(OpenCL REQUIRED)
    endif()
    target_link_libraries(${name} INTERFACE clbin::clbin OpenCL::OpenCL)
    target_compile_features(${name} INTERFACE cxx_std_17)
  endif()
endfunction()
