// What a runtime says over its socket, as far as the page can show it. It may be of another version, or none of ours: what
// is not whole is not taken, so that none of them can end the inspector, or be answered without being seen (PERM-6).

import { isPlainRecord } from "@soong/schema";
import type {
  ControlClient,
  ControlEvent,
  ListedGrant,
  ListedQuestion,
  LiveText,
} from "@soong/control";

export type Settled = Extract<ControlEvent, { event: "question.settled" }>["data"];

export function isHello(said: unknown): said is ControlClient["hello"] {
  return (
    hasFields(said, ["session_id", "project"], ["runs"]) &&
    typeof said["pid"] === "number" &&
    (said["runs"] as unknown[]).every((run) => hasFields(run, ["run_id", "agent_id", "role"]))
  );
}

export function isQuestion(said: unknown): said is ListedQuestion {
  if (!hasFields(said, ["question_id", "asked_at"])) return false;
  const { kind, request } = said;
  if (kind === "permission") {
    return (
      hasFields(request, [...REQUEST_NAMES, ...REQUEST_WORDS], REQUEST_LISTS) &&
      isListOf(request["marks"], (mark) => typeof mark === "string") &&
      isListOf(request["scope_choices"], (choice) =>
        hasFields(choice, ["id", "session_scope"], ["scopes"]),
      )
    );
  }
  if (kind !== "elicitation" || !hasFields(request, ["message", "tool_name", "tool_call_id"])) {
    return false;
  }
  return request["mode"] === "url"
    ? hasFields(request, ["url"])
    : request["mode"] === "form" && isPlainRecord(request["requested_schema"]);
}

const REQUEST_NAMES = ["session_id", "run_id", "agent_id", "tool_call_id", "tool_name", "digest"];
const REQUEST_WORDS = ["role", "description", "permission", "session_scope", "cwd", "reason"];
const REQUEST_LISTS = ["tags", "resources", "scopes", "hook_results", "chain"];

export function isSettled(said: unknown): said is Settled {
  return hasFields(said, ["question_id", "outcome"]);
}

export function isLiveText(said: unknown): said is LiveText {
  return (
    isPlainRecord(said) &&
    [said["run_id"], said["node_id"], said["text"]].every((one) => typeof one === "string") &&
    Number.isSafeInteger(said["offset"]) &&
    Number(said["offset"]) >= 0
  );
}

export function isGrantList(said: unknown): said is readonly ListedGrant[] {
  return (
    Array.isArray(said) &&
    said.every((grant) =>
      hasFields(grant, ["grant_id", "tool_name", "session_id", "granted_by", "covers"], ["scopes"]),
    )
  );
}

/** Older runtimes have none. */
function isListOf(said: unknown, isOne: (item: unknown) => boolean): boolean {
  return said === undefined || (Array.isArray(said) && said.every(isOne));
}

function hasFields(
  said: unknown,
  texts: readonly string[],
  lists: readonly string[] = [],
): said is Record<string, unknown> {
  return (
    isPlainRecord(said) &&
    texts.every((name) => typeof said[name] === "string") &&
    lists.every((name) => Array.isArray(said[name]))
  );
}

/** What became of a question, for an answer that no one waits for. */
export function describeOutcome(settled: Settled | undefined): string {
  if (settled === undefined) return "this question was answered already, or its call is gone";
  const { outcome, answered_by = "someone else", decision, action } = settled;
  if (outcome === "cancelled") return "the call is gone, or did not wait any longer";
  if (outcome === "nobody") return "no one was there to answer, so it was denied";
  const answer = decision ?? action;
  return `${answered_by} has answered${answer === undefined ? "" : ` ${answer.replaceAll("_", " ")}`}`;
}
