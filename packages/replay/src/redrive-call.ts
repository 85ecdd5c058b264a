// One recorded fact of a call after the other, for a call that is under way in a replay: what it waits for is given to it
// when the record has it, and what is decided about it is held against what was.

import { isTerminalFact, type Fact, type TerminalFactType, type ToolResult } from "@soong/core";
import {
  compareClass,
  comparePermission,
  compareResult,
  compareValidation,
  Diverged,
  describeEnding,
  beginsTooLate,
} from "./divergence.ts";
import { Gate, type LiveCall, settle, type Piece, type RecordPlace } from "./live-call.ts";
import { endedFromOutside, isObserverEvent } from "./recorded-call.ts";
import { type RegisteredTools, openPlan, openReturn, openTargets } from "./stand-ins.ts";
import { NotComparable } from "./source.ts";
import { readHalt, haltTurn, type Halt, type SegmentTurns } from "./recorded-run.ts";
import { beforeEnd, returnBeforeHalt, releaseEnded, releaseParked } from "./unrecorded-end.ts";

interface CallSurroundings {
  readonly piece: Piece;
  readonly place: RecordPlace;
  readonly tools: RegisteredTools;
  /** An event from outside, and all that follows from it. */
  readonly outside: (event: () => void) => Promise<void>;
  /** The id of the grant that is given next. */
  nextGrant(grant_id: string): void;
}

type CallStep = (call: LiveCall, fact: Fact, plan: SegmentTurns) => Promise<void>;

export function createCallStep(around: CallSurroundings): CallStep {
  const { piece, place, tools, outside } = around;

  return async (call, fact, plan) => {
    if (isPlanned(call, fact)) await outside(() => openPlan(call, false));
    switch (fact.type) {
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
        if (fact === call.recorded.begun) await begin(call, fact, plan);
        if (isObserverEvent(fact.data.event)) await outside(() => returns(call));
        if (isLateGuard(call, fact)) {
          throw new NotComparable(fact, "a guard ran on a path that only its plan named");
        }
        return;
      case "hook.completed":
      case "hook.failed":
        if (stopsRun(call, fact)) await outside(() => returnBeforeHalt(piece, call.turn, "stop"));
        await outside(() => place.release(fact.seq));
        return;
      case "permission.evaluated":
        await judge(call, fact, plan);
        return;
      case "permission.requested":
        await settle();
        if (!call.asked)
          throw new Diverged(fact, "permission", "the user is asked", describeEnding(call));
        return;
      case "permission.resolved":
      case "permission.failed":
        if (stalesBeforeStart(call)) tools.remove(fact.tool_name ?? "");
        around.nextGrant(call.recorded.grant_id ?? "");
        await outside(() => call.answered.open());
        return;
      case "tool.waiting":
        await outside(() => wait(call, fact));
        return;
      case "tool.started":
        await settle();
        // A place for another agent is free before its end is on record.
        if (!call.started) await releaseEnded(piece, call, () => call.started);
        if (!call.started)
          throw new Diverged(fact, "permission", "it was started", describeEnding(call));
        return;
      default:
        if (isTerminalFact(fact)) await end(call, fact, plan);
    }
  };

  async function begin(call: LiveCall, fact: Fact, plan: SegmentTurns): Promise<void> {
    const { turns, streaming } = piece;
    await settle();
    // That no more calls would come is not on record where no model brought them.
    if (!call.begun && !streaming.has(call.turn)) await outside(() => turns.get(call.turn)?.end());
    if (!call.begun && call.result === undefined && !piece.hasOrder)
      await releaseParked(piece, call, () => call.begun);
    if (!call.begun && call.result === undefined) {
      if (plan.haltOf(call.turn) !== "discard") throw beginsTooLate(piece, call, fact);
      throw new NotComparable(
        fact,
        "its answer broke off, and with it went how calls before it ended",
      );
    }
    openTargets(call, false);
    await settle();
  }

  async function judge(
    call: LiveCall,
    fact: Fact<"permission.evaluated">,
    plan: SegmentTurns,
  ): Promise<void> {
    const isStale = call.recorded.resolved === undefined && stalesBeforeStart(call);
    if (isStale) tools.remove(fact.tool_name ?? "");
    if (fact === call.recorded.begun) await begin(call, fact, plan);
    place.release(fact.seq);
    await settle();
    comparePermission(fact, call);
    // It is counted before it starts: another may be refused because of it until then.
    if (call.class === "spawns_agent" && call.recorded.started !== undefined) {
      await outside(() => openPlan(call, false));
    }
  }

  async function end(
    call: LiveCall,
    fact: Fact<TerminalFactType>,
    plan: SegmentTurns,
  ): Promise<void> {
    const result = call.recorded.result;
    const code = result?.error?.code ?? "";
    if (result === undefined) throw new NotComparable(fact, "its result is not on record");
    if (NOT_DECIDED.has(code)) {
      throw new NotComparable(fact, `it ended because of what happened to the runtime (${code})`);
    }
    if (piece.hasOrder) {
      if (call.result === undefined) {
        await outside(() => beforeEnd(piece, call, tools));
        await outside(() => releaseAll(call, fact));
      }
    } else await endAsInferred(call, fact, result, plan);
    compareResult(fact, call);
  }

  /** In a record that does not say when calls beside it ended, and when its turn was halted. */
  async function endAsInferred(
    call: LiveCall,
    fact: Fact,
    result: ToolResult,
    plan: SegmentTurns,
  ): Promise<void> {
    const halt = readHalt(result);
    if (halt !== undefined && call.result === undefined) await haltCall(call, halt);
    // What ran beside it and was not cancelled had ended before it failed.
    if (result.is_error && tools.cancelsSiblings(fact)) {
      await releaseEnded(piece, call, () => false);
    }
    if (call.result === undefined) await outside(() => releaseAll(call, fact));
    // A sibling that failed, and whose end is not on record yet.
    if (call.result === undefined) {
      await releaseEnded(piece, call, () => call.result !== undefined);
    }
    // It is done, and its answer still streams: it has an end because the turn was halted then.
    if (call.result === undefined && plan.endOf(call.turn) >= fact.seq) {
      await haltCall(call, plan.haltOf(call.turn) ?? "abort");
    }
  }

  /** All it waits for is released. */
  function releaseAll(call: LiveCall, fact: Fact): void {
    call.kept.open();
    call.admitted.open();
    call.answered.open();
    place.release(fact.seq);
    openTargets(call, true);
    openPlan(call, true);
    openReturn(call);
    call.observed.open();
    call.durable.open();
  }

  /** Calls that had ended on their own had done so before. */
  async function haltCall(call: LiveCall, how: Halt): Promise<void> {
    const turn = piece.turns.get(call.turn);
    await releaseParked(piece, call, () => false);
    await outside(() => haltTurn(turn, how));
  }
}

function stopsRun({ recorded }: LiveCall, { seq }: Fact): boolean {
  return recorded.guards.some(({ by, answer }) => by === seq && answer.stop !== undefined);
}

/** Its own end, which the hooks after it receive. */
function returns(call: LiveCall): void {
  if (call.recorded.started !== undefined) openReturn(call);
  else if (!endedFromOutside(call.recorded.ownStatus)) openPlan(call, true);
}

/** What it does after it was judged by its targets, it does with a plan. */
function isPlanned({ recorded, judgements }: LiveCall, fact: Fact): boolean {
  const { seq } = fact;
  const isJudged = judgements.length > 0 && (recorded.judged?.seq ?? seq) < seq;
  const isObserver = isHookFact(fact) && isObserverEvent(fact.data.event);
  return isJudged && !isTerminalFact(fact) && !isObserver;
}

function isHookFact(fact: Fact): fact is Fact<"hook.started" | "hook.completed" | "hook.failed"> {
  const { type } = fact;
  return type === "hook.started" || type === "hook.completed" || type === "hook.failed";
}

function wait(call: LiveCall, { data: { waits } }: Fact<"tool.waiting">): void {
  if (waits) {
    call.person = new Gate();
    void call.context?.waitForUser(call.person.promise);
  } else call.person?.open();
}

function isLateGuard({ recorded }: LiveCall, { seq, data }: Fact<"hook.started">): boolean {
  const isGuard = data.event === "PreToolUse";
  return isGuard && recorded.firstJudged !== undefined && recorded.firstJudged < seq;
}

/** Ends that are of the runtime and its surroundings, not of a decision. */
const NOT_DECIDED: ReadonlySet<string> = new Set([
  "runtime_restarted",
  "journal_unavailable",
  "internal_error",
  "turn_ended",
]);

function stalesBeforeStart({ recorded }: LiveCall): boolean {
  return recorded.started === undefined && recorded.wentStale;
}
