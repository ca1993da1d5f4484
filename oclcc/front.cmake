target_sources(oclcc_core PRIVATE)
