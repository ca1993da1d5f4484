#!/bin/bash
oclcc --help=all
# expected output:
#| Usage:
#|     oclcc [options] FILE.cl... [-o BUNDLE]
#|     oclcc [options] BUNDLE... -o BUNDLE
#|     oclcc --info [--json] BUNDLE...
#|     oclcc --list-devices [-v] [--json]
#|     oclcc --identity [--json]
#|     oclcc --plan=ninja|json|slurm|parallel [--machine FILE]... [options]
#|           FILE.cl... [-o BUNDLE]
#|     oclcc --explain [--device PATTERN]... [--json] BUNDLE...
#|     oclcc --verify [--public-key KEY]... [--least-counter N] [--detached]
#|           [--run [--device PATTERN]...] [--json] BUNDLE...
#|     oclcc --tune [--launch LAUNCH]... [--device PATTERN]... [--tune-seconds N]
#|           [--tolerance NUMBER] [--known-answers] [--json] BUNDLE [-o BUNDLE]
#|     oclcc --warm [--specialize KERNEL=SIZE]... [--device PATTERN]... BUNDLE...
#|     oclcc --diff [--json] BUNDLE BUNDLE
#|     oclcc --report [--program NAME]... [--variant NAME]... [--kernel NAME]...
#|           [--keep-target PATTERN | --drop-target PATTERN]...
#|           [--against FILE [--fail-on LIMITS]...] [--json | --csv | --html PAGE]
#|           FILE...
#|     oclcc --extract [--program NAME]... [--variant NAME]...
#|           [--keep-target PATTERN | --drop-target PATTERN]...
#|           BUNDLE... [-o DIR]
#|     oclcc --merge BUNDLE... -o BUNDLE
#|     oclcc --repack BUNDLE... [-o BUNDLE]
#|     oclcc --strip [--keep-target PATTERN | --drop-target PATTERN]...
#|           [--strip-source] [--strip-reflection] [--strip-measurements]
#|           [--strip-answers] [--strip-data] BUNDLE... [-o BUNDLE]
#|     oclcc --record BUNDLE [--record-binaries] [--record-data[=LIMIT]]
#|           [--no-source] -- COMMAND...
#|     oclcc --keygen NAME [--no-passphrase | --key-type TYPE]
#|     oclcc --sign --key FILE | --sign-with COMMAND --public-key KEY
#|           [--counter N] [--vouched-by FILE] BUNDLE... [-o BUNDLE]
#|     oclcc --sign --detached --key FILE BUNDLE... [-o FILE]
#|     oclcc --sign-message [--counter N] BUNDLE [-o FILE]
#|     oclcc --strip-signature BUNDLE... [-o BUNDLE]
#|     oclcc --encrypt --encrypt-key FILE | --encrypt-for KEY...
#|           BUNDLE... [-o BUNDLE]
#|     oclcc --decrypt --decrypt-key FILE... BUNDLE... [-o BUNDLE]
#|     oclcc --cache-stats [--json]
#|     oclcc --clear-cache
#|
#| Compiles OpenCL kernels for the installed devices into one bundle, which
#| contains the device binaries and the source. If FILE is "-", oclcc reads
#| standard input. "@FILE" is replaced by the words in FILE. Every word after "--"
#| is an input file.
#|
#| Programs and output:
#|     -o, --output FILE       write the output to FILE; "-" is standard output
#|                             (default: the program's name + ".clbin"; required
#|                             for several inputs). The suffix of FILE selects the
#|                             output: .ptx, .cubin, .spv or .bin: the binary of
#|                             the one device; .h, .c, .o or .s: the bundle,
#|                             embedded in a C header, C source, an object file or
#|                             assembly; .asm: the assembly of the one device
#|                             binary; .hpp: C++ launchers; otherwise the bundle.
#|                             If the input is a bundle, embedding and launchers
#|                             convert it; otherwise, its programs are built anew
#|     --emit KIND             select the output, regardless of its suffix: clbin,
#|                             ptx, cubin, spv, bin, asm, h, c, o, s, hpp or, of a
#|                             bundle, measurements: the times of its variants,
#|                             without source and binaries
#|     -S                      write the assembly of the one device binary, as
#|                             --emit asm does
#|     --symbol NAME           name an embedded bundle NAME in C and its size
#|                             NAME_size (default: the output's stem + "_clbin")
#|     --embed-header FILE     with -o k.c, k.o or k.s: also write FILE, a header
#|                             that declares the embedded bundle
#|     --host-triple TRIPLE    with -o k.o or k.s: write it for the machine TRIPLE,
#|                             such as aarch64-linux-gnu (default: this machine)
#|     --program NAME=FILE     compile FILE as program NAME (default: the stem of
#|                             FILE); with --extract, --disassemble and --report:
#|                             only program NAME
#|     --optional PROGRAM      allow PROGRAM to fail for a device: print a warning
#|                             and keep its source, which is built when PROGRAM is
#|                             loaded on that device; repeatable
#|     --variant NAME='OPTIONS'
#|                             compile with OPTIONS in addition, as variant NAME;
#|                             repeatable (default: one variant, "default"); with
#|                             --extract, --disassemble and --report: only variant
#|                             NAME; with --tune: also measure each variant with
#|                             OPTIONS in addition, as BASE+NAME, or, without
#|                             OPTIONS, only variant NAME
#|     --variants 'MACRO=VALUE,...'
#|                             compile a variant for each combination of the values
#|                             of macros; "if CONDITION" may follow them;
#|                             repeatable
#|     --requires VARIANT=NAME[,NAME]...
#|                             load VARIANT only with the extensions NAME, of the
#|                             device or of an entry compiled with them; a load
#|                             that names no variant prefers it; repeatable
#|     --specialize KERNEL=SIZE
#|                             prepare KERNEL for launches with work-groups of SIZE
#|                             (64, 16x16, 8x8x4): include the code that its first
#|                             launch requires; repeatable. Sizes that kernels
#|                             require or hint at are always included
#|     --launched-only         of a recording, compile only the kernels that were
#|                             launched; the programs of the result have no others
#|     --emit-cubin            for NVIDIA devices, also write a cubin, which the
#|                             driver loads without compiling; requires ptxas
#|     --no-source             omit the source from the bundle. By default, the
#|                             source and every header it includes are shipped, so
#|                             that devices without a matching entry can build the
#|                             program
#|     --source-only           compile nothing: write a bundle of the sources, from
#|                             which each device builds the program
#|
#| Devices:
#|     --device PATTERN        use only matching devices: gpu, cpu, accelerator,
#|                             all, PLATFORM:DEVICE by number (0:1), a feature of
#|                             --identity, or a part of a platform or device name;
#|                             repeatable (default: all)
#|     --target SPEC           compile for the offline target SPEC, such as
#|                             nvptx:sm_70, which needs no device; starts no driver
#|                             unless --device is given, too; repeatable
#|     --tool NAME=PATH        for offline targets, use the program or library PATH
#|                             as NAME, such as clang; repeatable
#|     --device-option PATTERN=OPTIONS
#|                             compile with OPTIONS in addition, for the devices
#|                             that match PATTERN
#|
#| Passed to the compilers:
#|     -D NAME[=VALUE]         define a macro
#|     -U NAME                 undefine a macro
#|     -I DIR                  search DIR for headers
#|     -include FILE           include FILE before the first line
#|     -cl-*                   pass any OpenCL option to every driver, unchanged
#|     -g                      generate debug information
#|     -O, -O0, -O1, -O2, -O3, -Os, -Oz, -Ofast
#|                             set the optimization level; passed to every driver,
#|                             unchanged
#|     -w                      suppress compiler warnings
#|     -Werror                 treat warnings as errors
#|     -Werror=variant         treat a variant that some device cannot build as an
#|                             error
#|     -x cl                   set the input language; only cl is supported
#|     -ffile-prefix-map, -fmacro-prefix-map, -fdebug-prefix-map=OLD=NEW
#|                             replace OLD with NEW at the start of file names in
#|                             #line directives, in binaries and in the bundle
#|
#| Dependency rules for make and ninja, as in gcc:
#|     -M, -MM                 print the rule and compile nothing
#|     -MD, -MMD               write the rule next to the output, with suffix .d
#|     -MF FILE                write the rule to FILE
#|     -MT TARGET              set the target of the rule, unchanged
#|     -MQ TARGET              set the target of the rule, escaped for make
#|     -MP                     add an empty rule for each header, so that make
#|                             continues after a header is removed
#|
#| Running:
#|     --compile-commands[=FILE]
#|                             compile nothing: write the commands with which clang
#|                             would compile the sources to FILE, which clangd
#|                             reads; keeps those of other sources (default:
#|                             compile_commands.json)
#|     --watch                 compile, and then again each time that a source, a
#|                             header or another file that the compile reads
#|                             changes, until interrupted
#|     -fsyntax-only           compile, but write no output
#|     -###                    print a command for each unit and run none
#|     -j, --jobs N            run N compilers at once (default: one per core)
#|     --timeout SECONDS       stop a compiler, or the command of --sign-with,
#|                             after SECONDS (default: 300)
#|     --memory-limit SIZE     stop a compiler that uses more memory than SIZE,
#|                             such as 512M or 4G; none: no limit (default: three
#|                             quarters of the machine's memory)
#|     --keep-going            write the parts that compiled even if others failed
#|     --color[=WHEN]          use colours: auto, always or never (default: auto)
#|     --diagnostics-format FORMAT
#|                             print messages as text, json or sarif (default:
#|                             text)
#|     -q, --quiet             suppress warnings and notes
#|     -v, --verbose           report each step and print whole build logs; with
#|                             --list-devices: print all properties of the devices;
#|                             with --list-targets: the extensions that -cl-ext can
#|                             request
#|
#| Inspecting:
#|     --info                  list the contents of the bundles FILE...; starts no
#|                             driver
#|     --list-devices          list the installed devices
#|     --list-targets          list the offline targets, and what those that cannot
#|                             be used here need
#|     --explain               show what each device would load from the bundles
#|                             FILE..., and why; passes matching entries to the
#|                             drivers, compiles no source
#|     --verify                check every byte of the bundles FILE...
#|     --run                   with --verify: load each entry on the devices that
#|                             would load it, each in a separate process
#|     --diff                  list the differences between two bundles; the exit
#|                             status is 1 if there are any
#|     --extract               write the binaries and sources of bundles to files
#|                             in the directory -o (default: working directory)
#|     --disassemble           print the instructions of the one device binary in
#|                             FILE, or of the one of a bundle that --program,
#|                             --variant and --keep-target select
#|     --report                list the registers, spills, memory, code size and
#|                             occupancy of the kernels in FILE..., bundles or
#|                             device binaries; needs no device and no tool
#|     --kernel NAME           with --disassemble or --report: only of the kernel
#|                             NAME; with --report: repeatable
#|     --against FILE          with --report: list what differs from the kernels in
#|                             FILE
#|     --fail-on LIMITS        with --against: exit with status 1 if a number is
#|                             worse than LIMITS allow, such as
#|                             spills,scratch,registers+10%,size+5%,occupancy-1
#|     --provenance            print the sources, compilers and options that the
#|                             binaries of the bundle FILE were made of, as an
#|                             in-toto statement (SLSA provenance v1)
#|     --sbom                  print the same as a bill of materials (CycloneDX
#|                             1.5)
#|     --reproduce             build every binary of the bundle FILE anew from what
#|                             it records, without a cache, and compare; the exit
#|                             status is 1 if one differs
#|     --json                  print the report as JSON
#|     --csv                   with --report: print comma-separated values
#|     --html PAGE             with --report: write a page for browsers, which also
#|                             contains the sizes of the entries, the decisions of
#|                             --explain and the instructions of the binaries
#|
#| Building on several machines:
#|     --plan ninja|json|slurm|parallel
#|                             compile nothing: write a plan of the units, and of
#|                             the merge and repack that make the bundle -o, for
#|                             ninja, Slurm, GNU parallel, or (as JSON) another
#|                             engine, to the directory that is named as the
#|                             bundle, with the suffix .plan. Leaves out what the
#|                             cache contains
#|     --machine FILE          with --plan or --import: use the devices in FILE,
#|                             which --identity --json printed on another machine,
#|                             and not those of this machine; repeatable
#|     --unit KEY              compile only the unit KEY of a plan, which the other
#|                             options describe; fail if they describe another one
#|     --identity              print what this machine can compile for, as features
#|                             of a Slurm node: Feature=...
#|
#| Measuring variants:
#|     --tune                  run the launches of --launch, or else the recorded
#|                             ones, with each variant of the bundle FILE on each
#|                             device, compare the results, print the times, and
#|                             add them to the bundle, in place unless -o is given
#|     --launch KERNEL=SIZE[:ARGUMENTS]
#|                             with --tune: launch KERNEL, as
#|                             'scale=512x512,16x16:random(f32,262144),n=512', or
#|                             what the JSON file of this name describes;
#|                             repeatable
#|     --tune-seconds N        with --tune: end after N seconds, with what was
#|                             measured
#|     --tolerance NUMBER      with --tune: how far results of floating-point
#|                             numbers may differ, relatively (default: 1e-2 for
#|                             half, 1e-4 for float, 1e-9 for double)
#|     --known-answers         with --tune: also keep what each launch computes,
#|                             for --verify --run
#|
#| Changing bundles:
#|     --merge                 combine the bundles FILE..., in any order, into the
#|                             bundle -o; compresses nothing again
#|     --import                put device binaries of other tools, each as
#|                             [PROGRAM:][TARGET=]FILE, into the bundle -o; reads
#|                             fat binaries, offload bundles and archives, too
#|     --repack                compress the bundles FILE... again, in place unless
#|                             -o is given
#|     --split[=UNIT]          write the bundle FILE to the directory -o as a base,
#|                             with its sources and IL, and a pack that can be
#|                             installed alone for each UNIT: family (of devices,
#|                             the default), vendor or entry (one target)
#|     --strip                 remove parts of the bundles FILE..., in place unless
#|                             -o is given; compresses nothing again
#|     --keep-target PATTERN   keep, extract, disassemble or report only entries
#|                             whose target matches PATTERN (a target such as
#|                             nvptx:sm_70, or a part of a device or platform
#|                             name); repeatable
#|     --drop-target PATTERN   remove, or leave out, entries whose target matches
#|                             PATTERN; '*' matches all; repeatable
#|     --strip-source          remove the source
#|     --strip-reflection      remove all kernel information except kernel names
#|     --strip-measurements    remove the times of variants, by which loads choose
#|                             one
#|     --strip-answers         remove what --known-answers has kept
#|     --strip-data            remove the launches that --record-data has recorded,
#|                             with their data
#|     --prune                 remove each variant that was measured and that no
#|                             load prefers on any device
#|
#| Recording an application:
#|     --record BUNDLE         run the command after "--", and write the OpenCL
#|                             programs that it builds, with their sources and
#|                             options, to BUNDLE, or add them to it
#|     --record-binaries       also record the device binaries
#|     --record-data[=LIMIT]   also record a few launches of each kernel with their
#|                             arguments and the contents of their buffers and
#|                             images, at most LIMIT (64M) bytes of them, for
#|                             --tune and --verify --run
#|
#| Signing:
#|     --keygen NAME           make a key pair: the secret key NAME.key, which a
#|                             passphrase protects, and the public key NAME.pub, as
#|                             minisign(1) does; --key-type makes other keys
#|     --no-passphrase         with --keygen: do not protect the secret key
#|     --sign                  sign the bundles FILE..., in place unless -o is
#|                             given, with --key or --sign-with
#|     --key FILE              with --sign: sign with the secret key in FILE
#|     --sign-key FILE         sign the output of a compile or of --split with the
#|                             secret key in FILE
#|     --sign-with COMMAND     sign with COMMAND, which reads the bytes to sign on
#|                             standard input and writes their Ed25519 signature to
#|                             standard output; requires --public-key
#|     --public-key KEY        with --verify: require a signature by KEY, a file or
#|                             the text in it; repeatable. With --sign-with: the
#|                             key of COMMAND
#|     --counter N             also sign the counter N, against older versions
#|     --least-counter N       with --verify: require a counter of at least N
#|     --vouched-by FILE       with --sign: who trusts the secret key in FILE shall
#|                             also trust the key that signs
#|     --passphrase-file FILE  read the passphrase of the secret key from FILE
#|                             (default: the terminal, or standard input)
#|     --detached              with --sign or --verify: write or check a signature
#|                             file FILE.minisig, as minisign(1) does
#|     --sign-message          write the bytes that a signature of the bundle FILE
#|                             signs, for signing elsewhere
#|     --strip-signature       remove the signatures of the bundles FILE..., in
#|                             place unless -o is given, and nothing else
#|
#| Encrypting:
#|     --key-type TYPE         with --keygen: make a key pair for signing, the
#|                             content key NAME.key, or a key pair of a recipient;
#|                             the last two have no passphrase (default: signing)
#|     --encrypt               encrypt the contents of the bundles FILE..., in
#|                             place unless -o is given, with --encrypt-key or
#|                             --encrypt-for
#|     --decrypt               decrypt the contents of the bundles FILE..., in
#|                             place unless -o is given, with --decrypt-key
#|     --encrypt-key FILE      encrypt the output with the content key in FILE;
#|                             equal contents have equal bytes
#|     --encrypt-for KEY       encrypt the output for the recipient with the public
#|                             key KEY, a file or the text in it, with a new
#|                             content key unless --encrypt-key is given;
#|                             repeatable
#|     --decrypt-key FILE      read encrypted bundles with the content key, or the
#|                             recipient's secret key, in FILE; repeatable
#|
#| Caches:
#|     --no-cache              build everything, and store nothing in the cache;
#|                             with --tune: measure again what the bundle contains
#|     --warm                  load every program of the bundles FILE... on each
#|                             device, and store what has to be built in libclbin's
#|                             user cache, so that applications start without a
#|                             build
#|     --cache-stats           show the contents and the hits of libclbin's user
#|                             cache and oclcc's compile cache
#|     --clear-cache           remove the contents of both caches
#|
#| Help:
#|     --help[=all]            show the common options, or all options
#|     --version               show the version
#|
#| Exit status: 0 success, 1 a kernel did not compile, an entry did not load
#| (--verify --run), two bundles differ (--diff) or a limit is exceeded
#| (--fail-on), 2 invalid command line, 3 a file cannot be read or written,
#| 4 invalid bundle or signature, or no key for an encrypted bundle, 5 no usable
#| device, driver or offline compiler, 6 out of memory or internal error.
#| --record: the exit status of the command. See oclcc(1).
