// A journal may be of an older or a newer version, or tampered with. Here, once, the data of a fact is made to fit its
// type, and all that comes after reads it as typed: a part that does not fit is dropped, or empty where the type needs
// one. Only the fields that the timeline reads are checked.

import type { Cost, ModelError, ModelUsage, ReceivedData, UsageTotal } from "@soong/agent";
import type {
  ArtifactRef,
  CatalogEntry,
  CatalogGroup,
  ChainEntry,
  ContentBlock,
  Effects,
  Fact,
  FactPayloads,
  FactType,
  PermissionRequest,
  Resource,
  RunEndData,
  SandboxLimits,
  ToolGrant,
  ToolResult,
} from "@soong/core";
import { asRecord } from "@soong/schema";
import { countIn, listIn, recordIn, textIn, textsIn } from "./read-data.ts";

/** The same fact where nothing of it had to be changed. */
export function soundFact(fact: Fact): Fact {
  const fields: Fields = Object.hasOwn(FIELDS, fact.type) ? (FIELDS[fact.type] as Fields) : {};
  const given = asRecord(fact.data);
  let data = given;
  for (const [field, read] of Object.entries(fields)) {
    const value = read(given[field], fact);
    if (value !== given[field]) data = { ...data, [field]: value };
  }
  return data === fact.data ? fact : ({ ...fact, data } as Fact);
}

type Read<Value> = (value: unknown, fact: Fact) => Value;
type Fields = Readonly<Record<string, Read<unknown>>>;
type FieldsOf<Payload> = { readonly [Field in keyof Payload]?: Read<AnyWord<Payload[Field]>> };
/** Where the type lists words, another version may have more of them. */
type AnyWord<Value> = Value extends string ? string : Value;

const END: FieldsOf<RunEndData> = { reason: word, message: word, error: runError, usage: runUsage };
const RESULT = { result: toolResult, node_id: word };
const REQUEST = {
  usage: modelUsage,
  cost: modelCost,
  request: number,
  first_token_ms: count,
  received: modelReceived,
  node_id: word,
};
const WORKER = { worker: word, task_id: word, step_id: word };
const HOOK = { hook: text, event: text };

const FIELDS: { readonly [T in FactType]?: FieldsOf<FactPayloads[T]> } = {
  "run.started": { role: text, mode: text, definitions: artifact },
  "run.completed": END,
  "run.failed": END,
  "run.aborted": END,
  "model.started": {
    parent_node_id: word,
    request: number,
    attempt: number,
    model: text,
    purpose: word,
  },
  "routing.fallback": { request: number, from: text, to: text, reason: text },
  "model.completed": { ...REQUEST, stop: text, calls: count },
  "model.failed": { ...REQUEST, error: modelError },
  "agent.child.created": {
    ...WORKER,
    child_run_id: text,
    agent_definition_id: text,
    role: text,
    task: text,
  },
  "worker.dispatched": { run_id: text, worker: text, task_id: text, step_id: word },
  "task.step.claimed": { task_id: text, step_id: text, title: text },
  "task.step.dispatched": { worker: text, task_id: text, step_id: text },
  "tool.catalog.resolved": {
    // No revision is below 0.
    revision: (value) => count(value) ?? -1,
    base_revision: count,
    role: text,
    mode: text,
    profile: text,
    tools: createListCheck(isEntry),
    groups: createListCheck(isGroup),
    removed: texts,
    definitions: artifact,
  },
  "tool.requested": {
    within_tool_call_id: word,
    native_name: word,
    alias: word,
    model_input_chars: count,
  },
  "tool.validated": { effects },
  "tool.started": { effects, digest: word },
  "tool.progress": { message: word, progress: count, total: count },
  "tool.late": { how: text },
  "tool.completed": RESULT,
  "tool.failed": RESULT,
  "tool.denied": RESULT,
  "tool.skipped": RESULT,
  "tool.cancelled": RESULT,
  "tool.discarded": RESULT,
  "input.mutated": { source: text, changed_fields: texts },
  "hook.started": HOOK,
  "hook.completed": { ...HOOK, duration_ms: number, outcome: text },
  "hook.failed": { ...HOOK, duration_ms: number, message: text },
  "hook.denied": { hook: text, reason: text },
  "permission.evaluated": {
    decision: text,
    reason: text,
    chain: createListCheck(isChainEntry),
    grant_id: word,
    effects,
    resources: createListCheck(isResource),
    digest: word,
  },
  "permission.requested": { request: wholeRequest },
  "permission.resolved": { decision: text, reason: word, answered_by: word },
  "permission.failed": { message: text },
  "grant.created": { grant: toolGrant },
  "artifact.created": { artifact_id: text, size: number },
  "output.truncated": { original_chars: number, kept_chars: number, artifact_id: word },
  "output.redacted": { replacements: number },
  "sandbox.applied": {
    backend: text,
    roots: texts,
    masked: texts,
    masked_more: count,
    network: sandboxNetwork,
  },
  "sandbox.missing": { why: text },
  "sandbox.violation": { detail: text, certain: (value) => value === true },
  "mcp.server.elicitation": { message: text, action: text },
  "change.undone": { path: text, of_run: word },
  error: { message: text, of_run: word },
};

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Absent where it says nothing. */
function word(value: unknown): string | undefined {
  return value === "" || typeof value !== "string" ? undefined : value;
}

function count(value: unknown): number | undefined {
  return countIn({ value }, "value");
}

function number(value: unknown): number {
  return count(value) ?? 0;
}

function texts(value: unknown): string[] {
  return createListCheck((item): item is string => typeof item === "string")(value);
}

/** The list itself where all of it fits. */
function createListCheck<Item>(fits: (item: unknown) => item is Item): (value: unknown) => Item[] {
  return (value) => {
    const list: unknown[] = Array.isArray(value) ? value : [];
    return list.every(fits) ? list : list.filter(fits);
  };
}

/** The record itself where all of it fits. */
function filterRecord(value: unknown, fits: (part: unknown) => boolean): object {
  const given = asRecord(value);
  const parts = Object.entries(given);
  return parts.every(([, part]) => fits(part))
    ? given
    : Object.fromEntries(parts.filter(([, part]) => fits(part)));
}

function effects(value: unknown): Effects {
  return filterRecord(value, (part) => typeof part === "boolean") as Effects;
}

function modelUsage(value: unknown): ModelUsage {
  return filterRecord(value, (part) => count(part) !== undefined);
}

function modelCost(value: unknown): Cost | null {
  return isCost(value) ? value : null;
}

function isCost(value: unknown): value is Cost {
  const cost = asRecord(value);
  return textIn(cost, "currency") !== undefined && countIn(cost, "micros") !== undefined;
}

function runError(value: unknown): RunEndData["error"] {
  const error = asRecord(value);
  const [code, message] = [textIn(error, "code"), textIn(error, "message")];
  if (code === undefined && message === undefined) return undefined;
  return { code: code ?? "", message };
}

function runUsage(value: unknown): UsageTotal | undefined {
  const usage = asRecord(value);
  const costs = listIn(usage, "cost");
  return {
    ...modelUsage(value),
    requests: countIn(usage, "requests") ?? 0,
    untold: countIn(usage, "untold") ?? 0,
    unpriced: countIn(usage, "unpriced") ?? 0,
    cost: costs.length > 0 && costs.every(isCost) ? costs : null,
  };
}

function toolResult(value: unknown, { type, tool_call_id = "", tool_name = "" }: Fact): ToolResult {
  const result = asRecord(value);
  return {
    ...(recordIn(value) as ToolResult),
    tool_call_id: textIn(result, "tool_call_id") ?? tool_call_id,
    tool_name: textIn(result, "tool_name") ?? tool_name,
    status: (textIn(result, "status") ?? type.slice("tool.".length)) as ToolResult["status"],
    is_error: result["is_error"] === true,
    content: listIn(result, "content").filter(isBlock),
    summary: textIn(result, "summary") ?? "",
    artifacts: listIn(result, "artifacts").filter(isArtifact),
    metadata: recordIn(result["metadata"]) as ToolResult["metadata"],
  };
}

function isBlock(value: unknown): value is ContentBlock {
  return textIn(asRecord(value), "type") !== undefined;
}

function isArtifact(value: unknown): value is ArtifactRef {
  const artifact = asRecord(value);
  return textIn(artifact, "artifact_id") !== undefined && countIn(artifact, "size") !== undefined;
}

function sandboxNetwork(value: unknown): SandboxLimits["network"] {
  const hosts = textsIn(asRecord(value), "hosts");
  return hosts.length === 0 ? "closed" : { hosts };
}

function artifact(value: unknown): ArtifactRef | undefined {
  return isArtifact(value) ? value : undefined;
}

/** What else it says is looked at where it is shown. */
function isEntry(value: unknown): value is CatalogEntry {
  return textIn(asRecord(value), "tool_name") !== undefined;
}

function isGroup(value: unknown): value is CatalogGroup {
  return Array.isArray(asRecord(value)["names"]);
}

function isChainEntry(value: unknown): value is ChainEntry {
  const entry = asRecord(value);
  return ["layer", "rule", "verdict", "reason"].every((field) => textIn(entry, field));
}

function isResource(value: unknown): value is Resource {
  const resource = asRecord(value);
  const { argv } = resource;
  if (resource["kind"] !== "command") return textIn(resource, "kind") !== undefined;
  return Array.isArray(argv) && textsIn(resource, "argv").length === argv.length;
}

function toolGrant(value: unknown): ToolGrant {
  const grant = asRecord(value);
  const [grant_id, granted_by] = [text(grant["grant_id"]), text(grant["granted_by"])];
  return { ...(recordIn(value) as ToolGrant), grant_id, granted_by };
}

const REQUEST_TEXTS = ["request_id", "tool_call_id", "tool_name"];
const REQUEST_LISTS = ["tags", "resources", "scopes", "chain", "hook_results"];

/** Without an id where it lacks what is shown of a request: then it is not shown as one. */
function wholeRequest(value: unknown): PermissionRequest {
  const request = asRecord(value);
  const isWhole =
    REQUEST_TEXTS.every((field) => textIn(request, field) !== undefined) &&
    REQUEST_LISTS.every((field) => Array.isArray(request[field]));
  return recordIn(isWhole ? request : { request_id: "" }) as PermissionRequest;
}

function modelError(value: unknown): ModelError {
  const error = asRecord(value);
  return { kind: text(error["kind"]) as ModelError["kind"], message: text(error["message"]) };
}

/** Of what came back, parts that are texts. */
function modelReceived(value: unknown): ReceivedData | undefined {
  if (value === undefined) return undefined;
  const received = asRecord(value);
  const isCall = (call: unknown) =>
    ["name", "arguments"].every((field) => typeof asRecord(call)[field] === "string");
  return {
    text: textIn(received, "text"),
    reasoning: textIn(received, "reasoning"),
    calls: listIn(received, "calls").filter(isCall) as ReceivedData["calls"],
    partial_calls: listIn(received, "partial_calls").filter(
      isCall,
    ) as ReceivedData["partial_calls"],
  };
}
