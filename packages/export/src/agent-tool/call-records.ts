// The way of a call from its request to its start, and what is reported of it meanwhile: changes of its input, progress,
// artifacts, the sandbox. `tool.invocation.started` means that execution began (EXPORT-2).

import type { ExportState } from "./export-state.ts";
import type { Mappers } from "./mapper.ts";
import type { OpenCall } from "./open-call.ts";
import { readArtifact } from "./read-artifact.ts";
import {
  readCount,
  readFlag,
  readList,
  readObject,
  readRecord,
  readText,
  readSomeTexts,
  readValue,
} from "../projection/read-fields.ts";
import { SCHEMA_VERSION, type ToolProgress } from "./records.ts";
import { createExecutionProfile } from "./tool-profiles.ts";

type CallFactType =
  | "tool.requested"
  | "tool.validated"
  | "tool.queued"
  | "tool.started"
  | "tool.progress"
  | "tool.waiting"
  | "tool.yielded"
  | "input.mutated"
  | "artifact.created"
  | "output.truncated"
  | "output.redacted"
  | "sandbox.applied"
  | "sandbox.missing"
  | "sandbox.violation";

export const CALL_RECORDS: Mappers<CallFactType> = {
  "tool.requested": (data, state, fact) => {
    state.openCall(fact, data);
  },
  "tool.validated": (_, state, fact) => {
    const call = state.reachCall(fact);
    if (call === undefined) return;
    call.change("arguments_ready", state.writer.time);
    state.writer.addEvent("tool.invocation.arguments_ready", call);
  },
  "tool.queued": (data, state, fact) => {
    const call = state.reachCall(fact);
    if (call === undefined) return;
    call.change("queued", state.writer.time);
    state.writer.addEvent("tool.invocation.queued", call, { class: readText(data.class) });
  },
  "tool.started": (data, state, fact) => {
    const call = state.reachCall(fact);
    if (call === undefined || call.started) return;
    const { time } = state.writer;
    const effects = readRecord(data.effects);
    call.startedAt = time;
    call.callInputRef = call.inputRef;
    if (state.hasContent) call.callInput = readValue(data.call_input);
    call.scheduler = {
      class: readText(data.class),
      is_concurrency_safe: readFlag(effects["concurrency_safe"]),
      is_read_only: readFlag(effects["read_only"]),
      is_destructive: readFlag(data.is_destructive),
      is_open_world: readFlag(effects["open_world"]),
      interrupt_behavior: readText(data.interrupt_behavior),
    };
    call.change("running", time);
    state.writer.addEvent("tool.invocation.started", call);
  },
  "tool.progress": (data, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    const value = state.hasContent ? readValue(data.data) : undefined;
    const message = state.readContent(data.message);
    writeProgress(call, state, "running", message, percentOf(data.progress, data.total), value);
  },
  "tool.waiting": ({ waits }, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined || typeof waits !== "boolean") return;
    call.change(waits ? "awaiting_approval" : "running", state.writer.time);
    writeProgress(call, state, waits ? "waiting_for_permission" : "running");
  },
  "tool.yielded": (_, state, fact) => {
    const ended = state.findEnded(fact);
    if (ended !== undefined) state.writer.addEvent("tool.invocation.yielded", ended);
  },
  "input.mutated": (data, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    const { writer } = state;
    const source = readText(data.source);
    const isHook = source?.startsWith("hook:") === true;
    call.mutationCount += 1;
    const to_input_ref = `${call.invocation_id}/input/${call.mutationCount}`;
    const input = state.hasContent ? readValue(data.observable_input) : undefined;
    writer.add({
      record_type: "tool_input_mutation",
      schema_version: SCHEMA_VERSION,
      mutation_id: writer.factRef,
      invocation_id: call.invocation_id,
      source_type: isHook ? "hook" : "runtime",
      source_ref: isHook ? call.hooks?.at(-1) : undefined,
      source,
      from_input_ref: call.inputRef,
      to_input_ref,
      to_input: input,
      changed_fields: readSomeTexts(data.changed_fields),
      reason: readText(data.reason),
      created_at: writer.time,
    });
    call.inputRef = to_input_ref;
    call.observable = input;
  },
  "artifact.created": (data, state, fact) => {
    const artifact = readArtifact(data);
    if (artifact !== undefined) state.findCall(fact)?.addArtifact(artifact);
  },
  "output.truncated": (data, state, fact) => {
    const call = state.findCall(fact);
    if (call !== undefined) call.truncation = data;
  },
  "output.redacted": ({ replacements }, state, fact) => {
    const call = state.findCall(fact);
    if (call !== undefined) call.redactions = readCount(replacements);
  },
  "sandbox.applied": ({ backend, network, masked, masked_more }, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    const hidden = readList(masked).length + (readCount(masked_more) ?? 0);
    writeSandbox(call, state, true, readText(backend), {
      network: network === "closed" ? "closed" : readObject(network),
      masked_paths: hidden,
    });
  },
  "sandbox.missing": ({ why }, state, fact) => {
    const call = state.findCall(fact);
    if (call !== undefined) writeSandbox(call, state, false, undefined, { missing: readText(why) });
  },
  "sandbox.violation": (_, state, fact) => {
    const call = state.findCall(fact);
    if (call !== undefined) (call.evidence ??= []).push(state.writer.factRef);
  },
};

function writeProgress(
  call: OpenCall,
  { writer }: ExportState,
  status: ToolProgress["status"],
  message?: string,
  percent?: number,
  data?: ToolProgress["data"],
): void {
  const { invocation_id, startedAt } = call;
  call.progressCount += 1;
  const sequence = call.progressCount;
  const elapsed =
    startedAt === undefined ? undefined : Date.parse(writer.time) - Date.parse(startedAt);
  writer.add({
    record_type: "tool_progress",
    schema_version: SCHEMA_VERSION,
    progress_id: `${invocation_id}/progress/${sequence}`,
    invocation_id,
    sequence,
    status,
    message,
    percent,
    // A clock that was set back says nothing.
    elapsed_ms: readCount(elapsed),
    data,
    timestamp: writer.time,
  });
  writer.addEvent("tool.invocation.progress", call, { sequence, status });
}

function percentOf(progress: unknown, total: unknown): number | undefined {
  if (typeof progress !== "number" || typeof total !== "number" || total <= 0) return undefined;
  const percent = (progress / total) * 100;
  return Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : undefined;
}

/** How the command of this one call ran. */
function writeSandbox(
  call: OpenCall,
  { writer }: ExportState,
  sandboxed: boolean,
  sandbox_profile: string | undefined,
  sandbox: object,
): void {
  call.executionProfileRef = `${call.invocation_id}/execution`;
  const parts = { sandboxed, sandbox_profile, sandbox };
  writer.add(createExecutionProfile(call.executionProfileRef, "shell", parts));
}
