// One session as far as it was read: its timeline, and where its facts are. Reads on from where it stopped, a page at a
// time, and lets others work between two pages (EVENT-4).

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Fact } from "@soong/core";
import type { SessionReader, SessionRecord } from "@soong/store";
import { createTimeline, type Timeline } from "../timeline/index.ts";
import { createCallFacts, type CallFacts } from "./call-facts.ts";
import { promptOf } from "./find-ancestor-node.ts";
import { createRecent } from "./recent.ts";

export interface SessionIndex {
  /** Of this reading: versions of another one mean nothing here. */
  readonly id: number;
  readonly reader: SessionReader;
  readonly timeline: Timeline;
  /** As of the last look. */
  record(): SessionRecord;
  readSeq(): number;
  /** Looks what was added, and reads on for a moment. Several who ask at once share one look. */
  look(): Promise<void>;
  /** Reads all there was when it was asked. */
  readAll(signal: AbortSignal): Promise<void>;
  readonly calls: Pick<CallFacts, "seqsOf">;
  /** What a run's tools are defined as; undefined where the artifact is not there, or is not what was written. */
  readDefinitions(artifact_id: string): Promise<unknown>;
  /** In order: the facts that say which tools a run sees. */
  seqsOfSurface(run_id: string): readonly number[];
  factsAt(seqs: readonly number[]): Promise<Fact[]>;
}

/** A fact may have many kilobytes, and a page is read at one go. */
const PAGE = 500;
/** How long a look reads on before it says what it knows. */
const LOOK_MS = 100;

const MOST_DEFINITIONS = 4;
const MOST_DEFINITIONS_BYTES = 16 * 1024 * 1024;

let made = 0;

export async function createSessionIndex(reader: SessionReader): Promise<SessionIndex> {
  const timeline = createTimeline();
  const calls = createCallFacts();
  const surfaces = new Map<string, number[]>();
  // A page that searches them asks with every letter.
  const definitions = createRecent<Promise<unknown>>(MOST_DEFINITIONS);
  /** Runs whose prompt has not come yet. */
  const untitled = new Set<string>();
  let record = await reader.record();
  let readSeq = 0;
  let looking: Promise<void> | undefined;
  made += 1;

  return {
    id: made,
    reader,
    timeline,
    record: () => record,
    readSeq: () => readSeq,
    look,
    async readAll(signal) {
      // One that is under way may have begun before it was asked.
      await looking;
      await look();
      const wanted = record.last_seq;
      let isMoving = true;
      while (isMoving && !hasRead(wanted)) {
        isMoving = await readFurther();
        signal.throwIfAborted();
      }
    },
    calls,
    readDefinitions: (artifact_id) => definitions(artifact_id, () => readJson(reader, artifact_id)),
    seqsOfSurface: (run_id) => surfaces.get(run_id) ?? [],
    async factsAt(seqs) {
      const facts: Fact[] = [];
      for (const { after, count } of stretches(seqs)) {
        facts.push(...(await reader.facts({ after, limit: count })));
        if (facts.length % PAGE < count) await nextTurn();
      }
      return facts;
    },
  };

  function hasRead(seq: number): boolean {
    return readSeq >= seq;
  }

  async function readFurther(): Promise<boolean> {
    const before = readSeq;
    await look();
    return readSeq > before;
  }

  function look(): Promise<void> {
    looking ??= readOn().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function readOn(): Promise<void> {
    record = await reader.record();
    const until = performance.now() + LOOK_MS;
    while (readSeq < record.last_seq) {
      const facts = await reader.facts({ after: readSeq, limit: PAGE });
      const last = facts.at(-1);
      // Facts that were there and are gone: someone has been at the database, and `verify` says so.
      if (last === undefined) {
        readSeq = record.last_seq;
        return;
      }
      timeline.take(facts);
      for (const fact of facts) note(fact);
      readSeq = last.seq;
      await entitleRuns();
      await nextTurn();
      if (performance.now() >= until) return;
    }
  }

  async function entitleRuns(): Promise<void> {
    for (const run_id of untitled) {
      const node_id = timeline.promptNodeOf(run_id);
      if (timeline.run(run_id)?.title === undefined && node_id === undefined) continue;
      untitled.delete(run_id);
      if (node_id !== undefined) timeline.entitle(run_id, await promptOf(reader, node_id, run_id));
    }
  }

  function note(fact: Fact): void {
    const { seq, type, run_id = "" } = fact;
    calls.take(fact);
    if (type === "run.queued" || type === "run.started") untitled.add(run_id);
    if (type === "run.started" || type === "tool.catalog.resolved") push(surfaces, run_id, seq);
  }
}

function push(lists: Map<string, number[]>, key: string, seq: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [seq]);
  else list.push(seq);
}

/** Seqs that follow each other are read together. */
function stretches(seqs: readonly number[]): { after: number; count: number }[] {
  const found: { after: number; count: number }[] = [];
  for (const seq of seqs) {
    const last = found.at(-1);
    if (last !== undefined && last.after + last.count + 1 === seq && last.count < PAGE) {
      last.count += 1;
    } else {
      found.push({ after: seq - 1, count: 1 });
    }
  }
  return found;
}

async function readJson(reader: SessionReader, artifact_id: string): Promise<unknown> {
  try {
    const range = { offset: 0, length: MOST_DEFINITIONS_BYTES };
    const bytes = await reader.readArtifact(artifact_id, range);
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}
