// Everything that can be typed, as commander parses it: made from `COMMANDS`, with the code of each command loaded when
// it is typed.

import { Argument, Command, CommanderError, Option } from "commander";
import { CommandError, createOutput, EXIT, describeFailure, visible } from "../output/index.ts";
import {
  COMMAND_GROUPS,
  COMMANDS,
  type CommandName,
  type CommandSpec,
  type ParameterSpec,
} from "./commands.ts";
import type { CommandContext, Handler } from "./handler.ts";
import { listenForInterrupts } from "./signals.ts";
import { VERSION } from "./version.ts";

type Handlers = {
  readonly [Name in Exclude<CommandName, "hooks" | "mcp" | "memory">]: () => Promise<Handler<Name>>;
};

const HANDLERS: Handlers = {
  "": async () => (await import("./run/ask.ts")).answerOrConverse,
  run: async () => (await import("./run/run.ts")).runPrompt,
  resume: async () => (await import("./run/run.ts")).resumeSession,
  call: async () => (await import("./tools/call.ts")).callTool,
  sandbox: async () => (await import("./tools/sandbox.ts")).runInSandbox,
  explain: async () => (await import("./tools/explain.ts")).explainCallOrPolicy,
  tools: async () => (await import("./tools/tools.ts")).listTools,
  "tools new": async () => (await import("./setup/new-files.ts")).createTool,
  "tools check": async () => (await import("./tools/check.ts")).checkToolFiles,
  sessions: async () => (await import("./sessions/sessions.ts")).listSessions,
  "sessions rm": async () => (await import("./sessions/sessions.ts")).removeSessions,
  "sessions search": async () => (await import("./sessions/search.ts")).searchSessions,
  show: async () => (await import("./sessions/show.ts")).showSession,
  attach: async () => (await import("./live/attach.ts")).attachToSession,
  inspect: async () => (await import("./inspect/inspect.ts")).serveInspectorPage,
  grants: async () => (await import("./live/grants.ts")).listGrants,
  "grants revoke": async () => (await import("./live/grants.ts")).findAndRevokeGrant,
  questions: async () => (await import("./live/questions.ts")).listQuestions,
  "questions answer": async () => (await import("./live/questions.ts")).answerQuestion,
  events: async () => (await import("./sessions/events.ts")).printEvents,
  export: async () => (await import("./sessions/export.ts")).exportSession,
  replay: async () => (await import("./sessions/replay.ts")).replayStoredRun,
  verify: async () => (await import("./sessions/sessions.ts")).verifySessions,
  undo: async () => (await import("./sessions/undo.ts")).undoCall,
  rewind: async () => (await import("./sessions/rewind.ts")).rewindSession,
  store: async () => (await import("./store/store.ts")).showStore,
  "store copy": async () => (await import("./store/copy.ts")).copyStore,
  tasks: async () => (await import("./tasks/tasks.ts")).showTasks,
  worker: async () => (await import("./tasks/worker.ts")).runWorkerProcess,
  workers: async () => (await import("./live/workers.ts")).listWorkers,
  "workers drain": async () => (await import("./live/workers.ts")).drainWorker,
  "tasks drive": async () => (await import("./tasks/drive.ts")).driveStoredTask,
  "tasks cancel": async () => (await import("./tasks/change-task.ts")).cancelTask,
  "tasks retry": async () => (await import("./tasks/change-task.ts")).retrySteps,
  agents: async () => (await import("./setup/documents.ts")).listAgents,
  "agents new": async () => (await import("./setup/new-files.ts")).createAgent,
  skills: async () => (await import("./setup/documents.ts")).listSkills,
  "skills new": async () => (await import("./setup/new-files.ts")).createSkill,
  "hooks check": async () => (await import("./setup/hooks.ts")).checkHooksFile,
  "memory list": async () => (await import("./setup/memory.ts")).listStoredMemories,
  "memory add": async () => (await import("./setup/memory.ts")).addStoredMemory,
  "memory extract": async () => (await import("./setup/memory.ts")).extractCandidates,
  "memory forget": async () => (await import("./setup/memory.ts")).forgetStoredMemory,
  "mcp list": async () => (await import("./mcp/servers.ts")).listServers,
  "mcp accept": async () => (await import("./mcp/servers.ts")).acceptChanges,
  "mcp add": async () => (await import("./mcp/add.ts")).addServer,
  "mcp remove": async () => (await import("./mcp/add.ts")).removeServer,
  "mcp wrap": async () => (await import("./mcp/wrap.ts")).wrapServer,
  "mcp unwrap": async () => (await import("./mcp/wrap.ts")).unwrapServer,
  "mcp login": async () => (await import("./mcp/login.ts")).logIn,
  "mcp logout": async () => (await import("./mcp/login.ts")).logOut,
  "mcp serve": async () => (await import("./mcp/serve.ts")).serveTools,
  demo: async () => (await import("./demo/demo.ts")).playDemo,
  import: async () => (await import("./setup/import.ts")).importFromProgram,
  init: async () => (await import("./setup/init.ts")).writeConfig,
  doctor: async () => (await import("./setup/doctor.ts")).runChecks,
  completion: async () => (await import("./setup/completion.ts")).printCompletion,
};

/** From arguments to an exit code: finds the command, runs it, and says in one sentence why it could not. */
export async function runProgram(typed: readonly string[], host: NodeJS.Process): Promise<number> {
  const args = expandHelp(typed);
  const { env, stdin, stdout, stderr } = host;
  const output = createOutput(stdout, stderr, env);
  const context = {
    env,
    cwd: readCwd(host),
    output,
    stdin,
    isInteractive: stdin.isTTY && stderr.isTTY,
    interrupts: listenForInterrupts(host),
  };
  let exitCode: number = EXIT.ok;
  const program = createProgram(context, (code) => (exitCode = code), args);
  try {
    if (typed[0] === "help" && typed.length > 1) await refuseUnknownHelp(program, typed.slice(1));
    await program.parseAsync(args, { from: "user" });
    await output.drained();
    if (output.lost === undefined) return exitCode;
    throw new CommandError(`The output is not complete: ${output.lost}. Look at where it goes.`);
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    if (isUsage && error.exitCode === 0) return EXIT.ok;
    if (isUsage && error.code === "commander.help") return EXIT.usage;
    const failure = isUsage
      ? { message: describeUsageError(error, program, args), exitCode: EXIT.usage }
      : describeFailure(error);
    output.note(`${output.noteColours.red("soong:")} ${failure.message}`);
    return failure.exitCode;
  }
}

/** A directory that was removed under us still has the name we came in by; using it fails with a sentence. */
function readCwd(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return host.env["PWD"] ?? "/";
  }
}

function describeUsageError(
  { code, message }: CommanderError,
  program: Command,
  args: readonly string[],
): string {
  const path = findCommandPath(program, args);
  const words = [...path.map((one) => one.name()), "--help"];
  const sentence = visible(message)
    .replace(/^error: /, "")
    .replace(/^missing required argument '(.*)'$/, (_, name: string) => {
      const usage = [...path.map((one) => one.name()), path.at(-1)?.usage()].join(" ");
      return `missing ${name.toUpperCase()}: \`${usage}\``;
    })
    .replace(
      /^(?:option '(--[\w-]+)[^']*' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.*)\.$/s,
      (_, option: string | undefined, given: string, name: string, choices: string) =>
        `${option ?? name.toUpperCase()} cannot be '${given}': it is one of ${choices}`,
    )
    .replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean $1?");
  const end = /[.?]$/.test(sentence) ? "" : ".";
  // `soong show me the parser` was hardly meant for the command.
  const isSentence =
    code === "commander.excessArguments" && !args.some((arg) => arg.startsWith("-"));
  const hint = isSentence ? ` As a prompt: \`soong -p ${quoteWords(args)}\`.` : "";
  return `${sentence}${end}${hint} \`${words.join(" ")}\` has options and examples.`;
}

/** From the program to the command that was meant, as far as the words name one. */
function findCommandPath(program: Command, args: readonly string[]): readonly Command[] {
  const path = [program];
  for (const word of args) {
    const next = path.at(-1)?.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}

/** As one word of a shell. */
function quoteWords(words: readonly string[]): string {
  return `'${visible(words.join(" ")).replaceAll("'", "'\\''")}'`;
}

/** `soong help mcp add` is `soong mcp add --help`. */
function expandHelp(args: readonly string[]): readonly string[] {
  return args[0] === "help" ? [...args.slice(1), "--help"] : args;
}

/** Whether the words are a prompt even where they begin with a command: behind -p, -c, -r or --. */
function isPromptOnly(args: readonly string[]): boolean {
  const options = Object.keys(COMMANDS[""].options);
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--" || /^-[a-z]*[pcr]$|^--(?:print|continue|resume)(?:=|$)/.test(arg)) return true;
    if (!arg.startsWith("-") || arg === "-") return false;
    if (options.some((flags) => flags.startsWith(`${arg} <`))) at += 1;
  }
  return false;
}

const HELP_FLAGS = ["--help", "-h"];

/** The help of the program lists them, with any options typed before a command. */
function needsEveryCommand([first = "", ...rest]: readonly string[]): boolean {
  if (HELP_FLAGS.includes(first)) return true;
  const isCommand = Object.keys(COMMANDS).some((name) => name.split(" ")[0] === first);
  return !isCommand && rest.some((word) => HELP_FLAGS.includes(word));
}

/** `words`: what was typed; by default every command is there. */
export function createProgram(
  context: Omit<CommandContext, "json" | "print">,
  onEnd: (exitCode: number) => void,
  words: readonly string[] = HELP_FLAGS,
): Command {
  const { output } = context;
  const program = new Command("soong")
    .version(VERSION)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.line(text.trimEnd()),
      // Mistakes are reported by `runProgram`; only help gets here otherwise.
      writeErr: (text) => {
        if (!text.startsWith("error:")) output.note(text.trimEnd());
      },
      outputError: () => {},
      getOutHelpWidth: () => output.width,
      getErrHelpWidth: () => output.width,
    })
    .usage("[options] [command | prompt...]");
  program.hook("preSubcommand", (_, command) => {
    const given = program.opts();
    const misplaced = program.options.find((option) =>
      Object.hasOwn(given, option.attributeName()),
    );
    if (misplaced === undefined) return;
    program.error(`error: ${misplaced.long} belongs behind the command, soong ${command.name()}`);
  });
  const needsAll = needsEveryCommand(words);
  const hasCommand = !isPromptOnly(words);
  // Listed there; `expandHelp` sees to it when it is typed.
  if (needsAll) {
    program.commandsGroup(findGroup("help"));
    program.helpCommand("help [command...]", "show the help of a command");
  }
  for (const name of Object.keys(COMMANDS) as CommandName[]) {
    const path = name.split(" ");
    const isTyped = hasCommand && words.includes(path[0] ?? "");
    if (needsAll || name === "" || isTyped) addCommand(name, path);
  }
  return program;

  function addCommand(name: CommandName, path: readonly string[]): void {
    const spec: CommandSpec = COMMANDS[name];
    const parent = path.slice(0, -1).reduce(findCommand, program);
    const command = name === "" ? program : parent.command(path.at(-1) ?? "");
    command.description(spec.summary);
    if (parent === program) command.helpGroup(findGroup(path[0]));
    const names = Object.entries(spec.arguments ?? {}).map(([form, given]) => {
      const argument = addDetails(new Argument(form), given);
      command.addArgument(argument);
      return argument.name();
    });
    for (const [flags, given] of Object.entries(spec.options ?? {})) {
      command.addOption(addDetails(new Option(flags), given));
    }
    if (spec.takesToolFlags === true) {
      command.allowUnknownOption();
      // Behind the name of a tool it is about the tool.
      if (words[1]?.startsWith("-") === false) command.helpOption(false);
    }
    const examples = spec.examples.map((line) => `  ${line}`);
    command.addHelpText("after", ["", "Examples:", ...examples].join("\n"));
    if (spec.notes !== undefined) command.addHelpText("after", `\n${spec.notes}`);
    if (spec.exitCodes !== undefined) {
      command.addHelpText("after", `\nExit code: ${spec.exitCodes}.`);
    }
    // A group without code of its own prints its help.
    const load = Object.hasOwn(HANDLERS, name) ? HANDLERS[name as keyof Handlers] : undefined;
    if (load === undefined) return;
    command.action(async (...typed: unknown[]) => {
      const given = Object.fromEntries(names.map((one, at) => [one, typed[at]]));
      const options = typed[names.length] as { readonly json?: boolean };
      if (name === "" && hasCommand)
        await refuseTypo(program, typed[0] as readonly string[], options);
      // What commander parsed by the entry is what the handler takes by the same entry.
      const handle = (await load()) as (...parts: readonly object[]) => Promise<number | void>;
      const { json = false } = options;
      const print: CommandContext["print"] = (data, render) => {
        if (json && spec.record !== undefined) output.record(spec.record, data);
        else for (const line of [render() ?? []].flat()) output.line(line);
      };
      onEnd((await handle({ ...context, json, print }, given, options)) ?? 0);
    });
  }
}

function findGroup(command = ""): string {
  const groups = Object.entries(COMMAND_GROUPS);
  return groups.find(([, commands]) => commands.includes(command))?.[0] ?? "Commands:";
}

function findCommand(parent: Command, name: string): Command {
  return parent.commands.find((one) => one.name() === name) ?? parent;
}

function addDetails<Parameter extends Argument | Option>(
  parameter: Parameter,
  given: ParameterSpec,
): Parameter {
  const spec = typeof given === "string" ? { says: given } : given;
  parameter.description = spec.isRepeatable === true ? `${spec.says}; may be repeated` : spec.says;
  if (spec.choices !== undefined) parameter.choices(spec.choices);
  if (spec.default !== undefined) parameter.default(spec.default);
  if (spec.isRepeatable === true) {
    parameter.argParser((value, before: readonly string[] | undefined) => [
      ...(before ?? []),
      value,
    ]);
  }
  return parameter;
}

async function refuseUnknownHelp(program: Command, words: readonly string[]): Promise<void> {
  const names = Object.keys(COMMANDS);
  const asked = words.join(" ");
  if (asked === "help" || names.includes(asked)) return;
  const { nearestName } = await import("@soong/schema");
  const nearest = nearestName(asked, names);
  const hint = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
  program.error(`error: there is no help for '${asked}'${hint}`);
}

/** What is nearly a command is a mistake and not a prompt, unless an option says that it is one. */
async function refuseTypo(
  program: Command,
  words: readonly string[],
  { print, continue: continues, resume }: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (words.length === 0 || (print ?? continues ?? resume) !== undefined) return;
  const { findTypo } = await import("./run/find-typo.ts");
  const names = Object.keys(COMMANDS).filter((name) => name !== "");
  const meant = findTypo(words, [...names, "help"]);
  if (meant === undefined) return;
  program.error(
    `error: unknown command '${words[0]}'; did you mean ${meant}? To send it as a prompt: \`soong -p ${quoteWords(words)}\`.`,
  );
}
