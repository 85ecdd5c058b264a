// What several commands share of their options, and how their help speaks (CLI-6).

import { Option, type Command } from "commander";

/** How a command tells its exit code. */
export type Ended = (exitCode: number) => void;

export const JSON_FLAG = ["--json", "records for programs, one a line"] as const;

export function rulesAndPlace(command: Command): Command {
  return command
    .option("--allow <pattern>", "a rule that allows tools by name; may be repeated", collect)
    .option("--deny <pattern>", "a rule that denies tools by name; may be repeated", collect)
    .option("--cwd <directory>", "the project; left out: where you are");
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Who works, and in which mode. */
export function agentAndMode(command: Command): Command {
  return command
    .option("--agent <id>", "an agent of the home that may be the main one: agents/ID.md")
    .addOption(modeOption());
}

export function modeOption(): Option {
  return new Option("--mode <mode>", "as a run in this mode").choices([
    "normal",
    "plan",
    "orchestrator",
  ]);
}

export function examples(command: Command, lines: readonly string[]): void {
  command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n"));
}

export function exits(command: Command, text: string): void {
  command.addHelpText("after", `\nExit code: ${text}.`);
}
