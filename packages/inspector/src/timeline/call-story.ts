// All that is known of one call, put together from its facts and the node the model reads.

import {
  isTerminalFact,
  KERNEL_FACT_TEXTS,
  type ArtifactRef,
  type ConversationNode,
  type Fact,
  type PermissionRequest,
  type Preview,
  type TerminalData,
  type ToolResult,
} from "@soong/core";
import { asRecord, omitUndefined } from "@soong/schema";
import type { CallStory, Decided, HookRun, Lane } from "../wire/session-records.ts";
import { callInputs } from "./call-inputs.ts";
import { oneLine, textIn, textsIn, type Data } from "./read-data.ts";
import { childLink } from "./run-track.ts";
import { soundFact } from "./sound-fact.ts";

export interface CallStoryParts {
  readonly session_id: string;
  readonly lane: Lane;
  /** Every fact with its id, in order; those of calls of other runs with the same id are passed over. */
  readonly facts: readonly Fact[];
  /** Its `tool_result` node. */
  readonly node?: ConversationNode;
  readonly child_runs?: readonly string[];
  readonly child_calls?: readonly string[];
}

/** A command may report progress for hours: the last lines tell where it is. */
const MOST_PROGRESS = 200;
const MOST_PROGRESS_CHARS = 400;
const MOST_NOTE_CHARS = 600;

export function callStory(parts: CallStoryParts): CallStory {
  const { session_id, lane, node, child_runs = [], child_calls = [] } = parts;
  const facts = parts.facts.map(soundFact).filter((fact) => belongsToLane(fact, lane));
  const began = lane.spans[0]?.[1] ?? 0;
  const atOf = ({ time }: Fact): number => {
    const at = Date.parse(time);
    return Number.isFinite(at) ? at : began;
  };
  const result = facts.find(isTerminalFact)?.data.result;
  const { inputs, notes } = callInputs(facts);
  const { decisions, request } = readDecisions(facts, atOf, result !== undefined);
  const progress = facts.flatMap((fact) => {
    const text = fact.type === "tool.progress" && KERNEL_FACT_TEXTS[fact.type](fact.data);
    return text ? [{ at: atOf(fact), text: oneLine(text, MOST_PROGRESS_CHARS) }] : [];
  });
  const left = progress.length - MOST_PROGRESS;
  const linked = facts.flatMap((fact) => childLink(fact)?.child_run_id ?? []);
  const requested = facts.findLast((fact) => fact.type === "tool.requested")?.data;
  const validated = facts.findLast((fact) => fact.type === "tool.validated")?.data;
  const evaluated = facts.findLast((fact) => fact.type === "permission.evaluated")?.data;
  const started = facts.findLast((fact) => fact.type === "tool.started")?.data;
  // As it was started; else as far as it got.
  const effects = [started, evaluated, validated]
    .map((data) => data?.effects ?? {})
    .find((found) => Object.keys(found).length > 0);

  return omitUndefined({
    session_id,
    lane,
    native_name: requested?.native_name,
    inputs,
    decisions,
    hooks: readHooks(facts, atOf),
    preview:
      previewIn(request?.preview) ??
      commandIn({ ...evaluated?.resources.find(({ kind }) => kind === "command") }) ??
      diffIn(asRecord(result?.data)),
    effects: effects && { ...effects },
    digest: started?.digest ?? evaluated?.digest ?? request?.digest,
    progress: progress.slice(-MOST_PROGRESS),
    result,
    model_view: Array.isArray(node?.content) ? node.content : undefined,
    artifacts: readArtifacts(facts, result),
    notes: [
      ...notes,
      ...facts.flatMap((fact) => {
        const note = describeNote(fact);
        return note ? [sentence(oneLine(note, MOST_NOTE_CHARS))] : [];
      }),
      ...(left > 0 ? [`Of its progress, the first ${left} lines are omitted.`] : []),
    ],
    child_runs: [...new Set([...linked, ...child_runs])],
    child_calls,
    facts: facts.map(({ seq }) => seq),
  });
}

/** That a change was undone is a fact of the session: it names the run it is about. */
function belongsToLane(fact: Fact, lane: Lane): boolean {
  if (fact.tool_call_id !== lane.tool_call_id) return false;
  const isOfSession = fact.type === "change.undone" || fact.type === "error";
  return (fact.run_id ?? (isOfSession ? fact.data.of_run : undefined)) === lane.run_id;
}

/** Who decided what, in order: the policy with its chain, hooks that refused, the user who was asked. */
export function readDecisions(
  facts: readonly Fact[],
  atOf: (fact: Fact) => number,
  hasEnded: boolean,
) {
  let decisions: Decided[] = [];
  let asked: Decided | undefined;
  /** The last question that was put to the user. */
  let request: PermissionRequest | undefined;
  for (const fact of facts) {
    const place = { seq: fact.seq, at: atOf(fact) };
    if (fact.type === "permission.requested") {
      request = fact.data.request.request_id === "" ? undefined : fact.data.request;
      asked = { ...place, by: "user", decision: "asked", request };
      decisions.push(asked);
      continue;
    }
    const decided = decidedIn(fact);
    if (decided === undefined) continue;
    const isAnswer = fact.type === "permission.resolved" || fact.type === "permission.failed";
    if (isAnswer && asked !== undefined) {
      // One entry a question: the answer takes the place of what was open.
      decisions = decisions.filter((one) => one !== asked);
      decided.request = asked.request;
      decided.waited_ms = Math.max(0, place.at - asked.at);
      asked = undefined;
    }
    decisions.push(omitUndefined({ ...place, ...decided }));
  }
  const reason = "The call ended before anyone answered.";
  const given = decisions.map((one): Decided =>
    hasEnded && one.by === "user" && one.decision === "asked"
      ? { ...one, by: "no_one", decision: "unanswered", reason }
      : one,
  );
  return { decisions: given, request };
}

function decidedIn(fact: Fact): Omit<Decided, "seq" | "at"> | undefined {
  switch (fact.type) {
    case "permission.evaluated": {
      const { chain, grant_id, decision, reason } = fact.data;
      const isHook = chain.find((entry) => entry.decisive === true)?.layer === "hook";
      const by = grant_id !== undefined ? "grant" : isHook ? "hook" : "policy";
      return { by, decision: decision || "unknown", chain, reason: reason || undefined, grant_id };
    }
    case "permission.resolved": {
      const { decision, reason, answered_by } = fact.data;
      return { by: "user", decision: decision || "unknown", reason, answered_by };
    }
    case "permission.failed":
      return { by: "no_one", decision: "deny", reason: fact.data.message || undefined };
    case "hook.denied": {
      const { reason, hook } = fact.data;
      return {
        by: "hook",
        decision: "deny",
        reason: reason || undefined,
        answered_by: hook || undefined,
      };
    }
    case "grant.created": {
      const { grant_id, granted_by } = fact.data.grant;
      return {
        by: "grant",
        decision: "granted",
        reason: "Calls like this one are allowed for the rest of the session.",
        answered_by: granted_by || undefined,
        grant_id: grant_id || undefined,
      };
    }
    default:
      return undefined;
  }
}

/** The hooks that ran, each with its answer and how long it took. */
function readHooks(facts: readonly Fact[], atOf: (fact: Fact) => number): HookRun[] {
  const runs: HookRun[] = [];
  for (const fact of facts) {
    const started_at = atOf(fact);
    if (fact.type === "hook.started") {
      const { hook, event } = fact.data;
      runs.push({ hook, event, outcome: "running", started_at });
    } else if (fact.type === "hook.completed" || fact.type === "hook.failed") {
      const { hook, event, duration_ms } = fact.data;
      const ended = {
        outcome: fact.type === "hook.failed" ? ("failed" as const) : ("completed" as const),
        duration_ms,
        detail: fact.type === "hook.failed" ? fact.data.message : fact.data.outcome,
      };
      const begun = runs.find(
        (run) => run.hook === hook && run.event === event && run.outcome === "running",
      );
      if (begun !== undefined) Object.assign(begun, ended);
      else runs.push({ hook, event, started_at, ...ended });
    } else if (fact.type === "hook.denied") {
      const { hook, reason: detail } = fact.data;
      const denied = { outcome: "denied" as const, detail };
      const answered = runs.findLast((run) => run.hook === hook && run.outcome !== "running");
      if (answered !== undefined) Object.assign(answered, denied);
      else runs.push({ hook, event: "", started_at, ...denied });
    }
  }
  return runs;
}

/** What the result refers to, and what was put aside on the way; each once. */
function readArtifacts(facts: readonly Fact[], result: ToolResult | undefined): ArtifactRef[] {
  const created = facts.flatMap((fact) => (fact.type === "artifact.created" ? [fact.data] : []));
  const found = new Map<string, ArtifactRef>();
  for (const artifact of [...created, ...(result?.artifacts ?? [])]) {
    const { artifact_id, media_type, size, sha256, name } = artifact;
    if (artifact_id !== "") found.set(artifact_id, { artifact_id, media_type, size, sha256, name });
  }
  return [...found.values()];
}

/** As the user was shown it. */
function previewIn(value: unknown): Preview | undefined {
  const preview = asRecord(value);
  const { kind, text } = preview;
  if (kind === "text" && typeof text === "string") return { kind, text };
  if (kind === "diff") return diffIn(preview);
  return kind === "command" ? commandIn(preview) : undefined;
}

/** What the plan said it would run. */
function commandIn(data: Data): Preview | undefined {
  const argv = textsIn(data, "argv");
  const cwd = textIn(data, "cwd");
  return argv.length === 0 || cwd === undefined ? undefined : { kind: "command", argv, cwd };
}

/** What it says it changed. */
function diffIn(data: Data): Preview | undefined {
  const path = textIn(data, "path");
  const diff = textIn(data, "diff");
  return path === undefined || diff === undefined ? undefined : { kind: "diff", path, diff };
}

/** What is worth knowing and is in none of its other parts: cuts, hidden secrets, the sandbox, what came too late. */
function describeNote(fact: Fact): string | undefined {
  if (isTerminalFact(fact)) return endNote(fact.data);
  switch (fact.type) {
    case "tool.requested":
      return fact.data.alias && `called by another of its names, ${fact.data.alias}`;
    case "output.truncated":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "output.redacted":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "sandbox.applied":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "sandbox.missing":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "sandbox.violation":
      return KERNEL_FACT_TEXTS[fact.type](fact.data);
    case "tool.late":
      return `its handler ${fact.data.how} after the call had ended; ignored`;
    case "mcp.server.elicitation":
      return `a question (“${fact.data.message}”) was answered with ${fact.data.action}`;
    case "change.undone":
      return `its change was undone: ${fact.data.path} is as it was before`;
    case "error":
      return fact.data.message;
    default:
      return undefined;
  }
}

function endNote({ result }: TerminalData): string | undefined {
  const status = result.metadata.discarded_status;
  if (status !== undefined) return `it had ended (${status}) when its attempt was discarded`;
  return result.error?.code === "runtime_restarted"
    ? "recorded when the session was opened again: the runtime had been stopped"
    : undefined;
}

function sentence(words: string): string {
  const first = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?…]$/u.test(first) ? first : `${first}.`;
}
