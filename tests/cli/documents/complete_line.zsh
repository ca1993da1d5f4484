# zsh -f complete_line.zsh FOLDER LINE HITS: completes the end of LINE in an interactive zsh with
# the functions of FOLDER. Writes the completions to HITS, one per line.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= RPS1=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "compadd() { local -a hits; builtin compadd -A hits \"\$@\"; print -l -- \$hits >> ${(q)3}; builtin compadd \"\$@\" }"
zpty -w shell 'zle -C hits complete-word done_hits; done_hits() { _main_complete; print -r -- ALL-HITS; compstate[insert]= compstate[list]= }; bindkey "^I" hits; print READ""Y'
zpty -r -m shell output '*READY*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell output '*ALL-HITS*'
zpty -d shell
