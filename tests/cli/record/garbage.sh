#!/bin/bash
# --record: files that no layer finished, or that are none of it, are skipped.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
cat > half << 'END'
#!/bin/bash
./app one
cd "$CLBIN_LAYER_RECORD" || exit 9
good=$(echo one-*.clbin)
head -c 500 "$good" > cut-default-1-0.clbin
echo text > text-default-1-0.clbin
head -c 100 "$good" > .half.clbin.tmp
mkdir folder.clbin
mkfifo pipe.clbin
ln -s /etc/passwd link.clbin
make_bundle recording none one default -DN=3 scale cpu-a '' other-options.clbin
make_bundle recording "$OLDPWD/two.cl" one default -DN=2 scale cpu-a '' other-source.clbin
{
  echo 'one default scale 1 32 1 1'
  echo 'one default scale 4 32 1 1'
  echo 'one default scale 2 32 0 1'
  echo 'one default scale 1 -1 1 1'
  echo 'one default scale 1 99999999999999999999 1 1'
  echo 'one default scale 1 32 1'
  echo 'one default scale 1 32 1 1 1'
  echo 'one  scale 1 32 1 1'
  echo 'none default scale 1 32 1 1'
  echo 'one none scale 1 32 1 1'
  head -c 10000 /dev/zero
  echo
  printf 'one default scale 3 2 2 2\none default scale 1 128 1'
} > launches-1.log
END
chmod +x half
oclcc --record app.clbin -- ./half; echo "exit $?"
oclcc --verify app.clbin
oclcc --info app.clbin | grep -E '^program|^  (options|source|built|launched)'
# expected output:
#| exit 0
#| program 'one', variant 'default'
#|   options   -DN=2
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 32, 64, NULL in 2 dimensions, 2x2x2
# expected errors:
#| oclcc: warning: the recorded file '.half.clbin.tmp' is skipped: it is incomplete, or not a recording
#| oclcc: warning: the recorded file 'cut-default-1-0.clbin' is skipped: prefix: total_bytes is 1040, but only 500 bytes are present
#| oclcc: warning: the recorded file 'folder.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'link.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'other-options.clbin' is skipped: program 'one', variant 'default' was recorded with options '-DN=2', not '-DN=3'
#| oclcc: warning: the recorded file 'other-source.clbin' is skipped: program 'one' was recorded with another source
#| oclcc: warning: the recorded file 'pipe.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'text-default-1-0.clbin' is skipped: not a bundle: it starts with 74 65 78 74 0a
#| oclcc: warning: 11 lines of 'launches-1.log' are skipped: they are no launch of a recorded program
