// The content of a job. A dispatch writes it, and a worker of perhaps another version reads it.

import { createHash } from "node:crypto";
import type { RemoteWork } from "@soong/agent";
import { asJson, isJsonObject, type JsonValue } from "@soong/schema";
import type { StepRecord } from "@soong/tasks";
import type { Job } from "../queue/index.ts";
import type { Guard } from "./guards.ts";

const TEXTS = ["pool", "task_id", "step_id", "agent_definition_id", "definition_digest"] as const;
const ORIGIN = ["session_id", "run_id", "agent_id", "tool_call_id"] as const;

export interface JobWork extends RemoteWork {
  readonly guards: readonly Guard[];
  /** Counts the jobs of one dispatch. */
  readonly number?: number;
}

/**
 * The id is unique for each dispatch, so a job that another dispatch left in the queue does not count as this one. A worker that
 * takes a leftover job finds that it is not wanted any more.
 */
export function toJob(
  work: JobWork,
  { attempts }: Pick<StepRecord, "attempts">,
  number: number,
): Job {
  const { task_id, step_id, from } = work;
  const dispatch = createHash("sha256").update(`${from.run_id}\n${from.tool_call_id}`);
  const suffix = `${dispatch.digest("hex").slice(0, 12)}.${number}`;
  return {
    id: `${task_id}/${step_id}/${attempts + 1}-${suffix}`,
    data: asJson({ ...work, number }),
  };
}

/** Returns a text that says what is wrong, if the job cannot be used. */
export function readJob({ data }: Job): JobWork | string {
  const missing = TEXTS.find((name) => !isText(data[name]));
  if (missing !== undefined) return `it has no ${missing}`;
  const { from, allowed_tools, instructions, model, guards } = data;
  const lacking = isJsonObject(from) ? ORIGIN.find((name) => !isText(from[name])) : "from";
  if (lacking !== undefined) return `it does not say where it is from (${lacking})`;
  if (allowed_tools !== undefined && !isTexts(allowed_tools))
    return "its allowed_tools must be a list of names";
  if (instructions !== undefined && typeof instructions !== "string") {
    return "its instructions must be text";
  }
  if (model !== undefined && !isText(model)) return "its model must be a name";
  if (!Array.isArray(guards) || !guards.every(isGuard)) {
    return "its guards must be a list of hooks";
  }
  return data as unknown as JobWork;
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value !== "";
}

function isGuard(value: JsonValue): boolean {
  return isJsonObject(value) && isText(value["id"]) && isText(value["event"]);
}

function isTexts(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isText);
}
