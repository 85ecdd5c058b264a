// `soong attach`: a second terminal for a session that is live (CLI-8). It shows what the run does and answers its
// questions; leaving it leaves the run as it is.

import {
  connectControl,
  type ControlClient,
  type ControlEvent,
  type LiveRuntime,
} from "@soong/control";
import { CommandError, UsageError, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { filterById } from "../match-id.ts";
import { withInterrupt } from "../signals.ts";
import { readFactPages, withReadOnlyStore } from "../stored.ts";
import { openProgramView, openTerminalView } from "./attach-views.ts";
import { isGone, liveRuntimes, rethrowUnlessGone } from "./live-runtimes.ts";

export const attachToSession: Handler<"attach"> = async (context, { session }, { json }) => {
  const { output } = context;
  const runtime = pickRuntime(output, await liveRuntimes(context), session);
  const after = await findFirstSeq(context, runtime);
  const waiting: ControlEvent[] = [];
  let take = (event: ControlEvent): void => void waiting.push(event);
  const client = await connectTo(runtime, (event) => take(event));
  const leaving = new AbortController();
  leaving.signal.addEventListener("abort", () => client.close());
  try {
    await withInterrupt(context, async (interrupted) => {
      interrupted.addEventListener("abort", () => leaving.abort());
      const open = json === true ? openProgramView : openTerminalView;
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
        await readRemaining(context, runtime, last, (event) => view.event(event));
      }
      view.end(leaving.signal.aborted ? "left" : "ended");
    });
  } finally {
    client.close();
  }
};

function pickRuntime(
  output: Output,
  live: readonly LiveRuntime[],
  session: string | undefined,
): LiveRuntime {
  const found = session === undefined ? live : filterById(session, live, LIVE);
  const [only, ...others] = found;
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

const LIVE = { kind: "session", id: ({ hello }: LiveRuntime) => hello.session_id };

async function connectTo(
  { path, hello }: LiveRuntime,
  onEvent: (event: ControlEvent) => void,
): Promise<ControlClient> {
  return connectControl(path, { onEvent }).catch((error: unknown) => {
    throw new CommandError(
      isGone(error)
        ? `The session ${hello.session_id} has just ended; \`soong resume ${hello.session_id}\` continues it.`
        : (error as Error).message,
    );
  });
}

/** Shows a run from its first fact; without one under way, what comes from now on. */
function findFirstSeq(context: CommandContext, { hello }: LiveRuntime): Promise<number> {
  const noneStored = (): number => 0;
  return withReadOnlyStore<number>(context, noneStored, async (store) => {
    const found = await Promise.all(hello.runs.map(({ run_id }) => store.findRun(run_id)));
    const firsts = found.flatMap((run) => (run === undefined ? [] : [run.first_seq]));
    if (firsts.length > 0) return Math.min(...firsts) - 1;
    const reader = await store.readSession(hello.session_id);
    return (await reader.record()).last_seq;
  });
}

/** What the runtime could not say any more when it ended. */
function readRemaining(
  context: CommandContext,
  { hello }: LiveRuntime,
  after: number,
  onEvent: (event: ControlEvent) => void,
): Promise<void> {
  const noneStored = (): void => {};
  return withReadOnlyStore<void>(context, noneStored, async (store) => {
    const reader = await store.readSession(hello.session_id);
    for await (const page of readFactPages(reader, { after })) {
      for (const data of page) onEvent({ event: "fact", data });
      await context.output.drained();
      if (context.output.isClosed) return;
    }
  });
}

/** A slow screen slows what is read, and nothing else. */
async function yieldTo(output: Output, client: ControlClient): Promise<void> {
  client.pause();
  await output.drained();
  client.resume();
}
