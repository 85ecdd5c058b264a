// What the next request holds, and the fact that says so before it is made (CTX-1, CTX-3, CTX-4). Over the budget
// the conversation is compacted, and where that does not help, trimmed.

import type { ConversationNode, ModelTools, NodeKind } from "@soong/core";
import {
  addUser,
  messagesOf,
  planContext,
  readPath,
  textOf,
  TOKEN_ESTIMATE,
  tokensOfText,
  tokensOfTools,
  type ContextPlan,
  type ContextUnit,
  type ReadPath,
} from "../context/index.ts";
import type { Model, ModelMessage } from "../model/index.ts";
import { compactContext } from "./compact-context.ts";
import { record, type Running } from "./running.ts";

export interface ResolvedContext {
  readonly system: readonly string[];
  readonly estimatedTokens: number;
  messages(model: Model): ModelMessage[];
}

export async function resolveContext(
  running: Running,
  tools: ModelTools,
): Promise<ResolvedContext | "aborted"> {
  const { context_tokens: most } = running.limits;
  let resolved = plan(running, tools, most);
  if (resolved.plan.omitted.length > 0 && !running.compactionFailed) {
    const compacted = await compactContext(running, "budget");
    if (compacted === "aborted") return "aborted";
    // Once is enough: a summary before each request would cost more than what is trimmed.
    running.compactionFailed = compacted === "failed";
    resolved = plan(running, tools, most);
  }
  recordContext(running, tools, resolved);
  const { plan: chosen, system, estimatedTokens } = resolved;
  return {
    system,
    estimatedTokens,
    messages(model) {
      const messages: ModelMessage[] = [];
      if (chosen.note !== undefined) addUser(messages, [{ type: "text", text: chosen.note }]);
      for (const message of messagesOf(chosen.kept, model.id)) {
        if (message.role === "user") addUser(messages, message.content);
        else messages.push(message);
      }
      return messages;
    },
  };
}

interface Resolved {
  readonly read: ReadPath;
  readonly plan: ContextPlan;
  readonly system: readonly string[];
  readonly estimatedTokens: number;
}

function plan(running: Running, tools: ModelTools, most: number | undefined): Resolved {
  const read = readPath(running.path);
  const system = systemOf(running, tools, read.instructions);
  const fixed =
    system.reduce((sum, text) => sum + tokensOfText(text), 0) + tokensOfTools(tools.tools);
  const chosen = planContext(read.units, (most ?? Number.POSITIVE_INFINITY) - fixed);
  return { read, plan: chosen, system, estimatedTokens: fixed + chosen.tokens };
}

/** Our own text first, then what is deferred, what hooks say, and instructions of files below all rules of ours. */
function systemOf(
  { system, session, run }: Running,
  { deferred }: ModelTools,
  instructions: readonly ConversationNode[],
): string[] {
  const list = deferred.map(({ name, hint }) => (hint === "" ? name : `${name}: ${hint}`));
  return [
    ...system,
    ...(list.length === 0
      ? []
      : [
          `These tools can be found with the tool search before they are used:\n${list.join("\n")}`,
        ]),
    ...session.context,
    ...instructions.map(({ content }) => textOf(content)),
  ].map((text) => run.redactor.text(text));
}

function recordContext(running: Running, tools: ModelTools, resolved: Resolved): void {
  const { run, session, system } = running;
  const { read, plan: chosen, estimatedTokens } = resolved;
  const { roots } = run.policy.input;
  const used = chosen.kept.flatMap(({ nodes }) => nodes);
  const refs = (kind: NodeKind): string[] =>
    used.flatMap((node) => (node.kind === kind ? [node.node_id] : []));
  record(running, "context.resolved", {
    request: running.requests + 1,
    system: resolved.system.map((text, i) => ({ ref: `system:${i}`, chars: text.length })),
    session_refs: { static: system.length, hooks: session.context.length },
    instruction_refs: read.instructions.map(({ node_id }) => node_id),
    memory_refs: refs("memory_context"),
    skill_refs: refs("skill_context"),
    knowledge_refs: linksIn(used),
    file_refs: artifactsIn(used),
    workspace_refs: roots === undefined ? [] : [roots.project],
    browser_refs: [],
    history: rangeOf(chosen.kept),
    policy: { role: run.identity.role, mode: run.surface.mode, surface: run.surface.revision },
    tools: {
      loaded: tools.tools.length,
      deferred: tools.deferred.length,
      excluded: run.surface.excluded.length,
    },
    omissions: [
      ...(chosen.omitted.length === 0
        ? []
        : [{ reason: "does not fit", ...rangeOf(chosen.omitted) }]),
      ...read.orphans.map(({ node_id }) => ({ reason: "result without its call", node_id })),
    ],
    missing: missing(running, read),
    tokens: { estimated: estimatedTokens, ...TOKEN_ESTIMATE },
  });
}

/** What a request could have and this one has no source for. */
function missing({ limits, run }: Running, { instructions }: ReadPath): object[] {
  return [
    ...(limits.context_tokens === undefined
      ? [{ what: "context_tokens", why: "no limit is configured; the provider's is not known" }]
      : []),
    ...(run.policy.input.roots === undefined
      ? [{ what: "workspace", why: "the run has no roots" }]
      : []),
    ...(instructions.length === 0
      ? [{ what: "instructions", why: "no instruction file was read" }]
      : []),
    { what: "browser", why: "no browser is connected" },
  ];
}

function rangeOf(units: readonly ContextUnit[]): object {
  const nodes = units.flatMap((unit) => unit.nodes);
  return {
    units: units.length,
    nodes: nodes.length,
    first_node_id: nodes[0]?.node_id,
    last_node_id: nodes.at(-1)?.node_id,
  };
}

function linksIn(nodes: readonly ConversationNode[]): string[] {
  const links = nodes.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "resource_link" ? [block.uri] : [])),
  );
  return [...new Set(links)];
}

function artifactsIn(nodes: readonly ConversationNode[]): string[] {
  const ids = nodes.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "artifact_ref" ? [block.artifact_id] : [])),
  );
  return [...new Set(ids)];
}
