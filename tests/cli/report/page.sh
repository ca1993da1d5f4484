#!/bin/bash
# Tests of --report --html. Only the test in explain.sh starts drivers.
binaries=$ROOT/tests/unit/format/binaries
mkdir no_platforms
export OCL_ICD_VENDORS=$PWD/no_platforms
# make_kernels FILE [AMD]: a bundle with several vendors.
make_kernels() {
  oclcc --import "add:nvptx:sm_50=$binaries/sm_50.nvcl.ptx" "add:cubin:sm_80=$binaries/sm_80.cubin" \
    "add:amdgcn:gfx1030=${2:-$binaries/gfx1030.v4.co}" "all:cubin:sm_80=$binaries/arguments.sm_80.cubin" \
    "all:intel:tgllp=$binaries/arguments.tgllp.zebin" -o "$1" -q
}
page() { python3 -B "$CLI_TESTS/report/page.py" "$@"; }

### page_documents
# The page has the documents of other modes, says what is missing here, and has the same bytes again.
make_kernels k.clbin
PATH=$(dirname "$(command -v oclcc)") oclcc --report k.clbin --html k.html; echo "exit $?"
PATH=$(dirname "$(command -v oclcc)") oclcc --report k.clbin --html - > again.html
cmp k.html again.html && echo "the same"
page parse k.html
page documents k.html
for name in report info; do
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/$name.schema.json" < $name.json
done
oclcc --report k.clbin --json | cmp - report.json
oclcc --info k.clbin --json | cmp - info.json
python3 - <<'END'
import json
print([bundle["error"][:22] for bundle in json.load(open("explain.json"))["bundles"]])
document = json.load(open("disassembly.json"))
print([binary["cut"] for binary in document["binaries"] if ".entry add" in binary["text"]], document["left_out"])
print({obstacle.split(";")[0].split(":")[0] for obstacle in document["obstacles"]})
END
# expected output:
#| exit 0
#| the same
#| {'a': 1, 'body': 1, 'code': 4, 'div': 3, 'footer': 1, 'h1': 1, 'head': 1, 'header': 1, 'html': 1, 'input': 1, 'label': 1, 'main': 1, 'meta': 4, 'nav': 1, 'noscript': 1, 'p': 2, 'script': 5, 'style': 1, 'title': 1, 'ul': 1}
#| fits the schema
#| fits the schema
#| ['no OpenCL device found']
#| [False] 0
#| {"'--disassemble' needs programs that are not installed"}

### page_selection
# Each document has what is selected only.
make_kernels k.clbin
oclcc --report k.clbin --program add --keep-target nvptx:* --html k.html
page documents k.html
python3 - <<'END'
import json
for name, list in (("report", "files"), ("info", "bundles")):
    for file in json.load(open(name + ".json"))[list]:
        print([(group["program"], len(group.get("entries", group.get("kernels")))) for group in file["groups"]])
print(len(json.load(open("disassembly.json"))["binaries"]))
END
# expected output:
#| [('add', 1)]
#| [('add', 1)]
#| 1

### page_other_files
# Of device binaries, the page has the resources, the sizes and the disassembly, and says what is
# missing here; errors are on the page, and in the exit status.
cp "$binaries/gfx1030.v4.co" "$binaries/sm_50.nvcl.ptx" .
cp "$binaries/arguments.sm_70.nvcl.ptx" sm_70.ptx
ar rc k.a sm_50.nvcl.ptx sm_70.ptx
echo text > text.txt
PATH=$(dirname "$(command -v oclcc)") oclcc --report gfx1030.v4.co k.a text.txt missing.clbin --html k.html
echo "exit $?"
page documents k.html
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/report.schema.json" < report.json
python3 -c 'import json
disassembly = json.load(open("disassembly.json"))
texts = {binary["digest"]: binary["text"] for binary in disassembly["binaries"]}
for file in json.load(open("report.json"))["files"]:
    print(file["file"], [error["message"] for error in file["errors"]])
    for group in file["groups"]:
        print(group["program"], group["bytes"], len(texts.get(group["digest"], "")))
print(json.load(open("info.json")), len(texts), disassembly["left_out"],
      [obstacle.split(";")[0].split(":")[0] for obstacle in disassembly["obstacles"]])'
oclcc --report k.a --keep-target "nvptx:sm_70" --html k.html && page documents k.html
python3 -c 'import json; print(len(json.load(open("disassembly.json"))["binaries"]))'
oclcc --report - --html k.html < sm_50.nvcl.ptx && page documents k.html
grep -c '"bytes": [0-9]' report.json; cat disassembly.json
# expected output:
#| exit 3
#| fits the schema
#| gfx1030.v4.co []
#|  3008 0
#| k.a []
#| 'sm_50.nvcl.ptx' 450 450
#| 'sm_70.ptx' 2359 2359
#| text.txt ['text.txt: oclcc reads no kernels of unknown binary']
#| missing.clbin ["cannot open 'missing.clbin': No such file or directory"]
#| {'bundles': [], 'version': 1} 2 0 ["'--disassemble' needs programs that are not installed"]
#| 1
#| 1
#| {
#|   "binaries": [],
#|   "left_out": 0,
#|   "obstacles": []
#| }
# expected errors:
#| oclcc: error: text.txt: oclcc reads no kernels of unknown binary
#| oclcc: error: cannot open 'missing.clbin': No such file or directory

### page_pipe
# A bundle from a pipe is read once.
make_kernels k.clbin
oclcc --report - --html k.html < k.clbin; echo "exit $?"
page documents k.html
grep -c '"program": "add"' report.json; cat explain.json
# expected output:
#| exit 0
#| 1
#| {
#|   "bundles": []
#| }

### page_encrypted
# Without a key, the page says so, as --report does.
make_kernels k.clbin
oclcc --keygen key --key-type content > /dev/null
oclcc --encrypt --encrypt-key key.key k.clbin -o e.clbin
oclcc --report e.clbin --html e.html; echo "exit $?"
page documents e.html
grep -c 'is encrypted' report.json; grep '"key_given"' info.json; grep -o '"error": .*' explain.json
oclcc --report e.clbin --decrypt-key key.key --html e.html; echo "exit $?"
page documents e.html
grep '"key_given"' info.json
# expected output:
#| exit 4
#| 1
#|         "key_given": false,
#| "error": "e.clbin: it is encrypted: name its key with '--decrypt-key'",
#| exit 0
#|         "key_given": true,
# expected errors:
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'

### page_against
# The page has the differences and the limits that they exceed; without a comparison, there is none.
make_kernels old.clbin
sed 's/\.vgpr_count\x02/.vgpr_count\x50/' "$binaries/gfx1030.v4.co" > more.co
make_kernels new.clbin more.co
oclcc --report new.clbin --against old.clbin --fail-on registers --html k.html; echo "exit $?"
page documents k.html
python3 -c 'import json
for change in json.load(open("report.json"))["differences"]:
    print(change["kernel"], change["number"], change["before"], change["after"], change["exceeds"])'
rm k.html
oclcc --report new.clbin --against missing.clbin --html k.html; echo "exit $?"
oclcc --report new.clbin --against missing.clbin --html -; echo "exit $?"
[ -e k.html ] || echo "no page"
# expected output:
#| exit 1
#| add registers 2 80 +0
#| add occupancy 64 48 None
#| exit 3
#| exit 3
#| no page
# expected errors:
#| new.clbin: error: program 'add', variant 'default', kernel 'add', 'amdgcn:gfx1030': registers changed from 2 to 80, which exceeds +0
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cannot open 'missing.clbin': No such file or directory

### page_refused
make_kernels k.clbin
cp k.clbin old.clbin
digest=$(cat k.clbin old.clbin | cksum)
ln k.clbin link.clbin
for words in "--html k.html --json" "--html k.html --csv" "--html k.clbin" "--html link.clbin" \
  "--against old.clbin --html old.clbin" "--html missing/k.html" "--html ." "--html"; do
  # shellcheck disable=SC2086
  oclcc --report k.clbin $words; echo "exit $?"
done
oclcc --info k.clbin --html k.html; echo "exit $?"
oclcc --keygen key --key-type content > /dev/null
oclcc --report k.clbin --decrypt-key key.key --html key.key; echo "exit $?"
[ "$(cat k.clbin old.clbin | cksum)" = "$digest" ] && echo "unchanged" && ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| unchanged
#| k.clbin
#| key.key
#| link.clbin
#| no_platforms
#| old.clbin
# expected errors:
#| oclcc: error: '--html' and '--json' cannot be used together
#| oclcc: error: '--html' and '--csv' cannot be used together
#| oclcc: error: 'k.clbin' is both an input and the output
#| oclcc: error: 'link.clbin' is both an input and the output
#| oclcc: error: 'old.clbin' is both an input and the output
#| oclcc: error: cannot write 'missing/k.html': No such file or directory
#| oclcc: error: cannot write '.': Is a directory
#| oclcc: error: option '--html' needs a value: --html PAGE
#| oclcc: error: '--html' cannot be used with '--info'
#| oclcc: error: 'key.key' is both an input and the output

### page_full_disk
# A page that cannot be written whole leaves the old one, and no other file.
make_kernels k.clbin
echo old > k.html
(ulimit -f 8; oclcc --report k.clbin --html k.html); echo "exit $?"
cat k.html; ls
oclcc --report k.clbin --html /dev/full; echo "exit $?"
# expected output:
#| exit 3
#| old
#| k.clbin
#| k.html
#| no_platforms
#| exit 3
# expected errors:
#| oclcc: error: cannot write 'k.html': File too large
#| oclcc: error: cannot write '/dev/full': No space left on device

### page_hostile_names
# Names of files, programs, variants and kernels are data: the elements of the page are the usual ones.
evil='</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>'
make_kernels k.clbin
oclcc --report k.clbin --html k.html
page parse k.html | head -n 1 > usual
mkdir -p "$(dirname "a$evil")"
make_bundle kernel k.clbin "$evil"$'\u2028\u202e\n\x01&lt' evil.clbin
cp evil.clbin "a$evil.clbin"
oclcc --report "a$evil.clbin" --html e.html
page parse e.html | head -n 1 | diff usual - && echo "the same elements"
page documents e.html
python3 - <<'END'
import json
report = json.load(open("report.json"))["files"][0]
print(report["file"])
print(sorted(ascii(kernel["kernel"]) for kernel in report["groups"][0]["kernels"])[0])
END
# expected output:
#| the same elements
#| a</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>.clbin
#| '</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>\u2028\u202e\n\x01&lt'

### page_browser
# In a browser: no error, no name that becomes an element, no sideways scrolling of the page, contrast,
# the keyboard, and print.
evil='</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>'
make_kernels k.clbin
make_bundle kernel k.clbin "$evil"$'\u202e\n' evil.clbin
cp evil.clbin '<img src=x onerror=alert(3)>.clbin'
cp "$binaries/sm_80.cubin" '<b>.cubin'
cp "$binaries/sm_50.nvcl.ptx" "<u>.ptx"
sed 's/\.vgpr_count\x02/.vgpr_count\x50/' "$binaries/gfx1030.v4.co" > more.co
make_kernels new.clbin more.co
oclcc --report k.clbin --html k.html
oclcc --report '<img src=x onerror=alert(3)>.clbin' '<b>.cubin' "<u>.ptx" --html evil.html
oclcc --report new.clbin --against k.clbin --html against.html
cp "$ROOT/tests/golden/measured_v1/measured.clbin" "$ROOT/tests/golden/answers_v1/answers.clbin" .
oclcc --report measured.clbin --html measured.html
oclcc --report answers.clbin --html answers.html
page browse k.html evil.html against.html measured.html
page show measured.html measurements | sed -n '2,5p; 12,15p'
page show answers.html measurements
# expected output:
#| k.html was checked
#| evil.html was checked
#| against.html was checked
#| measured.html was checked
#| Median and spread of the times that were measured, the fastest first
#| Variant	Work-group	Time of a launch	Spread	Launches
#| k in matmul, 1 work-items, on cpu (platform, driver 1.0)
#| default	the driver's choice	wrong result: wrong_result *	–	0
#| matmul in matmul, 1024×1024 work-items, on gpu a (platform, driver 1.0)
#| default	the driver's choice	
#| 1.00 µs, 1.00 × the best
#| 	10.0 ns	5
#| Measurements
#| 
#| The bundle knows what 4 launches compute: oclcc --verify --run checks its binaries.
