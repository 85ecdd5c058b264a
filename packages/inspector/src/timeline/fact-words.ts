// The words for each type of fact, from what it carries. Where a fact lacks what its words need, it gets others.

import { asText } from "./one-line.ts";
import { countIn, dataIn, listIn, textIn, textsIn, type Data } from "./read-data.ts";

type Words = (data: Data) => string | undefined;

export const FACT_WORDS: Readonly<Record<string, Words>> = {
  "session.created": () => "the session was created",
  "run.queued": (data) => {
    const ahead = countIn(data, "ahead") ?? 0;
    return ahead === 0 ? "the run is next" : `the run waits behind ${counted(ahead, "other")}`;
  },
  "run.started": (data) =>
    joined(textIn(data, "role") ?? "a", "run in", textIn(data, "mode"), "mode"),
  "run.completed": ended,
  "run.failed": ended,
  "run.aborted": ended,
  "context.resolved": (data) => {
    const tools = countIn(dataIn(data["tools"]), "loaded");
    const tokens = countIn(dataIn(data["tokens"]), "estimated");
    const parts = [
      tools === undefined ? undefined : counted(tools, "tool"),
      tokens === undefined ? undefined : `about ${tokens} tokens`,
    ].filter((part) => part !== undefined);
    return joined(requestOf(data), "is put together:", parts.join(", "));
  },
  "context.compaction.started": (data) =>
    `the conversation is being shortened, from ${asText(data["tokens_before"])} tokens`,
  "context.compaction.completed": (data) =>
    `the conversation was shortened from ${asText(data["tokens_before"])} to ${asText(data["tokens_after"])} tokens`,
  "context.compaction.failed": (data) =>
    `the conversation could not be shortened: ${textIn(data, "message") ?? "no reason is given"}`,
  "context.rewound": (data) =>
    joined("goes on from", textIn(data, "node_id"), inBrackets(textIn(data, "reason"))),
  "routing.decided": (data) =>
    joined(
      requestOf(data),
      "goes to",
      textIn(data, "selected"),
      inBrackets(textIn(data, "reason")),
    ),
  "routing.fallback": (data) =>
    joined(
      "from",
      textIn(data, "from"),
      "to",
      textIn(data, "to"),
      inBrackets(textIn(data, "message")),
    ),
  "model.started": (data) => joined(textIn(data, "model"), "is asked:", requestOf(data)),
  "model.delta": (data) => textIn(data, "text"),
  "model.completed": (data) => {
    const calls = countIn(data, "calls") ?? 0;
    const asked = calls === 0 ? undefined : `with ${counted(calls, "call")}`;
    return joined(textIn(data, "model"), "answered", asked, inBrackets(tokensIn(data)));
  },
  "model.failed": (data) => {
    const error = dataIn(data["error"]);
    return joined(
      textIn(data, "model"),
      "failed:",
      textIn(error, "message") ?? textIn(error, "kind"),
    );
  },
  "tool.catalog.resolved": (data) => {
    const counts = dataIn(data["counts"]);
    const told = ["loaded", "deferred", "excluded"].map(
      (state) => `${countIn(counts, state) ?? 0} ${state}`,
    );
    const base = countIn(data, "base_revision");
    const changed = base === undefined ? undefined : `${counted(toolsIn(data), "tool")} changed`;
    return joined(`revision ${asText(data["revision"])}:`, told.join(", "), inBrackets(changed));
  },
  "tool.validated": () => "the arguments are valid",
  "tool.queued": (data) => QUEUED[textIn(data, "class") ?? ""] ?? "ready",
  "tool.started": (data) => joined("started", inBrackets(textIn(data, "decision"))),
  "tool.progress": progressWords,
  "tool.late": (data) =>
    `${textIn(data, "how") ?? "answered"} after its call had ended; that does not count`,
  "tool.yielded": (data) => joined("told to the model", inBrackets(textIn(data, "status"))),
  "tool.deferred.loaded": (data) => `now loaded: ${textsIn(data, "tools").join(", ")}`,
  "input.mutated": (data) =>
    joined(
      "the input was changed by",
      textIn(data, "source") ?? "somebody",
      inBrackets(textsIn(data, "changed_fields").join(", ")),
    ),
  "hook.started": (data) => joined(textIn(data, "hook"), "on", textIn(data, "event")),
  "hook.completed": (data) =>
    joined(
      textIn(data, "hook"),
      "on",
      textIn(data, "event"),
      "said",
      textIn(data, "outcome"),
      took(data),
    ),
  "hook.failed": (data) =>
    joined(
      textIn(data, "hook"),
      "on",
      textIn(data, "event"),
      "failed:",
      textIn(data, "message"),
      took(data),
    ),
  "hook.denied": (data) => joined(textIn(data, "hook"), "said no:", textIn(data, "reason")),
  "permission.evaluated": (data) =>
    joined(`${textIn(data, "decision") ?? "decided"}:`, textIn(data, "reason")),
  "permission.requested": (data) =>
    joined("a person is asked:", textIn(dataIn(data["request"]), "reason")),
  "permission.resolved": (data) =>
    joined(
      textIn(data, "answered_by") ?? "somebody",
      "answered",
      textIn(data, "decision"),
      inBrackets(textIn(data, "reason")),
    ),
  "permission.failed": (data) => joined("no answer, which is a no:", textIn(data, "message")),
  "grant.created": (data) =>
    joined("granted for the session", inBrackets(textIn(dataIn(data["grant"]), "grant_id"))),
  "grant.revoked": (data) => joined("the grant", textIn(data, "grant_id"), "was taken back"),
  "artifact.created": (data) =>
    joined(
      textIn(data, "name") ?? textIn(data, "artifact_id") ?? "an artifact",
      "was kept",
      inBrackets(sizeIn(data)),
    ),
  "change.undone": (data) =>
    joined(textIn(data, "path") ?? "a file", "is as it was before the call again"),
  "output.truncated": truncatedWords,
  "output.redacted": (data) => `${counted(countIn(data, "replacements") ?? 0, "secret")} hidden`,
  "mcp.server.connected": (data) =>
    joined(
      textIn(data, "server_id"),
      "is connected",
      inBrackets(counted(countIn(data, "tools") ?? 0, "tool")),
    ),
  "mcp.server.failed": (data) =>
    joined(textIn(data, "server_id"), "failed:", textIn(data, "message")),
  "mcp.server.tools_changed": (data) => joined(textIn(data, "server_id"), "offers other tools now"),
  "mcp.server.elicitation": (data) =>
    joined(
      "a question was answered with",
      textIn(data, "action"),
      inBrackets(textIn(data, "message")),
    ),
  "mcp.server.host_request": (data) =>
    joined(
      textIn(data, "server_id"),
      "asked for",
      textIn(data, "method"),
      inBrackets(textIn(data, "outcome")),
    ),
  "agent.child.created": (data) =>
    joined(textIn(data, "role") ?? "a child", "was started:", textIn(data, "task")),
  "agent.child.completed": (data) => joined("the child completed:", textIn(data, "summary")),
  "agent.child.failed": (data) => joined("the child failed:", childError(data)),
  "agent.child.cancelled": (data) => joined("the child was cancelled:", childError(data)),
  "worker.dispatched": (data) =>
    joined(
      textIn(data, "worker") ?? "a worker",
      "was sent to",
      textIn(data, "step_id") ?? textIn(data, "task_id"),
    ),
  "skill.loaded": (data) => joined("the skill", textIn(data, "skill"), "was loaded"),
  "memory.recalled": (data) =>
    `${counted(listIn(data, "memories").length, "memory", "memories")} recalled`,
  error: (data) => textIn(data, "message") ?? textIn(data, "code"),
};

/** In words; also for the notes on a call. */
export function truncatedWords(data: Data): string {
  const kept = countIn(data, "kept_chars");
  const original = countIn(data, "original_chars");
  const artifact = textIn(data, "artifact_id");
  const all = artifact === undefined ? "" : `; all of it is in ${artifact}`;
  return kept === undefined || original === undefined
    ? `the output was cut${all}`
    : `the output was cut from ${original} to ${kept} characters${all}`;
}

/** `3 of 10: message`, as far as it is told. */
export function progressWords(data: Data): string | undefined {
  const done = countIn(data, "progress");
  const total = countIn(data, "total");
  const counts =
    done === undefined ? undefined : `${done}${total === undefined ? "" : ` of ${total}`}`;
  const parts = [counts, textIn(data, "message")].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(": ");
}

const QUEUED: Readonly<Record<string, string>> = {
  together: "ready, may run beside other reads",
  alone: "ready, runs alone",
  write: "ready, a write: runs alone and in order",
  starter: "ready, starts an agent",
};

function ended(data: Data): string | undefined {
  const error = dataIn(data["error"]);
  const reason = textIn(data, "reason");
  return textIn(error, "message") ?? textIn(data, "message") ?? reason ?? "ended";
}

function childError(data: Data): string | undefined {
  return (
    textIn(dataIn(data["error"]), "message") ?? textIn(data, "reason") ?? textIn(data, "status")
  );
}

function requestOf(data: Data): string | undefined {
  const request = countIn(data, "request");
  const attempt = countIn(data, "attempt") ?? 1;
  if (request === undefined) return undefined;
  return attempt > 1 ? `request ${request}, attempt ${attempt}` : `request ${request}`;
}

function tokensIn(data: Data): string | undefined {
  const usage = dataIn(data["usage"]);
  const read = countIn(usage, "input_tokens");
  const written = countIn(usage, "output_tokens");
  if (read === undefined && written === undefined) return undefined;
  return `${read ?? "?"} tokens in, ${written ?? "?"} out`;
}

function sizeIn(data: Data): string | undefined {
  const size = countIn(data, "size");
  return size === undefined ? undefined : counted(size, "byte");
}

function took(data: Data): string | undefined {
  const ms = countIn(data, "duration_ms");
  return ms === undefined ? undefined : `(${ms} ms)`;
}

function inBrackets(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : `(${text})`;
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Those written out and those in groups. */
function toolsIn(data: Data): number {
  const groups = listIn(data, "groups").map((group) => listIn(dataIn(group), "names").length);
  return groups.reduce((sum, count) => sum + count, listIn(data, "tools").length);
}
