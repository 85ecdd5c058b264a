// Drives a recorded run once more (REPLAY-1). The kernel decides; the record says what came from outside, and when. Each
// recorded decision is held against the one of now as soon as it is reached, and the first that differs ends the replay.

import {
  createGrants,
  createHeldClock,
  createKernel,
  isTerminalFact,
  RunRefused,
  type Fact,
  type Journal,
  type JsonObject,
  type Run,
  type ToolResult,
  type Turn,
} from "@soong/core";
import { argumentsOf } from "./recorded-arguments.ts";
import {
  compareClass,
  compareName,
  comparePermission,
  compareResult,
  compareSurface,
  compareValidation,
  Diverged,
  endingOf,
} from "./divergence.ts";
import { createGrantHistory } from "./grant-history.ts";
import { liveCall, type LiveCall } from "./live-call.ts";
import { recordedCalls, resultOf, type RecordedCall } from "./recorded-call.ts";
import { catalogEntries, readDefinitions, runOptionsOf, type RecordedRun } from "./recorded-run.ts";
import { disabledBy, registerTools } from "./registered-tools.ts";
import type { ReplaySource } from "./source.ts";
import { guardsOf, noArtifacts, openPlan, personOf, returnOf, type Stage } from "./stand-ins.ts";
import { haltOf, turnsOf, type Halt, type SegmentTurns } from "./turns.ts";

export interface Redrive {
  /** One piece of the run, as `segmentsOf` cuts it. Throws a `Diverged`. */
  play(segment: readonly Fact[]): Promise<Played>;
}

export interface Played {
  readonly calls: number;
  readonly surfaces: number;
  /** Why a piece could not be compared to its end. */
  readonly left?: { readonly fact: Fact; readonly why: string };
}

/** Ends a piece that cannot be compared, and nothing else. */
class NotComparable extends Error {
  readonly fact: Fact;

  constructor(fact: Fact, why: string) {
    super(why);
    this.fact = fact;
  }
}

export async function startRedrive(source: ReplaySource, recorded: RecordedRun): Promise<Redrive> {
  const { started, policy } = recorded;
  const calls = new Map<string, LiveCall>();
  const waiting: { seq: number; go: () => void }[] = [];
  const catalogs: Fact[] = [];
  const grants = createGrants();
  const history = createGrantHistory(source, grants);
  let disabled = disabledBy(recorded.catalog, new Set());
  let admitting: LiveCall | undefined;
  let reached = 0;
  let nextGrant = "";
  let ids = 0;
  let tooEarly: Diverged | undefined;
  const turns = new Map<number, Turn>();
  /** Answers that still stream, with the seq of the fact that ends them. */
  const streaming = new Map<number, number>();

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
    until: (seq) =>
      new Promise((go) => {
        if (seq <= reached) go();
        else waiting.push({ seq, go });
      }),
    begun,
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
    journal: watchingJournal(watch),
    artifacts: noArtifacts(stage),
    ask: personOf(stage),
    hooks: guardsOf(stage),
    grants,
    policy: policy.input,
  });
  let run: Run;
  try {
    run = await session.startRun(runOptionsOf(recorded, policy));
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error;
    throw new Diverged(started, "surface", "the run began", `it is refused: ${error.message}`);
  }
  compareSurface(recorded.catalog, catalogs.shift());

  return { play };

  async function play(segment: readonly Fact[]): Promise<Played> {
    const those = recordedCalls(segment);
    const plan = turnsOf(segment);
    let surfaces = 0;
    try {
      for (const fact of segment) {
        reached = fact.seq;
        if (fact.type === "tool.catalog.resolved" && fact.seq !== recorded.catalog.seq)
          surfaces += 1;
        await step(fact, those, plan);
      }
      return { calls: those.size, surfaces };
    } catch (error) {
      if (!(error instanceof NotComparable)) throw error;
      return { calls: 0, surfaces, left: { fact: error.fact, why: error.message } };
    } finally {
      await leave();
    }
  }

  /** Whatever is still under way goes: the record of it has ended. */
  async function leave(): Promise<void> {
    for (const { go } of waiting.splice(0)) go();
    for (const turn of turns.values()) void turn.abort("the record ends here");
    await settle();
    turns.clear();
    calls.clear();
    streaming.clear();
  }

  // ── the record's side ───────────────────────────────────────────────────────────────────────────

  async function step(
    fact: Fact,
    those: ReadonlyMap<string, RecordedCall>,
    plan: SegmentTurns,
  ): Promise<void> {
    const { tool_call_id } = fact;
    const type: string = fact.type;
    const call = tool_call_id === undefined ? undefined : calls.get(tool_call_id);
    switch (type) {
      case "tool.catalog.resolved":
        if (fact.seq !== recorded.catalog.seq) await takeSurface(fact);
        return;
      case "model.started": {
        const turn = plan.answerOf(fact);
        if (turn !== undefined) await openAnswer(fact, turn, plan.endOf(turn));
        return;
      }
      case "model.completed":
        await endAnswer(fact, plan);
        return;
      case "tool.requested":
        await arrive(fact, those, plan);
        return;
      default:
        if (call === undefined) return;
        admitting = call;
        await grantsFor(call.recorded);
        await stepOf(call, fact, plan);
    }
  }

  async function stepOf(call: LiveCall, fact: Fact, plan: SegmentTurns): Promise<void> {
    const type: string = fact.type;
    switch (type) {
      case "artifact.created":
        call.kept.open();
        return;
      case "tool.validated":
        call.kept.open();
        if (call.validated === undefined) await outside(() => call.admitted.open());
        compareValidation(fact, call);
        return;
      case "tool.queued":
        compareClass(fact, call);
        return;
      case "hook.started":
        if (fact === call.recorded.begun) await begin(call, fact);
        return;
      case "hook.completed":
      case "hook.failed":
        await outside(() => release(fact.seq));
        return;
      case "permission.evaluated":
        await judge(call, fact);
        return;
      case "permission.requested":
        await settle();
        if (!call.asked)
          throw new Diverged(fact, "permission", "a person is asked", endingOf(call));
        return;
      case "permission.resolved":
      case "permission.failed":
        if (stalesBeforeStart(call)) tools.remove(fact.tool_name ?? "");
        nextGrant = call.recorded.grant_id ?? "";
        await outside(() => call.answered.open());
        return;
      case "tool.started":
        await settle();
        // A place for another agent is free before its end is on record.
        if (!call.started) await releaseEnded(call, () => call.started);
        if (!call.started) throw new Diverged(fact, "permission", "it was started", endingOf(call));
        return;
      default:
        if (isTerminalFact(fact.type)) await end(call, fact, plan);
    }
  }

  async function takeSurface(fact: Fact): Promise<void> {
    disabled = disabledBy(fact, disabled);
    if ((fact.data as JsonObject)["definitions"] !== undefined) {
      tools.set(await readDefinitions(source, fact));
    }
    await run.tools();
    compareSurface(fact, catalogs.shift());
  }

  async function openAnswer(fact: Fact, turn: number, endsAt: number): Promise<void> {
    await run.tools();
    const news = catalogs.shift();
    if (news !== undefined) {
      const changed = catalogEntries(news).map(({ tool_name, state }) => `${tool_name}: ${state}`);
      throw new Diverged(fact, "surface", "the surface stayed", changed.join(", "));
    }
    turns.set(turn, run.openTurn());
    streaming.set(turn, endsAt);
  }

  async function endAnswer(fact: Fact, plan: SegmentTurns): Promise<void> {
    const turn = plan.answerOf(fact);
    const { stop } = fact.data as { stop?: unknown };
    if (turn === undefined || stop === "max_tokens") return;
    streaming.delete(turn);
    await outside(() => turns.get(turn)?.end());
  }

  async function arrive(
    fact: Fact,
    those: ReadonlyMap<string, RecordedCall>,
    plan: SegmentTurns,
  ): Promise<void> {
    const of = those.get(fact.tool_call_id ?? "");
    const { heard } = fact.data as { heard?: unknown };
    // Pushed after its turn had ended: nothing was decided about it.
    if (of === undefined || heard === false) return;
    const number = plan.turnOf(of.id);
    const turn = turns.get(number) ?? run.openTurn();
    turns.set(number, turn);
    const call = liveCall(of, number);
    if (staleOnArrival(of)) tools.remove(fact.tool_name ?? "");
    const given = await argumentsOf(source, of, kernel.registry.current(fact.tool_name ?? ""));
    if (!given.ok) throw new NotComparable(fact, given.why);
    calls.set(of.id, call);
    await grantsFor(of);
    await outside(() => {
      admitting = call;
      turn.push({ id: of.id, name: nameOf(fact), arguments: given.value });
      if (plan.isLast(of.id)) turn.end();
    });
    compareName(call);
  }

  async function begin(call: LiveCall, fact: Fact): Promise<void> {
    await settle();
    // That no more calls would come is not on record where no model brought them.
    if (!call.begun && !streaming.has(call.turn)) await outside(() => turns.get(call.turn)?.end());
    if (!call.begun && call.result === undefined) await releaseEnded(call, () => call.begun);
    if (!call.begun && call.result === undefined) {
      const beside = runningBeside(call);
      const now = beside.length === 0 ? "it does not begin" : `it waits for ${beside.join(", ")}`;
      const recordedBeside = beside.length === 0 ? "" : ` beside ${beside.join(", ")}`;
      throw new Diverged(fact, "schedule", `it began${recordedBeside}`, now);
    }
    openPlan(call, false);
    await settle();
  }

  async function judge(call: LiveCall, fact: Fact): Promise<void> {
    const isStale = call.recorded.resolved === undefined && stalesBeforeStart(call);
    if (isStale) tools.remove(fact.tool_name ?? "");
    if (fact === call.recorded.begun) await begin(call, fact);
    release(fact.seq);
    await settle();
    comparePermission(fact, call);
  }

  /** Before it can be judged: as the book was when it was. */
  async function grantsFor({ evaluated }: RecordedCall): Promise<void> {
    if (evaluated === undefined || evaluated.seq < reached) return;
    const { grant_id } = evaluated.data as { grant_id?: unknown };
    await history.at(evaluated.seq, typeof grant_id === "string" ? grant_id : undefined);
  }

  async function end(call: LiveCall, fact: Fact, plan: SegmentTurns): Promise<void> {
    const result = resultOf(call.recorded);
    const code = result?.error?.code ?? "";
    if (result === undefined) throw new NotComparable(fact, "its result is not on record");
    if (NOT_DECIDED.has(code)) {
      throw new NotComparable(fact, `it ended because of what happened to the runtime (${code})`);
    }
    const halt = haltOf(result);
    if (halt !== undefined && call.result === undefined) await outside(() => stop(call, halt));
    if (result.is_error && takesSiblingsAlong(fact)) await releaseEnded(call, () => false);
    if (call.result === undefined) await outside(() => goOn(call, fact, result));
    // A sibling that failed, and whose end is not on record yet.
    if (call.result === undefined) await releaseEnded(call, () => call.result !== undefined);
    // It is done, and its answer still streams: it has an end because the turn was halted then.
    if (call.result === undefined && !plan.isOver(call.turn, fact.seq)) {
      await outside(() => stop(call, plan.haltOf(call.turn) ?? "abort"));
    }
    compareResult(fact, call);
  }

  /** Whatever it waits for is there. */
  function goOn(call: LiveCall, fact: Fact, result: ToolResult): void {
    call.kept.open();
    call.admitted.open();
    call.answered.open();
    release(fact.seq);
    openPlan(call, true);
    if (call.recorded.started !== undefined && !ENDED_FROM_OUTSIDE.has(result.status)) {
      call.returned.open(returnOf(result));
    }
  }

  function stop(call: LiveCall, how: Halt): void {
    const turn = turns.get(call.turn);
    if (how === "abort") void turn?.abort("as recorded");
    else if (how === "discard") void turn?.discard("as recorded");
    else turn?.interrupt("as recorded");
  }

  // ── the kernel's side ───────────────────────────────────────────────────────────────────────────

  /** An event from outside, and all that follows from it. */
  async function outside(event: () => void): Promise<void> {
    event();
    await settle();
    if (tooEarly !== undefined) throw tooEarly;
  }

  /** Told by the kernel's own code, which must not be stopped there: it is looked at when it has come to rest. */
  function begun(call: LiveCall): void {
    if (call.begun) return;
    call.begun = true;
    tooEarly ??= beginsTooEarly(call);
  }

  /** A barrier had nobody beside it, and what may write waited for the end of the answer (SCHED-2, 3, 5). */
  function beginsTooEarly(call: LiveCall): Diverged | undefined {
    const { begun: first } = call.recorded;
    if (first === undefined) return undefined;
    const beside = [...calls.values()].find((other) => {
      const isRunning = other !== call && other.turn === call.turn && other.begun;
      const hadEnded = (other.recorded.ended?.seq ?? Number.POSITIVE_INFINITY) < first.seq;
      const isApart = isBarrier(other.recorded) || isBarrier(call.recorded);
      return isRunning && other.result === undefined && hadEnded && isApart;
    });
    if (beside !== undefined) {
      const { id, requested } = beside.recorded;
      const name = `${requested.tool_name ?? ""} (${id})`;
      return new Diverged(first, "schedule", `it waited for ${name}`, `it begins beside ${name}`);
    }
    const waited = streaming.get(call.turn);
    const mayBeEarly = recorded.config.tools?.early_start === "all" || !isWriting(call.recorded);
    if (waited === undefined || mayBeEarly || first.seq < waited) return undefined;
    return new Diverged(
      first,
      "schedule",
      "it waited for the end of the answer",
      "it begins before",
    );
  }

  /**
   * A call that only reads has no end on record while its answer still streams, though others may have begun because of
   * it. Those that must have ended are ended, the one that took least first.
   */
  async function releaseEnded(call: LiveCall, until: () => boolean): Promise<void> {
    const candidates = [...calls.values()]
      .filter(({ turn, started: runs, result, returned, recorded: { ended } }) => {
        const isOver = ended !== undefined && result === undefined && !returned.isOpen;
        return turn === call.turn && runs && isOver;
      })
      .filter((other) => other !== call)
      .toSorted((a, b) => endTime(a.recorded) - endTime(b.recorded) || failing(a) - failing(b));
    for (const { recorded: of, returned } of candidates) {
      if (until()) return;
      const result = resultOf(of);
      if (result === undefined || ENDED_FROM_OUTSIDE.has(result.status)) continue;
      returned.open(returnOf(result));
      await settle();
    }
  }

  /** What ran beside it and was not cancelled had ended before it failed. */
  function takesSiblingsAlong({ tool_name = "" }: Fact): boolean {
    const tool = kernel.registry.current(tool_name);
    return tool?.definition.on_sibling_failure === "cancel_siblings";
  }

  function runningBeside(call: LiveCall): string[] {
    return [...calls.values()]
      .filter(({ turn, begun: runs, result }) => turn === call.turn && runs && result === undefined)
      .map(({ recorded: { id, requested } }) => `${requested.tool_name ?? ""} (${id})`);
  }

  function release(seq: number): void {
    for (const wait of waiting.filter((one) => one.seq <= seq)) {
      waiting.splice(waiting.indexOf(wait), 1);
      wait.go();
    }
  }

  function watch(fact: Fact): void {
    if (fact.type === "tool.catalog.resolved") catalogs.push(fact);
    const call = fact.tool_call_id === undefined ? undefined : calls.get(fact.tool_call_id);
    if (call === undefined) return;
    const { type, data } = fact;
    if (type === "tool.requested") call.tool_name = fact.tool_name ?? "";
    else if (type === "tool.validated") call.validated = fact;
    else if (type === "tool.queued") call.class = String((data as { class?: unknown }).class);
    else if (type === "permission.evaluated") call.evaluated = fact;
    else if (type === "permission.requested" || type === "permission.failed") call.asked = true;
    else if (type === "tool.started") call.started = true;
    else if (isTerminalFact(type))
      call.result = (data as { result: LiveCall["result"] & {} }).result;
  }
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Ends that are of the runtime and its surroundings, not of a decision. */
const NOT_DECIDED: ReadonlySet<string> = new Set([
  "runtime_restarted",
  "journal_unavailable",
  "internal_error",
  "turn_ended",
]);

const ENDED_FROM_OUTSIDE: ReadonlySet<string> = new Set(["aborted", "cancelled", "discarded"]);

/** Nothing in a replay waits for time or for the machine: what follows from an event follows at once. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function watchingJournal(watch: (fact: Fact) => void): Journal {
  return {
    append: ({ facts }) => facts.forEach(watch),
    flush() {},
    read: () => [],
  };
}

function staleOnArrival(call: RecordedCall): boolean {
  return call.validated === undefined && isStale(call);
}

function stalesBeforeStart({ recorded }: LiveCall): boolean {
  return recorded.started === undefined && isStale(recorded);
}

function isStale(call: RecordedCall): boolean {
  return resultOf(call)?.error?.code === "tool_definition_changed";
}

/** What changed its class on its way began as the other. */
function isBarrier({ queued, started }: RecordedCall): boolean {
  const { class: first } = (queued?.data ?? {}) as { class?: unknown };
  const { class: last = first } = (started?.data ?? {}) as { class?: unknown };
  return first === last && (first === "write" || first === "alone");
}

function isWriting({ queued }: RecordedCall): boolean {
  const { class: first } = (queued?.data ?? {}) as { class?: unknown };
  return first === "write" || first === "starter";
}

function nameOf({ tool_name = "", data }: Fact): string {
  const { native_name, alias } = data as { native_name?: unknown; alias?: unknown };
  if (typeof native_name === "string") return native_name;
  return typeof alias === "string" ? alias : tool_name;
}

/** Of two that took as long, the one that failed may have ended the other. */
function failing({ recorded }: LiveCall): number {
  return resultOf(recorded)?.is_error === true ? 1 : 0;
}

function endTime(call: RecordedCall): number {
  const began = Date.parse(call.started?.time ?? "");
  return began + (resultOf(call)?.metadata.duration_ms ?? 0);
}
