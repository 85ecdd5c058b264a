// Encodes pools and ids for the engines, which refuse ":" and numeric ids: a prefix is added and all but a few characters are
// percent-encoded, so different names stay different.

import type { JsonObject } from "@soong/schema";
import type { Job } from "./job-queue.ts";
import { QueueError } from "./queue-error.ts";

const MAX_CHARS = { pool: 100, id: 500 };

/** Changes with what a job has to say: a worker that does not know it all takes no such job. */
const JOB_FORMAT = 2;

/** `schema`: keeps apart pools of the same name, of several stores in one database. */
export function encodePool(pool: string, schema?: string): string {
  if (schema !== undefined && !/^\w{1,63}$/.test(schema)) {
    throw new QueueError("queue_url", "The schema in the url of the job queue is no plain name.");
  }
  return `soong${JOB_FORMAT}${schema === undefined ? "" : `.${schema}`}-${encode(pool, "pool")}`;
}

export function encodeJobId(id: string): string {
  return `job/${encode(id, "id").replaceAll("%2F", "/")}`;
}

/** The job is a text, because PostgreSQL's JSON cannot hold U+0000. */
export interface StoredJob {
  readonly job: string;
}

export function storeJob({ id, data }: Job): StoredJob {
  return { job: JSON.stringify({ id, data }) };
}

/** Undefined for a job that another program has put into the queue. */
export function readStoredJob(stored: unknown): Job | undefined {
  const { job } = (stored ?? {}) as { readonly job?: unknown };
  if (typeof job !== "string") return undefined;
  try {
    const { id, data } = JSON.parse(job) as { readonly id?: unknown; readonly data?: unknown };
    const isJob = typeof id === "string" && typeof data === "object" && data !== null;
    return isJob ? { id, data: data as JsonObject } : undefined;
  } catch {
    return undefined;
  }
}

function encode(name: string, kind: "pool" | "id"): string {
  const called = kind === "pool" ? "The name of a pool" : "The id of a job";
  if (typeof name !== "string" || name === "" || name.length > MAX_CHARS[kind]) {
    throw new QueueError("queue_input", `${called} has 1 to ${MAX_CHARS[kind]} characters.`);
  }
  try {
    return encodeURIComponent(name);
  } catch {
    throw new QueueError("queue_input", `${called} holds half of a Unicode character.`);
  }
}
