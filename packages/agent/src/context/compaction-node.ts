// What a compaction leaves behind, as a node (CTX-2): a summary, what a summary must not lose, and
// from where on the conversation is still read as it was.

import type { ConversationNode } from "@soong/core";
import { asJson, omitUndefined } from "@soong/schema";
import type { NodePlace } from "./message-node.ts";

/** Taken from the record itself, never left to a summary. */
export interface Continuation {
  /** What the user asked and no answer has ended yet. */
  readonly requests: readonly string[];
  /** The last failure of each tool that has not succeeded since. */
  readonly incidents: readonly Incident[];
  readonly loaded_tools: readonly string[];
  readonly artifacts: readonly string[];
  /** Links that results gave as their sources. */
  readonly evidence: readonly string[];
  /** Agents that were started, and how each ended: more of them can be asked for by these ids. */
  readonly agents: readonly string[];
  /** Names of skills whose text is gone with what was summarised: they can be loaded again. */
  readonly skills: readonly string[];
}

export interface Incident {
  readonly tool: string;
  readonly message: string;
}

export interface Compaction {
  /** The first node that is still read as it was; absent where none is. */
  readonly kept_from?: string;
  readonly continuation: Continuation;
}

export const EMPTY_CONTINUATION: Continuation = {
  requests: [],
  incidents: [],
  loaded_tools: [],
  artifacts: [],
  evidence: [],
  agents: [],
  skills: [],
};

export function compactionNode(
  { parent_id, ...place }: NodePlace,
  summary: string,
  { kept_from, continuation }: Compaction,
): ConversationNode {
  return {
    ...place,
    ...omitUndefined({ parent_id }),
    kind: "compaction",
    content: [
      { type: "text", text: `Summary of the conversation up to here:\n\n${summary}` },
      ...renderContinuation(continuation).map((text) => ({ type: "text" as const, text })),
    ],
    data: {
      ...omitUndefined({ kept_from }),
      continuation: asJson(structuredClone(continuation)),
    },
  };
}

/** Undefined for any other node; damaged fields read as empty. */
export function readCompaction(node: ConversationNode): Compaction | undefined {
  if (node.kind !== "compaction") return undefined;
  const { kept_from, continuation } = node.data ?? {};
  const given = (continuation ?? {}) as Partial<Record<keyof Continuation, unknown>>;
  return {
    ...(typeof kept_from === "string" ? { kept_from } : {}),
    continuation: {
      requests: readTexts(given.requests),
      incidents: readIncidents(given.incidents),
      loaded_tools: readTexts(given.loaded_tools),
      artifacts: readTexts(given.artifacts),
      evidence: readTexts(given.evidence),
      agents: readTexts(given.agents),
      skills: readTexts(given.skills),
    },
  };
}

/** What the last compaction says was found and loaded: a resumed conversation begins with it (CTX-2). */
export function readLoadedTools(path: readonly ConversationNode[]): readonly string[] {
  const last = path.findLast(({ kind }) => kind === "compaction");
  return last === undefined ? [] : (readCompaction(last)?.continuation.loaded_tools ?? []);
}

function renderContinuation(continuation: Continuation): string[] {
  const { requests, incidents: failed, loaded_tools, artifacts, evidence } = continuation;
  const sections: [string, readonly string[]][] = [
    ["Asked and not answered yet, word for word:", requests],
    ["Failed, and not succeeded since:", failed.map(({ tool, message }) => `${tool}: ${message}`)],
    ["Tools that were found and loaded:", loaded_tools],
    ["Artifacts that can still be read:", artifacts],
    ["Sources:", evidence],
    ["Agents that were started:", continuation.agents],
    ["Skills that were loaded; load them again where their text is needed:", continuation.skills],
  ];
  return sections.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [[title, ...lines.map((line) => `- ${line}`)].join("\n")],
  );
}

function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function readIncidents(value: unknown): Incident[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const { tool, message } = (item ?? {}) as Partial<Record<keyof Incident, unknown>>;
    return typeof tool === "string" && typeof message === "string" ? [{ tool, message }] : [];
  });
}
