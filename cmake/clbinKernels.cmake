# clbin_add_kernels(NAME SOURCES a.cl... [INCLUDES directory...] [DEFINES X=1...] [OPTIONS -cl-...]
#                   [DEVICES pattern...] [TARGETS family:name...] [VARIANTS name=options...]
#                   [OPTIONAL program...] [NO_SOURCE] [OUTPUT file.clbin]
#                   [SIGN_KEY file [PASSPHRASE_FILE file] | SIGN_WITH command PUBLIC_KEY key]
#                   [COUNTER number] [ENCRYPT_KEY file] [ENCRYPT_FOR key...]
#                   [EMBED [SYMBOL name] [LAUNCHERS]] | [SPLIT family|vendor|entry] [INSTALL directory])
#
# Compiles OpenCL kernels into a bundle, and again if a source, or a header that it includes, changes.
# Adds the sources to compile_commands.json if CMake writes it. The project's languages are C, C++, or
# both. doc/build_systems.md in the sources describes the arguments; those that oclcc(1) has, too, have
# its names.
function(clbin_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED;LAUNCHERS;NO_SOURCE"
    "OUTPUT;INSTALL;SPLIT;SYMBOL;SIGN_KEY;PASSPHRASE_FILE;SIGN_WITH;PUBLIC_KEY;COUNTER;ENCRYPT_KEY"
    "SOURCES;INCLUDES;DEFINES;OPTIONS;DEVICES;TARGETS;VARIANTS;OPTIONAL;ENCRYPT_FOR")
  _clbin_check_arguments()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.clbin)
  endif()
  _clbin_absolute(arg_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  set(bundle ${arg_OUTPUT})
  _clbin_absolute(arg_SOURCES ${CMAKE_CURRENT_SOURCE_DIR})
  _clbin_absolute(arg_INCLUDES ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM arg_INCLUDES PREPEND -I)
  list(TRANSFORM arg_DEFINES PREPEND -D)
  list(TRANSFORM arg_DEVICES PREPEND "--device;")
  list(TRANSFORM arg_TARGETS PREPEND "--target;")
  list(TRANSFORM arg_VARIANTS PREPEND "--variant;")
  list(TRANSFORM arg_OPTIONAL PREPEND "--optional;")
  set(arguments ${arg_OPTIONS} ${arg_INCLUDES} ${arg_DEFINES} ${arg_DEVICES} ${arg_TARGETS}
      ${arg_VARIANTS} ${arg_OPTIONAL})
  if(arg_NO_SOURCE)
    list(APPEND arguments --no-source)
  endif()
  _clbin_key_arguments()
  set(made ${bundle})
  if(arg_SPLIT) # what is signed and encrypted
    cmake_path(REPLACE_EXTENSION bundle LAST_ONLY .packs)
    add_custom_command(OUTPUT ${bundle}/base.clbin
      COMMAND clbin::oclcc --split=${arg_SPLIT} ${made} ${keys} -o ${bundle}
      DEPENDS ${made} ${key_files} clbin::oclcc COMMENT "Splitting OpenCL kernels ${name}" VERBATIM)
    set(keys "")
    set(key_files "")
  endif()
  add_custom_command(OUTPUT ${made}
    COMMAND clbin::oclcc ${arg_SOURCES} ${arguments} ${keys} -o ${made} -MD -MF ${made}.d
    DEPENDS ${arg_SOURCES} ${key_files} clbin::oclcc
    DEPFILE ${made}.d COMMENT "Compiling OpenCL kernels ${name}" VERBATIM)
  if(CMAKE_EXPORT_COMPILE_COMMANDS AND CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(stamp ${CMAKE_BINARY_DIR}/CMakeFiles/clbin) # CMake writes the commands of C and C++ anew later
    file(TOUCH ${stamp})
    add_custom_command(OUTPUT ${stamp}_${name} DEPENDS ${stamp} VERBATIM
      COMMAND clbin::oclcc ${arg_SOURCES} ${arguments}
              --compile-commands=${CMAKE_BINARY_DIR}/compile_commands.json
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}_${name} COMMENT "Adding ${name} to compile_commands.json")
    add_custom_target(${name}_compile_commands ALL DEPENDS ${stamp}_${name})
  endif()
  if(arg_EMBED)
    _clbin_embed(${name})
  else()
    if(arg_SPLIT)
      set(made ${bundle}/base.clbin)
    endif()
    add_custom_target(${name} ALL DEPENDS ${made})
  endif()
  set_target_properties(${name} PROPERTIES CLBIN_BUNDLE ${bundle})
  if(arg_INSTALL AND arg_SPLIT)
    install(DIRECTORY ${bundle} DESTINATION ${arg_INSTALL})
  elseif(arg_INSTALL)
    install(FILES ${bundle} DESTINATION ${arg_INSTALL})
  endif()
endfunction()

# Makes the paths in a list variable of the caller absolute.
function(_clbin_absolute variable base)
  set(paths "")
  foreach(path IN LISTS ${variable})
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${base} NORMALIZE)
    list(APPEND paths ${path})
  endforeach()
  set(${variable} "${paths}" PARENT_SCOPE)
endfunction()

# Fails with `message` if the condition, the remaining arguments, is true. Reads the caller's `name`.
function(_clbin_reject message)
  if(${ARGN})
    message(FATAL_ERROR "clbin_add_kernels(${name}): ${message}")
  endif()
endfunction()

# Checks the arguments of clbin_add_kernels, which are variables of the caller.
function(_clbin_check_arguments)
  _clbin_reject("unknown argument '${arg_UNPARSED_ARGUMENTS}'" arg_UNPARSED_ARGUMENTS)
  _clbin_reject("SOURCES is missing" NOT arg_SOURCES)
  _clbin_reject("EMBED and INSTALL exclude each other" arg_EMBED AND arg_INSTALL)
  _clbin_reject("EMBED and SPLIT exclude each other" arg_EMBED AND arg_SPLIT)
  foreach(two SYMBOL:EMBED LAUNCHERS:EMBED PASSPHRASE_FILE:SIGN_KEY SIGN_WITH:PUBLIC_KEY PUBLIC_KEY:SIGN_WITH)
    string(REGEX MATCH "(.+):(.+)" two ${two})
    _clbin_reject("${CMAKE_MATCH_1} needs ${CMAKE_MATCH_2}" arg_${CMAKE_MATCH_1} AND NOT arg_${CMAKE_MATCH_2})
  endforeach()
  foreach(target IN LISTS arg_TARGETS)
    _clbin_reject("TARGETS '${target}' is not of the form family:name; use DEVICES for \
patterns of installed devices" NOT target MATCHES "^[A-Za-z][A-Za-z0-9_]*:.")
  endforeach()
  _clbin_reject("SIGN_KEY and SIGN_WITH exclude each other" arg_SIGN_KEY AND arg_SIGN_WITH)
  _clbin_reject("COUNTER needs SIGN_KEY or SIGN_WITH" arg_COUNTER AND NOT arg_SIGN_KEY AND NOT arg_SIGN_WITH)
  _clbin_reject("LAUNCHERS with ENCRYPT_FOR needs ENCRYPT_KEY"
    arg_LAUNCHERS AND arg_ENCRYPT_FOR AND NOT arg_ENCRYPT_KEY)
  _clbin_reject("oclcc was not found; install it, or set CLBIN_OCLCC_EXECUTABLE" NOT TARGET clbin::oclcc)
endfunction()

# Sets `keys`, the options of oclcc that sign and encrypt, and `key_files`, the files that they name.
macro(_clbin_key_arguments)
  set(keys "")
  set(key_files "")
  foreach(option IN ITEMS ENCRYPT_KEY ENCRYPT_FOR SIGN_KEY PASSPHRASE_FILE PUBLIC_KEY)
    string(TOLOWER --${option} word)
    string(REPLACE "_" "-" word ${word})
    foreach(value IN LISTS arg_${option})
      set(file ${value})
      _clbin_absolute(file ${CMAKE_CURRENT_SOURCE_DIR})
      if(EXISTS ${file} OR NOT option MATCHES "^(ENCRYPT_FOR|PUBLIC_KEY)$") # not the text of a key
        set(value ${file})
        list(APPEND key_files ${file})
      endif()
      list(APPEND keys ${word} ${value})
    endforeach()
  endforeach()
  if(arg_SIGN_WITH)
    string(REPLACE ";" "\\;" command "${arg_SIGN_WITH}") # of one word in a list
    list(APPEND keys --sign-with "${command}")
  endif()
  list(TRANSFORM arg_COUNTER PREPEND "--counter;")
  list(APPEND keys ${arg_COUNTER})
endmacro()

# Adds NAME as a static library that contains the bundle and exports the directory of its headers.
function(_clbin_embed name)
  if(NOT arg_SYMBOL)
    string(MAKE_C_IDENTIFIER ${name}_clbin arg_SYMBOL)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_embedded)
  file(MAKE_DIRECTORY ${folder})
  set(decryption ${arg_ENCRYPT_KEY})
  _clbin_absolute(decryption ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM decryption PREPEND "--decrypt-key;")
  set(header ${folder}/${name}.h)
  set(machine "")
  # oclcc writes ELF object files. Other systems compile the bundle as C.
  set(embedded ${folder}/${name}.c)
  if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    set(embedded ${folder}/${name}.o)
    if(CMAKE_CROSSCOMPILING)
      set(machine --host-triple ${CMAKE_SYSTEM_PROCESSOR}-linux)
    endif()
  endif()
  add_custom_command(OUTPUT ${embedded} ${header}
    COMMAND clbin::oclcc ${bundle} -o ${embedded} --embed-header ${header} --symbol ${arg_SYMBOL}
    ${machine} ${decryption} DEPENDS ${bundle} clbin::oclcc COMMENT "Embedding OpenCL kernels ${name}" VERBATIM)
  add_library(${name} STATIC ${embedded} ${header})
  # An object file has no language: use any language of the project.
  set(language CXX)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set(language C)
  endif()
  _clbin_reject("EMBED needs the language C on this system"
    language STREQUAL "CXX" AND NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language})
  target_include_directories(${name} INTERFACE ${folder})
  if(NOT arg_LAUNCHERS)
    return()
  endif()
  add_custom_command(OUTPUT ${folder}/${name}.hpp
    COMMAND clbin::oclcc ${bundle} -o ${folder}/${name}.hpp ${decryption}
    DEPENDS ${bundle} clbin::oclcc COMMENT "Writing launchers of OpenCL kernels ${name}" VERBATIM)
  # A custom target, because ninja does not create a header that is only a source of the library.
  add_custom_target(${name}_launchers DEPENDS ${folder}/${name}.hpp)
  add_dependencies(${name} ${name}_launchers)
  if(NOT TARGET OpenCL::OpenCL)
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # for targets of other directories that link NAME
    find_package(OpenCL REQUIRED)
  endif()
  target_link_libraries(${name} INTERFACE clbin::clbin OpenCL::OpenCL)
  target_compile_features(${name} INTERFACE cxx_std_17)
endfunction()
