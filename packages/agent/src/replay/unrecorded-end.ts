// Calls that had ended before their end came on record: one that only reads has none while its answer still streams, and
// a place for another agent is free before. Others may have begun, or been cancelled, because of them.

import { toolResult, type Fact } from "@soong/core";
import type { LiveCall } from "./live-call.ts";
import { settle, type Piece } from "./piece.ts";
import {
  effectsOf,
  endedFromOutside,
  errorOf,
  failedBeforeJudgement,
  failedToPlan,
  resultOf,
  type RecordedCall,
} from "./recorded-call.ts";
import { openPlan, openTargets, returnOf } from "./stand-ins.ts";

/** Those beside a call that must have ended are ended, the one that took least first, until it is enough. */
export async function releaseEnded(
  piece: Piece,
  call: LiveCall,
  until: () => boolean,
): Promise<void> {
  const running = beside(piece, call).filter(({ started, recorded }) => {
    const result = resultOf(recorded);
    return started && result !== undefined && !endedFromOutside(result);
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
  const parked = beside(piece, call).filter(({ started, recorded }) => {
    if (STOPPED.has(resultOf(recorded)?.status ?? "")) return false;
    return recorded.started === undefined || (started && isRead(recorded));
  });
  await release(parked, until);
}

/** Not by itself. */
const STOPPED: ReadonlySet<string> = new Set(["aborted", "cancelled", "skipped"]);

/** A failure that takes siblings along, and did not take this one that arrives, was there before it. */
export async function releaseFailed(
  { calls }: Piece,
  arriving: RecordedCall,
  { turn, takesSiblingsAlong }: { turn: number; takesSiblingsAlong: (fact: Fact) => boolean },
): Promise<void> {
  if (errorOf(arriving)?.code === "sibling_failed") return;
  const at = Date.parse(arriving.requested.time);
  const ended = [...calls.values()].filter(({ recorded, started, result, turn: of }) => {
    const isOpen = of === turn && started && result === undefined && isRead(recorded);
    return isOpen && endTime(recorded) <= at && !STOPPED.has(resultOf(recorded)?.status ?? "");
  });
  const isFailure = (call: LiveCall): boolean =>
    failing(call) === 1 && takesSiblingsAlong(call.recorded.requested);
  if (ended.some(isFailure)) await release(ended, () => false);
}

function isRead({ evaluated, validated }: RecordedCall): boolean {
  return effectsOf(evaluated ?? validated)?.read_only === true;
}

function beside({ calls }: Piece, call: LiveCall): LiveCall[] {
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
    letEnd(call);
    await settle();
  }
}

function letEnd(call: LiveCall): void {
  const { recorded, kept, admitted, returned } = call;
  const result = resultOf(recorded);
  if (recorded.started === undefined) {
    if (recorded.validated === undefined) {
      kept.open();
      admitted.open();
    }
    if (failedBeforeJudgement(recorded)) openTargets(call, true);
    if (failedToPlan(recorded)) openPlan(call, true);
  } else if (result !== undefined) {
    // What it had returned went with its answer.
    returned.open(result.status === "discarded" ? toolResult({ content: [] }) : returnOf(result));
  }
}

/** Of two that took as long, the one that failed may have ended the other. */
function failing({ recorded }: LiveCall): number {
  return resultOf(recorded)?.is_error === true ? 1 : 0;
}

function endTime(call: RecordedCall): number {
  const began = Date.parse((call.started ?? call.requested).time);
  return began + (resultOf(call)?.metadata.duration_ms ?? 0);
}
