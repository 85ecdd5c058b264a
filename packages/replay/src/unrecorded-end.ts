// Calls that had ended before their end came on record: one that only reads has none while its answer still streams, and
// a place for another agent is free before. Others may have begun, or been cancelled, because of them.

import { isHandlerErrorStatus } from "@soong/core/internal";
import { type LiveCall, settle, type Piece } from "./live-call.ts";
import { endedFromOutside, type RecordedCall } from "./recorded-call.ts";
import { openPlan, openReturn, openTargets, type RegisteredTools } from "./stand-ins.ts";
import type { Halt } from "./recorded-run.ts";

/** Those that had ended before this fact, in the order they did. */
export function parkedBefore({ calls }: Piece, seq: number): LiveCall[] {
  const due = [...calls.values()].filter(
    ({ recorded: { parked }, letGo }) => parked !== undefined && parked.after < seq && !letGo,
  );
  const order = ({ recorded }: LiveCall): number => recorded.parked?.nth ?? 0;
  return due.toSorted((a, b) => order(a) - order(b));
}

/** What the others had come to when a call ended. */
export function beforeEnd(piece: Piece, call: LiveCall, tools: RegisteredTools): void {
  const { recorded } = call;
  const hasFailed = recorded.started !== undefined && isHandlerErrorStatus(recorded.ownStatus);
  if (hasFailed && tools.cancelsSiblings(recorded.requested)) returnBeside(piece, call);
  if (recorded.error?.code === "child_agent_limit_exceeded") countStarters(piece, call);
}

/** Another waits for a place and never got it: it was counted before this one was refused. */
function countStarters({ calls }: Piece, refused: LiveCall): void {
  for (const call of calls.values()) {
    const isJudged = call.turn === refused.turn && call.judgements.length > 0;
    const { status, error } = call.recorded.result ?? {};
    const isStopped = endedFromOutside(status) || error?.code === "interrupted";
    if (call.class === "spawns_agent" && isJudged && isStopped) openPlan(call, false);
  }
}

/** A failure that ended the calls beside it: those that it did not end had returned before. */
function returnBeside({ calls }: Piece, failed: LiveCall): void {
  for (const call of calls.values()) {
    if (call === failed || call.turn !== failed.turn || !call.begun) continue;
    call.isEnding = true;
    if (call.started) openReturn(call);
    else endOwnStart(call);
  }
}

/** Once its guards have passed, a call may be refused, or fail to plan, before it notices that it was cancelled. */
function endOwnStart(call: LiveCall): void {
  const { recorded } = call;
  if (recorded.failedBeforeJudgement) openTargets(call, true);
  if (recorded.ownStatus === "denied" || recorded.failedToPlan) openPlan(call, true);
}

/** A halt that did not end a call which it ends: that had come to its own end before. */
export function returnBeforeHalt({ calls }: Piece, turn: number, halt: Halt | "stop"): void {
  for (const call of calls.values()) {
    const { recorded, result } = call;
    if (call.turn !== turn || result !== undefined || endedFromOutside(recorded.ownStatus)) {
      continue;
    }
    call.isEnding = true;
    endOwnStart(call);
    const { interrupt_behavior } = recorded.started?.data ?? {};
    const endsRunning = halt === "interrupt" ? interrupt_behavior === "cancel" : halt !== "stop";
    if (endsRunning) openReturn(call);
  }
}

/** Those beside a call that must have ended are ended, the one that took least first, until it is enough. */
export async function releaseEnded(
  piece: Piece,
  call: LiveCall,
  until: () => boolean,
): Promise<void> {
  const running = findBeside(piece, call).filter(({ started, recorded }) => {
    const result = recorded.result;
    return started && result !== undefined && !endedFromOutside(result.status);
  });
  await release(running, until);
}

/**
 * The same for what changed nothing: refusals, and reads, also those that were discarded with their answer. The end of a
 * change is on record before anything follows from it.
 */
export async function releaseParked(
  piece: Piece,
  call: LiveCall,
  until: () => boolean,
): Promise<void> {
  const parked = findBeside(piece, call).filter(({ started, recorded }) => {
    if (STOPPED.has(recorded.result?.status ?? "")) return false;
    return recorded.started === undefined || (started && isRead(recorded));
  });
  await release(parked, until);
}

/** Not on its own. */
const STOPPED: ReadonlySet<string> = new Set(["aborted", "cancelled", "skipped"]);

/** A failure that takes siblings along, and did not take this one that arrives, was there before it. */
export async function releaseFailed(
  { calls }: Piece,
  arriving: RecordedCall,
  turn: number,
  tools: RegisteredTools,
): Promise<void> {
  if (arriving.error?.code === "sibling_failed") return;
  const at = Date.parse(arriving.requested.time);
  const ended = [...calls.values()].filter(({ recorded, started, result, turn: of }) => {
    const isOpen = of === turn && started && result === undefined && isRead(recorded);
    return isOpen && endTime(recorded) <= at && !STOPPED.has(recorded.result?.status ?? "");
  });
  const isFailure = (call: LiveCall): boolean =>
    failing(call) === 1 && tools.cancelsSiblings(call.recorded.requested);
  if (ended.some(isFailure)) await release(ended, () => false);
}

function isRead({ evaluated, validated }: RecordedCall): boolean {
  return (evaluated ?? validated)?.data.effects?.read_only === true;
}

function findBeside({ calls }: Piece, call: LiveCall): LiveCall[] {
  return [...calls.values()].filter((other) => {
    const { turn, result, returned, recorded } = other;
    const isOver = recorded.ended !== undefined && result === undefined && !returned.isOpen;
    return other !== call && turn === call.turn && isOver;
  });
}

async function release(candidates: readonly LiveCall[], until: () => boolean): Promise<void> {
  const inOrder = candidates.toSorted(
    (a, b) => endTime(a.recorded) - endTime(b.recorded) || failing(a) - failing(b),
  );
  for (const call of inOrder) {
    if (until()) return;
    releaseCall(call);
    await settle();
  }
}

export function releaseCall(call: LiveCall): void {
  call.letGo = true;
  call.observed.open();
  const { recorded, kept, admitted } = call;
  if (recorded.started === undefined) {
    if (recorded.validated === undefined) {
      kept.open();
      admitted.open();
    }
    openTargets(call, true);
    openPlan(call, true);
  } else openReturn(call);
}

/** Of two that took as long, the one that failed may have ended the other. */
function failing({ recorded }: LiveCall): number {
  return recorded.result?.is_error === true ? 1 : 0;
}

function endTime(call: RecordedCall): number {
  const began = Date.parse((call.started ?? call.requested).time);
  return began + (call.result?.metadata.duration_ms ?? 0);
}
