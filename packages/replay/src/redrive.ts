// Drives a recorded run once more (REPLAY-1). The kernel decides; the record says what came from outside, and when. Each
// recorded decision is held against the one of now as soon as it is reached, and the first that differs ends the replay.

import {
  createHeldClock,
  createKernel,
  RunRefused,
  type Fact,
  type Run,
  type ToolCall,
} from "@soong/core";
import { createGrants, entriesIn } from "@soong/core/internal";
import { compareName, compareSurface, Diverged, beginsTooEarly } from "./divergence.ts";
import {
  createGrantHistory,
  readDefinitions,
  toRunOptions,
  type RecordedRun,
  haltTurn,
  isHalt,
  SegmentTurns,
} from "./recorded-run.ts";
import { LiveCall, settle, type Piece, RecordPlace, createWatchingJournal } from "./live-call.ts";
import { readArguments } from "./recorded-arguments.ts";
import { readRecordedCalls, type RecordedCall } from "./recorded-call.ts";
import { createCallStep } from "./redrive-call.ts";
import {
  readDisabledTools,
  registerTools,
  createGuards,
  noArtifacts,
  createResponder,
  type Stage,
} from "./stand-ins.ts";
import { NotComparable, type ReplaySource } from "./source.ts";
import {
  beforeEnd,
  releaseCall,
  parkedBefore,
  releaseFailed,
  returnBeforeHalt,
} from "./unrecorded-end.ts";

/** Of one piece of the run, as `splitSegments` cuts it. */
interface Played {
  /** Those that were compared to their end. */
  readonly calls: number;
  readonly surfaces: number;
  /** Why a piece could not be compared to its end. */
  readonly left?: { readonly fact: Fact; readonly why: string };
}

/** The function plays one piece after the other, and throws a `Diverged`. */
export async function startRedrive(
  source: ReplaySource,
  recorded: RecordedRun,
): Promise<(segment: readonly Fact[]) => Promise<Played>> {
  const { started, policy } = recorded;
  const piece: Piece = {
    hasOrder: recorded.hasOrder,
    calls: new Map(),
    turns: new Map(),
    streaming: new Map(),
  };
  const { calls, turns, streaming } = piece;
  const place = new RecordPlace();
  const catalogs: Fact<"tool.catalog.resolved">[] = [];
  const grants = createGrants();
  const recallGrants = createGrantHistory(source, grants);
  let disabled = readDisabledTools(recorded.catalog, new Set());
  let admitting: LiveCall | undefined;
  let nextGrant = "";
  let ids = 0;
  let tooEarly: Diverged | undefined;

  const stage: Stage = {
    call(id) {
      const call = calls.get(id);
      if (call === undefined) throw new Error(`the call ${id} is not on record`);
      return call;
    },
    get admitting() {
      return admitting;
    },
    isEnabled: (name) => !disabled.has(name),
    until: (seq) => place.until(seq),
    // Called from the kernel's own code, which must not be stopped there: it is checked when the kernel is idle.
    begun(call) {
      if (call.begun) return;
      call.begun = true;
      tooEarly ??= beginsTooEarly(piece, call, recorded.config.tools?.early_start);
    },
  };
  const kernel = createKernel({
    // What was recorded was bounded then.
    config: {
      ...recorded.config,
      tools: { ...recorded.config.tools, inline_limit_bytes: UNBOUNDED },
    },
    clock: createHeldClock(),
    ids: {
      next(prefix) {
        ids += 1;
        return prefix === "grant" ? nextGrant : `${prefix}_${ids}`;
      },
    },
  });
  const tools = registerTools(kernel, stage);
  tools.set(recorded.definitions);
  const session = await kernel.openSession({
    session_id: started.session_id,
    journal: createWatchingJournal(calls, catalogs),
    artifacts: noArtifacts(stage),
    ask: createResponder(stage),
    hooks: createGuards(stage),
    grants,
    policy: policy.input,
  });
  let run: Run;
  try {
    run = await session.startRun(toRunOptions(recorded, policy));
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error;
    throw new Diverged(started, "surface", "the run began", `it is refused: ${error.message}`);
  }
  compareSurface(recorded.catalog, catalogs.shift());

  const applyCallFact = createCallStep({
    piece,
    place,
    tools,
    outside,
    nextGrant(grant_id) {
      nextGrant = grant_id;
    },
  });

  return play;

  async function play(segment: readonly Fact[]): Promise<Played> {
    const those = readRecordedCalls(segment);
    const plan = new SegmentTurns(segment);
    let surfaces = 0;
    try {
      for (const fact of segment) {
        place.reached = fact.seq;
        if (isLaterSurface(fact)) surfaces += 1;
        for (const call of parkedBefore(piece, fact.seq)) await endParked(call);
        await applyFact(fact, those, plan);
      }
      return { calls: those.size, surfaces };
    } catch (error) {
      if (!(error instanceof NotComparable)) throw error;
      const { fact, message: why } = error;
      const compared = [...those.values()].filter(
        ({ ended }) => (ended?.seq ?? fact.seq) < fact.seq,
      );
      return { calls: compared.length, surfaces, left: { fact, why } };
    } finally {
      await leave();
    }
  }

  async function endParked(call: LiveCall): Promise<void> {
    await outside(() => beforeEnd(piece, call, tools));
    await outside(() => releaseCall(call));
  }

  /** Aborts all that is still under way: its record has ended. */
  async function leave(): Promise<void> {
    place.release(Number.POSITIVE_INFINITY);
    for (const turn of turns.values()) void turn.abort("the record ends here");
    await settle();
    turns.clear();
    calls.clear();
    streaming.clear();
  }

  async function applyFact(
    fact: Fact,
    those: ReadonlyMap<string, RecordedCall>,
    plan: SegmentTurns,
  ): Promise<void> {
    const { tool_call_id } = fact;
    const call = tool_call_id === undefined ? undefined : calls.get(tool_call_id);
    switch (fact.type) {
      case "tool.catalog.resolved":
        if (isLaterSurface(fact)) await takeSurface(fact);
        return;
      case "model.started": {
        const turn = plan.answerOf(fact);
        if (turn !== undefined) await openAnswer(fact, turn, plan.endOf(turn));
        return;
      }
      case "model.completed":
        await endAnswer(fact, plan);
        return;
      case "turn.halted":
        await halt(fact, plan);
        return;
      case "tool.requested":
        await acceptCall(fact, those, plan);
        return;
      default:
        if (call === undefined) return;
        admitting = call;
        await grantsFor(call.recorded);
        await applyCallFact(call, fact, plan);
    }
  }

  function isLaterSurface({ type, seq }: Fact): boolean {
    return type === "tool.catalog.resolved" && seq !== recorded.catalog.seq;
  }

  async function takeSurface(fact: Fact<"tool.catalog.resolved">): Promise<void> {
    disabled = readDisabledTools(fact, disabled);
    if (fact.data.definitions !== undefined) tools.set(await readDefinitions(source, fact));
    await run.tools();
    compareSurface(fact, catalogs.shift());
  }

  async function openAnswer(fact: Fact, turn: number, endsAt: number): Promise<void> {
    await run.tools();
    const news = catalogs.shift();
    if (news !== undefined) {
      const changed = entriesIn(news.data).map(({ tool_name, state }) => `${tool_name}: ${state}`);
      throw new Diverged(fact, "surface", "the surface stayed", changed.join(", "));
    }
    turns.set(turn, run.openTurn());
    streaming.set(turn, endsAt);
  }

  async function endAnswer(fact: Fact<"model.completed">, plan: SegmentTurns): Promise<void> {
    const turn = plan.answerOf(fact);
    if (turn === undefined || fact.data.stop === "max_tokens") return;
    streaming.delete(turn);
    await outside(() => turns.get(turn)?.end());
  }

  /** A hook's stop is decided again: its guard says so. */
  async function halt({ data }: Fact<"turn.halted">, plan: SegmentTurns): Promise<void> {
    const { kind, first_call_id = "" } = data;
    const turn = plan.turnOf(first_call_id);
    if (!isHalt(kind)) return;
    await outside(() => returnBeforeHalt(piece, turn, kind));
    await outside(() => haltTurn(turns.get(turn), kind));
  }

  async function acceptCall(
    fact: Fact<"tool.requested">,
    those: ReadonlyMap<string, RecordedCall>,
    plan: SegmentTurns,
  ): Promise<void> {
    const of = those.get(fact.tool_call_id ?? "");
    // Pushed after its turn had ended: nothing was decided about it.
    if (of === undefined || fact.data.heard === false) return;
    const number = plan.turnOf(of.id);
    const turn = turns.get(number) ?? run.openTurn();
    turns.set(number, turn);
    const call = new LiveCall(of, number);
    if (of.validated === undefined && of.wentStale) tools.remove(fact.tool_name ?? "");
    const given = await readArguments(source, of, kernel.registry.current(fact.tool_name ?? ""));
    if (!given.ok) throw new NotComparable(fact, given.why);
    if (!piece.hasOrder) {
      await releaseFailed(piece, of, number, tools);
    }
    calls.set(of.id, call);
    await grantsFor(of);
    await outside(() => {
      admitting = call;
      turn.push({
        id: of.id,
        name: readSentName(fact),
        arguments: given.value,
        ...readMaker(fact),
      });
      if (plan.isLast(of.id)) turn.end();
    });
    compareName(call);
  }

  /** Before it can be judged: as the book was when it was. */
  async function grantsFor({ evaluated }: RecordedCall): Promise<void> {
    if (evaluated === undefined || evaluated.seq < place.reached) return;
    await recallGrants(evaluated.seq, evaluated.data.grant_id);
  }

  /** An event from outside, and all that follows from it. */
  async function outside(event: () => void): Promise<void> {
    event();
    await settle();
    if (tooEarly !== undefined) throw tooEarly;
  }
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** As in the recorded run, a call of the runtime, or one that the user of a host refused, requires no approval. */
function readMaker({ data }: Fact<"tool.requested">): Pick<ToolCall, "made_by" | "refused"> {
  const { made_by, refused } = data;
  return {
    ...(made_by === "runtime" && { made_by }),
    ...(refused !== undefined && { refused }),
  };
}

function readSentName({ tool_name = "", data }: Fact<"tool.requested">): string {
  return data.native_name ?? data.alias ?? tool_name;
}
