// What is kept of a session, by pages: its facts, its conversation, one call, the tools a run sees,
// its artifacts.

import { isTerminalFact, type ConversationNode, type Fact, type FactTexts } from "@soong/core";
import { callStory } from "../timeline/call-story.ts";
import { findDefinitions } from "../timeline/definitions.ts";
import { factLine } from "../timeline/fact-line.ts";
import { searchSurface } from "../timeline/search-surface.ts";
import { surfaceView } from "../timeline/surface-view.ts";
import type { Lane } from "../wire/session-records.ts";
import { artifactBytes, createLineCounter } from "./artifact-bytes.ts";
import { readArtifactPage } from "./artifact-page.ts";
import type { HomeStore } from "./home-store.ts";
import { missing } from "./ports.ts";
import { wholeNumber, type Handlers } from "./router.ts";
import type { Redact } from "./safe-cut.ts";
import { compilePattern, searchArtifact } from "./search-artifact.ts";
import { findAncestor, type SessionIndex } from "./session-index.ts";
import type { SessionIndexes } from "./session-indexes.ts";

const MOST_FACTS = 1000;
const MOST_SEQ = 2 ** 32 - 1;
const MOST_REVISION = 1_000_000;
const MOST_PAGE_BYTES = 256 * 1024;
const PAGE_BYTES = 64 * 1024;
const MOST_SEARCH_MS = 5000;

export interface SessionHandlerParts {
  readonly store: HomeStore;
  readonly indexes: SessionIndexes;
  readonly factTexts: Partial<FactTexts> | undefined;
  readonly redact: Redact;
}

/** Answered in conversation-handlers.ts. */
export type ConversationRoute =
  | "GET /api/sessions/:session_id/conversation"
  | "GET /api/sessions/:session_id/nodes/:node_id"
  | "GET /api/sessions/:session_id/runs"
  | "GET /api/sessions/:session_id/runs/:run_id/record";

type SessionHandlers = Omit<
  Pick<Handlers, Extract<keyof Handlers, `GET /api/sessions/${string}`>>,
  ConversationRoute | `GET /api/sessions/:session_id/runs/:run_id/requests${string}`
>;

export function sessionHandlers(parts: SessionHandlerParts): SessionHandlers {
  const { indexes, factTexts, redact } = parts;
  const lines = createLineCounter();
  const row = (fact: Fact) => factLine(fact, factTexts);

  return {
    "GET /api/sessions/:session_id/facts": {
      query: ["offset", "limit", "run_id"],
      async handle({ parts: { session_id }, query, signal }) {
        const offset = query.whole("offset", 0, MOST_SEQ);
        const limit = query.whole("limit", 1, MOST_FACTS);
        const run_id = query.text("run_id");
        const index = await indexes.of(session_id);
        if (run_id === undefined) {
          const { last_seq } = await index.reader.record();
          const facts = await index.reader.facts({ after: offset, limit });
          return { total: last_seq, offset, rows: facts.map(row) };
        }
        await readRun(index, run_id, signal);
        const { timeline } = index;
        const facts = await index.factsAt(timeline.seqsOf(run_id, offset, limit));
        return { total: timeline.countFacts(run_id), offset, rows: facts.map(row) };
      },
    },
    "GET /api/sessions/:session_id/facts/:seq": {
      async handle({ parts: { session_id, seq: text } }) {
        const seq = wholeNumber("The number of a fact", text, 1, MOST_SEQ);
        const { reader } = await indexes.of(session_id);
        // Says so when the session is gone.
        await reader.record();
        const [fact] = await reader.facts({ after: seq - 1, limit: 1 });
        if (fact?.seq === seq) return { fact };
        throw missing(`This session has no fact ${seq}.`);
      },
    },
    "GET /api/sessions/:session_id/calls/:tool_call_id": {
      query: ["run_id"],
      async handle({ parts: { session_id, tool_call_id }, query, signal }) {
        const index = await indexes.of(session_id);
        await index.readAll(signal);
        const lane = index.timeline.lane(tool_call_id, query.text("run_id"));
        if (lane === undefined) throw missing("This session has no such call.");
        const { seqs, left_out } = index.calls.seqsOf(lane);
        const facts = await index.factsAt(seqs);
        const node = await findResultNode(index, lane, facts);
        const children = index.timeline.childrenOf(lane);
        const story = callStory({ session_id, lane, facts, node, ...children });
        if (left_out === 0) return story;
        const note = `${left_out} facts in the middle of this call are omitted here; the journal has them.`;
        return { ...story, notes: [...story.notes, note] };
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/surface": {
      query: ["revision"],
      async handle({ parts: { session_id, run_id }, query, signal }) {
        const isAsked = query.text("revision") !== undefined;
        const revision = isAsked ? query.whole("revision", 0, MOST_REVISION) : undefined;
        const surface = await readSurface(session_id, run_id, signal, revision);
        const view = surfaceView(surface.facts, { run_id, revision, ...surface });
        if (view !== undefined) return view;
        throw missing("This run had no such surface.");
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/search": {
      query: ["q"],
      async handle({ parts: { session_id, run_id }, query, signal }) {
        const q = query.needed("q");
        const surface = await readSurface(session_id, run_id, signal);
        return searchSurface(surface.facts, q, surface);
      },
    },
    "GET /api/sessions/:session_id/artifacts": {
      query: ["tool_call_id"],
      async handle({ parts: { session_id }, query }) {
        const tool_call_id = query.text("tool_call_id");
        const { reader } = await indexes.of(session_id);
        await reader.record();
        const artifacts = await reader.artifacts();
        return {
          artifacts: artifacts.filter(
            (one) => tool_call_id === undefined || one.tool_call_id === tool_call_id,
          ),
        };
      },
    },
    "GET /api/sessions/:session_id/artifacts/:artifact_id": {
      query: ["offset", "length"],
      async handle({ parts: { session_id, artifact_id }, query, signal }) {
        const offset = query.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
        const length = query.whole("length", 1, MOST_PAGE_BYTES, PAGE_BYTES);
        const { reader } = await indexes.of(session_id);
        const artifact = await artifactBytes(reader, artifact_id);
        const page = await readArtifactPage(artifact, { offset, length }, redact);
        if (page.text === undefined) return page;
        return { ...page, line: await lines.lineAt(artifact, page.offset, signal) };
      },
    },
    "GET /api/sessions/:session_id/artifacts/:artifact_id/search": {
      query: ["q", "regex"],
      async handle({ parts: { session_id, artifact_id }, query, signal }) {
        const pattern = compilePattern(query.needed("q"), query.flag("regex"));
        const { reader } = await indexes.of(session_id);
        const artifact = await artifactBytes(reader, artifact_id);
        return searchArtifact(artifact, { pattern, redact, signal, mostMs: MOST_SEARCH_MS });
      },
    },
  };

  /** `definitions`: without them the surface is described by its facts alone. */
  async function readSurface(
    session_id: string,
    run_id: string,
    signal: AbortSignal,
    revision?: number,
  ) {
    const index = await indexes.of(session_id);
    await readRun(index, run_id, signal);
    const facts = await index.factsAt(index.seqsOfSurface(run_id));
    const artifact_id = findDefinitions(facts, revision);
    return { facts, definitions: artifact_id && (await index.readDefinitions(artifact_id)) };
  }
}

export async function readRun(
  index: SessionIndex,
  run_id: string,
  signal: AbortSignal,
): Promise<void> {
  await index.readAll(signal);
  if (index.timeline.run(run_id) !== undefined) return;
  throw missing("This session has no such run.");
}

/** The terminal fact names the last node of the call: what the model reads of it is that or above. */
async function findResultNode(
  { reader }: SessionIndex,
  { tool_call_id, run_id }: Lane,
  facts: readonly Fact[],
): Promise<ConversationNode | undefined> {
  const ended = facts.filter(isTerminalFact).findLast((fact) => fact.run_id === run_id);
  const node_id: unknown = ended?.data?.node_id;
  if (typeof node_id !== "string") return undefined;
  return findAncestor(
    reader,
    node_id,
    (one) => one.kind === "tool_result" && one.tool_call_id === tool_call_id,
  );
}
