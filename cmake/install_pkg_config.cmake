# Part of the install script. Writes clbin.pc with the prefix as a plain path, because pkg-config
# removes system directories only if it recognizes them.
if(CMAKE_INSTALL_PREFIX MATCHES "/_CPack_Packages/[^/]+/DEB/")
  set(CLBIN_PC_PREFIX /usr)
elseif(CMAKE_INSTALL_PREFIX MATCHES "/_CPack_Packages/")
  # The archive may be unpacked anywhere.
  file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
  set(CLBIN_PC_PREFIX "\${pcfiledir}/${to_prefix}")
else()
  set(CLBIN_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
endif()
# A separate directory, because several installs of one build may run at a time.
string(RANDOM LENGTH 12 random_name)
set(folder ${CLBIN_PC_BUILD}/pkg_config_${random_name})
configure_file(${CLBIN_PC_TEMPLATE} ${folder}/clbin.pc @ONLY)
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig TYPE FILE
  FILES ${folder}/clbin.pc)
file(REMOVE_RECURSE ${folder})
