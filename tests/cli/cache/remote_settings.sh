#!/bin/bash
# Wrong settings of the remote cache are reported with their places, and cost nothing else. No plan
# contains the token.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
export CLBIN_REMOTE_TOKEN=sesame
mkdir -p "$HOME/.config/clbin"
oclcc --plan=json k.cl -o k.clbin -q | grep sesame
grep -r sesame k.plan
printf '# the team\nremote = ftp://cache.example\nremot = x\n' > "$HOME/.config/clbin/oclcc.conf"
oclcc k.cl -o k.clbin
oclcc k.cl -o k.clbin -q
oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
CLBIN_REMOTE='http://me:password@cache.example/' oclcc k.cl -o k.clbin --no-cache
# A comment that hides lines, for some editors, and pipes that nobody writes to.
printf '# the team\rremote-public-key = team.pub\rremote-token = sesame\r' > "$HOME/.config/clbin/oclcc.conf"
CLBIN_REMOTE=http://cache.example oclcc k.cl -o k.clbin
rm "$HOME/.config/clbin/oclcc.conf"
mkfifo "$HOME/.config/clbin/oclcc.conf"
CLBIN_REMOTE=http://cache.example timeout 60 oclcc k.cl -o k.clbin || echo "exit $?"
rm "$HOME/.config/clbin/oclcc.conf"
mkfifo token
CLBIN_REMOTE=http://cache.example CLBIN_REMOTE_TOKEN='' CLBIN_REMOTE_TOKEN_FILE=token timeout 60 oclcc k.cl -o k.clbin ||
  echo "exit $?"
CLBIN_REMOTE='http://me:password@cache.example/' oclcc k.cl -o k.clbin
CLBIN_REMOTE=0 oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
true
