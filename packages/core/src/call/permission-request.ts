// What the user is shown before a call (PERM-6) and may answer (PERM-4).

import { omitUndefined, type JsonObject, type JsonValue } from "@soong/schema";
import type { ChainEntry, GrantScope, PermissionRule, ScopeChoice } from "../permission/index.ts";
import type { Permission, PlannedSandbox, Preview, Resource } from "../tool/index.ts";

export interface PermissionRequest {
  request_id: string;
  session_id: string;
  run_id: string;
  agent_id: string;
  parent_run_id?: string;
  parent_agent_id?: string;
  role: string;
  tool_call_id: string;
  tool_name: string;
  description: string;
  permission: Permission;
  tags: readonly string[];
  /** Redacted. */
  arguments: JsonValue;
  preview?: Preview;
  /** It shows a restricted file: a live question to the user may show it, and nothing may keep or relay it (PIPE-9). */
  preview_is_private?: boolean;
  resources: readonly Resource[];
  scopes: readonly GrantScope[];
  /** In words: what allow_for_session would cover. */
  session_scope: string;
  /** What else a yes for the session may cover, as the user chooses; the default first. Absent where there is no choice. */
  scope_choices?: readonly OfferedScope[];
  /** The rule that "always" would write; absent where none covers just this (PERM-18). */
  always_rule?: PermissionRule;
  cwd: string;
  /** The directory of the project; not in old records. */
  project?: string;
  /** Names of environment variables the call would see, when the tool says so. */
  env_summary?: readonly string[];
  /** How its command would run, and what is closed to it then (CMD-6). */
  sandbox?: PlannedSandbox;
  network_hosts: readonly string[] | "unknown";
  dangerous: boolean;
  destructive: boolean;
  /** Those of the two that tell this call apart: every command is dangerous, and every write of an MCP tool may destroy something. */
  marks?: readonly ("dangerous" | "destructive")[];
  hook_results: readonly JsonObject[];
  reason: string;
  chain: readonly ChainEntry[];
  suggested_decision: "allow_once" | "deny";
  /** What the answer is bound to (PERM-8). */
  digest: string;
}

export interface OfferedScope extends ScopeChoice {
  /** In words. */
  session_scope: string;
  always_rule?: PermissionRule;
}

export interface PermissionAnswer {
  decision: "allow_once" | "allow_for_session" | "deny";
  /** With allow_for_session: which of the `scope_choices`. Default: the first. */
  scope?: ScopeChoice["id"];
  /** Reaches the model. */
  reason?: string;
  answered_by?: string;
  /** Beside a yes: the rule that the asker keeps for the user, in this project or in every one. */
  always?: { where: "project" | "everywhere"; rule?: PermissionRule };
  metadata?: JsonObject;
}

/** Thrown by `ask` where no one can be asked, with the reason. That is a no (PERM-4). */
export class NoOneToAsk extends Error {
  override readonly name = "NoOneToAsk";
}

const SCOPES: readonly unknown[] = ["exact", "prefix", "program"];
const DECISIONS: readonly unknown[] = ["allow_once", "allow_for_session", "deny"];

/** A copy of the answer, or what is wrong with it. */
export function readPermissionAnswer(given: unknown): PermissionAnswer | string {
  if (typeof given !== "object" || given === null) return `answered with ${String(given)}`;
  let answer: PermissionAnswer;
  try {
    answer = JSON.parse(JSON.stringify(given)) as PermissionAnswer;
  } catch {
    return "answered with something that is not JSON";
  }
  if (!DECISIONS.includes(answer?.decision)) {
    return `answered with the decision ${JSON.stringify(answer?.decision)}; expected allow_once, allow_for_session or deny`;
  }
  if (answer.reason !== undefined && typeof answer.reason !== "string") {
    return "answered with a reason that is not a text";
  }
  const { decision, always, reason, scope, answered_by, metadata } = answer;
  if (scope !== undefined && !SCOPES.includes(scope)) {
    return `answered with the scope ${JSON.stringify(scope)}; expected exact, prefix or program`;
  }
  if (always !== undefined) {
    if (answer.decision === "deny") return "answered deny, and always";
    if (always?.where !== "project" && always?.where !== "everywhere") {
      return 'answered with an always whose where is neither "project" nor "everywhere"';
    }
  }
  return omitUndefined({
    decision,
    scope,
    always,
    reason,
    answered_by: typeof answered_by === "string" ? answered_by : undefined,
    metadata: typeof metadata === "object" && metadata !== null ? metadata : undefined,
  });
}
