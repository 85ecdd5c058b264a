// `soong attach`: a second terminal for a session that is live (CLI-8). It shows what the run does and answers its
// questions; leaving it leaves the run as it is.

import type { Fact } from "@soong/core";
import type { Store } from "@soong/store";
import {
  connectControl,
  type ControlClient,
  type ControlEvent,
  type LiveRuntime,
} from "@soong/control";
import { CommandError, EXIT, UsageError, visibleLine, type Output } from "../../output/index.ts";
import { openProgramView } from "./attach-program.ts";
import { openTerminalView } from "./attach-terminal.ts";
import type { CommandContext } from "../context.ts";
import { withReadOnlyStore } from "../stored.ts";
import { isGone, liveRuntimes, rethrowUnlessGone } from "./live-runtimes.ts";
import { argument, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "attach",
  summary: "watch a live session, and answer its questions from here",
  arguments: [argument("[session]", "id or unique prefix; default: the only live session")],
  options: [option("--json", "records for programs, which answer in lines of JSON on stdin")],
  examples: ["soong attach", "soong attach session_0abc --json"],
  run: attachToSession,
};

interface AttachOptions {
  readonly json?: boolean;
}

async function attachToSession(
  context: CommandContext,
  session: string | undefined,
  { json = false }: AttachOptions,
): Promise<number> {
  const { output, interrupts } = context;
  const runtime = pickRuntime(output, await liveRuntimes(context), session);
  const after = await findFirstSeq(context, runtime);
  const leaving = new AbortController();
  const waiting: ControlEvent[] = [];
  let take = (event: ControlEvent): void => void waiting.push(event);
  const client = await connectTo(runtime, (event) => take(event));
  const stopListening = interrupts.on(() => leaving.abort());
  leaving.signal.addEventListener("abort", () => client.close());
  try {
    const open = json ? openProgramView : openTerminalView;
    const view = await open(context, { runtime, client, left: leaving.signal });
    let last = after;
    take = (event) => {
      if (event.event === "fact") last = event.data.seq;
      view.event(event);
      if (output.isClosed) leaving.abort();
      else void yieldTo(output, client);
    };
    for (const event of waiting.splice(0)) take(event);
    await client.request("facts.follow", { after }).catch(rethrowUnlessGone);
    await client.closed;
    if (!leaving.signal.aborted) {
      await showRemaining(context, runtime, last, (fact) =>
        view.event({ event: "fact", data: fact }),
      );
    }
    view.end(leaving.signal.aborted ? "left" : "ended");
    return EXIT.ok;
  } finally {
    stopListening();
    client.close();
  }
}

function pickRuntime(
  output: Output,
  live: readonly LiveRuntime[],
  session: string | undefined,
): LiveRuntime {
  const found = live.filter(({ hello }) => hello.session_id.startsWith(session ?? ""));
  const exact = found.find(({ hello }) => hello.session_id === session);
  const [only, ...others] = exact === undefined ? found : [exact];
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    for (const { hello } of found) {
      output.note(visibleLine(`${hello.session_id}  ${hello.project}  (process ${hello.pid})`));
    }
    throw new UsageError("Several sessions are live: say which one, as `soong attach SESSION`.");
  }
  throw new CommandError(
    session === undefined
      ? "No session is live: `soong` begins one, and so does `soong run`."
      : `No live session is called ${visibleLine(session)}. \`soong attach\` alone takes the one that is, or lists them.`,
  );
}

async function connectTo(
  { path, hello }: LiveRuntime,
  onEvent: (event: ControlEvent) => void,
): Promise<ControlClient> {
  try {
    return await connectControl(path, { onEvent });
  } catch (error) {
    if (!isGone(error)) throw new CommandError((error as Error).message);
    throw new CommandError(
      `The session ${hello.session_id} has just ended; \`soong resume ${hello.session_id}\` continues it.`,
    );
  }
}

/** Shows a run from its first fact; without one under way, what comes from now on. */
async function findFirstSeq(context: CommandContext, { hello }: LiveRuntime): Promise<number> {
  return withReadOnlyStore(
    context,
    async (store: Store) => {
      const found = await Promise.all(hello.runs.map(({ run_id }) => store.findRun(run_id)));
      const firsts = found.flatMap((run) => (run === undefined ? [] : [run.first_seq]));
      if (firsts.length > 0) return Math.min(...firsts) - 1;
      const reader = await store.readSession(hello.session_id);
      return (await reader.record()).last_seq;
    },
    () => 0,
  );
}

const PAGE = 500;

/** What the runtime could not say any more when it ended. */
async function showRemaining(
  context: CommandContext,
  { hello }: LiveRuntime,
  after: number,
  show: (fact: Fact) => void,
): Promise<void> {
  await withReadOnlyStore(
    context,
    async (store) => {
      const reader = await store.readSession(hello.session_id);
      for (let seen = after; ;) {
        const facts = await reader.facts({ after: seen, limit: PAGE });
        for (const fact of facts) show(fact);
        await context.output.drained();
        seen = facts.at(-1)?.seq ?? seen;
        if (facts.length < PAGE || context.output.isClosed) return;
      }
    },
    () => {},
  );
}

/** A slow screen slows what is read, and nothing else. */
async function yieldTo(output: Output, client: ControlClient): Promise<void> {
  client.pause();
  await output.drained();
  client.resume();
}
