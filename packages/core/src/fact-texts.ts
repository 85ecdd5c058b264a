// What a fact says, in a short phrase for users. Every type has a text: a new one without does not compile.

import type { Fact, FactData, FactPayloads, FactType } from "./journal/index.ts";
import type { KernelFactPayloads, RunEndData, SessionCreatedData, TerminalData } from "./facts.ts";
import { readCallClass, type CallClass } from "./schedule/schedule.ts";
import { primaryArgument } from "./tool/index.ts";

/** One text for each type. A part that a fact lacks (an older version wrote it) is undefined, and dropped. */
export type FactTexts<T extends FactType = FactType> = {
  readonly [K in T]: (data: FactPayloads[K]) => string | undefined;
};

/** Never empty where the fact says anything; it may hold what a model or a tool wrote, of any length. */
export function describeFact(fact: Fact, texts: Partial<FactTexts>): string {
  const text = Object.hasOwn(texts, fact.type)
    ? (texts[fact.type] as ((data: FactData) => string | undefined) | undefined)
    : undefined;
  try {
    const said: unknown = text?.(fact.data);
    return typeof said === "string" ? said : describeUnknown(fact.data);
  } catch {
    // A journal of a newer version, or one that was tampered with.
    return describeUnknown(fact.data);
  }
}

const TELLING_FIELDS = ["message", "reason", "title", "summary", "note", "text", "status", "name"];

function describeUnknown(data: object): string {
  const fields = Object(data) as Readonly<Record<string, unknown>>;
  const text = (field: string): string | undefined => {
    const value = fields[field];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const said = TELLING_FIELDS.map(text).find((value) => value !== undefined);
  const about = ["task_id", "step_id", "server_id"].flatMap((field) => text(field) ?? []);
  return [about.join(" "), said ?? ""].filter((part) => part !== "").join(": ");
}

/** The parts that are there, with a space between. */
export function phrase(...parts: readonly (string | number | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}

/** Nothing for nothing. */
export function inBrackets(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : `(${text})`;
}

/** `1 tool`, `3 tools`. */
export function countOf(count: number | undefined, one: string, many = `${one}s`): string {
  return `${count ?? 0} ${count === 1 ? one : many}`;
}

/** The texts of the facts that the kernel writes. */
export const KERNEL_FACT_TEXTS: FactTexts<keyof KernelFactPayloads> = {
  "session.created": (data) => {
    const { dispatched_by: by }: SessionCreatedData = data;
    return by === undefined
      ? "session created"
      : `session created for step ${by.step_id} of ${by.task_id}, dispatched by ${by.run_id} of ${by.session_id}`;
  },
  "run.queued": ({ ahead = 0 }) =>
    ahead === 0 ? "run is next" : `run waits behind ${countOf(ahead, "other")}`,
  "run.started": ({ role, mode }) => phrase(role ?? "a", "run in", mode, "mode"),
  "run.completed": endText,
  "run.failed": endText,
  "run.aborted": endText,
  "tool.catalog.resolved": ({ revision, base_revision, counts, tools, groups = [] }) => {
    const changed = groups.reduce((sum, { names }) => sum + names.length, tools.length);
    return phrase(
      `revision ${revision}: ${counts.loaded} loaded, ${counts.deferred} deferred, ${counts.excluded} excluded`,
      base_revision === undefined ? undefined : inBrackets(`${countOf(changed, "tool")} changed`),
    );
  },
  "tool.deferred.loaded": ({ tools }) => `now loaded: ${tools.join(", ")}`,
  "tool.requested": ({ model_input }) => describeArguments(model_input) ?? "no arguments",
  "tool.validated": () => "arguments are valid",
  "tool.queued": ({ class: kind }) => QUEUED[readCallClass(kind)] ?? "ready",
  "tool.started": ({ decision }) => phrase("started", inBrackets(decision)),
  "tool.progress": ({ message, progress, total }) => {
    const counts =
      progress === undefined
        ? undefined
        : phrase(progress, total === undefined ? undefined : `of ${total}`);
    return [counts, message].filter((part) => part !== undefined).join(": ");
  },
  "tool.late": ({ how }) => `${how} after its call had ended; ignored`,
  "tool.waiting": ({ waits }) => (waits ? "waits for approval" : "no longer waits for approval"),
  "turn.halted": ({ kind, reason }) =>
    phrase("no more calls of this turn start:", kind, inBrackets(reason)),
  "tool.yielded": ({ status }) => phrase("sent to the model", inBrackets(status)),
  "tool.completed": resultText,
  "tool.failed": resultText,
  "tool.denied": resultText,
  "tool.skipped": resultText,
  "tool.cancelled": resultText,
  "tool.discarded": resultText,
  "input.mutated": ({ source, changed_fields }) =>
    phrase("input changed by", source, inBrackets(changed_fields.join(", "))),
  "hook.started": ({ hook, event }) => phrase(hook, "on", event),
  "hook.completed": ({ hook, event, outcome, duration_ms }) =>
    phrase(hook, "on", event, "answered", outcome, duration(duration_ms)),
  "hook.failed": ({ hook, event, message, duration_ms }) =>
    phrase(hook, "on", event, "failed:", message, duration(duration_ms)),
  "hook.denied": ({ hook, reason }) => phrase(hook, "denied it:", reason),
  "permission.evaluated": ({ decision, reason }) => phrase(`${decision}:`, reason),
  "permission.requested": ({ request }) => phrase("approval requested:", request.reason),
  "permission.resolved": ({ answered_by, decision, reason }) =>
    phrase(answered_by ?? "a user", "answered", decision, inBrackets(reason)),
  "permission.failed": ({ message }) => phrase("not approved:", message),
  "grant.created": ({ grant }) => phrase("granted for the session", inBrackets(grant.grant_id)),
  "grant.revoked": ({ grant_id }) => phrase("grant", grant_id, "revoked"),
  "artifact.created": ({ name, artifact_id, size }) =>
    phrase(
      name ?? artifact_id,
      "saved",
      size === undefined ? undefined : inBrackets(countOf(size, "byte")),
    ),
  "output.truncated": ({ original_chars, kept_chars, artifact_id }) =>
    `output cut from ${original_chars} to ${kept_chars} characters${
      artifact_id === undefined ? "" : `; all of it is in ${artifact_id}`
    }`,
  "output.redacted": ({ replacements }) => `${countOf(replacements, "secret")} hidden`,
  "sandbox.applied": ({ backend, roots, masked, masked_more = 0, network }) => {
    const reached = typeof network === "object" ? network.hosts.join(", ") : "closed";
    const closed = countOf(masked.length + masked_more, "path");
    return `in a sandbox (${backend}): writes to ${roots.join(", ") || "nothing"}; ${closed} masked; network ${reached}`;
  },
  "sandbox.missing": ({ why }) => phrase("without a sandbox:", why),
  "sandbox.violation": ({ detail, certain }) =>
    phrase(certain ? "the sandbox refused" : "the sandbox may have refused", detail),
  "mcp.server.elicitation": ({ action, message }) =>
    phrase("question answered with", action, inBrackets(message)),
  "context.rewound": ({ node_id, reason }) => phrase("continues from", node_id, inBrackets(reason)),
  "change.undone": ({ path }) => `${path} restored to what it was before the call`,
  error: ({ message, code }) => message || code,
};

const QUEUED: Readonly<Record<CallClass, string>> = {
  parallel: "ready, may run beside other reads",
  exclusive: "ready, runs alone",
  write: "ready, a write: runs alone and in order",
  spawns_agent: "ready, starts an agent",
};

function endText({ error, message, reason }: RunEndData): string {
  return error?.message ?? message ?? reason ?? "ended";
}

function resultText({ result: { status, summary } }: TerminalData): string {
  return summary === "" ? status : phrase(`${status}:`, summary);
}

function duration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `(${ms} ms)`;
}

/** What a call is about: its file, command or words. `given` is text as a model sent it, or a value. */
export function describeArguments(given: unknown): string | undefined {
  const input = typeof given === "string" ? parseJson(given) : given;
  const isEmpty = typeof input === "object" && input !== null && Object.keys(input).length === 0;
  const about =
    primaryArgument(input) ??
    (isEmpty ? "" : typeof given === "string" ? given : JSON.stringify(given));
  return about === "" ? undefined : about;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
