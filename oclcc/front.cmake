target_sources(oclcc_core PRIVATE
  diagnostics.cpp
  directive_scanner.cpp
  help_text.cpp
  include_closure.cpp
  include_names.cpp
  log_line.cpp
  macro_options.cpp
  option_table.cpp
  option_words.cpp
  options.cpp
  reporter.cpp
  source_map.cpp
  terminal_text.cpp)
