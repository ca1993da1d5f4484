# Completion of oclcc for bash; tests/cli/documents.sh compares it with --help=all.
_oclcc() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local options="
    --against --cache-stats --clear-cache --color --compile-commands= --counter --csv --decrypt --decrypt-key --detached --device --device-option
    --diagnostics-format --diff --disassemble --drop-target --embed-header --emit --emit-cubin --encrypt --encrypt-for --encrypt-key
    --explain --extract --fail-on --help --host-triple --html --identity --import --info --jobs --json --keep-going --kernel
    --keep-target --key --key-type --keygen --known-answers --launch --launched-only --least-counter --list-devices --list-targets --machine --memory-limit --merge --no-cache
    --no-passphrase --no-source --optional --output --passphrase-file --plan --program --prune --provenance --public-key --quiet --record --record-binaries --record-data --repack --report --reproduce --requires --run --sbom --sign --sign-key --sign-message --sign-with --source-only
    --specialize --split --strip --strip-answers --strip-data --strip-measurements --strip-reflection --strip-signature --strip-source --symbol --target
    --timeout --tolerance --tool --tune --tune-seconds --unit --variant --variants --verbose --verify --version --vouched-by --warm --watch -### -D -I -M -MD -MF -MM -MMD -MP -MQ -MT
    -O -O0 -O1 -O2 -O3 -Ofast -Os -Oz -S -U -Werror -Werror=variant -cl-
    -fdebug-prefix-map= -ffile-prefix-map= -fmacro-prefix-map= -fsyntax-only -g -include -j -o -q -v -w -x
  "
  COMPREPLY=()
  # Bash splits --color=always at the "="; --color and --help accept a value only after "=".
  if [[ $word == = ]]; then
    word=
    before+="="
  elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}=
  fi
  case $before in
  --split=) mapfile -t COMPREPLY < <(compgen -W "family vendor entry" -- "$word"); return ;;
  --color=) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word"); return ;;
  --emit | --emit=) mapfile -t COMPREPLY < <(compgen -W "clbin ptx cubin spv bin asm h c o s hpp measurements" -- "$word"); return ;;
  --diagnostics-format | --diagnostics-format=) mapfile -t COMPREPLY < <(compgen -W "text json sarif" -- "$word"); return ;;
  --key-type | --key-type=) mapfile -t COMPREPLY < <(compgen -W "signing content recipient" -- "$word"); return ;;
  --plan | --plan=) mapfile -t COMPREPLY < <(compgen -W "ninja json slurm parallel" -- "$word"); return ;;
  --device | --device=) mapfile -t COMPREPLY < <(compgen -W "gpu cpu accelerator all" -- "$word"); return ;;
  --help=) mapfile -t COMPREPLY < <(compgen -W "common all" -- "$word"); return ;;
  -x) COMPREPLY=(cl); return ;;
  -I) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    # The value follows without a space; compopt fails outside a completion.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=-] ]]; then
      compopt -o nospace 2> /dev/null
    fi
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _oclcc oclcc
