// The last third of PIPE-1: map result → post-hooks → and, in one entry, the result's nodes and the
// terminal fact (PIPE-3, RESULT-7, HOOK-6).

import { runHook, type HookOutcome } from "../hook/index.ts";
import {
  terminalFactType,
  type ArtifactRecord,
  type ConversationNode,
  type Fact,
} from "../journal/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import {
  boundResult,
  fitsInline,
  mapResult,
  viewsOf,
  type KeepOverflow,
  type MappingRules,
} from "../result/index.ts";
import { isPlainRecord } from "@soong/schema";
import {
  isPromise,
  messageOf,
  toolError,
  type ContentBlock,
  type ContextNode,
  type ResultMetadata,
  type ToolError,
  type ToolResult,
  type ToolStatus,
} from "../tool/index.ts";
import type { Call, Ending, Finished } from "./call.ts";
import { freezeContext } from "./context.ts";
import {
  hookIdentity,
  hookPorts,
  hookSubject,
  matchedPath,
  seenInput,
  type HookHost,
} from "./hook-view.ts";
import type { AddedNode, CallHost, RunArtifacts, RunBase, RunState } from "./host.ts";
import { validateOutput } from "./validate-output.ts";

type FinishHost = HookHost & RunArtifacts & RunState & Pick<CallHost, "mappingRules">;

export async function finishCall(host: FinishHost, call: Call, given: Ending): Promise<Finished> {
  const end =
    given.executed && call.tool?.output !== undefined
      ? await validateOutput(host, call, call.tool.output, given)
      : given;
  const { outcome, status } = end;
  const rules = end.executed ? mappingRules(host, call.tool) : kernelRules(host, call.tool);
  let result = mapResult(
    {
      tool_call_id: call.tool_call_id,
      tool_name: call.tool_name,
      metadata: metadataOf(host, call, status),
    },
    status,
    outcome,
    rules,
  );
  if (!fitsInline(result, outcome, rules.limit)) {
    const keep: KeepOverflow = (text, about) => keepOverflow(host, call, text, about);
    result = await boundResult(result, outcome, rules.limit, keep);
  }
  const accepted = call.tool?.source.trusted === false ? withoutAdditions(host, call, end) : end;
  modifyContext(host, call, accepted);
  const nodes = pendingNodes(host, call, accepted);
  const happened = end.executed && !call.effects.repeatable;
  const finished: Finished = { result, nodes, happened, replaced: undefined };
  const event = result.is_error ? "PostToolUseFailure" : "PostToolUse";
  const isObserved = end.executed || end.unplannable === true;
  return isObserved && host.hooks.has(event) ? runPostToolHooks(host, call, finished) : finished;
}

type CommitHost = RunBase & Pick<CallHost, "admitContext">;

/** Terminal fact and nodes: together, or neither. Answers with the nodes. */
export function commitFinished(
  host: CommitHost,
  call: Call,
  finished: Finished,
): readonly ConversationNode[] {
  const { result } = finished;
  const { recorder } = host;
  const before = factsBeforeTerminal(host, call, result);
  const rendered =
    call.tool?.definition.render === undefined
      ? undefined
      : host.redactor.text(viewsOf(result, call.tool.definition).person);
  const level = result.is_error ? "warn" : "info";
  const terminal = {
    result,
    node_id: call.nodeId,
    decision_ref: call.decisionRef,
    person_view: rendered,
    ended: finished.ended,
    cancelled_by: result.error?.code === "sibling_failed" ? call.cancellation?.cause : undefined,
  };
  const fact = recorder.draft(terminalFactType(result.status), terminal, call, level);
  const nodes = nodesOf(host, call, finished);
  recorder.commit(before === undefined ? [fact] : [...before, fact], nodes);
  return nodes;
}

function factsBeforeTerminal(
  host: RunBase,
  call: Call,
  { metadata }: ToolResult,
): Fact[] | undefined {
  const { truncation, redactions: replacements } = metadata;
  if (truncation === undefined && replacements === undefined) return undefined;
  const { recorder } = host;
  return [
    ...(truncation === undefined ? [] : [recorder.draft("output.truncated", truncation, call)]),
    ...(replacements === undefined
      ? []
      : [recorder.draft("output.redacted", { replacements }, call)]),
  ];
}

/** The result of a call whose attempt was abandoned after it had ended (SCHED-6). */
export function discardFinished(finished: Finished, message: string): Finished {
  const { data: _data, ...result } = finished.result;
  const error = toolError({
    code: "discarded",
    error_class: "streaming_fallback_discarded",
    message,
    recovery: "none",
  });
  return {
    ...finished,
    nodes: [],
    replaced: undefined,
    happened: false,
    result: {
      ...result,
      status: "discarded",
      is_error: true,
      content: [{ type: "text", text: message }],
      summary: message,
      error,
      metadata: { ...result.metadata, discarded_status: result.status },
    },
  };
}

/** The same for every call of a tool in a run. */
function mappingRules(host: FinishHost, tool: RegisteredTool | undefined): MappingRules {
  const known = tool === undefined ? undefined : host.mappingRules.get(tool);
  if (known !== undefined) return known;
  const { definition, source, output } = tool ?? {};
  const trusted = source?.trusted === true;
  const rules: MappingRules = {
    redactor: host.redactor,
    redaction: (trusted ? definition?.redaction : undefined) ?? "full",
    sensitive: output?.sensitive ?? [],
    limit:
      trusted && definition?.bounds_itself === true
        ? { maxBytes: Number.POSITIVE_INFINITY, maxChars: Number.POSITIVE_INFINITY }
        : {
            maxBytes: Math.min(host.config.tools.inline_limit_bytes, host.inlineLimitBytes),
            maxChars: definition?.max_result_chars ?? Number.POSITIVE_INFINITY,
          },
  };
  if (tool !== undefined) host.mappingRules.set(tool, rules);
  return rules;
}

/** What the tool never got to see is the kernel's to say, whatever bound the tool has of its own (RESULT-8). */
function kernelRules(host: FinishHost, tool: RegisteredTool | undefined): MappingRules {
  const rules = mappingRules(host, tool);
  return { ...rules, limit: { ...rules.limit, maxChars: Number.POSITIVE_INFINITY } };
}

async function keepOverflow(
  host: RunBase & RunArtifacts,
  call: Call,
  text: string,
  about: { media_type: string; name: string },
): Promise<ArtifactRecord> {
  const { session_id, run_id } = host.identity;
  const own = { session_id, run_id, tool_call_id: call.tool_call_id };
  const kept = await host.artifacts.write(text, { ...about, ...own });
  host.recorder.record("artifact.created", { ...kept }, call);
  return kept;
}

function metadataOf(host: RunBase, call: Call, status: ToolStatus): ResultMetadata {
  const { startedAt, nativeId, given, tool } = call;
  const metadata: ResultMetadata = {
    duration_ms:
      startedAt === undefined ? 0 : Math.max(0, host.clock.monotonic() - startedAt - call.waitedMs),
    provenance: tool?.provenance ?? NO_PROVENANCE,
  };
  if (nativeId !== undefined && nativeId !== call.tool_call_id) metadata.native_call_id = nativeId;
  if (tool !== undefined && given.name !== call.tool_name) metadata.native_name = given.name;
  if (call.alias !== undefined) metadata.alias = call.alias;
  if (status === "aborted" || status === "timed_out" || status === "cancelled") {
    if (startedAt !== undefined) metadata.partial = true;
  }
  if (status === "aborted") {
    metadata.aborted = true;
    const { reason, error } = call.cancellation ?? {};
    metadata.abort_reason = host.redactor.text(reason ?? error?.message ?? "aborted");
  }
  return metadata;
}

/** A source that is not trusted answers calls; it adds nothing to the conversation or the context. */
function withoutAdditions(host: RunBase, call: Call, end: Ending): Ending {
  const { context_nodes, modify_context, ...outcome } = end.outcome;
  if (context_nodes === undefined && modify_context === undefined) return end;
  const message = `${call.tool_name} is of an external source and may not add to the conversation`;
  host.recorder.record("error", { code: "context_refused", message }, call, "error");
  return { ...end, outcome };
}

function pendingNodes(host: RunBase, call: Call, { outcome }: Ending): readonly AddedNode[] {
  const { context_nodes: given } = outcome;
  if (given === undefined && call.hookContext === undefined) return NO_NODES;
  const nodes = (given ?? []).map((node) => contextNode(host, node));
  for (const [hook, text] of call.hookContext ?? []) nodes.push(hookNode(host, hook, text));
  return nodes;
}

async function runPostToolHooks(
  host: FinishHost,
  call: Call,
  finished: Finished,
): Promise<Finished> {
  const { result } = finished;
  const event = result.is_error ? "PostToolUseFailure" : "PostToolUse";
  const nodes = [...finished.nodes];
  let replaced: ContentBlock[] | undefined;
  for (const hook of host.hooks.matching(event, hookSubject(call))) {
    const input = seenInput(host, call).redacted;
    const payload = {
      ...hookIdentity(host, call),
      input,
      ...matchedPath(host, call, hook),
      result,
    };
    const outcome: HookOutcome<"PostToolUse" | "PostToolUseFailure"> = await runHook(
      hook,
      event,
      payload,
      hookPorts(host, call),
      call,
    );
    if (!outcome.ok) continue;
    const { context, replace } = outcome.answer;
    if (context !== undefined) nodes.push(hookNode(host, hook.id, context));
    if (typeof replace === "string")
      replaced = [{ type: "text", text: host.redactor.text(replace) }];
    else if (replace !== undefined) replaced = host.redactor.value(replace);
  }
  return { ...finished, nodes, replaced };
}

/** DEF-8. The modifier of a call that ran beside others has no "after" to be applied in. */
function modifyContext(host: FinishHost, call: Call, end: Ending): void {
  const { modify_context: modify } = end.outcome;
  if (modify === undefined) return;
  const report = (message: string): void => {
    host.recorder.record("error", { code: "context_modifier_refused", message }, call, "error");
  };
  if (call.effects.concurrency_safe) {
    report(`${call.tool_name} is concurrency-safe and may not change the run's context`);
    return;
  }
  try {
    const changed: unknown = modify(host.runContext());
    if (isPromise(changed) || !isPlainRecord(changed)) {
      report(`the context modifier of ${call.tool_name} did not return a plain object`);
    } else {
      host.setRunContext(freezeContext(changed));
    }
  } catch (error) {
    report(`the context modifier of ${call.tool_name} failed: ${messageOf(error)}`);
  }
}

function contextNode(host: RunBase, node: ContextNode): AddedNode {
  const content: ContentBlock[] = [{ type: "text", text: host.redactor.text(node.text) }];
  const { kind, data } = node;
  return data === undefined
    ? { kind, content }
    : { kind, content, data: host.redactor.value(data) };
}

function hookNode(host: RunBase, hook: string, text: string): AddedNode {
  return {
    kind: "hook_context",
    content: [{ type: "text", text: host.redactor.text(text) }],
    data: { hook },
  };
}

const NO_NODES: readonly AddedNode[] = [];

/** Result first, then what it brings along; the last one has the id the next call links to. */
function nodesOf(host: CommitHost, call: Call, finished: Finished): ConversationNode[] {
  const { result, replaced } = finished;
  const nodes = admitted(host, finished.nodes);
  const { session_id, run_id, agent_id } = host.identity;
  const files_read = result.is_error ? [] : filesRead(call);
  const chain: ConversationNode[] = [
    {
      node_id: nodes.length === 0 ? call.nodeId : host.ids.next("node"),
      parent_id: call.parentNodeId,
      session_id,
      run_id,
      agent_id,
      kind: "tool_result",
      tool_call_id: call.tool_call_id,
      content: replaced ?? result.content,
      is_error: result.is_error,
      ...(files_read.length === 0 ? {} : { data: { files_read } }),
    },
  ];
  nodes.forEach((node, i) => {
    chain.push({
      node_id: i === nodes.length - 1 ? call.nodeId : host.ids.next("node"),
      parent_id: chain[i]?.node_id,
      session_id,
      run_id,
      agent_id,
      tool_call_id: call.tool_call_id,
      ...node,
    });
  });
  return chain;
}

/** Which files the model has read by it: a later request says which it holds (CTX-1). */
function filesRead({ plan }: Call): string[] {
  return (plan?.resources ?? []).flatMap((one) =>
    one.kind === "path" && one.access === "read" ? [one.path] : [],
  );
}

/** Its answer is about what the conversation has; a node that cannot be asked about is added. */
function admitted({ admitContext }: CommitHost, nodes: readonly AddedNode[]): readonly AddedNode[] {
  if (admitContext === undefined || nodes.length === 0) return nodes;
  return nodes.flatMap((node) => {
    try {
      return admitContext(node) ?? [];
    } catch {
      return node;
    }
  });
}

/** Of a call whose tool is not known. */
export const NO_PROVENANCE = Object.freeze({ source_kind: "none", source_id: "none" });

/** The result of a call on which Soong itself, or the journal, failed. */
export function bareResult(call: Call, error: ToolError): ToolResult {
  return {
    tool_call_id: call.tool_call_id,
    tool_name: call.tool_name,
    status: "failed",
    is_error: true,
    content: [{ type: "text", text: error.message }],
    summary: error.message,
    artifacts: [],
    error,
    metadata: { duration_ms: 0, provenance: call.tool?.provenance ?? NO_PROVENANCE },
  };
}

/** It may have happened, and no record says so: the model must not take it for done and known. */
export function unrecordedResult(result: ToolResult, thrown: unknown): ToolResult {
  const error = toolError({
    code: "journal_unavailable",
    error_class: "dependency_unavailable",
    message: `The call ended as ${result.status}, but that could not be recorded: ${messageOf(thrown)}`,
    recovery: "ask_the_user",
  });
  const content: ToolResult["content"] = [{ type: "text", text: error.message }, ...result.content];
  return { ...result, status: "unknown", is_error: true, content, summary: error.message, error };
}
