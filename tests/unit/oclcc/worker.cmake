# Plays a worker for the tests of its parent's side.
add_executable(worker_stub worker_stub.cpp)
target_link_libraries(worker_stub PRIVATE oclcc_core standard_settings)

# The product's own sources, compiled once more: clang-tidy reads the command and not g++'s headers.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/oclcc/worker/temporary_names.cpp
  ${PROJECT_SOURCE_DIR}/oclcc/worker/directory_order.cpp
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# The worker's room and the modes that use it.
function(oclcc_add_worker_test name)
  clbin_add_unit_test(${name} SOURCES ${name}.cpp LIBRARIES oclcc_core ${ARGN})
  target_compile_definitions(${name} PRIVATE
    OCLCC_WORKER_STUB="$<TARGET_FILE:worker_stub>" OCLCC_EXECUTABLE="$<TARGET_FILE:oclcc>")
  add_dependencies(${name} worker_stub oclcc)
endfunction()
clbin_add_unit_test(device_pattern_test SOURCES device_pattern_test.cpp LIBRARIES oclcc_core)
clbin_add_unit_test(worker_protocol_test SOURCES worker_protocol_test.cpp LIBRARIES oclcc_core)
oclcc_add_worker_test(installed_devices_test)
oclcc_add_worker_test(worker_home_test)
oclcc_add_worker_test(worker_process_test)
oclcc_add_worker_test(worker_unit_builder_test)
clbin_add_unit_test(worker_temporary_names_test
  SOURCES worker_temporary_names_test.cpp ${PROJECT_SOURCE_DIR}/oclcc/worker/temporary_names.cpp
  LIBRARIES oclcc_core ${CMAKE_DL_LIBS})
set_target_properties(worker_temporary_names_test PROPERTIES ENABLE_EXPORTS ON)
clbin_add_unit_test(worker_child_step_test SOURCES worker_child_step_test.cpp
                                           LIBRARIES oclcc_core)
clbin_add_unit_test(worker_unit_isolation_test SOURCES worker_unit_isolation_test.cpp
                                               LIBRARIES oclcc_core)
clbin_add_unit_test(worker_warm_copy_test SOURCES worker_warm_copy_test.cpp
                                          LIBRARIES oclcc_core)
clbin_add_unit_test(worker_directory_order_test
  SOURCES worker_directory_order_test.cpp ${PROJECT_SOURCE_DIR}/oclcc/worker/directory_order.cpp
  LIBRARIES oclcc_core ${CMAKE_DL_LIBS})
set_target_properties(worker_directory_order_test PROPERTIES ENABLE_EXPORTS ON)
clbin_add_unit_test(specialization_test SOURCES specialization_test.cpp LIBRARIES oclcc_core)
oclcc_add_worker_test(list_devices_test)
oclcc_add_worker_test(compile_test DATA_READERS compile_test.cpp)
oclcc_add_worker_test(compile_platforms_test LABELS opencl TIMEOUT 300)
oclcc_add_worker_test(stripped_source_test test_drivers LABELS opencl TIMEOUT 300)
oclcc_add_worker_test(worker_faults_test LABELS opencl faults TIMEOUT 300)
clbin_add_unit_test(unit_recipe_test SOURCES unit_recipe_test.cpp LIBRARIES oclcc_core test_drivers)
oclcc_add_worker_test(compile_cache_test LABELS unit threads)
oclcc_add_worker_test(compile_cache_modes_test DATA_READERS compile_cache_modes_test.cpp)
oclcc_add_worker_test(finished_bundle_test)
clbin_add_unit_test(bundle_key_test SOURCES bundle_key_test.cpp LIBRARIES oclcc_core test_bundles)
