// Replays a run from its journal alone (REPLAY-1): the same decisions, or the first that would be another one now.

import { messageOf, type Fact } from "@soong/core";
import { damagedJournal, ReplayError, readFacts, type ReplaySource } from "./source.ts";
import { Diverged, type Divergence } from "./divergence.ts";
import { readRecordedRun, splitSegments } from "./recorded-run.ts";
import { startRedrive } from "./redrive.ts";

export interface ReplayOptions {
  readonly source: ReplaySource;
  readonly run_id: string;
}

export interface ReplayReport {
  readonly session_id: string;
  readonly run_id: string;
  readonly outcome: "same" | "diverged";
  /** The first different decision; nothing after it was looked at. */
  readonly divergence?: Divergence;
  /** How its record ends. `none`: the run is still going, or was cut off; what there is was replayed. */
  readonly end: "completed" | "failed" | "aborted" | "none";
  readonly facts: number;
  readonly calls: number;
  readonly surfaces: number;
  /** Calls from there on, within one answer, that cannot be decided again, with why. */
  readonly left_out: readonly LeftOut[];
}

export interface LeftOut {
  readonly seq: number;
  readonly tool_call_id?: string;
  readonly why: string;
}

/** Throws a ReplayError where there is nothing that could be decided again. */
export async function replayRun({ source, run_id }: ReplayOptions): Promise<ReplayReport> {
  const recorded = await readRecordedRun(source, run_id);
  const { session_id, seq: first } = recorded.started;
  const left_out: LeftOut[] = [];
  const counts = { facts: 0, calls: 0, surfaces: 1 };
  let end: ReplayReport["end"] = "none";
  let at = first;
  try {
    const play = await startRedrive(source, recorded);
    for await (const segment of splitSegments(countFacts())) {
      at = segment[0]?.seq ?? at;
      const { calls, surfaces, left } = await play(segment);
      counts.calls += calls;
      counts.surfaces += surfaces;
      if (left === undefined) continue;
      const { seq, tool_call_id } = left.fact;
      left_out.push({ seq, tool_call_id, why: left.why });
    }
    return { session_id, run_id, end, ...counts, left_out, outcome: "same" };
  } catch (error) {
    if (error instanceof Diverged) {
      const { divergence } = error;
      return { session_id, run_id, end, ...counts, left_out, outcome: "diverged", divergence };
    }
    if (error instanceof ReplayError) throw error;
    throw damagedJournal(at, `what it says cannot be replayed (${messageOf(error)})`);
  }

  async function* countFacts(): AsyncGenerator<Fact, void> {
    for await (const fact of readFacts(source, run_id)) {
      counts.facts += 1;
      end = ENDS.get(fact.type) ?? end;
      yield fact;
    }
  }
}

const ENDS: ReadonlyMap<string, ReplayReport["end"]> = new Map([
  ["run.completed", "completed"],
  ["run.failed", "failed"],
  ["run.aborted", "aborted"],
]);
