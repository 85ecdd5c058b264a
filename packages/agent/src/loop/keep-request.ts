// What is sent to a model and is no part of the conversation, kept as artifacts, each content once a session (MODEL-7):
// system texts, tools, the board, notes of what was omitted. A request names them, and its digest proves them.

import type { MeasuredText, ModelTool } from "@soong/core";
import { measureText } from "@soong/core/internal";
import { digestRequest, MessageList } from "../context/index.ts";
import type { ModelRequest } from "../model/index.ts";
import { recordWarning, type Running } from "./running.ts";

/**
 * Where the parts of a request are that are not in the conversation: ids of artifacts, each of them JSON (MODEL-7). In a
 * `context.resolved` with `since`, what is absent is as in that request.
 */
export interface SentTexts {
  /** A list of texts. */
  system?: string | undefined;
  tools?: string | undefined;
  /** Texts, shown after the conversation and before it. */
  board?: string | undefined;
  note?: string | undefined;
  /** All of them, of a request without a conversation. */
  messages?: string | undefined;
  max_output_tokens?: number | undefined;
  agent_definition_id?: string | undefined;
}

/** The parts of requests that stay the same as long as their frame does. */
export interface KeptFrame extends Pick<
  ModelRequest,
  "run_id" | "agent_definition_id" | "max_output_tokens"
> {
  readonly system: string | undefined;
  readonly tools: string | undefined;
  readonly system_sha256: string;
  readonly tools_sha256: string;
}

export async function keepFrame(
  running: Running,
  system: readonly string[],
  tools: readonly ModelTool[],
): Promise<KeptFrame> {
  const { run, agent_definition_id, limits } = running;
  const texts = measureJson(system);
  const definitions = measuredTools.get(tools) ?? measureJson(tools);
  measuredTools.set(tools, definitions);
  const [keptSystem, keptTools] = await Promise.all([
    system.length === 0 ? undefined : keepMeasured(running, "system.json", texts),
    tools.length === 0 ? undefined : keepMeasured(running, "tools.json", definitions),
  ]);
  return {
    run_id: run.identity.run_id,
    agent_definition_id,
    max_output_tokens: limits.max_output_tokens,
    system: keptSystem,
    tools: keptTools,
    system_sha256: texts.sha256,
    tools_sha256: definitions.sha256,
  };
}

/** A list that has not changed since the last request is the same one. */
const measuredTools = new WeakMap<readonly ModelTool[], MeasuredText>();

/** A request that is made of nothing that is on record, such as a compaction's. */
export async function keepWholeRequest(
  running: Running,
  request: ModelRequest,
): Promise<{ readonly digest: string; readonly sent: SentTexts }> {
  const frame = await keepFrame(running, request.system, request.tools);
  const messages = await keepJson(running, "messages.json", request.messages);
  const digest = digestRequest(
    { index: request.index, ...frame },
    new MessageList(request.messages),
  );
  return { digest, sent: { ...describeFrame(frame), messages } };
}

export function describeFrame(frame: KeptFrame): SentTexts {
  const { system, tools, agent_definition_id, max_output_tokens } = frame;
  return { system, tools, agent_definition_id, max_output_tokens };
}

/** Its artifact; undefined, and a warning on record, where it cannot be kept. The request is sent all the same. */
export function keepJson(running: Running, name: string, value: unknown) {
  return keepMeasured(running, name, measureJson(value));
}

function measureJson(value: unknown): MeasuredText {
  return measureText(JSON.stringify(value));
}

async function keepMeasured(
  running: Running,
  name: string,
  measured: MeasuredText,
): Promise<string | undefined> {
  const { session, run } = running;
  const { ref, created, problem } = await session.keepText(name, run.identity, () => measured);
  if (created !== undefined) {
    running.lastSeq = run.recorder.recordClean("artifact.created", { ...created }).seq;
  }
  if (problem !== undefined) {
    const message = run.redactor.text(`What is sent to the model could not be kept: ${problem}`);
    recordWarning(running, "request_not_kept", message);
  }
  return ref?.artifact_id;
}
