# The files that `cmake --install` installs, with a component for each package of debian/rules, and the
# relocatable archive of all that `cpack` makes in a build folder.
include(CMakePackageConfigHelpers)
set(CLBIN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/clbin)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME oclcc)

install(TARGETS oclcc EXPORT oclccTargets)
if(NOT WIN32) # to which the layer and what belongs to the command are not ported
  # For OPENCL_LAYERS; `oclcc --record` uses it.
  install(TARGETS clbin_layer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT oclcc-layer)
  install(FILES man/libclbin_layer.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT oclcc-layer)
  set(pages oclcc.1 cl_offline_compiler.1 clbin.5 oclcc-bundles.7 oclcc-cluster.7 oclcc-recording.7
            oclcc-signing.7 oclcc-targets.7 oclcc-tuning.7)
  if(CLBIN_STORAGE_HTTP) # oclcc looks for it beside itself
    install(TARGETS oclcc_storage_http)
    list(APPEND pages oclcc-storage-http.1)
  endif()
  foreach(page IN LISTS pages)
    string(REGEX MATCH "[0-9]$" section ${page})
    install(FILES man/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endforeach()
  # file(1) has no folder for third-party magic. Use `file -m`, or a line in /etc/magic.
  install(DIRECTORY oclcc/schema oclcc/magic/ DESTINATION ${CMAKE_INSTALL_DATADIR}/oclcc)
  set(completion oclcc/command_line/completion)
  # The folder in which bash-completion looks for the completion of a command of this name.
  install(FILES ${completion}/oclcc.bash RENAME oclcc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/_oclcc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions) # Debian's
  install(FILES ${completion}/oclcc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# In the other package. Found in the same prefix if both are installed there, otherwise in PATH.
install(EXPORT oclccTargets NAMESPACE clbin:: DESTINATION ${CLBIN_CMAKE_DIR})
install(TARGETS clbin_shared EXPORT clbinTargets FILE_SET HEADERS COMPONENT libclbin-dev
  LIBRARY COMPONENT libclbin1 NAMELINK_COMPONENT libclbin-dev)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libclbin-dev)
install(TARGETS clbin_static EXPORT clbinTargets ARCHIVE FILE_SET HEADERS)
install(EXPORT clbinTargets NAMESPACE clbin:: DESTINATION ${CLBIN_CMAKE_DIR})
install(FILES man/libclbin.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
# The libraries that a link with the static library needs unless a C++ compiler starts the linker.
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE CLBIN_STATIC_DL) # nothing on macOS
set(CLBIN_STATIC_RUNTIME -lstdc++)
if(CLBIN_LIBCXX)
  set(CLBIN_STATIC_RUNTIME -lc++)
endif()
configure_package_config_file(cmake/clbinConfig.cmake.in clbinConfig.cmake INSTALL_DESTINATION ${CLBIN_CMAKE_DIR})
write_basic_package_version_file(clbinConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/clbinConfig.cmake ${PROJECT_BINARY_DIR}/clbinConfigVersion.cmake
  cmake/clbinKernels.cmake DESTINATION ${CLBIN_CMAKE_DIR})

# The install script writes a plain path as the prefix, by which pkg-config recognizes system directories.
foreach(name IN ITEMS PREFIX REQUIRES LIBS)
  set(CLBIN_PC_${name} "@CLBIN_PC_${name}@") # what it replaces
endforeach()
configure_file(cmake/clbin.pc.in clbin.pc.in @ONLY)
install(CODE "set(build \"${PROJECT_BINARY_DIR}\")\nset(pc_folder \"${CMAKE_INSTALL_LIBDIR}/pkgconfig\")")
install(CODE [[
if(CMAKE_INSTALL_PREFIX MATCHES "/_CPack_Packages/")
  # The archive may be unpacked anywhere.
  file(RELATIVE_PATH to_prefix /${pc_folder} /)
  string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
  set(CLBIN_PC_PREFIX "\${pcfiledir}/${to_prefix}")
  # pkg-config reads the files that `Requires.private` names for programs with the shared library, too.
  set(CLBIN_PC_LIBS " -lzstd -lsodium")
else()
  set(CLBIN_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(CLBIN_PC_REQUIRES " libzstd libsodium")
endif()
set(pc_file ${CMAKE_INSTALL_PREFIX}/${pc_folder}/clbin.pc)
configure_file(${build}/clbin.pc.in $ENV{DESTDIR}${pc_file} @ONLY NO_SOURCE_PERMISSIONS)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${pc_file})
]])
foreach(package oclcc oclcc-layer libclbin1 libclbin-dev)
  install(FILES debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${package})
endforeach()
if(NOT WIN32)
  set(CPACK_GENERATOR TZST)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_THREADS 0)
  include(CPack)
endif()
