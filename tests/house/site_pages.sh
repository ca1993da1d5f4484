#!/usr/bin/env bash
# script/site writes the same pages again, finds broken links, and then keeps what it wrote before.
# Its search finds sections.
# Usage: site_pages.sh ROOT
set -euo pipefail
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "site_pages: $*" >&2; exit 1; }

if ! /usr/bin/python3 -c 'import markdown_it' 2>/dev/null || ! command -v mandoc >/dev/null ||
  [[ ! -e /usr/share/javascript/lunr/lunr.min.js ]]; then
  echo "site_pages: the packages of 'script/bootstrap --site' are not installed"
  exit 77
fi
if [[ ! -e $root/.git ]]; then
  echo "site_pages: this is no checkout, whose files git lists"
  exit 77
fi
mkdir "$scratch/copy"
(cd "$root" && git ls-files -z | while IFS= read -r -d '' file; do
  [[ ! -e $file ]] || printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$scratch/copy")
cd "$scratch/copy"
git init -q
git add -A
site=$scratch/site
script/site "$site" >"$scratch/output" || fail "it fails: $(cat "$scratch/output")"
(cd / && LC_ALL=C TZ=FAR-13 "$scratch/copy/script/site" "$scratch/again" >"$scratch/output")
diff -r "$site" "$scratch/again" || fail "it writes other bytes in another folder"
cp -r "$site" "$scratch/kept"

grep -qF '<a href="man/oclcc.1.html">oclcc(1)</a>' "$site/index.html" || fail "Start does not lead to the manual"
[[ $(grep -c '[$] ./main' "$site/index.html") == 1 ]] || fail "Start does not end with a loaded bundle"
! grep -q 'OPENCL_LAYERS' "$site/index.html" || fail "Start contains more than the first load"
grep -qF '["man/libclbin.3.html#Quarantine", "libclbin(3)", "Quarantine", ' "$site/search_index.js" ||
  fail "the search does not know the sections of the manual"

if command -v chromium >/dev/null; then
  chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --virtual-time-budget=5000 \
    --dump-dom "file://$site/search.html?q=quarantine" >"$scratch/found" 2>"$scratch/output" ||
    fail "a browser does not show the search: $(cat "$scratch/output")"
  grep -qF '<a href="man/libclbin.3.html#Quarantine">libclbin(3): Quarantine</a>' "$scratch/found" ||
    fail "the search finds no section in a browser"
else
  echo "site_pages: there is no chromium: the search was not tried"
fi

# expect_refused MESSAGE FILE SED
expect_refused() {
  cp "$2" "$scratch/file"
  sed -i "$3" "$2"
  ! cmp -s "$2" "$scratch/file" || fail "'$3' changes nothing in $2"
  if script/site "$site" >"$scratch/output" 2>&1; then fail "it accepts '$3' in $2"; fi
  grep -qF "$1" "$scratch/output" || fail "it does not print '$1' but: $(cat "$scratch/output")"
  diff -r "$site" "$scratch/kept" || fail "a failure changes the site"
  mv "$scratch/file" "$2"
}
missing=missing # in a variable, because check_citations.py reads this script, too
expect_refused "script/site: error: doc/trust.md links to '$missing.md', which is not in this repository" \
  doc/trust.md "\$a [link]($missing.md)"
expect_refused "doc/trust.html links to '#nothing': there is no such heading" \
  doc/trust.md '$a [link](#nothing)'
expect_refused "man/oclcc.1.html links to '#Nothing': there is no such heading" man/oclcc.1 '$a .Sx Nothing'
expect_refused "man/oclcc.1.html links to '../elsewhere.html': there is no such file" \
  man/oclcc.1 '$a .Lk ../elsewhere.html'
expect_refused "README.md does not contain '\$ ./main', where the page Start ends" README.md '/[$] .[/]main/d'
mkdir "$scratch/mine"
touch "$scratch/mine/file"
! script/site "$scratch/mine" 2>"$scratch/output" || fail "it writes into a folder with other files"
grep -q "^script/site: error: '.*/mine' contains something else than a site$" "$scratch/output" ||
  fail "it prints $(cat "$scratch/output")"

if ! command -v chromium >/dev/null; then
  echo "site_pages: chromium is not installed: the search is not tried"
  exit
fi
search() { # QUERY: prints the headings that it finds
  HOME=$scratch timeout 120 chromium --headless --no-sandbox --disable-gpu "--user-data-dir=$scratch/chromium" \
    --virtual-time-budget=10000 --dump-dom "file://$site/search.html?q=$1" 2>/dev/null |
    grep -o '<div class="result"><a href="[^"]*">[^<]*' | sed 's/.*>//' || true
}
search Quarantin | grep -qx 'libclbin(3): Quarantine' || fail "the search does not find the beginning of a word"
search clbin_is_current | grep -q '^libclbin(3)' || fail "the search does not find a function"
[[ -z $(search nosuchword) ]] || fail "the search finds what no page contains"
