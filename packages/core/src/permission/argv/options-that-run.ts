// Programs that do work of their own and run another one when an option says so: `tar --to-command`,
// `sort --compress-program`. Options may be shortened (`--to-com`), as getopt and git allow.

import type { InnerCommands, KnownCommand } from "./known-command.ts";
import { RUNS_NOTHING } from "./known-command.ts";
import { readShellScript } from "./shell-script.ts";

export interface RunningOption {
  /** Without its dashes. */
  readonly long?: string;
  /** One letter. */
  readonly short?: string;
  /** What the value is: a shell script or list of words, or nothing that names a program. */
  readonly value: "script" | "none" | "unknown";
  /** Only what stands behind this in the value is the script. */
  readonly behind?: string;
}

/** What the options of `command` from the word `from` on run. */
export function runByOptions(
  { words, open }: KnownCommand,
  from: number,
  options: readonly RunningOption[],
): InnerCommands {
  const commands: KnownCommand[] = [];
  const told: number[] = [];
  let opaque = open;
  for (let at = from; at < words.length; at += 1) {
    // Behind `--`, too: it may be the value of the option before it.
    const word = words[at] ?? "";
    for (const option of options) {
      const found = findOption(option, word);
      if (found === undefined) continue;
      const takesNext = found.attached === undefined && option.value !== "none";
      const value = found.attached ?? (takesNext ? words[at + 1] : undefined) ?? "";
      if (option.behind !== undefined && !value.startsWith(option.behind)) continue;
      told.push(at, ...(takesNext ? [at + 1] : []));
      if (found.isDoubtful || option.value !== "script") opaque = true;
      if (option.value !== "script") continue;
      const script = readShellScript(value.slice(option.behind?.length ?? 0));
      commands.push(...script.commands);
      opaque ||= script.opaque || script.commands.length === 0;
    }
  }
  if (told.length === 0) return open ? { ...RUNS_NOTHING, opaque } : RUNS_NOTHING;
  // What it runs is given further arguments.
  const known = commands.map((one) => ({ words: one.words, open: true }));
  return { commands: known, opaque, told, by_nature: false };
}

interface FoundOption {
  /** Undefined where it would be the next word. */
  readonly attached: string | undefined;
  /** Among other letters, one of which may take the rest for its value. */
  readonly isDoubtful: boolean;
}

function findOption({ long, short }: RunningOption, word: string): FoundOption | undefined {
  if (word.startsWith("--")) {
    const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (long === undefined || name === "" || !long.startsWith(name)) return undefined;
    return { attached: value, isDoubtful: false };
  }
  if (short === undefined || !word.startsWith("-")) return undefined;
  const place = word.indexOf(short, 1);
  if (place === -1) return undefined;
  const attached = word.slice(place + 1);
  return { attached: attached === "" ? undefined : attached, isDoubtful: place > 1 };
}

const script = (long: string, short?: string): RunningOption => ({
  long,
  value: "script",
  ...(short === undefined ? {} : { short }),
});

/** By program. */
export const OPTIONS_THAT_RUN: Readonly<Record<string, readonly RunningOption[]>> = {
  tar: [
    script("to-command"),
    { long: "checkpoint-action", value: "script", behind: "exec=" },
    script("use-compress-program", "I"),
    script("info-script", "F"),
    script("new-volume-script"),
    script("rsh-command"),
    script("rmt-command"),
  ],
  split: [script("filter")],
  sort: [script("compress-program")],
  rsync: [script("rsh", "e"), script("rsync-path")],
  rg: [script("pre"), script("hostname-bin")],
  zip: [script("unzip-command"), { short: "T", value: "unknown" }],
  install: [script("strip-program")],
};
