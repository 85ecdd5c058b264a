// The request of a stored question, as it may be shown. The store is written by other processes and versions, and perhaps by hand.

import type { AskElicitation, PermissionRequest } from "@soong/core";
import { asRecord, isJsonObject, type JsonObject, type JsonValue } from "@soong/schema";
import type { QuestionRecord } from "@soong/store";

/** What is kept to be shown. */
export type StoredRequest = (
  | { readonly kind: "permission"; readonly request: PermissionRequest }
  | { readonly kind: "elicitation"; readonly request: Parameters<AskElicitation>[0] }
) & {
  /** False: what it would do is sensitive or very long, and is not kept; no one can approve it from here. */
  readonly shows_all: boolean;
};

/** What it takes to show one. */
const REQUIRED: Readonly<Record<QuestionRecord["kind"], readonly string[]>> = {
  permission: ["tool_name", "role", "resources", "scopes", "network_hosts", "reason"],
  elicitation: ["message"],
};

/** One that lacks a field, or has one of another type, is read as an empty one: it can be denied, and not approved. */
export function readStoredRequest({ kind, request: kept = {} }: QuestionRecord): StoredRequest {
  const { request } = kept;
  const isSound =
    isJsonObject(request) &&
    REQUIRED[kind].every((name) => request[name] !== undefined) &&
    hasFields(request, FIELDS[kind]);
  const stored = isSound
    ? { request, shows_all: kept["shows_all"] === true }
    : { request: {}, shows_all: false };
  return { kind, ...stored } as unknown as StoredRequest;
}

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isList =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);
const isRecord =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isJsonObject(value) && hasFields(value, fields);

function hasFields(given: JsonObject, fields: Readonly<Record<string, Check>>): boolean {
  return Object.entries(fields).every(([name, check]) => {
    const value = given[name];
    return value === undefined || check(value);
  });
}

const isTexts = isList(isText);
const COMMAND = { kind: isText, executable: isText, argv: isTexts, cwd: isText, path: isText };
const RULE = {
  tool: isText,
  tags: isTexts,
  path: isText,
  argv: isTexts,
  host: isText,
  decision: isText,
  reason: isText,
  project: isText,
};
const SCOPE = { ...COMMAND, host: isText, server_id: isText, tool_name: isText, access: isText };
const SCOPES = {
  scopes: isList(isRecord(SCOPE)),
  session_scope: isText,
  always_rule: isRecord(RULE),
};

/** Whole: what is shown for approval is read from it. */
function isPreview(value: JsonValue): boolean {
  const { kind, text, path, diff, argv, cwd } = asRecord(value) as JsonObject;
  if (kind === "text") return typeof text === "string";
  if (kind === "diff") return typeof path === "string" && typeof diff === "string";
  return kind === "command" && isTexts(argv ?? null) && typeof cwd === "string";
}

const FIELDS: Readonly<Record<QuestionRecord["kind"], Readonly<Record<string, Check>>>> = {
  permission: {
    ...SCOPES,
    session_id: isText,
    run_id: isText,
    agent_id: isText,
    parent_run_id: isText,
    parent_agent_id: isText,
    role: isText,
    tool_call_id: isText,
    tool_name: isText,
    description: isText,
    permission: isText,
    tags: isTexts,
    preview: isPreview,
    preview_is_private: isFlag,
    resources: isList(isRecord(COMMAND)),
    scope_choices: isList(isRecord({ ...SCOPES, id: isText })),
    cwd: isText,
    project: isText,
    env_summary: isTexts,
    sandbox: isRecord({}),
    network_hosts: (value) => value === "unknown" || isTexts(value),
    dangerous: isFlag,
    destructive: isFlag,
    marks: isTexts,
    hook_results: isList(isRecord({})),
    reason: isText,
    chain: isList(isRecord({})),
    digest: isText,
  },
  elicitation: {
    tool_name: isText,
    tool_call_id: isText,
    mode: isText,
    message: isText,
    requested_schema: isRecord({}),
    url: isText,
  },
};
