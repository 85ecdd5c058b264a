// The facts of one session as runs and lanes, worked out as they come. What changed since someone last looked is at
// hand without a look at the rest; how the facts came in pages makes no difference.

import type { Fact } from "@soong/core";
import type { RequestRow } from "../wire/request-records.ts";
import type { Lane, RunRow } from "../wire/session-records.ts";
import { createChangeLog } from "./change-log.ts";
import {
  endLaneRun,
  isRequested,
  readLane,
  takeLaneFact,
  trackLane,
  type LaneTrack,
  type RequestedCall,
} from "./lane-track.ts";
import { MOST_SUMMARY_CHARS, oneLine } from "./read-data.ts";
import { endRequestRun, takeRequestFact, type RequestTracks } from "./request-track.ts";
import {
  childLink,
  firstLine,
  trackRun,
  type ChildLink,
  type FindStep,
  type RunTrack,
} from "./run-track.ts";
import { soundFact } from "./sound-fact.ts";

export type Timeline = ReturnType<typeof createTimeline>;

export interface TimelineChanges {
  runs: RunRow[];
  lanes: Lane[];
  requests: RequestRow[];
  version: number;
  /** There is more: ask again with `version`. */
  more: boolean;
}

export function createTimeline() {
  const runs = new Map<string, KnownRun>();
  /** Said of runs that have no fact yet. */
  const links = new Map<string, ChildLink>();
  /** What the steps of tasks are called. */
  const steps = new Map<string, string>();
  const findStep: FindStep = (of) => steps.get(stepKey(of));
  const lastLanes = new Map<string, LaneTrack>();
  const log = createChangeLog<KnownRun | LaneTrack | RequestRow>();
  const touched = new Set<KnownRun | LaneTrack | RequestRow>();
  let last_seq = 0;
  let last_time = 0;

  return {
    /** The seq of the last fact that was taken; 0 before the first. */
    get last_seq() {
      return last_seq;
    },
    /** Counts up with every change. */
    get version() {
      return log.version;
    },
    /** In order. Those that were taken before are passed over. */
    take(facts: readonly Fact[]): void {
      for (const fact of facts) {
        if (!(fact.seq > last_seq)) continue;
        last_seq = fact.seq;
        takeOne(soundFact(fact));
      }
      // Once for all that one page changed.
      for (const thing of touched) log.changed(thing);
      touched.clear();
    },
    /** At most `limit` runs and lanes together; `version` is to be asked with next. */
    changedSince(version: number, limit: number): TimelineChanges {
      const { things, ...rest } = log.since(version, limit);
      const changes: TimelineChanges = { runs: [], lanes: [], requests: [], ...rest };
      for (const thing of things) {
        if ("kinds" in thing) changes.lanes.push(readLane(thing));
        else if ("track" in thing) changes.runs.push(thing.track.row);
        else changes.requests.push({ ...thing });
      }
      changes.runs.sort(bySeq);
      changes.lanes.sort(bySeq);
      changes.requests.sort(bySeq);
      return changes;
    },
    /** In the order they began. */
    runs: (): RunRow[] => [...runs.values()].map(({ track }) => track.row),
    run: (run_id: string): RunRow | undefined => runs.get(run_id)?.track.row,
    /** Ids of calls are unique within a run; without one, the call that was asked for last. */
    lane(tool_call_id: string, run_id?: string): Lane | undefined {
      const lanes = run_id === undefined ? lastLanes : runs.get(run_id)?.lanes;
      const track = lanes?.get(tool_call_id);
      return track && readLane(track);
    },
    /** The calls of a run, in the order they were requested. */
    lanesOf: (run_id: string): Lane[] =>
      [...(runs.get(run_id)?.lanes.values() ?? [])].map(readLane),
    request(run_id: string, request: number): RequestRow | undefined {
      const row = runs.get(run_id)?.requests.get(request);
      return row && { ...row };
    },
    /** Runs a call started, and calls made within it. */
    childrenOf({ run_id, tool_call_id }: Pick<Lane, "run_id" | "tool_call_id">) {
      const { child_runs = [], child_calls = [] } = runs.get(run_id)?.lanes.get(tool_call_id) ?? {};
      return { child_runs: [...child_runs], child_calls: [...child_calls] };
    },
    /** Of a run that is not there: 0. */
    countFacts: (run_id: string): number => runs.get(run_id)?.track.seqs.length ?? 0,
    /** The seqs of a run's facts, counted from 0. */
    seqsOf: (run_id: string, offset: number, limit: number): number[] =>
      runs.get(run_id)?.track.seqs.slice(offset, limit) ?? [],
    /** The node a run's first answer hangs on: its prompt, or what came along with that. */
    promptNodeOf: (run_id: string): string | undefined => runs.get(run_id)?.track.prompt_node_id,
    /** For a title that facts do not tell. One that is there already stays. */
    entitle(run_id: string, text: string): void {
      const run = runs.get(run_id);
      const title = firstLine(text);
      if (run === undefined || title === undefined || run.track.row.title !== undefined) return;
      run.track.link({ title });
      log.changed(run);
    },
  };

  function takeOne(fact: Fact): void {
    const parsed = Date.parse(fact.time);
    const at = Number.isFinite(parsed) ? parsed : undefined;
    last_time = at ?? last_time;
    if (fact.type === "task.step.claimed") {
      steps.set(stepKey(fact.data), oneLine(fact.data.title, MOST_SUMMARY_CHARS));
    }
    if (typeof fact.run_id !== "string") return;
    const run = findRun(fact as Fact & { run_id: string }, at ?? last_time);
    const hasEnded = run.track.take(fact, at);
    touched.add(run);
    takeCall(run, fact, at);
    const request = takeRequestFact(run.requests, fact, at);
    if (request !== undefined) touched.add(request);
    linkChild(run, fact);
    if (hasEnded) {
      for (const lane of run.open) if (endLaneRun(lane, at)) touch(run, lane);
      for (const row of run.requests.values()) if (endRequestRun(row, at)) touched.add(row);
    }
  }

  function findRun(fact: Fact & { run_id: string }, at: number): KnownRun {
    const known = runs.get(fact.run_id);
    if (known !== undefined) return known;
    const run: KnownRun = {
      track: trackRun(fact, at, findStep),
      lanes: new Map(),
      requests: new Map(),
      open: new Set(),
    };
    runs.set(fact.run_id, run);
    const link = links.get(fact.run_id);
    if (link !== undefined) run.track.link(link);
    links.delete(fact.run_id);
    return run;
  }

  function takeCall(run: KnownRun, fact: Fact, at: number | undefined): void {
    const { tool_call_id } = fact;
    if (typeof tool_call_id !== "string") return;
    const lane = run.lanes.get(tool_call_id);
    if (lane === undefined) {
      if (isRequested(fact)) begin(run, fact, at ?? last_time);
    } else if (takeLaneFact(lane, fact, at)) touch(run, lane);
  }

  function begin(run: KnownRun, fact: RequestedCall, at: number): void {
    const lane = trackLane(fact, at);
    run.lanes.set(fact.tool_call_id, lane);
    run.open.add(lane);
    run.track.countCall();
    lastLanes.set(fact.tool_call_id, lane);
    touched.add(lane);
    const parent = run.lanes.get(lane.parent_call_id ?? "");
    if (parent !== undefined) (parent.child_calls ??= []).push(fact.tool_call_id);
    // A run does not wait for its calls; one that comes later than its end has no one to tell its result to.
    if (run.track.hasEnded) endLaneRun(lane, at);
  }

  function touch(run: KnownRun, lane: LaneTrack): void {
    touched.add(lane);
    if (lane.state === "ended") run.open.delete(lane);
  }

  function linkChild(run: KnownRun, fact: Fact): void {
    const linked = childLink(fact, findStep);
    if (linked === undefined) return;
    const { child_run_id, link } = linked;
    const lane = run.lanes.get(fact.tool_call_id ?? "");
    // Both facts of a worker name it.
    if (lane !== undefined && lane.child_runs?.includes(child_run_id) !== true) {
      (lane.child_runs ??= []).push(child_run_id);
    }
    const child = runs.get(child_run_id);
    if (child === undefined) {
      links.set(child_run_id, { ...link, ...links.get(child_run_id) });
    } else {
      child.track.link(link);
      touched.add(child);
    }
  }
}

function stepKey({ task_id = "", step_id = "" }: { task_id?: string; step_id?: string }): string {
  return `${task_id} ${step_id}`;
}

interface KnownRun {
  readonly track: RunTrack;
  readonly lanes: Map<string, LaneTrack>;
  readonly requests: RequestTracks;
  /** Those that are not over. */
  readonly open: Set<LaneTrack>;
}

function bySeq(a: { seq: number }, b: { seq: number }): number {
  return a.seq - b.seq;
}
