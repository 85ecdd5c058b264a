// The page of all commands, made from the program itself: what it says in its help, as one page.

import type { CommandContext } from "../packages/cli/src/command/handler.ts";
import { createProgram } from "../packages/cli/src/command/program.ts";

export type Command = ReturnType<typeof createProgram>;

/** The program, with nothing behind it but what it says. */
export function describedProgram(
  print: (text: string) => void = () => {},
  words?: readonly string[],
): Command {
  const output = { line: print, note: () => {}, width: 80 };
  return createProgram({ output } as unknown as CommandContext, () => {}, words);
}

export function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

export function commandPage(): string {
  const printed: string[] = [];
  const [program, ...commands] = commandsOf(describedProgram((text) => void printed.push(text)));
  const helpOf = (command: Command): string => {
    printed.length = 0;
    command.outputHelp();
    return printed.join("\n");
  };
  return [
    "# Commands",
    "",
    "<!-- Made from the program by `node scripts/run.mjs scripts/write-command-page.ts`. -->",
    "",
    "Everything that can be typed, as `soong COMMAND --help` says it. What the commands are for:",
    "[the command line](cli.md).",
    "",
    ...(program === undefined ? [] : sectionOf(program, helpOf(program))),
    ...commands.flatMap((command) => sectionOf(command, helpOf(command))),
  ].join("\n");
}

/** The lines after `Examples:`, as they can be typed. */
export function examplesIn(help: string): string[] {
  const [, lines = ""] = /^Examples:\n((?: {2}.*(?:\n|$))+)/m.exec(help) ?? [];
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice(2));
}

function sectionOf(command: Command, help: string): string[] {
  const [, exits] = /^Exit code: ([^]*?)\.$/m.exec(help) ?? [];
  return [
    `## ${nameOf(command)}`,
    "",
    `\`${nameOf(command)} ${command.usage()}\``,
    "",
    sentence(command.description()),
    "",
    ...table(
      "argument",
      command
        .createHelp()
        .visibleArguments(command)
        .map((argument) => [argument.name(), argument.description, argument.argChoices]),
    ),
    ...table(
      "option",
      command.options.map(({ flags, description, argChoices }) => [flags, description, argChoices]),
    ),
    "```text",
    ...examplesIn(help),
    "```",
    "",
    ...(exits === undefined ? [] : [`Exit code: ${exits}.`, ""]),
  ];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

type Row = readonly [name: string, says: string, choices: readonly string[] | undefined];

function table(heading: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  return [
    `| ${heading} | meaning |`,
    "| --- | --- |",
    ...rows.map(([name, says, choices = []]) => {
      const among = choices.map((choice) => `\`${choice}\``).join(", ");
      const meaning = `${says}${among === "" ? "" : `: ${among}`}`;
      return `| \`${name}\` | ${meaning.replaceAll("|", "\\|")} |`;
    }),
    "",
  ];
}

function sentence(text: string): string {
  const ended = /[.?!]$/.test(text) ? text : `${text}.`;
  return `${ended.charAt(0).toUpperCase()}${ended.slice(1)}`;
}
