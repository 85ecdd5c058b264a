// One session as far as it was read: its timeline, and where its facts are. Reads on from where it stopped, a page at a
// time, and lets others work between two pages (EVENT-4).

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ConversationNode, Fact } from "@soong/core";
import type { SessionReader, SessionRecord } from "@soong/store";
import { createTimeline } from "../timeline/timeline.ts";
import type { FactNews } from "./fact-news.ts";
import { createRecent } from "./recent.ts";

export type SessionIndex = Awaited<ReturnType<typeof createSessionIndex>>;

/** A fact may have many kilobytes, and a page is read at one go. */
const PAGE = 500;
/** How long a look reads on before it says what it knows. */
const LOOK_MS = 100;

const MOST_DEFINITIONS = 4;
const MOST_DEFINITIONS_BYTES = 16 * 1024 * 1024;

let made = 0;

/** `news`: default: every look reads on. `recorded`: the same session with nothing hidden in it. */
export async function createSessionIndex(
  reader: SessionReader,
  news?: FactNews,
  recorded: SessionReader = reader,
) {
  const timeline = createTimeline();
  const calls = createCallFacts();
  const requests = createRequestFacts();
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
    /** Of this reading: versions of another one mean nothing here. */
    id: made,
    reader,
    /** To compare with what was recorded; nothing of it is shown as it is. */
    recorded,
    timeline,
    /** As of the last look. */
    record: (): SessionRecord => record,
    readSeq: (): number => readSeq,
    /** Looks what was added, if anything may have been, and reads on for a moment. Several who ask at once share one look. */
    async look(): Promise<void> {
      if (news?.isDue() === false && readSeq >= record.last_seq) return;
      await look();
    },
    /** Reads all there was when it was asked. */
    async readAll(signal: AbortSignal): Promise<void> {
      // One that is under way may have begun before it was asked.
      await looking;
      await look();
      const wanted = record.last_seq;
      for (let before = -1; before < readSeq;) {
        if (readSeq >= wanted) return;
        before = readSeq;
        await look();
        signal.throwIfAborted();
      }
    },
    close: (): void => news?.close(),
    calls,
    requests,
    /** What a run's tools are defined as; undefined where the artifact is not there, or is not what was written. */
    readDefinitions: (artifact_id: string): Promise<unknown> =>
      definitions(artifact_id, () => readJson(reader, artifact_id)),
    /** In order: the facts that say which tools a run sees. */
    seqsOfSurface: (run_id: string): readonly number[] => surfaces.get(run_id) ?? [],
    async factsAt(seqs: readonly number[]): Promise<Fact[]> {
      const facts: Fact[] = [];
      for (const { after, count } of stretches(seqs)) {
        facts.push(...(await reader.facts({ after, limit: count })));
        if (facts.length % PAGE < count) await nextTurn();
      }
      return facts;
    },
  };

  function look(): Promise<void> {
    looking ??= readOn().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function readOn(): Promise<void> {
    // Before it is read: what comes meanwhile is news again.
    news?.looked();
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
      if (node_id !== undefined)
        timeline.entitle(run_id, await readPrompt(reader, node_id, run_id));
    }
  }

  function note(fact: Fact): void {
    const { seq, type, run_id = "" } = fact;
    calls.take(fact);
    requests.take(fact);
    if (type === "run.queued" || type === "run.started") untitled.add(run_id);
    if (type === "run.started" || type === "tool.catalog.resolved") {
      getOrAdd(surfaces, run_id, () => []).push(seq);
    }
  }
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
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

interface Seqs {
  readonly facts: number[];
  readonly progress: number[];
}

const MOST_FACTS = 2000;
const MOST_PROGRESS = 500;

/**
 * Where the facts of each call are. A call may report its progress for hours, so that is counted apart: its beginning and
 * its end are read whole, its progress as far as it is shown.
 */
function createCallFacts() {
  /** By id, then by run: an id is unique within a run. Facts of the session have none. */
  const calls = new Map<string, Map<string, Seqs>>();

  return {
    take({ seq, type, run_id = "", tool_call_id }: Fact): void {
      if (tool_call_id === undefined) return;
      const runs = getOrAdd(calls, tool_call_id, () => new Map<string, Seqs>());
      const seqs = getOrAdd(runs, run_id, () => ({ facts: [], progress: [] }));
      (type === "tool.progress" ? seqs.progress : seqs.facts).push(seq);
    },
    /** In order; `left_out` are those in between that need not be read. */
    seqsOf({ tool_call_id, run_id }: { readonly tool_call_id: string; readonly run_id: string }) {
      const runs = calls.get(tool_call_id);
      const found = [runs?.get(run_id), run_id === "" ? undefined : runs?.get("")];
      const facts = found.flatMap((one) => one?.facts ?? []);
      const progress = found.flatMap((one) => one?.progress ?? []);
      const half = MOST_FACTS / 2;
      const read =
        facts.length <= MOST_FACTS ? facts : [...facts.slice(0, half), ...facts.slice(-half)];
      const last = progress.slice(-MOST_PROGRESS);
      return {
        seqs: [...read, ...last].toSorted((a, b) => a - b),
        left_out: facts.length + progress.length - read.length - last.length,
      };
    },
  };
}

/** Where the facts of each model request are, and those of what it held. */
function createRequestFacts() {
  const runs = new Map<string, { ends: Map<number, number[]>; contexts: [number, number][] }>();

  return {
    take({ seq, type, run_id = "", data }: Fact): void {
      const isContext = type === "context.resolved";
      if (!isContext && !type.startsWith("model.")) return;
      if (type === "model.delta") return;
      const request = (data as { request?: unknown } | undefined)?.request;
      if (typeof request !== "number") return;
      const run = getOrAdd(runs, run_id, () => ({ ends: new Map(), contexts: [] }));
      if (isContext) run.contexts.push([request, seq]);
      else run.ends.set(request, [...(run.ends.get(request) ?? []), seq]);
    },
    /** Of its attempts, in order. */
    seqsOf: (run_id: string, request: number): readonly number[] =>
      runs.get(run_id)?.ends.get(request) ?? [],
    /** Up to that of the request: what it held is said in the last of them, and in those it adds to. */
    contextsOf: (run_id: string, request: number): readonly number[] =>
      (runs.get(run_id)?.contexts ?? []).flatMap(([of, seq]) => (of <= request ? [seq] : [])),
  };
}

type Nodes = Pick<SessionReader, "node">;

/** Contexts and hooks may have come along; not more than this. */
const HIGHEST = 64;

/** What a run was asked: the first, where more was sent before it began. Empty where no message is found. */
export async function readPrompt(nodes: Nodes, node_id: string, run_id: string): Promise<string> {
  let first: ConversationNode | undefined;
  await findAncestor(nodes, node_id, (one) => {
    if (one.run_id !== run_id) return first !== undefined;
    if (one.kind === "message") first = one;
    return false;
  });
  return nodeText(first);
}

export function nodeText(node: ConversationNode | undefined): string {
  const texts = node?.content.map((block) => (block.type === "text" ? block.text : "")) ?? [];
  return texts.join("\n");
}

/** The nearest node of the conversation, from the one that a fact names upwards. */
export async function findAncestor(
  nodes: Nodes,
  node_id: string,
  isWanted: (node: ConversationNode) => boolean,
): Promise<ConversationNode | undefined> {
  let at: string | undefined = node_id;
  for (let height = 0; height < HIGHEST && at !== undefined; height += 1) {
    const node: ConversationNode | undefined = await nodes.node(at);
    if (node === undefined || isWanted(node)) return node;
    at = node.parent_id;
  }
  return undefined;
}
