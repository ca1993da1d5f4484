#!/bin/bash
# Signatures, counters and vouches, and whether they hold.
make_bundle sample s.clbin
oclcc --info --json s.clbin > unsigned.json
for name in a old; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key a.key --counter 18446744073709551615 --vouched-by old.key s.clbin
oclcc --info s.clbin | head -6
key() { tail -n 1 "$1" | base64 -d | tail -c 32 | od -An -tx1 | tr -d ' \n'; }
[ "$(oclcc --info s.clbin | grep -c "$(key a.pub)")" = 3 ] && [ "$(oclcc --info s.clbin | grep -c "$(key old.pub)")" = 1 ] && echo 'keys'
oclcc --info --json s.clbin > signed.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < signed.json
last=$(tail -c 1 s.clbin | od -An -tu1)
printf "\\$(printf %03o $((last ^ 1)))" | dd of=s.clbin bs=1 seek=$(($(stat -c %s s.clbin) - 1)) conv=notrunc status=none
oclcc --info s.clbin | grep ' hold'
python3 - <<'END_OF_PYTHON'
import json

signed, unsigned = (json.load(open(name))["bundles"][0] for name in ("signed.json", "unsigned.json"))
for member in ("signatures", "counters", "vouches"):
    assert len(signed[member]) == 1 and signed[member][0]["holds"] is True
    assert member not in unsigned
assert signed["counters"][0]["counter"] == 2**64 - 1
assert signed["signatures"][0]["public_key"] == signed["vouches"][0]["new_public_key"]
print("done")
END_OF_PYTHON
# expected output:
#| s.clbin: bundle of format 1.0, 7 entries, 4192 bytes
#|   digest    *
#|   signature by key *: holds
#|   counter   18446744073709551615 by key *: holds
#|   vouch     by key * for key *: holds
#|
#| keys
#| fits the schema
#|   signature by key *: holds
#|   counter   18446744073709551615 by key *: holds
#|   vouch     by key * for key *: does not hold
#| done
