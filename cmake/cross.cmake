# A cross build for Debian's architecture CLBIN_ARCHITECTURE: arm64 (default), armhf or i386. The
# static libraries are those that script/bootstrap unpacks, other headers the machine's.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CLBIN_ARCHITECTURE)
set(CLBIN_ARCHITECTURE arm64 CACHE STRING "Debian's name of the architecture of a cross build")
# The compiler's prefix, the name of the folder of libraries, and the command that runs a program.
set(arm64 aarch64-linux-gnu aarch64-linux-gnu qemu-aarch64-static -L /usr/aarch64-linux-gnu)
set(armhf arm-linux-gnueabihf arm-linux-gnueabihf qemu-arm-static -L /usr/arm-linux-gnueabihf)
set(i386 i686-linux-gnu i386-linux-gnu
    /usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib)
if(NOT CLBIN_ARCHITECTURE MATCHES "^(arm64|armhf|i386)$")
  message(FATAL_ERROR "CLBIN_ARCHITECTURE is '${CLBIN_ARCHITECTURE}', not arm64, armhf or i386")
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR ${${CLBIN_ARCHITECTURE}})
list(POP_FRONT CMAKE_CROSSCOMPILING_EMULATOR prefix library_folder)
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${prefix})
set(CMAKE_C_COMPILER ${prefix}-gcc)
set(CMAKE_CXX_COMPILER ${prefix}-g++)
cmake_path(SET CMAKE_FIND_ROOT_PATH NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/libraries/${CLBIN_ARCHITECTURE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_FIND_ROOT_PATH}/usr/lib/${library_folder}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_FIND_ROOT_PATH})
add_link_options(-L${CMAKE_FIND_ROOT_PATH}/usr/lib/${library_folder})
