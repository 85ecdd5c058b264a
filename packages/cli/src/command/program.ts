// Everything that can be typed: `soong` itself, and the commands behind it.

import { Command } from "commander";
import type { CommandContext } from "./context.ts";
import {
  addCommands,
  addHelp,
  AGENT_OPTION,
  MODE_OPTION,
  MODEL_OPTION,
  RULE_OPTIONS,
  type CommandLoaders,
} from "./define-command.ts";
import type { ConverseOptions } from "./run/converse.ts";
import { VERSION } from "./version.ts";

/** In the order of the help. */
const COMMANDS: CommandLoaders = {
  run: () => import("./run/run.ts"),
  resume: () => import("./run/resume.ts"),
  call: () => import("./tools/call.ts"),
  explain: () => import("./tools/explain.ts"),
  tools: () => import("./tools/tools.ts"),
  sessions: () => import("./sessions/sessions.ts"),
  attach: () => import("./live/attach.ts"),
  inspect: () => import("./inspect/inspect.ts"),
  grants: () => import("./live/grants.ts"),
  questions: () => import("./live/questions.ts"),
  events: () => import("./sessions/events.ts"),
  replay: () => import("./sessions/replay.ts"),
  verify: () => import("./sessions/verify.ts"),
  undo: () => import("./sessions/undo.ts"),
  rewind: () => import("./sessions/rewind.ts"),
  tasks: () => import("./tasks/tasks.ts"),
  agents: () => import("./agents/agents.ts"),
  skills: () => import("./agents/skills.ts"),
  memory: () => import("./memory/memory.ts"),
  mcp: () => import("./mcp/mcp.ts"),
  demo: () => import("./demo/demo.ts"),
  init: () => import("./setup/init.ts"),
  doctor: () => import("./setup/doctor.ts"),
  completion: () => import("./setup/completion.ts"),
};

/** As the first word they need every command. */
const NEED_ALL = ["help", "--help", "-h", "completion"];

/** `words`: what was typed; by default every command is there. */
export async function createProgram(
  context: CommandContext,
  onEnd: (exitCode: number) => void,
  words: readonly string[] = NEED_ALL,
): Promise<Command> {
  const { output } = context;
  const program = new Command("soong")
    .description(
      "The tool runtime for agents: which tool may be called, whether, when, and what became of it.",
    )
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
    .usage("[options] [command]")
    .argument("[command...]", "default: a conversation at this terminal");
  for (const one of [MODEL_OPTION, AGENT_OPTION, MODE_OPTION, ...RULE_OPTIONS]) {
    program.addOption(one);
  }
  addHelp(program, {
    examples: [
      "soong",
      "soong tools",
      `soong call code.read_file '{"path": "README.md"}'`,
      "soong doctor",
    ],
  });
  program.action(async ([unknown]: readonly string[], options: ConverseOptions) => {
    if (unknown !== undefined) await refuseUnknownCommand(program, unknown);
    const { converseAtTerminal } = await import("./run/converse.ts");
    onEnd(await converseAtTerminal(context, options));
  });
  program.hook("preSubcommand", (_, command) => {
    const [misplaced] = Object.keys(program.opts());
    if (misplaced === undefined) return;
    program.error(`error: --${misplaced} belongs behind the command, soong ${command.name()}`);
  });
  const needsAll = NEED_ALL.includes(words[0] ?? "");
  const isWanted = (name: string): boolean => needsAll || words.includes(name);
  const isHelp = words.some((word) => NEED_ALL.includes(word));
  await addCommands(program, COMMANDS, { context, onEnd, isHelp, isWanted });
  return program;
}

/** What is no command is a mistake and not a prompt. */
async function refuseUnknownCommand(program: Command, given: string): Promise<never> {
  const { nearestName } = await import("@soong/schema");
  const nearest = nearestName(given, Object.keys(COMMANDS));
  const hint = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
  return program.error(`error: unknown command '${given}'${hint}`);
}
