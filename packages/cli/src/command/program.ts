// Everything that can be typed: commands, their options, what they say of themselves, and examples (CLI-6).

import { Argument, Command, Option } from "commander";
import { completionCommand, SHELLS, type Shell } from "./completion.ts";
import type { AttachOptions } from "./attach.ts";
import type { CallOptions } from "./call.ts";
import type { CommandContext } from "./context.ts";
import type { ConverseCommandOptions } from "./converse.ts";
import type { EventsOptions } from "./events.ts";
import type { ExplainOptions } from "./explain.ts";
import type { GrantsOptions } from "./grants.ts";
import type { ReplayCommandOptions } from "./replay.ts";
import type { RunCommandOptions } from "./run.ts";
import type { SessionsRmOptions } from "./sessions.ts";
import type { ToolsCheckOptions } from "./tools-check.ts";
import type { ToolsOptions } from "./tools.ts";
import type { UndoOptions } from "./undo.ts";
import type { VerifyCommandOptions } from "./verify.ts";
import { VERSION } from "./version.ts";

const JSON_FLAG = ["--json", "records for programs, one a line"] as const;

export function createProgram(context: CommandContext, ended: (exitCode: number) => void): Command {
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
  addCare(program, context, ended);
  return program;
}

type Ended = (exitCode: number) => void;

/** What is no command is a mistake and not a prompt. */
function addConversation(program: Command, context: CommandContext, ended: Ended): void {
  program
    .usage("[options] [command]")
    .argument("[command...]", "left out: a conversation at this terminal")
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config")
    .addOption(modeOption());
  rulesAndPlace(program).action(
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
  const { nearestName } = await import("@soong/core");
  const names = program.commands.map((command) => command.name());
  const nearest = nearestName(given, names);
  const hint = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
  return program.error(`error: unknown command '${given}'${hint}`);
}

function addRuns(program: Command, context: CommandContext, ended: Ended): void {
  const run = program
    .command("run")
    .description("let a model work on a prompt, to its end")
    .argument("[prompt]", "what to do; left out or -: read from stdin")
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config")
    .option("--json", "print the facts, one a line, and nothing else")
    .addOption(modeOption());
  rulesAndPlace(run).action(async (prompt: string | undefined, options: RunCommandOptions) => {
    const { runCommand } = await import("./run.ts");
    ended(await runCommand(context, prompt, options));
  });
  examples(run, [
    `soong run "What does this project do?"`,
    `soong run --model script:tour.yaml "Show me around" --allow 'code.*'`,
    `git diff | soong run - --json`,
  ]);
  exits(run, RUN_EXITS);

  const resume = program
    .command("resume")
    .description("go on with a session that is kept, where it left off")
    .argument("<session>", "its id, as `soong sessions` lists it")
    .argument("[prompt]", "what to do next; left out: a conversation, or stdin")
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config")
    .option("--json", "print the facts, one a line, and nothing else")
    .addOption(modeOption());
  rulesAndPlace(resume).action(
    async (session: string, prompt: string | undefined, options: RunCommandOptions) => {
      if (prompt === undefined && options.json !== true && context.stdin.isTTY) {
        const { converseCommand } = await import("./converse.ts");
        ended(await converseCommand(context, options, session));
        return;
      }
      const { runCommand } = await import("./run.ts");
      ended(await runCommand(context, prompt, options, session));
    },
  );
  examples(resume, ["soong resume session_0abc", `soong resume session_0abc "Now the tests"`]);
  exits(resume, RUN_EXITS);
}

const RUN_EXITS =
  "0 completed, 1 failed, 2 used wrongly, 3 denied, 4 too many turns, 5 prompt too long, 6 answer too long, 130 aborted";

function addCalls(program: Command, context: CommandContext, ended: Ended): void {
  const call = program
    .command("call")
    .description("call one tool, through validation, permission, hooks and record")
    .argument("<tool>", "its name, as `soong tools` lists it")
    .argument("[json]", "its input; - reads it from stdin; left out: {}")
    .option(...JSON_FLAG)
    .option("--yes", "your answer, should this call need one");
  rulesAndPlace(call).action(
    async (tool: string, json: string | undefined, options: CallOptions) => {
      const { callCommand } = await import("./call.ts");
      ended(await callCommand(context, tool, json, options));
    },
  );
  examples(call, [
    `soong call code.read_file '{"path": "README.md"}'`,
    `soong call code.run_command '{"argv": ["git", "status"]}' --yes`,
    `echo '{"query": "main"}' | soong call code.search - --json`,
  ]);
  exits(call, "0 it succeeded, 1 the tool failed, 2 used wrongly, 3 denied, 130 interrupted");

  const explain = program
    .command("explain")
    .description("show who would decide about a call, and how; runs nothing")
    .argument("[tool]", "its name, as `soong tools` lists it; left out: the whole policy")
    .argument("[json]", "its input; - reads it from stdin; left out: {}")
    .option(...JSON_FLAG)
    .addOption(modeOption());
  rulesAndPlace(explain).action(
    async (tool: string | undefined, json: string | undefined, options: ExplainOptions) => {
      const { explainCommand } = await import("./explain.ts");
      ended(await explainCommand(context, tool, json, options));
    },
  );
  examples(explain, [
    "soong explain",
    `soong explain code.run_command '{"argv": ["rm", "-r", "build"]}'`,
    `soong explain code.write_file '{"path": "a", "content": ""}' --allow 'code.*'`,
  ]);
}

function addTools(program: Command, context: CommandContext, ended: Ended): void {
  const tools = program
    .command("tools")
    .description("list the tools a run would have, with reasons, or search them")
    .argument("[query...]", "words to search for, as a model would")
    .option(...JSON_FLAG)
    .addOption(
      new Option("--role <role>", "whose tools").choices(["main", "sub", "fork", "worker"]),
    )
    .addOption(modeOption())
    .action(async (query: string[], options: ToolsOptions) => {
      const { toolsCommand } = await import("./tools.ts");
      ended(await toolsCommand(context, query.join(" "), options));
    });
  examples(tools, ["soong tools", "soong tools --mode plan", "soong tools find text in files"]);

  const check = tools
    .command("check")
    .description("check files that declare tools, and try one on a sample")
    .argument("<file...>", "JSON files, as in tools/ of the home")
    .option("--sample <json>", "run it once with this input; that is the yes to it")
    .option(...JSON_FLAG)
    .action(async (files: string[], options: ToolsCheckOptions) => {
      const { toolsCheckCommand } = await import("./tools-check.ts");
      ended(await toolsCheckCommand(context, files, options));
    });
  examples(check, [
    "soong tools check ~/.soong-agent/tools/*.json",
    `soong tools check weather.json --sample '{"city": "Oslo"}'`,
  ]);
}

function addSessions(program: Command, context: CommandContext, ended: Ended): void {
  const sessions = program
    .command("sessions")
    .description("list the sessions that are kept, last used first")
    .option(...JSON_FLAG)
    .action(async (options: { json?: boolean }) => {
      const { sessionsCommand } = await import("./sessions.ts");
      ended(await sessionsCommand(context, options));
    });
  examples(sessions, ["soong sessions", "soong sessions rm --older-than 90d"]);

  const remove = sessions
    .command("rm")
    .description("remove sessions with all they hold; a tombstone stays")
    .argument("[id...]", "their ids")
    .option("--older-than <age>", "also those not used for this long: 12h, 90d, 4w")
    .option("--keep-bytes <n>", "also the oldest, until the rest is within so many bytes")
    .option(...JSON_FLAG)
    .action(async (ids: string[], options: SessionsRmOptions) => {
      const { sessionsRmCommand } = await import("./sessions.ts");
      ended(await sessionsRmCommand(context, ids, options));
    });
  examples(remove, [
    "soong sessions rm session_0abc",
    "soong sessions rm --older-than 90d --keep-bytes 5e9",
  ]);
}

function addLive(program: Command, context: CommandContext, ended: Ended): void {
  const attach = program
    .command("attach")
    .description("watch a session that is live, and answer its questions from here")
    .argument("[session]", "its id or how that begins; left out: the only one")
    .option("--json", "records for programs, which answer in lines of JSON on stdin")
    .action(async (session: string | undefined, options: AttachOptions) => {
      const { attachCommand } = await import("./attach.ts");
      ended(await attachCommand(context, session, options));
    });
  examples(attach, ["soong attach", "soong attach session_0abc --json"]);

  const grants = program
    .command("grants")
    .description(`list what was allowed "for this session" in the sessions that are live`)
    .option(...JSON_FLAG)
    .action(async (options: GrantsOptions) => {
      const { grantsCommand } = await import("./grants.ts");
      ended(await grantsCommand(context, options));
    });
  examples(grants, ["soong grants", "soong grants revoke grant_0abc"]);

  const revoke = grants
    .command("revoke")
    .description("take one back: the next such call is asked about again")
    .argument("<id>", "its id, as `soong grants` lists it")
    .option(...JSON_FLAG)
    .action(async (id: string, options: GrantsOptions) => {
      const { grantsRevokeCommand } = await import("./grants.ts");
      ended(await grantsRevokeCommand(context, id, options));
    });
  examples(revoke, ["soong grants revoke grant_0abc"]);
  exits(revoke, "0 it is taken back, 1 no live session has it");
}

function addRecords(program: Command, context: CommandContext, ended: Ended): void {
  const events = program
    .command("events")
    .description("print the facts of a run")
    .argument("<run>", "its id")
    .option(...JSON_FLAG)
    .option("--follow", "go on until the run ends")
    .action(async (run: string, options: EventsOptions) => {
      const { eventsCommand } = await import("./events.ts");
      ended(await eventsCommand(context, run, options));
    });
  examples(events, ["soong events run_0abc", "soong events run_0abc --json --follow"]);

  const replay = program
    .command("replay")
    .description("decide a kept run again from its journal; carries nothing out")
    .argument("<run>", "its id")
    .option("--config <file>", "under this config: which calls would be decided otherwise")
    .option("--script", "print it as a script, for `soong run --model script:FILE`")
    .option(...JSON_FLAG)
    .action(async (run: string, options: ReplayCommandOptions) => {
      const { replayCommand } = await import("./replay.ts");
      ended(await replayCommand(context, run, options));
    });
  examples(replay, [
    "soong replay run_0abc",
    "soong replay run_0abc --config stricter.toml",
    "soong replay run_0abc --script > run.yaml",
  ]);
  exits(
    replay,
    "0 decided as it was, or the answer under another config; 1 it diverges; 2 used wrongly",
  );

  const verify = program
    .command("verify")
    .description("check that sessions are as they were recorded")
    .argument("[session...]", "their ids; left out: all")
    .option("--artifacts", "also read every artifact")
    .option("--head <hash>", "a head hash of this session that you kept elsewhere")
    .option(...JSON_FLAG)
    .action(async (ids: string[], options: VerifyCommandOptions) => {
      const { verifyCommand } = await import("./verify.ts");
      ended(await verifyCommand(context, ids, options));
    });
  examples(verify, ["soong verify", "soong verify session_0abc --artifacts"]);
  exits(verify, "0 all are, 1 one is not");
}

function addWays(program: Command, context: CommandContext, ended: Ended): void {
  const undo = program
    .command("undo")
    .description("put a file back as it was before a call changed it")
    .argument("[call]", "the call; left out: the last change in this project")
    .option("--yes", "do not ask")
    .option("--session <id>", "the session of the call")
    .option(...JSON_FLAG)
    .action(async (call: string | undefined, options: UndoOptions) => {
      const { undoCommand } = await import("./undo.ts");
      ended(await undoCommand(context, call, options));
    });
  examples(undo, ["soong undo", "soong undo call_0abc --yes"]);

  const rewind = program
    .command("rewind")
    .description("let a session go on from an earlier node; nothing is deleted")
    .argument("<session>", "its id")
    .argument("<node>", "the id of the node")
    .action(async (session: string, node: string) => {
      const { rewindCommand } = await import("./rewind.ts");
      ended(await rewindCommand(context, session, node));
    });
  examples(rewind, ["soong rewind session_0abc node_0def"]);
}

function addCare(program: Command, context: CommandContext, ended: Ended): void {
  const demo = program
    .command("demo")
    .description("watch a scripted model mend a small project, offline, in a throw-away folder")
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

function rulesAndPlace(command: Command): Command {
  return command
    .option("--allow <pattern>", "a rule that allows tools by name; may be repeated", collect)
    .option("--deny <pattern>", "a rule that denies tools by name; may be repeated", collect)
    .option("--cwd <directory>", "the project; left out: where you are");
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function modeOption(): Option {
  return new Option("--mode <mode>", "as a run in this mode").choices([
    "normal",
    "plan",
    "orchestrator",
  ]);
}

function examples(command: Command, lines: readonly string[]): void {
  command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n"));
}

function exits(command: Command, text: string): void {
  command.addHelpText("after", `\nExit code: ${text}.`);
}
