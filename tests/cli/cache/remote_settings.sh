#!/bin/bash
# Wrong settings of the remote cache are reported with their places, and cost nothing else. No plan
# contains the token.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
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
# expected output:
#| remote cache: off: a setting is wrong
#| remote cache: off: CLBIN_REMOTE is 0
# expected errors:
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:2: expected 'http://HOST:PORT/PATH' or 'https://…'
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:3: unknown setting 'remot'
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:1: the line contains the control character U+000D
#| oclcc: warning: remote cache: cannot read '*/home/.config/clbin/oclcc.conf': not a regular file
#| oclcc: warning: remote cache: CLBIN_REMOTE_TOKEN_FILE: 'token': a token consists of 1 to 4096 visible ASCII characters
#| oclcc: warning: remote cache: CLBIN_REMOTE: a user and a password do not belong in the address, which others can see: use a token or a netrc file
