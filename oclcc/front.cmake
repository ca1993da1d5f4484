target_sources(oclcc_core PRIVATE options.hpp)
