#!/bin/bash
# Tests of --provenance and --sbom.

### digests
# Each digest is that of the file which --extract writes under the name, or of the bundle.
make_bundle sample s.clbin
oclcc --extract s.clbin -o out
for mode in provenance sbom; do
  oclcc --$mode s.clbin -o $mode.json
  oclcc --$mode s.clbin | cmp - $mode.json
done
python3 - <<'END'
import hashlib, json, pathlib
def sha256(name):
    found = [p for p in map(pathlib.Path, ("out/" + name, name)) if p.exists()]
    return hashlib.sha256(found[0].read_bytes()).hexdigest()
statement = json.load(open("provenance.json"))
assert statement["_type"] == "https://in-toto.io/Statement/v1"
assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
for subject in statement["subject"]:
    assert subject["digest"]["sha256"] == sha256(subject["name"]), subject
build = statement["predicate"]["buildDefinition"]
for material in build["resolvedDependencies"]:
    if "digest" in material:
        program, file = material["name"].split("/", 1)
        assert material["digest"]["sha256"] == sha256(f"{program}.source/{file}"), material
    else:
        assert material["uri"].startswith("pkg:generic/"), material
print(len(statement["subject"]), len(build["externalParameters"]["units"]))
print(*build["externalParameters"]["units"][-1].values())
bill = json.load(open("sbom.json"))
files = [c for c in bill["components"] if c["type"] == "file"] + [bill["metadata"]["component"]]
digests = {s["digest"]["sha256"] for s in statement["subject"] + build["resolvedDependencies"] if "digest" in s}
assert {f["hashes"][0]["content"] for f in files} == digests
references = [c["bom-ref"] for c in bill["components"]] + [bill["metadata"]["component"]["bom-ref"]]
assert len(references) == len(set(references))
for relation in bill["dependencies"]:
    assert {relation["ref"], *relation["dependsOn"]} <= set(references), relation
print(bill["bomFormat"], bill["specVersion"], len(bill["components"]))
END
# expected output:
#| 8 7
#| -DN=4 reduce cpu-b (Portable Computing Language) default
#| CycloneDX 1.5 12

### hostile_names
# Any name stays text.
make_bundle hostile s.clbin
oclcc --provenance s.clbin | python3 -m json.tool > /dev/null && echo valid
oclcc --sbom s.clbin > s.json
python3 -c 'import json; c = json.load(open("s.json"))["components"]; print(len(c) == len({x["bom-ref"] for x in c}))'
# expected output:
#| valid
#| True

### refused
# A bundle that is damaged, encrypted or not one has no document, and nothing is replaced.
make_bundle sample s.clbin
head -c 700 s.clbin > cut.clbin
echo before > out.json
oclcc --provenance cut.clbin -o out.json; echo "exit $?"
oclcc --keygen c --key-type content && oclcc --encrypt s.clbin --encrypt-key c.key -o e.clbin
oclcc --sbom e.clbin -o out.json; echo "exit $?"
cat out.json
oclcc --sbom e.clbin --decrypt-key c.key | grep -c '"file"'
oclcc --provenance s.clbin s.clbin; echo "exit $?"
oclcc --sbom s.clbin -o s.clbin; echo "exit $?"
oclcc --sbom missing.clbin; echo "exit $?"
# expected output:
#| exit 4
#| exit 4
#| before
#| 10
#| exit 2
#| exit 2
#| exit 3
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 700 bytes are present
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: '--provenance' accepts one bundle, not 2
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: cannot open 'missing.clbin': No such file or directory

### build_ids
# Two builds of one version of a compiler can be told apart.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
echo 'kernel void k(global int* a) { a[0] = 1; }' > k.cl
oclcc k.cl --target spirv:1.2 -o k.clbin
id=$(readelf -n "$(readlink -f "$(command -v "$clang")")" | sed -n 's/.*Build ID: //p')
for mode in provenance sbom; do
  oclcc --$mode k.clbin | grep -c "pkg:generic/clang@[0-9.]*?build_id=$id\""
done
# expected output:
#| 1
#| 3
