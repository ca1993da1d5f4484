#!/bin/bash
# --record: signals reach the application, and what it built is recorded.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
cat > waits << 'END'
#!/bin/bash
./app one
trap 'echo "got $NAME"; exit 3' "$1"
NAME=$1
touch ready
while :; do sleep 0.05; done
END
chmod +x waits
for signal in INT TERM HUP QUIT USR1 USR2; do
  rm -f ready
  # A background process of a script ignores SIGINT and SIGQUIT, unless job control is on.
  set -m
  oclcc -q --record $signal.clbin -- ./waits $signal &
  set +m
  until [ -e ready ]; do sleep 0.05; done
  kill -$signal $!
  wait $!
  echo "exit $?"
  oclcc --verify $signal.clbin
done
echo "== an application that the signal kills"
rm ready
set -m
oclcc --record killed.clbin -- sh -c './app one; touch ready; exec sleep 600' &
set +m
until [ -e ready ]; do sleep 0.05; done
kill -TERM $!
wait $!
echo "exit $?"
oclcc --info killed.clbin | grep '^program'
# expected output:
#| got INT
#| exit 3
#| got TERM
#| exit 3
#| got HUP
#| exit 3
#| got QUIT
#| exit 3
#| got USR1
#| exit 3
#| got USR2
#| exit 3
#| == an application that the signal kills
#| exit 143
#| program 'one', variant 'default'
# expected errors:
#| oclcc: note: signal 15 (Terminated) ended the application: what it had built is recorded
