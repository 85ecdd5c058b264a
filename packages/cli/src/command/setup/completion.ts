// `soong completion`: what a shell needs to complete `soong`. Each script asks the program itself for what may come next
// (`complete-words.ts`), so that ids and names are those of now.

import type { Handler } from "../handler.ts";

export const printCompletion: Handler<"completion"> = async ({ output }, { shell }) => {
  output.line(SCRIPTS[shell].trimEnd());
};

/** Where nothing is offered, shells offer files. */
const SCRIPTS = {
  bash: `# soong completion bash > ~/.local/share/bash-completion/completions/soong
_soong() {
  local value about
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    COMPREPLY+=("$value")
  done < <("$1" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _soong soong
`,
  zsh: `#compdef soong
# soong completion zsh > a file _soong in a folder of your fpath
_soong() {
  local value about
  local -a found
  while IFS=$'\\t' read -r value about; do
    found+=("\${value//:/\\\\:}\${about:+:$about}")
  done < <("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe soong found; else _files; fi
}
if [[ "\${funcstack[1]}" = _soong ]]; then _soong "$@"; else compdef _soong soong; fi
`,
  fish: `# soong completion fish > ~/.config/fish/completions/soong.fish
function __soong_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  test (count $current) -eq 0; and set current ""
  set -l found ($before[1] __complete -- $before[2..-1] $current 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path $current
  end
end
complete -c soong -f -a '(__soong_complete)'
`,
};
