# The files that `cmake --install` installs, with a component for each package of packages.cmake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CLBIN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/clbin)

install(TARGETS oclcc EXPORT oclccTargets RUNTIME COMPONENT oclcc)
if(CLBIN_STORAGE_HTTP) # oclcc looks for it beside itself
  install(TARGETS oclcc_storage_http RUNTIME COMPONENT oclcc)
  install(FILES man/oclcc-storage-http.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT oclcc)
endif()
# For OPENCL_LAYERS; `oclcc --record` uses it.
install(TARGETS clbin_layer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT oclcc)
install(TARGETS clbin_shared EXPORT clbinTargets
  LIBRARY COMPONENT libclbin1 NAMELINK_COMPONENT libclbin-dev
  FILE_SET HEADERS COMPONENT libclbin-dev)
install(TARGETS clbin_static EXPORT clbinTargets
  ARCHIVE COMPONENT libclbin-dev FILE_SET HEADERS COMPONENT libclbin-dev)

install(EXPORT clbinTargets NAMESPACE clbin:: DESTINATION ${CLBIN_CMAKE_DIR}
  COMPONENT libclbin-dev)
# In the other package. Found in the same prefix if both are installed there, otherwise in PATH.
install(EXPORT oclccTargets NAMESPACE clbin:: DESTINATION ${CLBIN_CMAKE_DIR} COMPONENT oclcc)
# The libraries that a link with the static library needs unless a C++ compiler starts the linker.
set(CLBIN_STATIC_RUNTIME -lstdc++)
if(CLBIN_LIBCXX)
  set(CLBIN_STATIC_RUNTIME -lc++)
endif()
configure_package_config_file(cmake/clbinConfig.cmake.in clbinConfig.cmake
  INSTALL_DESTINATION ${CLBIN_CMAKE_DIR})
write_basic_package_version_file(clbinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/clbinConfig.cmake ${PROJECT_BINARY_DIR}/clbinConfigVersion.cmake
  cmake/clbinKernels.cmake
  DESTINATION ${CLBIN_CMAKE_DIR} COMPONENT libclbin-dev)

install(CODE "set(CLBIN_PC_BUILD \"${PROJECT_BINARY_DIR}\")
set(CLBIN_PC_TEMPLATE \"${PROJECT_SOURCE_DIR}/cmake/clbin.pc.in\")
set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
set(CLBIN_STATIC_RUNTIME \"${CLBIN_STATIC_RUNTIME}\")
set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
set(PROJECT_VERSION \"${PROJECT_VERSION}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/install_pkg_config.cmake\")"
  COMPONENT libclbin-dev)

foreach(package oclcc libclbin1 libclbin-dev)
  install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${package})
endforeach()
foreach(page oclcc.1 cl_offline_compiler.1 clbin.5 libclbin_layer.7 oclcc-bundles.7 oclcc-cluster.7
        oclcc-recording.7 oclcc-signing.7 oclcc-targets.7)
  string(REGEX MATCH "[0-9]$" section ${page})
  install(FILES man/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT oclcc)
endforeach()
install(FILES man/libclbin.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT libclbin-dev)
install(DIRECTORY oclcc/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/oclcc COMPONENT oclcc)
# The folder in which bash-completion looks for the completion of a command of this name.
install(FILES oclcc/completion/oclcc.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME oclcc COMPONENT oclcc)
# Debian's folders for the completions of packages.
install(FILES oclcc/completion/_oclcc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT oclcc)
install(FILES oclcc/completion/oclcc.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT oclcc)
# file(1) has no folder for third-party magic. Use `file -m`, or a line in /etc/magic.
install(FILES oclcc/magic/clbin.magic DESTINATION ${CMAKE_INSTALL_DATADIR}/oclcc COMPONENT oclcc)
