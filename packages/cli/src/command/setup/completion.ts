// `soong completion`: what a shell needs to complete commands and options, made from the commands themselves.

import type { Command } from "commander";
import { EXIT, type Output } from "../../output/index.ts";
import { argument, type CommandDefinition } from "../define-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export const command: CommandDefinition = {
  name: "completion",
  summary: "print what your shell needs to complete `soong`",
  arguments: [argument("<shell>", "your shell").choices(SHELLS)],
  examples: ["source <(soong completion bash)"],
  run: ({ output }, shell: Shell, _options: object, { parent }: Command) =>
    printCompletion(output, shell, parent),
};

function printCompletion(output: Output, shell: Shell, program: Command | null): number {
  output.line(SCRIPTS[shell](program === null ? [] : collectWords(program)).trimEnd());
  return EXIT.ok;
}

/** What may follow a command, by the words that lead to it. */
interface Words {
  readonly path: readonly string[];
  readonly says: string;
  readonly commands: readonly { readonly name: string; readonly says: string }[];
  readonly options: readonly string[];
}

function collectWords(command: Command, path: readonly string[] = []): Words[] {
  const commands = command.commands.map((sub) => ({ name: sub.name(), says: sub.description() }));
  const options = [
    ...command.options.flatMap(({ long }) => (typeof long === "string" ? [long] : [])),
    "--help",
  ];
  return [
    { path, says: command.description(), commands, options },
    ...command.commands.flatMap((sub) => collectWords(sub, [...path, sub.name()])),
  ];
}

/** bash and zsh: a table from the words so far to the words that may come. */
function cases(words: readonly Words[]): string {
  return words
    .toReversed()
    .map(({ path, commands, options }) => {
      const next = [...commands.map(({ name }) => name), ...options].join(" ");
      return `    "${path.join(" ")}"*) words="${next}" ;;`;
    })
    .join("\n");
}

const SCRIPTS: Readonly<Record<Shell, (words: readonly Words[]) => string>> = {
  bash: (words) => `# soong completion bash > ~/.local/share/bash-completion/completions/soong
_soong() {
  local words sofar="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$sofar" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _soong soong
`,
  zsh: (words) => `#compdef soong
# soong completion zsh > a file _soong in a folder of your fpath
_soong() {
  local sofar="\${words[2,CURRENT-1]}"
  local words
  case "$sofar" in
${cases(words)}
  esac
  compadd -- \${=words} || _files
}
compdef _soong soong
`,
  fish: (words) =>
    [
      "# soong completion fish > ~/.config/fish/completions/soong.fish",
      ...words.flatMap(({ path, commands, options }) => {
        const when = fishCondition(path, commands);
        return [
          ...commands.map(
            ({ name, says }) => `complete -c soong -n '${when}' -a ${name} -d '${plain(says)}'`,
          ),
          ...options.map((option) => `complete -c soong -n '${when}' -l ${option.slice(2)}`),
        ];
      }),
    ].join("\n"),
};

function fishCondition(path: readonly string[], commands: Words["commands"]): string {
  const isBeforeAny =
    commands.length === 0
      ? []
      : [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(" ")}`];
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  return [...seen, ...isBeforeAny].join("; and ");
}

function plain(text: string): string {
  return text.replaceAll("'", "");
}
