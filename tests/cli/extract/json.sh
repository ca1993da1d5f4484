#!/bin/bash
make_bundle sample s.clbin
oclcc --extract --json s.clbin missing.clbin -o out > e.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/extract.schema.json" < e.json
grep "\"file\"" e.json
# expected output:
#| exit 3
#| fits the schema
#|       "file": "out/matmul.default.nvptx_sm_50.ptx",
#|       "file": "out/matmul.default.nvptx_sm_70.ptx",
#|       "file": "out/matmul.default.cpu-a.bin",
#|       "file": "out/matmul.fast.cpu-a.bin",
#|       "file": "out/matmul.fast.nvptx_sm_70.ptx",
#|       "file": "out/reduce.default.nvptx_sm_80.ptx",
#|       "file": "out/reduce.default.cpu-b.bin",
#|       "file": "out/matmul.source/matmul.cl",
#|       "file": "out/matmul.source/tile.h",
# expected errors:
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
