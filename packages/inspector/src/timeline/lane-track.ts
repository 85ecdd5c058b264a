// One call as its facts tell of it: what it was doing when. Its spans follow one another without a gap, and none ends
// before it began, even if the clock was set back. There are many of these: plain data, and little of it.

import { isTerminalFact, type Fact, type TerminalFactType } from "@soong/core";
import type { Lane, LaneState, Span, SpanKind } from "../wire/session-records.ts";
import { MOST_SUMMARY_CHARS, oneLine, summarizeArguments } from "./read-data.ts";

export interface LaneTrack extends Omit<Lane, "spans"> {
  /** What it has been at, in order. */
  readonly kinds: SpanKind[];
  /** When each of those began; one more once it is over. */
  readonly times: number[];
  isRunOver?: boolean;
  /** Runs it started, calls made within it. */
  child_runs?: string[];
  child_calls?: string[];
}

export type RequestedCall = Fact<"tool.requested"> & { run_id: string; tool_call_id: string };

export function isRequested(fact: Fact): fact is RequestedCall {
  return fact.type === "tool.requested";
}

export function trackLane(requested: RequestedCall, at: number): LaneTrack {
  const { tool_call_id, run_id, agent_id = "", tool_name = "", seq, data } = requested;
  return {
    tool_call_id,
    run_id,
    agent_id,
    tool_name,
    seq,
    parent_call_id: data.within_tool_call_id,
    kinds: ["arriving"],
    times: [at],
    state: "arriving",
    about: summarizeArguments(data.model_input),
  };
}

export function readLane(track: LaneTrack): Lane {
  const { kinds, times, isRunOver: _, child_runs: __, child_calls: ___, ...lane } = track;
  const spans = kinds.map((kind, i): Span => [kind, times[i] ?? 0, times[i + 1] ?? null]);
  return { ...lane, spans };
}

/** True where the fact made a difference. */
export function takeLaneFact(lane: LaneTrack, fact: Fact, at: number | undefined): boolean {
  if (isTerminalFact(fact)) return end(lane, fact, at);
  if (fact.type === "tool.yielded") return yieldLane(lane, at);
  if (fact.type === "input.mutated") return takeInput(lane, fact);
  const next = NEXT[fact.type]?.[lane.state];
  return next !== undefined && enter(lane, next, at);
}

/** Its run has ended: no one is left to tell a result to. True where that made a difference. */
export function endLaneRun(lane: LaneTrack, at: number | undefined): boolean {
  lane.isRunOver = true;
  return lane.state === "holding" && enter(lane, "ended", at);
}

/** As it is after a hook changed it, or it was made to fit the schema: what is done, and not only what was written. */
function takeInput(lane: LaneTrack, { data }: Fact<"input.mutated">): boolean {
  const about = summarizeArguments(data.observable_input);
  if (about === undefined || about === lane.about) return false;
  lane.about = about;
  return true;
}

/** By fact and by what the call is at: what it is at afterwards. Elicitations leave a fact only once they are over. */
const NEXT: Readonly<Record<string, Partial<Record<LaneState, SpanKind>>>> = {
  "tool.queued": { arriving: "queued" },
  "permission.requested": { arriving: "waiting", queued: "waiting" },
  "permission.resolved": { waiting: "queued" },
  "permission.failed": { waiting: "queued" },
  "tool.started": { arriving: "executing", queued: "executing", waiting: "executing" },
};

function end(
  lane: LaneTrack,
  { seq, data: { result } }: Fact<TerminalFactType>,
  at: number | undefined,
): boolean {
  if (lane.ended_seq !== undefined) return false;
  const summary = oneLine(result.summary, MOST_SUMMARY_CHARS);
  lane.ended_seq = seq;
  lane.outcome = result.status;
  if (summary !== "") lane.summary = summary;
  return enter(lane, lane.isRunOver ? "ended" : "holding", at);
}

function yieldLane(lane: LaneTrack, at: number | undefined): boolean {
  // A result that was yielded without a recorded end: invalid, and no end.
  if (lane.ended_seq === undefined || lane.yielded_at !== undefined) return false;
  enter(lane, "ended", at);
  lane.yielded_at = Math.max(lane.times.at(-1) ?? 0, at ?? 0);
  return true;
}

/** A clock that was set back does not make a span end before it began. */
function enter(lane: LaneTrack, next: LaneState, at: number | undefined): boolean {
  if (next === lane.state) return false;
  const last = lane.times.at(-1) ?? 0;
  lane.times.push(Math.max(last, at ?? last));
  if (next !== "ended") lane.kinds.push(next);
  lane.state = next;
  return true;
}
