// What a job says, written by a dispatch and read by a worker of perhaps another version.

import type { RemoteWork } from "@soong/agent";
import { asJson, isJsonObject, type JsonObject, type JsonValue } from "@soong/schema";
import type { StepRecord } from "@soong/tasks";
import type { Job } from "../queue/index.ts";

const TEXTS = ["pool", "task_id", "step_id", "agent_definition_id", "definition_digest"] as const;
const ORIGIN = ["session_id", "run_id", "agent_id", "tool_call_id"] as const;

/**
 * One job for each time that the step is ready, however often it is added. A claim that ended uncounted leaves the same attempt:
 * its job may still be locked or delayed somewhere.
 */
export function toJob(work: RemoteWork, step: Pick<StepRecord, "attempts" | "earlier">): Job {
  const last = step.earlier?.at(-1);
  const since = last === undefined ? "" : `-${Date.parse(last.at).toString(36)}`;
  const id = `${work.task_id}/${work.step_id}/${step.attempts + 1}${since}`;
  return { id, data: asJson(work) };
}

/** Text says what is wrong with it. */
export function readJob({ data }: Job): RemoteWork | string {
  const missing = TEXTS.find((name) => !isText(data[name]));
  if (missing !== undefined) return `it has no ${missing}`;
  const { from, allowed_tools, instructions, model } = data;
  const lacking = isJsonObject(from) ? ORIGIN.find((name) => !isText(from[name])) : "from";
  if (lacking !== undefined) return `it does not say where it is from (${lacking})`;
  if (allowed_tools !== undefined && !isTexts(allowed_tools))
    return "its allowed_tools are no names";
  if (instructions !== undefined && typeof instructions !== "string") {
    return "its instructions are no text";
  }
  if (model !== undefined && !isText(model)) return "its model is no reference";
  return data as JsonObject & RemoteWork;
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value !== "";
}

function isTexts(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isText);
}
