// The question to a person as a form a client can show (GATE-2), and what its answer means. Whatever is not
// one of the offered answers is a no.

import type {
  ElicitationAnswer,
  ElicitationRequest,
  PermissionAnswer,
  PermissionRequest,
  Preview,
} from "@soong/core";
import { safeLine, safeText } from "../catalog/index.ts";

const MAX_PREVIEW_CHARS = 4_000;
const MAX_ARGUMENT_CHARS = 2_000;
const MAX_LINE_CHARS = 500;

type Decision = PermissionAnswer["decision"];

export function permissionQuestion(request: PermissionRequest): ElicitationRequest {
  const { preview, arguments: input, reason, cwd } = request;
  const lines = [
    `Allow ${safeLine(request.tool_name, MAX_LINE_CHARS)}?`,
    safeLine(request.description, MAX_LINE_CHARS),
    ...(request.dangerous ? ["It is marked dangerous."] : []),
    ...(request.destructive ? ["It may destroy what cannot be brought back."] : []),
    "",
    preview === undefined
      ? `Arguments: ${safeText(JSON.stringify(input), MAX_ARGUMENT_CHARS)}`
      : safeText(previewText(preview), MAX_PREVIEW_CHARS),
    "",
    ...(cwd === "" ? [] : [`In: ${safeLine(cwd, MAX_LINE_CHARS)}`]),
    `Asked because: ${safeLine(reason, MAX_LINE_CHARS)}`,
    ...(isRemembered(request)
      ? [`allow_for_session covers: ${safeLine(request.session_scope, MAX_LINE_CHARS)}`]
      : []),
  ];
  return {
    mode: "form",
    message: lines.join("\n"),
    requested_schema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          description: "What becomes of this call.",
          enum: [...offered(request)],
        },
        reason: { type: "string", title: "Reason", description: "For the model; may be left out." },
      },
      required: ["decision"],
    },
  };
}

export function readPermission(
  request: PermissionRequest,
  { action, content }: ElicitationAnswer,
  client: string,
): PermissionAnswer {
  const answered_by = `client ${client}`;
  if (action !== "accept") {
    const reason = `declined in the client (a host that nobody sits at declines by itself). ${howToAllow(request)}`;
    return { decision: "deny", reason, answered_by };
  }
  const decision = offered(request).find((known) => known === content?.["decision"]);
  if (decision === undefined) {
    return { decision: "deny", reason: "the answer was none of those offered", answered_by };
  }
  const reason = content?.["reason"];
  const said = typeof reason === "string" && reason.trim() !== "";
  return { decision, ...(said ? { reason: safeText(reason, MAX_LINE_CHARS) } : {}), answered_by };
}

/** For a call that nobody could be asked about. */
export function howToAllow({ session_id, tool_name }: PermissionRequest): string {
  return (
    `To allow it, open the page of \`soong inspect\` or run \`soong attach ${session_id}\` in a terminal, ` +
    `call again and answer there; ` +
    `or put a rule into config.toml: [[permissions.rules]] tool = "${tool_name}" decision = "allow"`
  );
}

/** A question that is put every time covers nothing more. */
function isRemembered({ scopes }: PermissionRequest): boolean {
  return scopes.length > 0;
}

function offered(request: PermissionRequest): readonly Decision[] {
  return isRemembered(request)
    ? ["allow_once", "allow_for_session", "deny"]
    : ["allow_once", "deny"];
}

function previewText(preview: Preview): string {
  if (preview.kind === "diff") return preview.diff;
  if (preview.kind === "text") return preview.text;
  return JSON.stringify(preview);
}
