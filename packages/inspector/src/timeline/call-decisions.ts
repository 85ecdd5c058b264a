// Who decided what about a call, in order: the policy with its chain, hooks that refused, the user who was asked.

import type { EvaluatedData, Fact, PermissionRequest } from "@soong/core";
import type { Decided } from "../wire/index.ts";

export interface ReadDecisions {
  readonly decisions: readonly Decided[];
  /** The last question that was put to the user. */
  readonly request: PermissionRequest | undefined;
}

/** `atOf`: when a fact was recorded. */
export function callDecisions(
  facts: readonly Fact[],
  atOf: (fact: Fact) => number,
  hasEnded: boolean,
): ReadDecisions {
  const decisions: Decided[] = [];
  let asked: { at: number; request?: PermissionRequest } | undefined;
  let request: PermissionRequest | undefined;
  for (const fact of facts) {
    const place = { seq: fact.seq, at: atOf(fact) };
    if (fact.type === "permission.requested") {
      request = fact.data.request.request_id === "" ? undefined : fact.data.request;
      asked = { at: place.at, request };
      decisions.push({ ...place, by: "user", decision: "asked", ...requestOf(asked) });
    } else if (fact.type === "permission.resolved" || fact.type === "permission.failed") {
      // One entry a question: the answer takes the place of what was open.
      if (asked !== undefined) decisions.splice(decisions.findLastIndex(isOpen), 1);
      const waited = asked === undefined ? {} : { waited_ms: Math.max(0, place.at - asked.at) };
      decisions.push({ ...place, ...answerIn(fact), ...requestOf(asked), ...waited });
      asked = undefined;
    } else {
      const decided = decidedIn(fact);
      if (decided !== undefined) decisions.push({ ...place, ...decided });
    }
  }
  return { decisions: hasEnded ? decisions.map(givenUp) : decisions, request };
}

type Verdict = Omit<Decided, "seq" | "at">;

function decidedIn(fact: Fact): Verdict | undefined {
  switch (fact.type) {
    case "permission.evaluated":
      return policyIn(fact.data);
    case "hook.denied": {
      const { reason, hook: answered_by } = fact.data;
      return { by: "hook", decision: "deny", ...presentTexts({ reason, answered_by }) };
    }
    case "grant.created": {
      const { grant_id, granted_by: answered_by } = fact.data.grant;
      const reason = "Calls like this one are allowed for the rest of the session.";
      return {
        by: "grant",
        decision: "granted",
        ...presentTexts({ reason, answered_by, grant_id }),
      };
    }
    default:
      return undefined;
  }
}

function policyIn({ chain, grant_id, decision, reason }: EvaluatedData): Verdict {
  const decisive = chain.find((entry) => entry.decisive === true);
  const by = grant_id !== undefined ? "grant" : decisive?.layer === "hook" ? "hook" : "policy";
  return { by, decision: decision || "unknown", chain, ...presentTexts({ reason, grant_id }) };
}

function answerIn(fact: Fact<"permission.resolved" | "permission.failed">): Verdict {
  if (fact.type === "permission.failed") {
    return { by: "no_one", decision: "deny", ...presentTexts({ reason: fact.data.message }) };
  }
  const { decision, reason, answered_by } = fact.data;
  return { by: "user", decision: decision || "unknown", ...presentTexts({ reason, answered_by }) };
}

/** Without what says nothing. */
function presentTexts(texts: {
  [Field in "reason" | "answered_by" | "grant_id"]?: string | undefined;
}) {
  const said = Object.entries(texts).filter(([, text]) => text !== undefined && text !== "");
  return Object.fromEntries(said) as Pick<Verdict, keyof typeof texts>;
}

function isOpen({ by, decision }: Decided): boolean {
  return by === "user" && decision === "asked";
}

function givenUp(decided: Decided): Decided {
  if (!isOpen(decided)) return decided;
  const reason = "The call ended before anyone answered.";
  return { ...decided, by: "no_one", decision: "unanswered", reason };
}

function requestOf(asked: { request?: PermissionRequest } | undefined): Pick<Decided, "request"> {
  return asked?.request === undefined ? {} : { request: asked.request };
}
