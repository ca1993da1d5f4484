target_sources(oclcc_core PRIVATE
  help_text.cpp
  option_table.cpp
  option_words.cpp
  options.cpp
  reporter.cpp
  terminal_text.cpp)
