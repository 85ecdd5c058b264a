// What a compaction takes away and what it may never lose (CTX-2). Pure: the summary itself is the model's.

import type { ConversationNode } from "@soong/core";
import { isMediaBlock } from "@soong/core/internal";
import {
  EMPTY_CONTINUATION,
  readCompaction,
  type Continuation,
  cutMiddle,
  messageText,
} from "./nodes.ts";
import { estimateUnitTokens } from "./context-book.ts";
import type { ContextUnit } from "./messages.ts";

export interface CompactionPlan {
  /** Oldest first; what the summary is of. */
  readonly affected: readonly ContextUnit[];
  readonly kept: readonly ContextUnit[];
  readonly continuation: Continuation;
}

/** Of one request, word for word; longer ones are files in disguise. */
const MAX_REQUEST_CHARS = 20_000;
const MAX_INCIDENT_CHARS = 500;

/** Undefined when there is nothing to take away: the newest unit always stays. */
export function planCompaction(
  units: readonly ContextUnit[],
  keepTokens: number,
  loadedTools: readonly string[],
): CompactionPlan | undefined {
  const sizes = units.map(estimateUnitTokens);
  let from = units.length - 1;
  let tokens = sizes[from] ?? 0;
  while (from > 0 && tokens + (sizes[from - 1] ?? 0) <= keepTokens) {
    from -= 1;
    tokens += sizes[from] ?? 0;
  }
  // A summary of a summary alone would only lose.
  const affected = units.slice(0, Math.max(0, from));
  if (affected.every(({ kind }) => kind === "summary")) return undefined;
  return {
    affected,
    kept: units.slice(from),
    continuation: buildContinuation(affected, units, loadedTools),
  };
}

/** The affected part as text: a request of its own, whose calls need no result. */
export function renderTranscript(affected: readonly ContextUnit[], maxTokens: number): string {
  const whole = affected.flatMap((unit) => renderUnit(unit, Number.POSITIVE_INFINITY)).join("\n\n");
  const maxChars = maxTokens * 4;
  if (whole.length <= maxChars) return whole;
  // Results first: most of the length is in them, and least of the course of things.
  const perBlock = Math.max(200, Math.floor(maxChars / (affected.length * 4)));
  return cutMiddle(affected.flatMap((unit) => renderUnit(unit, perBlock)).join("\n\n"), maxChars);
}

function renderUnit(unit: ContextUnit, maxChars: number): string[] {
  if (unit.kind !== "answer") {
    const who = unit.kind === "user" ? "User" : "Earlier summary";
    const text = messageText(unit.nodes.flatMap(({ content }) => content));
    return [`${who}: ${unit.kind === "user" ? cutMiddle(text, maxChars) : text}`];
  }
  const { text, calls } = unit.answer;
  return [
    ...(text === "" ? [] : [`Assistant: ${cutMiddle(text, maxChars)}`]),
    ...calls.flatMap(({ name, arguments: sent }, i) => {
      const result = unit.results[i];
      const outcome = result?.is_error === true ? "failed" : "answered";
      const said = result === undefined ? "nothing" : renderBlocks(result);
      return [
        `Call ${name}: ${cutMiddle(sent, maxChars)}`,
        `${name} ${outcome}: ${cutMiddle(said, maxChars)}`,
      ];
    }),
  ];
}

function renderBlocks({ content }: ConversationNode): string {
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      if (!isMediaBlock(block)) return JSON.stringify(block);
      return block.type === "resource" ? `[resource ${block.uri}]` : `[an ${block.type}]`;
    })
    .join("\n");
}

function buildContinuation(
  affected: readonly ContextUnit[],
  units: readonly ContextUnit[],
  loadedTools: readonly string[],
): Continuation {
  const nodes = affected.flatMap((unit) => unit.nodes);
  const blocks = nodes.flatMap(({ content }) => content);
  const before = nodes
    .map((node) => readCompaction(node)?.continuation)
    .reduce<Continuation>((sum, one) => ({ ...sum, ...one }), EMPTY_CONTINUATION);
  // An answer without calls ends what was asked before it, unless it broke off.
  const answered = affected.findLastIndex(isFinalAnswer);
  const asked = affected.slice(answered + 1).flatMap(renderRequest);
  const artifacts = blocks.flatMap((block) =>
    block.type === "artifact_ref" ? [block.artifact_id] : [],
  );
  const evidence = blocks.flatMap((block) =>
    block.type === "resource" || block.type === "resource_link" ? [block.uri] : [],
  );
  return {
    requests: unique(answered === -1 ? before.requests : [], asked),
    incidents: findOpenIncidents(before, affected, units),
    loaded_tools: unique(before.loaded_tools, loadedTools),
    artifacts: unique(before.artifacts, artifacts),
    evidence: unique(before.evidence, evidence),
    agents: unique(before.agents, nodes.flatMap(describeChildResult)),
    skills: unique(before.skills, nodes.flatMap(readSkillName)),
  };
}

function unique(...texts: readonly (readonly string[])[]): string[] {
  return [...new Set(texts.flat())];
}

function readSkillName({ kind, data = {} }: ConversationNode): string[] {
  const name = kind === "skill_context" ? data["skill"] : undefined;
  return typeof name === "string" ? [name] : [];
}

function describeChildResult({ kind, data = {} }: ConversationNode): string[] {
  if (kind !== "child_result") return [];
  const words = [data["agent_definition_id"], data["agent_id"], data["run_id"], data["status"]];
  const [definition, agent, run, status] = words.map((word) =>
    typeof word === "string" ? word : "?",
  );
  return [`${definition} (${agent}, run ${run}): ${status}`];
}

function isFinalAnswer(unit: ContextUnit): boolean {
  if (unit.kind !== "answer") return false;
  const { calls, text, unfinished } = unit.answer;
  return calls.length === 0 && text !== "" && unfinished !== true;
}

function renderRequest(unit: ContextUnit): string[] {
  if (unit.kind !== "user") return [];
  const asked = unit.nodes.flatMap((node) => (node.kind === "message" ? node.content : []));
  const text = cutMiddle(messageText(asked), MAX_REQUEST_CHARS);
  return text === "" ? [] : [text];
}

function findOpenIncidents(
  before: Continuation,
  affected: readonly ContextUnit[],
  units: readonly ContextUnit[],
): Continuation["incidents"] {
  const open = new Map(before.incidents.map(({ tool, message }) => [tool, message]));
  const gone = new Set(affected);
  for (const unit of units) {
    if (unit.kind !== "answer") continue;
    for (const [i, { name }] of unit.answer.calls.entries()) {
      const result = unit.results[i];
      if (result === undefined) continue;
      if (result.is_error !== true) open.delete(name);
      else if (gone.has(unit)) open.set(name, cutMiddle(renderBlocks(result), MAX_INCIDENT_CHARS));
    }
  }
  return [...open].map(([tool, message]) => ({ tool, message }));
}
