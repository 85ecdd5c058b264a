// What is known of one call, and of the tools a run sees.

import { isTerminalFact, type ConversationNode, type Fact } from "@soong/core";
import { callStory, definitionsRef, searchSurface, surfaceView } from "../timeline/index.ts";
import type { Lane } from "../wire/index.ts";
import type { HandlerParts, Handlers } from "./handler.ts";
import { resultNode } from "./find-ancestor-node.ts";
import { InspectorError } from "./ports.ts";
import type { SessionIndex } from "./session-index.ts";

const MOST_REVISION = 1_000_000;

type Own =
  | "GET /api/sessions/:session_id/calls/:tool_call_id"
  | "GET /api/sessions/:session_id/runs/:run_id/surface"
  | "GET /api/sessions/:session_id/runs/:run_id/search";

export function runHandlers({ indexes }: HandlerParts): Pick<Handlers, Own> {
  return {
    "GET /api/sessions/:session_id/calls/:tool_call_id": {
      query: ["run_id"],
      async handle({ parts: { session_id, tool_call_id }, query, signal }) {
        const index = await indexes.of(session_id);
        await index.readAll(signal);
        const run_id = query.text("run_id");
        const lane = index.timeline.lane(tool_call_id, run_id);
        if (lane === undefined) {
          throw new InspectorError("not_found", "This session has no such call.");
        }
        const { seqs, left_out } = index.calls.seqsOf(lane);
        const facts = await index.factsAt(seqs);
        const node = await findResultNode(index, lane, facts);
        const story = callStory({
          session_id,
          lane,
          facts,
          node,
          ...index.timeline.childrenOf(lane),
        });
        if (left_out === 0) return story;
        const note = `${left_out} facts in the middle of this call are omitted here; the journal has them.`;
        return { ...story, notes: [...story.notes, note] };
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/surface": {
      query: ["revision"],
      async handle({ parts: { session_id, run_id }, query, signal }) {
        const asked =
          query.text("revision") === undefined
            ? {}
            : { revision: query.whole("revision", { min: 0, max: MOST_REVISION }) };
        const index = await indexes.of(session_id);
        const facts = await surfaceFacts(index, run_id, signal);
        const definitions = await definitionsAt(index, facts, asked.revision);
        const view = surfaceView(facts, { run_id, ...asked, ...definitions });
        if (view !== undefined) return view;
        throw new InspectorError("not_found", "This run had no such surface.");
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/search": {
      query: ["q"],
      async handle({ parts: { session_id, run_id }, query, signal }) {
        const q = query.needed("q");
        const index = await indexes.of(session_id);
        const facts = await surfaceFacts(index, run_id, signal);
        return searchSurface(facts, q, await definitionsAt(index, facts));
      },
    },
  };
}

/** The terminal fact names the last node of the call. */
async function findResultNode(
  { reader }: SessionIndex,
  { tool_call_id, run_id }: Lane,
  facts: readonly Fact[],
): Promise<ConversationNode | undefined> {
  const ended = facts.filter(isTerminalFact).findLast((fact) => fact.run_id === run_id);
  const node_id: unknown = ended?.data?.node_id;
  return typeof node_id === "string" ? resultNode(reader, node_id, tool_call_id) : undefined;
}

async function surfaceFacts(
  index: SessionIndex,
  run_id: string,
  signal: AbortSignal,
): Promise<Fact[]> {
  await index.readAll(signal);
  if (index.timeline.run(run_id) === undefined) {
    throw new InspectorError("not_found", "This session has no such run.");
  }
  return index.factsAt(index.seqsOfSurface(run_id));
}

/** Without them the surface is described by its facts alone. */
async function definitionsAt(
  index: SessionIndex,
  facts: readonly Fact[],
  revision?: number,
): Promise<{ definitions?: unknown }> {
  const artifact_id = definitionsRef(facts, revision);
  if (artifact_id === undefined) return {};
  return { definitions: await index.readDefinitions(artifact_id) };
}
