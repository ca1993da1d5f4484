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
