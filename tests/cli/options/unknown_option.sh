#!/bin/bash
# Every unknown option is exit 2, with a suggestion if a similar option exists.
for option in --keep-goin --no-suorce -Werrror -Og -help -qv --inputs=x; do
  oclcc "$option" a.cl
  echo "exit $?"
done
oclcc --varient fast=-w a.cl
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: unrecognized option '--keep-goin'; did you mean '--keep-going'?
#| oclcc: error: unrecognized option '--no-suorce'; did you mean '--no-source'?
#| oclcc: error: unrecognized option '-Werrror'; did you mean '-Werror'?
#| oclcc: error: unrecognized option '-Og'
#| oclcc: error: unrecognized option '-help'; did you mean '--help'?
#| oclcc: error: unrecognized option '-qv'
#| oclcc: error: unrecognized option '--inputs=x'
#| oclcc: error: unrecognized option '--varient'; did you mean '--variant'?
