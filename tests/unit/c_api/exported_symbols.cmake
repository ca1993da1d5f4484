# cmake -DLIBRARY=libclbin.so -DHEADER=clbin.h -DNM=nm -P exported_symbols.cmake
# The shared library exports what the header declares, and nothing else.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
set(exported "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " .*" "" symbol "${line}")
  list(APPEND exported ${symbol})
endforeach()
list(SORT exported)

file(READ ${HEADER} header)
string(REGEX MATCHALL "CLBIN_API [^;(]*[ *](clbin_[a-z_]+)\\(" declarations "${header}")
set(declared "")
foreach(declaration IN LISTS declarations)
  string(REGEX REPLACE ".*[ *](clbin_[a-z_]+)\\(" "\\1" symbol "${declaration}")
  list(APPEND declared ${symbol})
endforeach()
list(SORT declared)

list(LENGTH declared count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} declarations found in ${HEADER}")
endif()
if(NOT exported STREQUAL declared)
  message(FATAL_ERROR "exported: ${exported}\ndeclared: ${declared}")
endif()
message(STATUS "${count} symbols, all declared")
