// The commands that look at what is kept or live, and take it back.

import type { Command } from "commander";
import type { AttachOptions } from "./attach.ts";
import type { CommandContext } from "./context.ts";
import type { EventsOptions } from "./events.ts";
import type { GrantsOptions } from "./grants.ts";
import type { InspectOptions } from "./inspect.ts";
import { examples, exits, JSON_FLAG, type Ended } from "./options.ts";
import type { AnswerOptions, QuestionsOptions } from "./questions.ts";
import type { ReplayCommandOptions } from "./replay.ts";
import type { SearchOptions } from "./sessions-search.ts";
import type { SessionsRmOptions } from "./sessions.ts";
import type { UndoOptions } from "./undo.ts";
import type { VerifyCommandOptions } from "./verify.ts";

export function addSessions(program: Command, context: CommandContext, ended: Ended): void {
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

  const search = sessions
    .command("search")
    .description("find text in the conversations that are kept, newest first")
    .argument("<text>", "as it is written there; A to Z in either case")
    .option("--limit <n>", "at most so many", "20")
    .option(...JSON_FLAG)
    .action(async (text: string, options: SearchOptions) => {
      const { sessionsSearchCommand } = await import("./sessions-search.ts");
      ended(await sessionsSearchCommand(context, text, options));
    });
  examples(search, ['soong sessions search "connection refused"']);
  exits(search, "0 found, 1 not found");
}

export function addLive(program: Command, context: CommandContext, ended: Ended): void {
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

  const inspect = program
    .command("inspect")
    .description("serve a page for your browser: runs live, questions, tasks, tools to try")
    .option("--port <n>", "the port on 127.0.0.1; left out: any free one")
    .option("--open", "open it in your browser")
    .option(...JSON_FLAG)
    .action(async (options: InspectOptions) => {
      const { inspectCommand } = await import("./inspect.ts");
      ended(await inspectCommand(context, options));
    });
  examples(inspect, ["soong inspect --open", "soong inspect --port 8721"]);
  exits(inspect, "1 it cannot be served there, 2 used wrongly, 130 or 143 ended by a signal");

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

  const questions = program
    .command("questions")
    .description("list the questions that are open, also those of a runtime that was stopped")
    .option(...JSON_FLAG)
    .action(async (options: QuestionsOptions) => {
      const { questionsCommand } = await import("./questions.ts");
      ended(await questionsCommand(context, options));
    });
  examples(questions, ["soong questions", "soong questions answer ask_0abc"]);

  const answer = questions
    .command("answer")
    .description("answer one; a stopped session uses the answer when it is resumed")
    .argument("<id>", "id or unique prefix, as `soong questions` lists it")
    .argument("[decision]", "allow, session or deny; default: ask at this terminal")
    .option("--reason <text>", "sent to the model")
    .action(async (id: string, decision: string | undefined, options: AnswerOptions) => {
      const { questionsAnswerCommand } = await import("./questions.ts");
      ended(await questionsAnswerCommand(context, id, decision, options));
    });
  examples(answer, [
    "soong questions answer ask_0abc",
    `soong questions answer ask_0abc deny --reason "not on main"`,
  ]);
  exits(answer, "0 answered, 1 it is not open any more, 2 used wrongly");
}

export function addRecords(program: Command, context: CommandContext, ended: Ended): void {
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
    .option(
      "--rebuild",
      "make anew from the facts what the store derives from them, where it differs",
    )
    .option(...JSON_FLAG)
    .action(async (ids: string[], options: VerifyCommandOptions) => {
      const { verifyCommand } = await import("./verify.ts");
      ended(await verifyCommand(context, ids, options));
    });
  examples(verify, ["soong verify", "soong verify session_0abc --artifacts"]);
  exits(verify, "0 all are, 1 one is not");
}

export function addWays(program: Command, context: CommandContext, ended: Ended): void {
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
