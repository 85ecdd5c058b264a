// The last third of PIPE-1: map result → post-hooks → and, in one entry, the result's nodes and the
// terminal fact (PIPE-3, RESULT-7, HOOK-6).

import { isPlainRecord, omitUndefined } from "@soong/schema";
import { terminalFactType, type ConversationNode, type Fact } from "../journal/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { boundResult, fitsInline } from "../result/bound-result.ts";
import { mapResult, viewsOf, type MappingRules } from "../result/map-result.ts";
import {
  isPromise,
  messageOf,
  type ResultMetadata,
  type ToolError,
  type ToolResult,
  type ToolStatus,
} from "../tool/index.ts";
import { addNativeNames } from "./accept-call.ts";
import type { AcceptedCall, Call, Ending } from "./call.ts";
import { hookNode, runPostToolHooks } from "./call-hooks.ts";
import { freezeContext, writeArtifact } from "./context.ts";
import { callError } from "./endings.ts";
import type { AddedNode } from "./host.ts";
import { validateOutput } from "./validate.ts";

/** Sets the result of the call and what it adds to the conversation. */
export async function finishCall(call: Call, given: Ending): Promise<void> {
  const { run, tool, tool_call_id, tool_name } = call;
  const end =
    given.executed && tool?.output !== undefined
      ? await validateOutput(call, tool.output, given)
      : given;
  const { outcome, status, executed } = end;
  const rules = mappingRules(call, executed);
  const frame = { tool_call_id, tool_name, metadata: describeExecution(call, status) };
  let result = mapResult(frame, status, outcome, rules);
  if (!fitsInline(result, outcome, rules.limit)) {
    result = await boundResult(result, outcome, rules.limit, async (text, about) => {
      const kept = await writeArtifact(call, text, about);
      run.recorder.record("artifact.created", { ...kept }, call);
      return kept;
    });
  }
  takeAdditions(call, end);
  call.happened = executed && !call.effects.repeatable;
  call.result = result;
  const event = result.is_error ? "PostToolUseFailure" : "PostToolUse";
  const isObserved = executed || end.unplannable === true;
  if (isObserved && run.hooks.has(event)) await runPostToolHooks(call as AcceptedCall, result);
}

/** Terminal fact and nodes: together, or neither. */
export function commitCall(call: Call, result: ToolResult): void {
  const { record } = call;
  const { recorder, redactor } = call.run;
  const { truncation, redactions: replacements } = result.metadata;
  const before: Fact[] = [];
  if (truncation !== undefined) before.push(recorder.draft("output.truncated", truncation, call));
  if (replacements !== undefined) {
    before.push(recorder.draft("output.redacted", { replacements }, call));
  }
  const { definition } = call.tool ?? {};
  record.tool_name = call.tool_name;
  record.result = result;
  record.decisionSeq = call.decisionSeq;
  record.ended = call.ended;
  if (definition?.render !== undefined) {
    record.personView = redactor.text(viewsOf(result, definition).person);
  }
  if (result.error?.code === "sibling_failed") record.cancelledBy = call.cancellation?.cause;
  const isAlone = call.added.length === 0 && call.replaced === undefined && call.plan === undefined;
  if (!isAlone) record.nodes = createNodes(call, result);
  const level = result.is_error ? "warn" : "info";
  const type = terminalFactType(result.status);
  if (before.length === 0) {
    recorder.note(record, type, level, true);
  } else {
    const terminal = recorder.draft(type, record.terminalData(), call, level);
    recorder.commit([...before, terminal], record.nodes);
  }
  call.committed = true;
}

/** The result of a call whose attempt was abandoned after it had ended (SCHED-6). */
export function discardResult(call: Call, message: string): void {
  const { data: _data, ...result } = call.result as ToolResult;
  call.added = [];
  call.replaced = undefined;
  call.result = {
    ...result,
    status: "discarded",
    is_error: true,
    content: [{ type: "text", text: message }],
    summary: message,
    error: callError("discarded", message),
    metadata: { ...result.metadata, discarded_status: result.status },
  };
}

/** The same for every call of a tool in a run. */
function mappingRules({ run, tool }: Call, executed: boolean): MappingRules {
  let rules = tool && run.mappingRules.get(tool);
  if (rules === undefined) {
    rules = createRules(run, tool);
    if (tool !== undefined) run.mappingRules.set(tool, rules);
  }
  // What the tool never got to see is the kernel's to say, with any bound of the tool itself (RESULT-8).
  return executed
    ? rules
    : { ...rules, limit: { ...rules.limit, maxChars: Number.POSITIVE_INFINITY } };
}

function createRules(run: Call["run"], tool: RegisteredTool | undefined): MappingRules {
  const { definition, source, output } = tool ?? {};
  const trusted = source?.trusted === true;
  const { inline_limit_bytes } = run.config.tools;
  return {
    redactor: run.redactor,
    redaction: (trusted ? definition?.redaction : undefined) ?? "full",
    sensitive: output?.sensitive ?? [],
    limit:
      trusted && definition?.bounds_itself === true
        ? { maxBytes: Number.POSITIVE_INFINITY, maxChars: Number.POSITIVE_INFINITY }
        : {
            maxBytes: Math.min(inline_limit_bytes, run.inlineLimitBytes),
            maxChars: definition?.max_result_chars ?? Number.POSITIVE_INFINITY,
          },
  };
}

function describeExecution(call: Call, status: ToolStatus): ResultMetadata {
  const { startedAt, run, tool } = call;
  const metadata: ResultMetadata = {
    duration_ms:
      startedAt === undefined ? 0 : Math.max(0, run.clock.monotonic() - startedAt - call.waitedMs),
    provenance: tool?.provenance ?? NO_PROVENANCE,
  };
  addNativeNames(call, metadata);
  if (status === "aborted" || status === "timed_out" || status === "cancelled") {
    if (startedAt !== undefined) metadata.partial = true;
  }
  if (status === "aborted") {
    metadata.aborted = true;
    const { reason, error } = call.cancellation ?? {};
    metadata.abort_reason = run.redactor.text(reason ?? error?.message ?? "aborted");
  }
  return metadata;
}

/** A source that is not trusted answers calls; it adds nothing to the conversation or the context. */
function takeAdditions(call: Call, { outcome }: Ending): void {
  const { context_nodes: given = [], modify_context: modify } = outcome;
  const isRefused =
    call.tool?.source.trusted === false &&
    (outcome.context_nodes !== undefined || modify !== undefined);
  if (isRefused) {
    const message = `${call.tool_name} is of an external source and may not add to the conversation`;
    recordError(call, "context_refused", message);
  } else if (modify !== undefined) modifyContext(call, modify);
  const nodes = isRefused ? [] : given;
  if (nodes.length === 0 && call.hookContext === undefined) return;
  const { redactor } = call.run;
  const added = nodes.map(({ kind, text, data }): AddedNode => {
    const content: AddedNode["content"] = [{ type: "text", text: redactor.text(text) }];
    return { kind, content, ...omitUndefined({ data: data && redactor.value(data) }) };
  });
  for (const [hook, text] of call.hookContext ?? []) added.push(hookNode(call, hook, text));
  call.added = added;
}

function recordError(call: Call, code: string, message: string): void {
  call.run.recorder.record("error", { code, message }, call, "error");
}

/** DEF-8. The modifier of a call that ran beside others has no "after" to be applied in. */
function modifyContext(call: Call, modify: NonNullable<Ending["outcome"]["modify_context"]>): void {
  const { run, tool_name } = call;
  const report = (message: string): void => recordError(call, "context_modifier_refused", message);
  if (call.effects.concurrency_safe) {
    report(`${tool_name} is concurrency-safe and may not change the run's context`);
    return;
  }
  try {
    const changed: unknown = modify(run.context);
    if (isPromise(changed) || !isPlainRecord(changed)) {
      report(`the context modifier of ${tool_name} did not return a plain object`);
    } else {
      run.context = freezeContext(changed);
    }
  } catch (error) {
    report(`the context modifier of ${tool_name} failed: ${messageOf(error)}`);
  }
}

/** Result first, then what it brings along; the last one has the id the next call links to. */
function createNodes(call: Call, result: ToolResult): ConversationNode[] {
  const { run, tool_call_id } = call;
  const { session_id, run_id, agent_id } = run.identity;
  // Which files the model has read by it: a later request says which it holds (CTX-1).
  const files_read = (call.plan?.resources ?? []).flatMap((one) =>
    one.kind === "path" && one.access === "read" ? [one.path] : [],
  );
  const own: AddedNode & Pick<ConversationNode, "is_error"> = {
    kind: "tool_result",
    content: call.replaced ?? result.content,
    is_error: result.is_error,
  };
  if (files_read.length > 0 && !result.is_error) own.data = { files_read };
  const nodes = call.added.length === 0 ? [own] : [own, ...admitNodes(call)];
  let parent_id = call.parentNodeId;
  return nodes.map((node, i) => {
    const node_id = i === nodes.length - 1 ? call.nodeId : run.ids.next("node");
    const placed = { node_id, parent_id, session_id, run_id, agent_id, tool_call_id, ...node };
    parent_id = node_id;
    return placed;
  });
}

/** The answer is about what the conversation has; a node that cannot be checked is added. */
function admitNodes({ run: { admitContext }, added }: Call): readonly AddedNode[] {
  if (admitContext === undefined) return added;
  return added.flatMap((node) => {
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
export function bareResult({ tool_call_id, tool_name, tool }: Call, error: ToolError): ToolResult {
  return {
    tool_call_id,
    tool_name,
    status: "failed",
    is_error: true,
    content: [{ type: "text", text: error.message }],
    summary: error.message,
    artifacts: [],
    error,
    metadata: { duration_ms: 0, provenance: tool?.provenance ?? NO_PROVENANCE },
  };
}

/** It may have happened, and no record says so: the model must not take it for done and known. */
export function unrecordedResult(result: ToolResult, thrown: unknown): ToolResult {
  const message = `The call ended as ${result.status}, but that could not be recorded: ${messageOf(thrown)}`;
  const error = callError("journal_unavailable", message);
  const content: ToolResult["content"] = [{ type: "text", text: message }, ...result.content];
  return { ...result, status: "unknown", is_error: true, content, summary: message, error };
}
