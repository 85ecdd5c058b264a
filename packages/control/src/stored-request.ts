// The request of a stored question, as it may be shown. The store is written by other processes and versions, and perhaps by hand.

import type { AskElicitation, PermissionRequest } from "@soong/core";
import { checkValue, shape, type Shape } from "@soong/platform";
import { asRecord } from "@soong/schema";
import type { QuestionRecord } from "@soong/store";

/** What is kept to be shown. */
export type StoredRequest = (
  | { readonly kind: "permission"; readonly request: PermissionRequest }
  | { readonly kind: "elicitation"; readonly request: Parameters<AskElicitation>[0] }
) & {
  /** False: what it would do is sensitive or very long, and is not kept; no one can approve it from here. */
  readonly shows_all: boolean;
};

/** One that lacks a field, or has one of another type, is read as an empty one: it can be denied, and not approved. */
export function readStoredRequest({ kind, request: kept = {} }: QuestionRecord): StoredRequest {
  const { request } = kept;
  const isSound = checkValue(request, REQUESTS[kind]).length === 0;
  const stored = isSound
    ? { request, shows_all: kept["shows_all"] === true }
    : { request: {}, shows_all: false };
  return { kind, ...stored } as unknown as StoredRequest;
}

const { anyText, flag, list, object, optional } = shape;
/** A newer version may write more. */
const OTHERS = { mayHaveOthers: true };

const texts = list(anyText);
const record = object({}, OTHERS);
const perhapsText = optional(anyText);
const perhapsTexts = optional(texts);
const perhapsFlag = optional(flag);
const perhapsRecords = optional(list(record));

const COMMAND = {
  kind: perhapsText,
  executable: perhapsText,
  argv: perhapsTexts,
  cwd: perhapsText,
  path: perhapsText,
};

const RULE = {
  tool: perhapsText,
  tags: perhapsTexts,
  path: perhapsText,
  argv: perhapsTexts,
  host: perhapsText,
  decision: perhapsText,
  reason: perhapsText,
  project: perhapsText,
};

const SCOPE = {
  ...COMMAND,
  host: perhapsText,
  server_id: perhapsText,
  tool_name: perhapsText,
  access: perhapsText,
};

const scopes = list(object(SCOPE, OTHERS));

const SCOPES = { session_scope: perhapsText, always_rule: optional(object(RULE, OTHERS)) };

const PREVIEWS = new Map<unknown, Shape<unknown>>([
  ["text", object({ text: anyText }, OTHERS)],
  ["diff", object({ path: anyText, diff: anyText }, OTHERS)],
  ["command", object({ argv: texts, cwd: anyText }, OTHERS)],
]);

/** Whole: what is shown for approval is read from it. */
const preview: Shape<unknown> = (value, place) => {
  const whole = PREVIEWS.get(asRecord(value)["kind"]);
  if (whole === undefined) place.report("is no preview");
  else whole(value, place);
};

const hosts: Shape<unknown> = (value, place) => {
  if (value !== "unknown") texts(value, place);
};

const permission = object(
  {
    ...SCOPES,
    tool_name: anyText,
    role: anyText,
    resources: list(object(COMMAND, OTHERS)),
    scopes,
    network_hosts: hosts,
    reason: anyText,
    session_id: perhapsText,
    run_id: perhapsText,
    agent_id: perhapsText,
    parent_run_id: perhapsText,
    parent_agent_id: perhapsText,
    tool_call_id: perhapsText,
    description: perhapsText,
    permission: perhapsText,
    tags: perhapsTexts,
    preview: optional(preview),
    preview_is_private: perhapsFlag,
    scope_choices: optional(
      list(object({ ...SCOPES, scopes: optional(scopes), id: perhapsText }, OTHERS)),
    ),
    cwd: perhapsText,
    project: perhapsText,
    env_summary: perhapsTexts,
    sandbox: optional(record),
    dangerous: perhapsFlag,
    destructive: perhapsFlag,
    marks: perhapsTexts,
    hook_results: perhapsRecords,
    chain: perhapsRecords,
    digest: perhapsText,
  },
  OTHERS,
);

const ELICITATION = { tool_name: anyText, tool_call_id: perhapsText, message: anyText };
const ELICITATIONS = new Map<unknown, Shape<unknown>>([
  [
    "form",
    object({ ...ELICITATION, requested_schema: object({ properties: record }, OTHERS) }, OTHERS),
  ],
  ["url", object({ ...ELICITATION, url: anyText }, OTHERS)],
]);

const elicitation: Shape<unknown> = (value, place) => {
  const whole = ELICITATIONS.get(asRecord(value)["mode"]);
  if (whole === undefined) place.report("has no known mode");
  else whole(value, place);
};

const REQUESTS = { permission, elicitation } as const;
