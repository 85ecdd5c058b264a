// The fact that precedes each model request (CTX-1): what the request holds, where that came from, by what policy
// calls will be judged, what was omitted and what had no source. Every list is there, empty or not.

import type { ContentBlock, ConversationNode, ModelTools, NodeKind, Surface } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import {
  TOKEN_ESTIMATE,
  type ContextPlan,
  type ContextUnit,
  type InstructionBlocks,
} from "../context/index.ts";
import { recordFact, type Running } from "./running.ts";
import type { SystemText } from "./system-texts.ts";

export interface RequestContents {
  readonly system: readonly SystemText[];
  /** The current state; empty where there is nothing to show. */
  readonly board: string;
  readonly instructions: InstructionBlocks;
  readonly plan: ContextPlan;
  /** Results whose call is not on the path. */
  readonly orphans: readonly ConversationNode[];
  readonly estimatedTokens: number;
}

export function recordContext(running: Running, tools: ModelTools, held: RequestContents): void {
  const { run } = running;
  const { plan, instructions } = held;
  const used = plan.kept.flatMap(({ nodes }) => nodes);
  // With what the node says it is: which skill, which memories, by their hashes.
  const nodesOf = (kind: NodeKind): object[] =>
    used.flatMap((node) => (node.kind === kind ? [{ node_id: node.node_id, ...node.data }] : []));
  const refs = {
    memory_refs: nodesOf("memory_context"),
    knowledge_refs: [],
    source_refs: blockRefs(used, sourceRef),
    instruction_refs: instructions.blocks.map(instructionRef),
    file_refs: fileRefs(used),
    workspace_refs: workspaceRefs(running),
    browser_refs: [],
    session_refs: [sessionRef(running)],
    skill_refs: nodesOf("skill_context"),
    agent_refs: used.flatMap(agentRef),
  };
  recordFact(running, "context.resolved", {
    request: running.requests + 1,
    system: held.system.map(({ from, text }, i) => ({
      ref: `system:${i}`,
      from,
      chars: text.length,
    })),
    ...refs,
    board: { chars: held.board.length },
    history: describeRange(plan.kept),
    policy: policyFacts(running),
    tools: {
      loaded: tools.tools.length,
      deferred: tools.deferred.length + tools.unlisted.count,
      excluded: run.surface.excluded.length,
    },
    omissions: listOmissions(held),
    missing: listMissing(running, refs),
    tokens: { estimated: held.estimatedTokens, ...TOKEN_ESTIMATE },
  });
}

function instructionRef({
  node,
  origin,
  path,
  sha256,
  bytes,
  cut,
}: InstructionBlocks["blocks"][0]) {
  const { node_id, tool_call_id } = node;
  const read = tool_call_id === undefined ? {} : { tool_call_id };
  return { node_id, origin, ...omitUndefined({ path }), sha256, bytes, cut, ...read };
}

function sessionRef({ run }: Running): object {
  const { role: _role, ...ids } = run.identity;
  return ids;
}

/** Whose result entered the conversation there; its own run has the rest. */
function agentRef({ kind, node_id, data }: ConversationNode): object[] {
  if (kind !== "child_result") return [];
  const { agent_id, run_id, status } = data ?? {};
  return [{ node_id, agent_id, run_id, status }];
}

function workspaceRefs({ run }: Running): object[] {
  const { roots } = run.policy.input;
  if (roots === undefined) return [];
  return [
    { kind: "project", path: roots.project },
    ...roots.write.map((path) => ({ kind: "write_root", path })),
  ];
}

/** The whole policy is in `run.started`; this is what a reader of one request wants to know of it. */
function policyFacts({ run }: Running): object {
  const { policy, surface, identity } = run;
  return {
    role: identity.role,
    mode: surface.mode,
    surface: surface.revision,
    rules: policy.rules.length,
    destructive: policy.destructive,
    network: policy.network.mode,
    under_a_ceiling: policy.ceiling !== undefined,
  };
}

function listOmissions({ plan, orphans, instructions }: RequestContents): object[] {
  return [
    ...(plan.omitted.length === 0
      ? []
      : [{ reason: "does not fit", ...describeRange(plan.omitted) }]),
    ...orphans.map(({ node_id }) => ({ reason: "result without its call", node_id })),
    ...instructions.omitted.map(({ block, reason }) => ({ reason, ...instructionRef(block) })),
    ...instructions.blocks
      .filter(({ cut }) => cut)
      .map((block) => ({ reason: "the file is longer than its block", ...instructionRef(block) })),
  ];
}

/** What a request could have and this one has no source for. */
function listMissing(
  { limits, run, instructions }: Running,
  refs: Readonly<Record<`${string}_refs`, readonly object[]>>,
): object[] {
  return [
    ...(limits.context_tokens === undefined
      ? [{ what: "context_tokens", why: "no limit is configured; the provider's is not known" }]
      : []),
    ...(run.policy.input.roots === undefined
      ? [{ what: "workspace", why: "the run has no roots" }]
      : []),
    ...(refs["instruction_refs"]?.length === 0 && instructions.skipped.length === 0
      ? [{ what: "instructions", why: "there is no instruction file, and none was read" }]
      : []),
    ...instructions.skipped.map((skipped) => ({ what: "instructions", ...skipped })),
    ...["memory", "knowledge", "browser", "skill"].flatMap((what) =>
      refs[`${what}_refs`]?.length === 0 ? [{ what, why: explainMissing(what, run.surface) }] : [],
    ),
  ];
}

/** The tools that bring such things, where there are any. */
const BROUGHT_BY: ReadonlyMap<string, string> = new Map([
  ["memory", "internal.recall_memory"],
  ["skill", "internal.load_skill"],
]);

function explainMissing(what: string, { standing }: Pick<Surface, "standing">): string {
  const found = standing.get(BROUGHT_BY.get(what) ?? "");
  if (found === undefined) return "no source of it is connected";
  return found.state === "excluded" ? `excluded: ${found.detail}` : "none was asked for";
}

function describeRange(units: readonly ContextUnit[]): object {
  return {
    units: units.length,
    nodes: units.reduce((count, { nodes }) => count + nodes.length, 0),
    first_node_id: units[0]?.nodes[0]?.node_id,
    last_node_id: units.at(-1)?.nodes.at(-1)?.node_id,
  };
}

/** Each thing once, with the first node that has it. */
function blockRefs(
  nodes: readonly ConversationNode[],
  refOf: (block: ContentBlock) => object | undefined,
): object[] {
  const refs = new Map<string, object>();
  for (const { node_id, content } of nodes) {
    for (const block of content) {
      const ref = refOf(block);
      if (ref === undefined) continue;
      const key = JSON.stringify(ref);
      if (!refs.has(key)) refs.set(key, { ...ref, node_id });
    }
  }
  return [...refs.values()];
}

function sourceRef(block: ContentBlock): object | undefined {
  return block.type === "resource_link" && !isFile(block) ? { uri: block.uri } : undefined;
}

/** Files that were read by calls or came along with a prompt, and what was put aside; not what a result only names. */
function fileRefs(nodes: readonly ConversationNode[]): object[] {
  const refs = new Map<string, object>();
  for (const { node_id, kind, content, data } of nodes) {
    const { files_read } = (data ?? {}) as { files_read?: unknown };
    const isRead = kind === "tool_result" && Array.isArray(files_read);
    const read: unknown[] = isRead ? files_read : [];
    const blocks = content.map((block) => fileRef(block, kind));
    for (const ref of [...read.map((path) => ({ kind: "file", path })), ...blocks]) {
      const key = JSON.stringify(ref);
      if (ref !== undefined && !refs.has(key)) refs.set(key, { ...ref, node_id });
    }
  }
  return [...refs.values()];
}

function fileRef(block: ContentBlock, kind: NodeKind): object | undefined {
  if (block.type === "artifact_ref") return { kind: "artifact", artifact_id: block.artifact_id };
  const isAttached = kind === "message" && block.type === "resource_link" && isFile(block);
  return isAttached ? { kind: "file", uri: block.uri } : undefined;
}

function isFile({ uri }: { readonly uri: string }): boolean {
  return /^file:/i.test(uri);
}
