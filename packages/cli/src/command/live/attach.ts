// `soong attach`: a second terminal for a session that is live (CLI-8), through its socket, or through the store where a process
// of another machine holds it. It shows what the run does and answers its questions; leaving it leaves the run as it is.

import { connectControl, type ControlClient, type ControlEvent } from "@soong/control";
import type { SessionHolder, Store } from "@soong/store";
import { CommandError, UsageError, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { filterById } from "../match-id.ts";
import { withInterrupt } from "../signals.ts";
import { isStoreShared, readFactPages, withReadOnlyStore, withStore } from "../stored.ts";
import { openProgramView, openTerminalView } from "./attach-views.ts";
import { connectRemote, toHello } from "./connect-remote.ts";
import {
  describeTarget,
  isGone,
  liveRuntimes,
  rethrowUnlessGone,
  type LiveTarget,
} from "./live-runtimes.ts";
import { findRemoteHolders } from "./remote-grants.ts";

type OnEvent = (event: ControlEvent) => void;

/** A live session with a way to connect to it. */
interface Reachable extends LiveTarget {
  connect(onEvent: OnEvent): Promise<ControlClient>;
}

export const attachToSession: Handler<"attach"> = async (context, { session }, options) => {
  const work = options.abort === true ? abortRuns : watchSession;
  const live = await liveRuntimes(context);
  const here = live.map(({ path, hello }): Reachable => ({
    hello,
    connect: (onEvent) => connectControl(path, { onEvent }),
  }));
  const found = pick(context.output, here, session);
  if (found !== undefined) return work(context, found);
  if (!(await isStoreShared(context))) throw refuseNone(session);
  const reached = new Set(live.map(({ hello }) => hello.session_id));
  await withStore(context, async (store) => {
    const holders = await findRemoteHolders(store, reached);
    const remote = holders.map((holder) => toReachable(context, store, holder));
    const meant = pick(context.output, remote, session);
    if (meant === undefined) throw refuseNone(session);
    await work(context, meant);
  });
};

function toReachable({ env }: CommandContext, store: Store, holder: SessionHolder): Reachable {
  return {
    hello: toHello(holder),
    host: holder.host,
    connect: async (onEvent) => connectRemote(store, holder, { onEvent, env }),
  };
}

async function watchSession(context: CommandContext, runtime: Reachable): Promise<void> {
  const { output, json } = context;
  const after = await findFirstSeq(context, runtime);
  const waiting: ControlEvent[] = [];
  let take = (event: ControlEvent): void => void waiting.push(event);
  const client = await connectTo(runtime, (event) => take(event));
  const leaving = new AbortController();
  leaving.signal.addEventListener("abort", () => client.close());
  try {
    await withInterrupt(context, async (interrupted) => {
      interrupted.addEventListener("abort", () => leaving.abort());
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
        await readRemaining(context, runtime, last, (event) => view.event(event));
      }
      view.end(leaving.signal.aborted ? "left" : "ended");
    });
  } finally {
    client.close();
  }
}

/** Aborts all runs that are under way. */
async function abortRuns({ output, print }: CommandContext, runtime: Reachable): Promise<void> {
  const client = await connectTo(runtime, () => {});
  try {
    const reason = "aborted by soong attach";
    const { run_ids } = await client.request("run.abort", { reason });
    const { session_id } = runtime.hello;
    print({ event: "aborted", session_id, run_ids }, () =>
      run_ids.map((run_id) => `stopping ${visibleLine(run_id)}`),
    );
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`${visibleLine(describeTarget(runtime))}: ${visibleLine(message)}`);
  } finally {
    client.close();
    await output.drained();
  }
}

/** Returns undefined if no session matches. */
function pick(
  output: Output,
  live: readonly Reachable[],
  session: string | undefined,
): Reachable | undefined {
  const found = session === undefined ? live : filterById(session, live, LIVE);
  const [only, ...others] = found;
  if (others.length === 0) return only;
  for (const one of found) output.note(visibleLine(describeTarget(one)));
  throw new UsageError("Several sessions are live: say which one, as `soong attach SESSION`.");
}

function refuseNone(session: string | undefined): CommandError {
  return new CommandError(
    session === undefined
      ? "No session is live: `soong` begins one, and so does `soong run`."
      : `No live session is called ${visibleLine(session)}. \`soong attach\` alone takes the one that is, or lists them.`,
  );
}

const LIVE = { kind: "session", id: ({ hello }: LiveTarget) => hello.session_id };

async function connectTo(target: Reachable, onEvent: OnEvent): Promise<ControlClient> {
  const { hello } = target;
  return target.connect(onEvent).catch((error: unknown) => {
    throw new CommandError(
      isGone(error)
        ? `The session ${hello.session_id} has just ended; \`soong resume ${hello.session_id}\` continues it.`
        : (error as Error).message,
    );
  });
}

/** A run that is under way is shown from its first fact. Without one, only new facts are shown. */
function findFirstSeq(context: CommandContext, { hello }: LiveTarget): Promise<number> {
  const noneStored = (): number => 0;
  return withReadOnlyStore<number>(context, noneStored, async (store) => {
    const found = await Promise.all(hello.runs.map(({ run_id }) => store.findRun(run_id)));
    const firsts = found.flatMap((run) => (run === undefined ? [] : [run.first_seq]));
    if (firsts.length > 0) return Math.min(...firsts) - 1;
    const reader = await store.readSession(hello.session_id);
    return (await reader.record()).last_seq;
  });
}

/** Reads the last facts from the store: the runtime may have ended before it sent them. */
function readRemaining(
  context: CommandContext,
  { hello }: LiveTarget,
  after: number,
  onEvent: OnEvent,
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
