// When calls begin, held against the record (SCHED-2, 3, 5): one that waited must wait now, and one that began must not.

import type { Fact } from "@soong/core";
import { readCallClass } from "@soong/core/internal";
import { Diverged } from "./divergence.ts";
import type { LiveCall, Piece } from "./live-call.ts";
import type { RecordedCall } from "./recorded-call.ts";

/** A barrier ran alone, and what may write waited for the end of the answer. */
export function beginsTooEarly(
  { calls, streaming }: Piece,
  call: LiveCall,
  earlyStart: string | undefined,
): Diverged | undefined {
  const { begun: first } = call.recorded;
  if (first === undefined) return undefined;
  const beside = [...calls.values()].find((other) => {
    const isRunning = other !== call && other.turn === call.turn && other.begun;
    const hadEnded = (other.recorded.ended?.seq ?? Number.POSITIVE_INFINITY) < first.seq;
    const isApart = isBarrier(other.recorded) || isBarrier(call.recorded);
    return isRunning && other.result === undefined && hadEnded && isApart;
  });
  if (beside !== undefined) {
    const name = describeCall(beside);
    return new Diverged(first, "schedule", `it waited for ${name}`, `it begins beside ${name}`);
  }
  const waited = streaming.get(call.turn);
  const mayBeEarly = earlyStart === "all" || !isWriting(call.recorded);
  if (waited === undefined || mayBeEarly || first.seq < waited) return undefined;
  return new Diverged(first, "schedule", "it waited for the end of the answer", "it begins before");
}

/** It began by this fact, and does not now. */
export function beginsTooLate({ calls }: Piece, call: LiveCall, fact: Fact): Diverged {
  const beside = [...calls.values()]
    .filter(({ turn, begun, result }) => turn === call.turn && begun && result === undefined)
    .map(describeCall)
    .join(", ");
  return beside === ""
    ? new Diverged(fact, "schedule", "it began", "it does not begin")
    : new Diverged(fact, "schedule", `it began beside ${beside}`, `it waits for ${beside}`);
}

function describeCall({ recorded: { id, requested } }: LiveCall): string {
  return `${requested.tool_name ?? ""} (${id})`;
}

/** What changed its class on its way began as the other. */
function isBarrier({ queued, started }: RecordedCall): boolean {
  const first = classOf(queued);
  const last = classOf(started) ?? first;
  return first === last && (first === "write" || first === "exclusive");
}

function isWriting({ queued }: RecordedCall): boolean {
  const first = classOf(queued);
  return first === "write" || first === "spawns_agent";
}

function classOf(fact: Fact<"tool.queued" | "tool.started"> | undefined) {
  const recorded = fact?.data.class;
  return recorded === undefined ? undefined : readCallClass(recorded);
}
