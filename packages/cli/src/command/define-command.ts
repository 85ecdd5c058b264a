// How a command is declared, beside its code: its name, what it takes, and its help (CLI-6).

import { Argument, Option, type Command } from "commander";
import type { CommandContext } from "./context.ts";

export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly examples: readonly string[];
  /** Printed below the examples. */
  readonly notes?: string;
  readonly exitCodes?: string;
  readonly subcommands?: CommandLoaders;
  /** Takes the arguments in order, then the options, then the command; resolves to the exit code. */
  run?(context: CommandContext, ...given: unknown[]): number | Promise<number>;
}

/** Commands by name. A command's file is loaded when its name is among the words typed, or its help is needed. */
export type CommandLoaders = Readonly<
  Record<string, () => Promise<{ readonly command: CommandDefinition }>>
>;

export interface CommandHost {
  readonly context: CommandContext;
  readonly onEnd: (exitCode: number) => void;
  /** Whether help is printed, which lists every subcommand. */
  readonly isHelp: boolean;
  readonly isWanted: (name: string) => boolean;
}

export async function addCommands(
  parent: Command,
  loaders: CommandLoaders,
  host: CommandHost,
): Promise<void> {
  const wanted = Object.entries(loaders).filter(([name]) => host.isWanted(name));
  const loaded = await Promise.all(wanted.map(([, load]) => load()));
  for (const { command } of loaded) await addCommand(parent.command(command.name), command, host);
}

async function addCommand(
  command: Command,
  definition: CommandDefinition,
  host: CommandHost,
): Promise<void> {
  command.description(definition.summary);
  for (const one of definition.arguments ?? []) command.addArgument(one);
  for (const one of definition.options ?? []) command.addOption(one);
  addHelp(command, definition);
  const { subcommands = {} } = definition;
  if (definition.run !== undefined) {
    command.action(async (...given: unknown[]) => {
      host.onEnd((await definition.run?.(host.context, ...given)) ?? 0);
    });
  }
  // A group without code of its own, and without the name of a subcommand, prints its help, too.
  const isWantedAlone = Object.keys(subcommands).some((name) => host.isWanted(name));
  const needsAll = !isWantedAlone && (host.isHelp || definition.run === undefined);
  await addCommands(command, subcommands, needsAll ? { ...host, isWanted: () => true } : host);
}

export function addHelp(
  command: Command,
  { examples, notes, exitCodes }: Pick<CommandDefinition, "examples" | "notes" | "exitCodes">,
): void {
  command.addHelpText(
    "after",
    ["", "Examples:", ...examples.map((line) => `  ${line}`)].join("\n"),
  );
  if (notes !== undefined) command.addHelpText("after", `\n${notes}`);
  if (exitCodes !== undefined) command.addHelpText("after", `\nExit code: ${exitCodes}.`);
}

export function argument(name: string, summary: string): Argument {
  return new Argument(name, summary);
}

export function option(flags: string, summary: string): Option {
  return new Option(flags, summary);
}

export function repeatableOption(flags: string, summary: string): Option {
  return option(flags, `${summary}; may be repeated`).argParser(
    (value, before: readonly string[] | undefined): string[] => [...(before ?? []), value],
  );
}

export const JSON_OPTION = option("--json", "records for programs, one a line");

export const FACTS_OPTION = option("--json", "print the facts, one a line, and nothing else");

export const MODEL_OPTION = option(
  "--model <model>",
  "provider:model, script:FILE, or a profile of the config",
);

export const MODE_OPTION = option("--mode <mode>", "as a run in this mode").choices([
  "normal",
  "plan",
  "orchestrator",
]);

export const AGENT_OPTION = option(
  "--agent <id>",
  "an agent of the home that may be the main one: agents/ID.md",
);

/** What `RULE_OPTIONS` give. */
export interface RuleFlags {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly cwd?: string;
}

export const RULE_OPTIONS = [
  repeatableOption("--allow <pattern>", "a rule that allows tools by name"),
  repeatableOption("--deny <pattern>", "a rule that denies tools by name"),
  option("--cwd <directory>", "the project; default: the current directory"),
];
