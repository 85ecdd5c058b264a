// Everything that can be typed: the command itself, its groups of commands, and what belongs to none of them.

import { Argument, Command } from "commander";
import { addServers } from "./commands-on-servers.ts";
import { addGiven, addTasks } from "./commands-on-tasks.ts";
import { addLive, addRecords, addSessions, addWays } from "./commands-on-records.ts";
import { addCalls, addRuns, addTools } from "./commands-that-act.ts";
import { completionCommand, SHELLS, type Shell } from "./completion.ts";
import type { CommandContext } from "./context.ts";
import type { ConverseCommandOptions } from "./converse.ts";
import { agentAndMode, examples, exits, JSON_FLAG, rulesAndPlace, type Ended } from "./options.ts";
import { VERSION } from "./version.ts";

export function createProgram(context: CommandContext, ended: Ended): Command {
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
      // Told by whoever runs the program, in our own words; only help gets here otherwise.
      writeErr: (text) => {
        if (!text.startsWith("error:")) output.note(text.trimEnd());
      },
      outputError: () => {},
      getOutHelpWidth: () => output.width,
      getErrHelpWidth: () => output.width,
    });
  addConversation(program, context, ended);
  examples(program, [
    "soong",
    "soong tools",
    `soong call code.read_file '{"path": "README.md"}'`,
    "soong doctor",
  ]);
  addRuns(program, context, ended);
  addCalls(program, context, ended);
  addTools(program, context, ended);
  addSessions(program, context, ended);
  addLive(program, context, ended);
  addRecords(program, context, ended);
  addWays(program, context, ended);
  addTasks(program, context, ended);
  addGiven(program, context, ended);
  addServers(program, context, ended);
  addCare(program, context, ended);
  return program;
}

/** What is no command is a mistake and not a prompt. */
function addConversation(program: Command, context: CommandContext, ended: Ended): void {
  program
    .usage("[options] [command]")
    .argument("[command...]", "left out: a conversation at this terminal")
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config");
  rulesAndPlace(agentAndMode(program)).action(
    async ([unknown]: readonly string[], options: ConverseCommandOptions) => {
      if (unknown !== undefined) await refuseUnknownCommand(program, unknown);
      const { converseCommand } = await import("./converse.ts");
      ended(await converseCommand(context, options));
    },
  );
  program.hook("preSubcommand", (_, command) => {
    const [misplaced] = Object.keys(program.opts());
    if (misplaced === undefined) return;
    program.error(`error: --${misplaced} belongs behind the command, soong ${command.name()}`);
  });
}

async function refuseUnknownCommand(program: Command, given: string): Promise<never> {
  const { nearestName } = await import("@soong/core/internal");
  const names = program.commands.map((command) => command.name());
  const nearest = nearestName(given, names);
  const hint = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
  return program.error(`error: unknown command '${given}'${hint}`);
}

function addCare(program: Command, context: CommandContext, ended: Ended): void {
  const demo = program
    .command("demo")
    .description(
      "watch scripted models mend a small project and share a task, offline, in a throw-away folder",
    )
    .action(async () => {
      const { demoCommand } = await import("./demo.ts");
      ended(await demoCommand(context));
    });
  examples(demo, ["soong demo"]);
  exits(demo, "0 it all happened as told, 1 something did not, 130 interrupted");

  const init = program
    .command("init")
    .description("write a config with comments, if there is none")
    .action(async () => {
      const { initCommand } = await import("./init.ts");
      ended(await initCommand(context));
    });
  examples(init, ["soong init", "SOONG_AGENT_HOME=/srv/soong soong init"]);

  const doctor = program
    .command("doctor")
    .description("check everything Soong stands on, and say what to do")
    .option(...JSON_FLAG)
    .action(async (options: { json?: boolean }) => {
      const { doctorCommand } = await import("./doctor.ts");
      ended(await doctorCommand(context, options));
    });
  examples(doctor, ["soong doctor"]);
  exits(doctor, "0 nothing fails, 1 something does");

  const completion = program
    .command("completion")
    .description("print what your shell needs to complete `soong`")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .action((shell: Shell) => {
      ended(completionCommand(context.output, shell, program));
    });
  examples(completion, ["source <(soong completion bash)"]);
}
