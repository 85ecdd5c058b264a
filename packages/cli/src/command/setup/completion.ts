// `soong completion`: what a shell needs to complete commands and options, made from the commands themselves.

import { COMMANDS, type CommandSpec } from "../commands.ts";
import type { Handler } from "../handler.ts";

export const printCompletion: Handler<"completion"> = async ({ output }, { shell }) => {
  output.line(SCRIPTS[shell](collectWords()).trimEnd());
};

/** What may follow a command, by the words that lead to it. */
interface Words {
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly says: string }[];
  readonly options: readonly string[];
}

function collectWords(): Words[] {
  const entries: [string, CommandSpec][] = Object.entries(COMMANDS);
  return entries.map(([name, spec]) => {
    const path = name === "" ? [] : name.split(" ");
    const below = entries.filter(
      ([other]) => other !== "" && other.split(" ").slice(0, -1).join(" ") === name,
    );
    return {
      path,
      commands: below.map(([other, { summary }]) => ({
        name: other.split(" ").at(-1) ?? "",
        says: summary,
      })),
      options: [
        ...(name === "" ? ["--version"] : []),
        ...Object.keys(spec.options ?? {}).flatMap((flags) => flags.match(FLAGS) ?? []),
        "--help",
      ],
    };
  });
}

/** `-p, --print`, `--model <model>`. */
const FLAGS = /(?<![\w-])--?[a-z][\w-]*/g;

/** bash and zsh: a table from the words so far to the words that may come. */
function renderCases(words: readonly Words[]): string {
  return words
    .toReversed()
    .map(({ path, commands, options }) => {
      const next = [...commands.map(({ name }) => name), ...options].join(" ");
      return `    "${path.join(" ")}"*) words="${next}" ;;`;
    })
    .join("\n");
}

const SCRIPTS = {
  bash: (
    words: readonly Words[],
  ) => `# soong completion bash > ~/.local/share/bash-completion/completions/soong
_soong() {
  local words sofar="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$sofar" in
${renderCases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _soong soong
`,
  zsh: (words: readonly Words[]) => `#compdef soong
# soong completion zsh > a file _soong in a folder of your fpath
_soong() {
  local sofar="\${words[2,CURRENT-1]}"
  local words
  case "$sofar" in
${renderCases(words)}
  esac
  compadd -- \${=words} || _files
}
compdef _soong soong
`,
  fish: (words: readonly Words[]) =>
    [
      "# soong completion fish > ~/.config/fish/completions/soong.fish",
      ...words.flatMap(({ path, commands, options }) => {
        const line = `complete -c soong -n '${renderFishCondition(path, commands)}'`;
        return [
          ...commands.map(
            ({ name, says }) => `${line} -a ${name} -d '${says.replaceAll("'", "")}'`,
          ),
          ...options.map(
            (option) => `${line} ${option.replace(/^--/, "-l ").replace(/^-(?=\w$)/, "-s ")}`,
          ),
        ];
      }),
    ].join("\n"),
};

function renderFishCondition(path: readonly string[], commands: Words["commands"]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return [
    ...path.map((word) => `__fish_seen_subcommand_from ${word}`),
    ...(commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names}`]),
  ].join("; and ");
}
