// Who decided what about a call, in order: the policy with its chain, hooks that refused, the person who was asked.

import type { ChainEntry, Fact, PermissionRequest } from "@soong/core";
import type { Decided } from "../wire/index.ts";
import { dataIn, listIn, textIn, type Data } from "./read-data.ts";

export interface ReadDecisions {
  readonly decisions: readonly Decided[];
  /** The last question that was put to a person. */
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
    const data = dataIn(fact.data);
    const place = { seq: fact.seq, at: atOf(fact) };
    if (fact.type === "permission.requested") {
      request = requestIn(data);
      asked = { at: place.at, ...(request === undefined ? {} : { request }) };
      decisions.push({ ...place, by: "person", decision: "asked", ...requestOf(asked) });
    } else if (fact.type === "permission.resolved" || fact.type === "permission.failed") {
      // One entry a question: the answer takes the place of what was open.
      if (asked !== undefined) decisions.splice(decisions.findLastIndex(isOpen), 1);
      const waited = asked === undefined ? {} : { waited_ms: Math.max(0, place.at - asked.at) };
      decisions.push({ ...place, ...answerIn(fact.type, data), ...requestOf(asked), ...waited });
      asked = undefined;
    } else {
      const decided = decidedIn(fact.type, data);
      if (decided !== undefined) decisions.push({ ...place, ...decided });
    }
  }
  return { decisions: hasEnded ? decisions.map(givenUp) : decisions, request };
}

type Verdict = Omit<Decided, "seq" | "at">;

function decidedIn(type: string, data: Data): Verdict | undefined {
  if (type === "permission.evaluated") return policyIn(data);
  if (type === "hook.denied") {
    const hook = textIn(data, "hook");
    const answered_by = hook === undefined ? {} : { answered_by: hook };
    return { by: "hook", decision: "deny", ...reasonIn(data, "reason"), ...answered_by };
  }
  if (type !== "grant.created") return undefined;
  const grant = dataIn(data["grant"]);
  const grant_id = textIn(grant, "grant_id");
  const answered_by = textIn(grant, "granted_by");
  return {
    by: "grant",
    decision: "granted",
    reason: "Calls like this one are allowed for the rest of the session.",
    ...(answered_by === undefined ? {} : { answered_by }),
    ...(grant_id === undefined ? {} : { grant_id }),
  };
}

function policyIn(data: Data): Verdict {
  const chain = chainIn(data);
  const grant_id = textIn(data, "grant_id");
  const decisive = chain.find((entry) => entry.decisive === true);
  const by = grant_id !== undefined ? "grant" : decisive?.layer === "hook" ? "hook" : "policy";
  return {
    by,
    decision: textIn(data, "decision") ?? "unknown",
    ...reasonIn(data, "reason"),
    chain,
    ...(grant_id === undefined ? {} : { grant_id }),
  };
}

function answerIn(type: string, data: Data): Verdict {
  if (type === "permission.failed") {
    return { by: "nobody", decision: "deny", ...reasonIn(data, "message") };
  }
  const answered_by = textIn(data, "answered_by");
  return {
    by: "person",
    decision: textIn(data, "decision") ?? "unknown",
    ...reasonIn(data, "reason"),
    ...(answered_by === undefined ? {} : { answered_by }),
  };
}

function isOpen({ by, decision }: Decided): boolean {
  return by === "person" && decision === "asked";
}

function givenUp(decided: Decided): Decided {
  if (!isOpen(decided)) return decided;
  const reason = "The call ended before anybody answered.";
  return { ...decided, by: "nobody", decision: "unanswered", reason };
}

function requestOf(asked: { request?: PermissionRequest } | undefined): Pick<Decided, "request"> {
  return asked?.request === undefined ? {} : { request: asked.request };
}

function reasonIn(data: Data, field: string): { reason?: string } {
  const reason = textIn(data, field);
  return reason === undefined ? {} : { reason };
}

/** Only entries that are whole. */
function chainIn(data: Data): ChainEntry[] {
  return listIn(data, "chain").filter((entry): entry is ChainEntry => {
    const given = dataIn(entry);
    return ["layer", "rule", "verdict", "reason"].every(
      (field) => textIn(given, field) !== undefined,
    );
  });
}

const TEXTS = ["request_id", "tool_call_id", "tool_name"];
const LISTS = ["tags", "resources", "scopes", "chain", "hook_results"];

/** A request of another version may lack what a page shows of it: then it is not shown as one. */
function requestIn(data: Data): PermissionRequest | undefined {
  const request = dataIn(data["request"]);
  const isWhole =
    TEXTS.every((field) => textIn(request, field) !== undefined) &&
    LISTS.every((field) => Array.isArray(request[field]));
  return isWhole ? (request as unknown as PermissionRequest) : undefined;
}
