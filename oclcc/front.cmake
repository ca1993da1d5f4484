target_sources(oclcc_core PRIVATE
  diagnostics.cpp
  directive_scanner.cpp
  help_text.cpp
  log_line.cpp
  option_table.cpp
  option_words.cpp
  options.cpp
  reporter.cpp
  source_map.cpp
  terminal_text.cpp)
