// Replays a run from its journal alone (REPLAY-1): the same decisions, or the first that would be another one now.

import type { Fact } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { damagedJournal, ReplayError, readFacts, type ReplaySource } from "./source.ts";
import { Diverged, type Divergence } from "./divergence.ts";
import { readRecordedRun, splitSegments } from "./recorded-run.ts";
import { startRedrive, type Redrive } from "./redrive.ts";

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
  const { session_id } = recorded.started;
  let facts = 0;
  let calls = 0;
  let surfaces = 1;
  let end: ReplayReport["end"] = "none";
  let at = recorded.started.seq;
  const left_out: LeftOut[] = [];
  const report = (): Omit<ReplayReport, "outcome"> => ({
    session_id,
    run_id,
    end,
    facts,
    calls,
    surfaces,
    left_out,
  });
  try {
    const redrive = await startRedrive(source, recorded);
    for await (const segment of splitSegments(countFacts())) await playSegment(redrive, segment);
    return { ...report(), outcome: "same" };
  } catch (error) {
    if (error instanceof Diverged) {
      return { ...report(), outcome: "diverged", divergence: error.divergence };
    }
    if (error instanceof ReplayError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw damagedJournal(at, `what it says cannot be replayed (${what})`);
  }

  async function playSegment(redrive: Redrive, segment: readonly Fact[]): Promise<void> {
    at = segment[0]?.seq ?? at;
    const played = await redrive(segment);
    calls += played.calls;
    surfaces += played.surfaces;
    if (played.left === undefined) return;
    const { fact, why } = played.left;
    const { seq, tool_call_id } = fact;
    left_out.push({ seq, ...omitUndefined({ tool_call_id }), why });
  }

  async function* countFacts(): AsyncGenerator<Fact, void> {
    for await (const fact of readFacts(source, run_id)) {
      facts += 1;
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
