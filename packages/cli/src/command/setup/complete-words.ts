// What may come next behind `soong`, for the completion of shells (`soong __complete -- WORDS…`, the last one being typed):
// commands, options, their values, ids and names of now. It starts no server, writes nothing, and on any mistake offers nothing.

import { Writable } from "node:stream";
import { createOutput, visibleLine } from "../../output/index.ts";
import { COMMANDS, type CommandSpec, type ParameterSpec } from "../commands.ts";
import type { CommandContext } from "../handler.ts";
import type { Candidate } from "./stored-candidates.ts";

const MOST_MS = 3000;

/** From the words to lines for a shell: the value, and what it is behind a tab. */
export async function printCandidates(
  words: readonly string[],
  host: NodeJS.Process,
): Promise<number> {
  // A shell that waits is worse than one that offers nothing.
  const tooLong = setTimeout(() => host.exit(0), MOST_MS);
  host.stdout.on("error", () => {});
  try {
    const found = await findCandidates(words, createSilentContext(host));
    const lines = found.map(({ value, about = "" }) => `${value}\t${visibleLine(about)}`.trimEnd());
    if (lines.length > 0) host.stdout.write(`${lines.join("\n")}\n`);
  } catch {
    // Nothing is offered.
  }
  clearTimeout(tooLong);
  return 0;
}

/** Only those that begin as the last word does. */
export async function findCandidates(
  words: readonly string[],
  context: CommandContext,
): Promise<Candidate[]> {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => word !== "=");
  // `--option=value` is three words in bash, of which the last may be `=`, and one word elsewhere.
  const [assigned = "", option] = /^(?:(--[^=]+)=|=$)/u.exec(last) ?? [];
  const current = last.slice(assigned.length);
  const typed = readTyped(option === undefined ? before : [...before, option]);
  if (assigned !== "" && typed.option === undefined) return [];
  const found = await collect(typed, current, context);
  const unique = new Map(found.map((one) => [one.value, one]));
  return [...unique.values()]
    .filter(({ value }) => value.startsWith(current) && value !== "" && !/[\s\0]/.test(value))
    .map((one) => (option === undefined ? one : { ...one, value: `${option}=${one.value}` }));
}

interface Typed {
  /** As in `COMMANDS`. */
  readonly name: string;
  readonly spec: CommandSpec;
  /** The arguments so far. */
  readonly given: readonly string[];
  /** An option that waits for its value. */
  readonly option?: string;
}

function readTyped(words: readonly string[]): Typed {
  let name = "";
  const given: string[] = [];
  let option: string | undefined;
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
      continue;
    }
    if (word.startsWith("-") && word !== "-") {
      const flags = findOption(specOf(name), word);
      if (flags?.includes("<") === true && !word.includes("=")) option = flags;
      continue;
    }
    const below = name === "" ? word : `${name} ${word}`;
    if (given.length === 0 && Object.hasOwn(COMMANDS, below)) name = below;
    else given.push(word);
  }
  return { name, spec: specOf(name), given, ...(option === undefined ? {} : { option }) };
}

function specOf(name: string): CommandSpec {
  return COMMANDS[name as keyof typeof COMMANDS];
}

function findOption({ options = {} }: CommandSpec, word: string): string | undefined {
  const [typed] = word.split("=");
  return Object.keys(options).find((flags) => flags.split(/[ ,]+/).includes(typed ?? ""));
}

async function collect(
  typed: Typed,
  current: string,
  context: CommandContext,
): Promise<Candidate[]> {
  const { name, spec, given, option } = typed;
  if (option !== undefined) return listOptionValues(option, spec, current, context);
  if (current.startsWith("-")) return listOptions(name, spec);
  const below = given.length === 0 ? listCommands(name) : [];
  const forms = Object.entries(spec.arguments ?? {});
  const last = forms.at(-1);
  const [form, parameter] =
    forms[given.length] ?? (last?.[0].includes("...") === true ? last : ["", ""]);
  const values = name === "" ? [] : await listArguments(form, parameter, typed, current, context);
  return [...below, ...values];
}

function listCommands(name: string): Candidate[] {
  const commands = Object.entries(COMMANDS).flatMap(([other, { summary }]) => {
    const path = other.split(" ");
    return other !== "" && path.slice(0, -1).join(" ") === name
      ? [{ value: path.at(-1) ?? "", about: summary }]
      : [];
  });
  return name === "" ? [...commands, { value: "help", about: "the help of a command" }] : commands;
}

function listOptions(name: string, { options = {} }: CommandSpec): Candidate[] {
  const own = Object.entries(options).flatMap(([flags, given]) => {
    const long = flags.split(/[ ,]+/).find((flag) => flag.startsWith("--"));
    return long === undefined ? [] : [{ value: long, about: describe(given) }];
  });
  const common = name === "" ? ["--version", "--help"] : ["--help"];
  return [...own, ...common.map((value) => ({ value }))];
}

function describe(given: ParameterSpec): string {
  return typeof given === "string" ? given : given.says;
}

function listChoices(given: ParameterSpec): Candidate[] {
  const choices = typeof given === "string" ? [] : (given.choices ?? []);
  return choices.map((value) => ({ value }));
}

async function listOptionValues(
  flags: string,
  { options = {} }: CommandSpec,
  current: string,
  context: CommandContext,
): Promise<Candidate[]> {
  const choices = listChoices(options[flags] ?? "");
  if (choices.length > 0) return choices;
  const stored = await import("./stored-candidates.ts");
  switch (flags.split(/[ ,]+/).find((flag) => flag.startsWith("--"))) {
    case "--model":
      return stored.listModels(context);
    case "--agent":
      return stored.listAgentIds(context);
    case "--session":
    case "--resume":
      return stored.listSessionIds(context, current);
    case "--allow":
    case "--deny":
      return stored.listToolNames(context);
    case "--server":
      return stored.listServerIds(context);
    default:
      return [];
  }
}

async function listArguments(
  form: string,
  parameter: ParameterSpec,
  { name, given }: Typed,
  current: string,
  context: CommandContext,
): Promise<Candidate[]> {
  const choices = listChoices(parameter);
  if (choices.length > 0) return choices;
  const stored = await import("./stored-candidates.ts");
  switch (form.replaceAll(/[<>[\].]/g, "")) {
    case "session":
      return stored.listSessionIds(context, current);
    case "run":
      return stored.listRunIds(context, current);
    case "tool":
    case "query":
      return given.length === 0 ? stored.listToolNames(context) : [];
    case "call":
      return stored.listCallIds(context);
    case "node":
      return stored.listNodeIds(context, given[0]);
    case "task":
      return stored.listTaskIds(context);
    case "server":
      return stored.listServerIds(context);
    case "id":
      return stored.listIdsOf(name, context, current);
    default:
      return [];
  }
}

function createSilentContext(host: NodeJS.Process): CommandContext {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    env: host.env,
    cwd: host.cwd(),
    output: createOutput(nowhere, nowhere, {}),
    stdin: host.stdin,
    isInteractive: false,
    interrupts: { on: () => () => {} },
    json: true,
    print: () => {},
  };
}
