#!/bin/bash
# Tests of --split, and of modes that read what it writes.
binaries=$ROOT/tests/unit/format/binaries
import() { oclcc --import "${@:2}" -o "$1"; }
many() {
  import many.clbin k:"$binaries"/{sm_80.cubin,sm_90.cubin,gfx1030.v4.co,gfx90a-no-xnack.v4.co,tgllp.zebin} \
    k:"$binaries/kernel.spv"
}

### units
# Each unit has its packs, and what is merged and repacked is the bundle again.
many
for unit in family vendor entry; do
  oclcc --split=$unit many.clbin -o $unit.d
  echo "$unit:" "$(cd $unit.d && echo *)"
  oclcc --verify $unit.d
  oclcc --diff $unit.d many.clbin
  oclcc --merge $unit.d -o all.clbin
  oclcc --repack all.clbin
  cmp all.clbin many.clbin
done
oclcc --split many.clbin -o default.d
diff -r default.d family.d
oclcc --verify default.d/*.clbin && echo "each file is a bundle"
# expected output:
#| family: amd-gfx10.clbin amd-gfx9.clbin base.clbin intel-tgllp.clbin nvidia-sm_8x.clbin nvidia-sm_9x.clbin
#| vendor: amd.clbin base.clbin intel.clbin nvidia.clbin
#| entry: amdgcn-gfx1030.clbin amdgcn-gfx90a-xnack-.clbin base.clbin cubin-sm_80.clbin cubin-sm_90.clbin intel-tgllp.clbin
#| each file is a bundle

### recorded_data
# The data of an application stay in the base, and signatures cover them.
oclcc --merge "$ROOT/tests/golden/packs_v1" -o whole.clbin
oclcc --split whole.clbin -o d
grep -l 2x2 whole.clbin d/*.clbin
oclcc --keygen k --no-passphrase 2> /dev/null
oclcc --split whole.clbin --sign-key k.key -o signed.d
oclcc --verify --public-key k.pub signed.d/*.clbin && echo signed
oclcc --merge d -o all.clbin
oclcc --repack all.clbin whole.clbin
cmp all.clbin whole.clbin
oclcc --strip --strip-data whole.clbin
grep -l 2x2 whole.clbin || echo removed
# expected output:
#| whole.clbin
#| d/base.clbin
#| signed
#| removed

### without_source
# A base without source and IL, and a pack with all entries of one vendor.
import none.clbin k:"$binaries/sm_80.cubin" k:"$binaries/sm_90.cubin"
oclcc --split=vendor none.clbin -o d
oclcc --info d/base.clbin
oclcc --verify d
oclcc --merge d -o all.clbin
oclcc --repack all.clbin
cmp all.clbin none.clbin
# expected output:
#| d/base.clbin: bundle of format 1.3, 0 entries, * bytes
#|   digest    *
#|   pack      nvidia, *
#|   kernels   registers/spills/bytes of local memory; '-' is unknown
#|
#| program 'k', variant 'default'
#|   options   none
#|   source    not kept

### installed_devices
# Devices with one name have packs of their own. Measurements and known answers stay in the base.
make_bundle sample s.clbin
make_bundle times s.clbin t.clbin
oclcc --repack t.clbin
oclcc --split=entry t.clbin -o d
(cd d && echo *)
oclcc --info -v d/base.clbin | grep -c measured
for pack in d/*; do
  [ "$pack" = d/base.clbin ] || oclcc --info -v "$pack" | grep -E 'measured|source +kept'
done
oclcc --merge d -o all.clbin
oclcc --repack all.clbin
cmp all.clbin t.clbin
# expected output:
#| base.clbin nvptx-sm_50.clbin nvptx-sm_70.clbin nvptx-sm_80.clbin pocl-cpu-a.clbin pocl-cpu-b.clbin
#| 2

### absent_pack
# What is there is one bundle, which names the packs that are not.
many
oclcc --split=vendor many.clbin -o d
rm d/amd.clbin
oclcc --info d | grep -E 'entries|pack' | sed 's/[0-9a-f]\{64\}/DIGEST/'
oclcc --verify d && echo valid
oclcc --info --json d > info.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < info.json
python3 -c "
import json
for pack in json.load(open('info.json'))['bundles'][0]['packs']:
    print(pack['name'])"
oclcc --extract d -o files
ls files
oclcc --strip --drop-target cubin:sm_90 d/base.clbin
oclcc --info d/base.clbin | grep pack
# expected output:
#| d: bundle of format 1.3, 4 entries, * bytes
#|   pack      amd, DIGEST
#| valid
#| fits the schema
#| amd
#| k.default.cubin_sm_80.cubin
#| k.default.cubin_sm_90.cubin
#| k.default.intel_tgllp.bin
#| k.default.spirv_1.0.spv
#|   pack      amd, *
#|   pack      intel, *
#|   pack      nvidia, *
# expected errors:
#| oclcc: warning: d/base.clbin: no target matches 'cubin:sm_90'; there are 'spirv:1.0'

### many_absent_packs
# The first eight are named.
for sm in 50 52 53 60 61 62 70 72 75 80; do
  sed "s/sm_50/sm_$sm/" "$binaries/sm_50.nvcl.ptx" > $sm.ptx
done
import k.clbin k:{50,52,53,60,61,62,70,72,75,80}.ptx
oclcc --split=entry k.clbin -o d
rm d/nvptx-*.clbin
oclcc --merge d -o all.clbin 2> notes
wc -l < notes
head -1 notes; tail -1 notes
# expected output:
#| 9
#| oclcc: note: all.clbin: the pack 'nvptx-sm_50' is not there, and its entries are missing
#| oclcc: note: all.clbin: 2 more packs are not there

### other_version
# A pack that the base does not name is refused by name.
many
oclcc --split=vendor many.clbin -o d
import other.clbin k:"$binaries/sm_80.cubin" k:"$binaries/kernel.spv"
oclcc --split=vendor other.clbin -o other.d
cp d/nvidia.clbin kept.clbin
cp other.d/nvidia.clbin d
for mode in --info --verify --extract; do oclcc $mode d; echo "exit $?"; done
cp kept.clbin d/nvidia.clbin
head -c 1000 kept.clbin > d/amd.clbin
oclcc --info d; echo "exit $?"
# expected output:
#| exit 4
#| exit 4
#| exit 4
#| exit 4
# expected errors:
#| oclcc: error: 'd/nvidia.clbin' is not the pack that its base names: it is of another version or another product
#| oclcc: error: 'd/nvidia.clbin' is not the pack that its base names: it is of another version or another product
#| oclcc: error: d: 'd/nvidia.clbin' is not the pack that its base names: it is of another version or another product
#| oclcc: error: d/amd.clbin: prefix: total_bytes is *, but only 1000 bytes are present

### again
# A second split replaces the first, and removes its packs, but nothing else.
many
import other.clbin k:"$binaries/sm_80.cubin" k:"$binaries/kernel.spv"
oclcc --split=entry many.clbin -o d
echo mine > d/readme
cp other.clbin d/other.clbin
oclcc --split=entry -v other.clbin -o d
(cd d && echo *)
oclcc --verify d && echo valid
oclcc --split=entry d -o e
diff -r d e
oclcc --split=vendor d -o d && (cd d && echo *)
# expected output:
#| base.clbin cubin-sm_80.clbin other.clbin readme
#| valid
#| Only in d: other.clbin
#| Only in d: readme
#| base.clbin nvidia.clbin other.clbin readme
# expected errors:
#| d/cubin-sm_80.clbin
#| d/base.clbin

### what_is_removed
# Neither the input, nor a file that only has the name of a pack of before.
many
oclcc --split=vendor many.clbin -o d
cp many.clbin d/nvidia.clbin
oclcc --split=family d/nvidia.clbin -o d && cmp many.clbin d/nvidia.clbin && ls d
oclcc --split=vendor many.clbin -o e
oclcc --split=entry e/nvidia.clbin -o e && ls e
oclcc --verify e && echo valid
# expected output:
#| amd-gfx10.clbin
#| amd-gfx9.clbin
#| base.clbin
#| intel-tgllp.clbin
#| nvidia-sm_8x.clbin
#| nvidia-sm_9x.clbin
#| nvidia.clbin
#| base.clbin
#| cubin-sm_80.clbin
#| cubin-sm_90.clbin
#| nvidia.clbin
#| valid

### at_once
# Of two runs in one directory, one is the last.
many
for _ in 1 2 3 4 5; do
  oclcc --split=vendor many.clbin -o d & oclcc --split=entry many.clbin -o d & wait
  oclcc --verify d
  oclcc --merge d -o all.clbin
  oclcc --diff all.clbin many.clbin
done

### a_base_alone
# A program whose entries are in packs keeps its place. A base is not built anew.
import two.clbin x:"$binaries/kernel.spv" y:"$binaries/sm_80.cubin"
oclcc --split two.clbin -o d
oclcc --strip --strip-source d/base.clbin
oclcc --info d/base.clbin | grep -E "^program|pack "
oclcc d/base.clbin --target spirv:1.2 -o e.clbin; echo "exit $?"
# expected output:
#|   pack      nvidia-sm_8x, *
#| program 'x', variant 'default'; source not kept
#| program 'y', variant 'default'
#| exit 2
# expected errors:
#| oclcc: error: 'd/base.clbin' names packs, whose entries would not be built anew: compile what '--merge' makes of all of them

### packages
# A Debian package for each pack. What is installed beside the base is used, and the rest is named.
many
oclcc --split many.clbin -o d
for file in d/*.clbin; do
  name=app-$(basename "$file" .clbin | tr _ -)
  mkdir -p "$name/DEBIAN" "$name/usr/share/app"
  cp "$file" "$name/usr/share/app"
  printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: kernels\n' \
    "$name" > "$name/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$name" > log || cat log
done
for name in app-base app-nvidia-sm-8x; do dpkg-deb --extract $name.deb root; done
ls root/usr/share/app
oclcc --merge root/usr/share/app -o installed.clbin; echo "exit $?"
dpkg-deb --extract app-nvidia-sm-9x.deb root
oclcc --info root/usr/share/app | grep '^ *sm_'
oclcc --verify root/usr/share/app; echo "exit $?"
# expected output:
#| base.clbin
#| nvidia-sm_8x.clbin
#| exit 0
#|             sm_80  sm_90    1.0
#| exit 0
# expected errors:
#| oclcc: note: installed.clbin: the pack 'amd-gfx10' is not there, and its entries are missing
#| oclcc: note: installed.clbin: the pack 'amd-gfx9' is not there, and its entries are missing
#| oclcc: note: installed.clbin: the pack 'intel-tgllp' is not there, and its entries are missing
#| oclcc: note: installed.clbin: the pack 'nvidia-sm_9x' is not there, and its entries are missing

### generic_processors
# They are in the pack of their generation.
oclcc --list-targets | grep -qx amdgcn:gfx11-generic || { echo "gfx11-generic is not usable here"; exit 77; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --target amdgcn:gfx11-generic --target amdgcn:gfx1100 --target amdgcn:gfx906 k.cl -o k.clbin
oclcc --split k.clbin -o d && ls d
# expected output:
#| amd-gfx11.clbin
#| amd-gfx9.clbin
#| base.clbin

### report
# --report and --disassemble read the directory.
many
oclcc --split many.clbin -o d
oclcc --report d | tail -n +2 > of_directory
oclcc --report many.clbin | tail -n +2 > of_file
diff of_directory of_file && grep -c cubin of_file
# expected output:
#| 2

### refused
many
oclcc --split many.clbin; echo "exit $?"
oclcc --split many.clbin -o -; echo "exit $?"
oclcc --split many.clbin many.clbin -o d; echo "exit $?"
oclcc --split -o d; echo "exit $?"
oclcc --split=device many.clbin -o d; echo "exit $?"
echo text > file
oclcc --split many.clbin -o file; echo "exit $?"
oclcc --split file -o d; echo "exit $?"
oclcc --split=entry many.clbin -o d
oclcc --split d/base.clbin -o e; echo "exit $?"
[ -e e ] && echo "e exists"
mkdir in
cp many.clbin in/cubin-sm_80.clbin
oclcc --split=entry in/cubin-sm_80.clbin -o in; echo "exit $?"
cmp many.clbin in/cubin-sm_80.clbin
oclcc --keygen key --no-passphrase
oclcc --sign --key key.key d; echo "exit $?"
oclcc --repack d; echo "exit $?"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 4
#| exit 2
#| exit 2
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: '--split' needs a directory: name one with '-o'
#| oclcc: error: '--split' needs a directory: name one with '-o'
#| oclcc: error: '--split' accepts one bundle, not 2
#| oclcc: error: '--split' needs a bundle
#| oclcc: error: '--split' accepts family, vendor or entry, not 'device'
#| oclcc: error: many.clbin: cannot write into 'file': Not a directory
#| oclcc: error: file: not a bundle: it starts with 74 65 78 74 0a
#| oclcc: error: d/base.clbin: it names the pack 'amdgcn-gfx1030', which is not part of it: split a whole bundle
#| oclcc: error: 'in/cubin-sm_80.clbin' is both an input and the output
#| oclcc: error: d: it is a directory: name the files in it
#| oclcc: error: cannot write 'd': Is a directory

### full_disk
# If the disk is full, the base and the packs of before stay.
[ "$(id -u)" -eq 0 ] || { echo "mounting requires root"; exit 77; }
many
import other.clbin k:"$binaries/sm_80.cubin" k:"$binaries/kernel.spv"
oclcc --split=entry other.clbin -o before
# shellcheck disable=SC2016 # the script expands them
unshare --mount bash -c '
mkdir -p d && mount -t tmpfs -o size=16k none d || { echo "mounting is not possible"; exit 77; }
cp before/* d
oclcc --split=entry many.clbin -o d; echo "exit $?"
oclcc --verify d && oclcc --info d | grep -c "^program"
diff -r before d && echo "nothing is lost"'
# expected output:
#| exit 3
#| 1
#| nothing is lost
# expected errors:
#| oclcc: error: many.clbin: cannot write 'd/cubin-sm_80.clbin': No space left on device

### signed_and_encrypted
many
oclcc --keygen key --no-passphrase
oclcc --keygen content --key-type content
oclcc --split=vendor many.clbin -o d --sign-key key.key --counter 3 --encrypt-key content.key
oclcc --verify --public-key key.pub --least-counter 3 --decrypt-key content.key d && echo "all are signed"
for file in d/*; do
  oclcc --verify --public-key key.pub "$file" > /dev/null 2> log && grep -c "not checked" log
done
oclcc --verify --public-key key.pub --least-counter 4 --decrypt-key content.key d; echo "exit $?"
oclcc --info d; echo "exit $?"
oclcc --merge d --decrypt-key content.key -o all.clbin
oclcc --info all.clbin; echo "exit $?"
oclcc --info --decrypt-key content.key d | grep encrypted
oclcc --split=family --decrypt-key content.key d -o e
oclcc --info e/base.clbin; echo "exit $?"
oclcc --sign-message d -o message; echo "exit $?"
oclcc --split=vendor --decrypt-key content.key all.clbin -o e; echo "exit $?"
# expected output:
#| all are signed
#| 1
#| 1
#| 1
#| 1
#| exit 4
#| exit 4
#| all.clbin: bundle of format 1.0, 6 entries, * bytes
#|   digest    *
#|   encrypted with content key *: contents are not shown without '--decrypt-key'
#|   kernels   registers/spills/bytes of local memory; '-' is unknown
#|
#| program 'k', variant 'default'; source not kept
#|             cubin  cubin         amdgcn   amdgcn  intel  spirv
#|             sm_80  sm_90  gfx90a:xnack-  gfx1030  tgllp    1.0
#|   stored      366    895            224      963   1352    474
#|   add(...)
#|                no     no            yes      yes    yes    yes
#|   k(...)
#|               yes    yes             no       no     no     no
#| exit 0
#|   encrypted with content key *
#| e/base.clbin: bundle of format 1.3, 1 entry, * bytes
#|   digest    *
#|   encrypted with content key *: contents are not shown without '--decrypt-key'
#|   pack      amd-gfx10, *
#|   pack      amd-gfx9, *
#|   pack      intel-tgllp, *
#|   pack      nvidia-sm_8x, *
#|   pack      nvidia-sm_9x, *
#|   kernels   registers/spills/bytes of local memory; '-' is unknown
#|
#| program 'k', variant 'default'; source not kept
#|             spirv
#|               1.0
#|   stored      474
#|   add(...)
#|               yes
#| exit 0
#| exit 3
#| exit 0
# expected errors:
#| oclcc: error: d/base.clbin: the counter is 3, and 4 is the least one accepted
#| oclcc: error: d/amd.clbin: the counter is 3, and 4 is the least one accepted
#| oclcc: error: d/intel.clbin: the counter is 3, and 4 is the least one accepted
#| oclcc: error: d/nvidia.clbin: the counter is 3, and 4 is the least one accepted
#| oclcc: error: d/base.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: note: all.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: e: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: error: d: it is a directory: name the files in it
