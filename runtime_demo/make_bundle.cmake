# Runs ${OCLCC} ${ARGUMENTS} -o ${OUTPUT}. A machine without a device can build the demo, but not
# its bundle: that is said, and is no error.
set(exit_no_device 5)
# A build writes to its own folder only.
execute_process(COMMAND ${OCLCC} --no-cache ${ARGUMENTS} -o ${OUTPUT} RESULT_VARIABLE result)
if(result EQUAL exit_no_device)
  message("${OUTPUT} was not made: there is no OpenCL device here. Build the target demo_bundle "
          "where there is one, or give runtime_demo a bundle.")
elseif(NOT result EQUAL 0)
  message(FATAL_ERROR "${OCLCC} ended with ${result}; ${OUTPUT} was not made")
endif()
