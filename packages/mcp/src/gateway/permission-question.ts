// The question to the user as a form a client can show (GATE-2), and what its answer means. Anything that is not
// one of the offered answers is a no.

import {
  readPermissionAnswer,
  visibleJson,
  visibleLine,
  type ElicitationAnswer,
  type ElicitationRequest,
  type PermissionAnswer,
  type PermissionRequest,
} from "@soong/core";
import {
  describeClaim,
  describeQuestion,
  describeSandbox,
  exactLine,
  exactText,
} from "@soong/core/internal";
import { writeTomlValue } from "@soong/platform";
import { safeLine } from "../catalog/safe-text.ts";

/** A client may cut or fold what is longer, so more than this is not asked there (PERM-19). */
const MAX_QUESTION_CHARS = 4_000;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_REASON_CHARS = 500;

/** Nothing that matters is cut: undefined where the question is too long to be sure that all of it is seen. */
export function permissionQuestion(request: PermissionRequest): ElicitationRequest | undefined {
  const { reason, cwd, scopes, session_scope, marks = [] } = request;
  const claim = describeClaim(request);
  // A form has no second page: what is open is named in full (PERM-19).
  const sandbox = describeSandbox(request, Number.POSITIVE_INFINITY);
  const lines = [
    `Allow: ${describeQuestion(request)}`,
    `Tool: ${exactLine(request.tool_name)}. ${safeLine(request.description, MAX_DESCRIPTION_CHARS)}`,
    ...(claim === undefined ? [] : [claim]),
    ...(marks.includes("dangerous") ? ["It is marked dangerous."] : []),
    ...(marks.includes("destructive") ? ["It may destroy what cannot be brought back."] : []),
    "",
    ...whatWouldHappen(request),
    "",
    ...(cwd === "" ? [] : [`In: ${exactLine(cwd)}`]),
    ...(sandbox === undefined ? [] : [sandbox]),
    `Asked because: ${visibleLine(reason)}`,
    ...(scopes.length > 0
      ? [`"${TITLES.allow_for_session}" covers: ${visibleLine(session_scope)}`]
      : []),
  ];
  const message = lines.join("\n");
  if (message.length > MAX_QUESTION_CHARS) return undefined;
  return {
    mode: "form",
    message,
    requested_schema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          description: "Whether this call is made.",
          oneOf: listDecisions(request).map((decision) => ({
            const: decision,
            title: TITLES[decision],
          })),
        },
        reason: {
          type: "string",
          title: "Reason",
          description: "For the model, if you like: what to do instead.",
        },
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
    const reason = `declined in the client (an unattended host declines automatically). ${howToAllow(request)}`;
    return { decision: "deny", reason, answered_by };
  }
  const answer = readPermissionAnswer(content);
  const offered: readonly string[] = listDecisions(request);
  if (typeof answer === "string" || !offered.includes(answer.decision)) {
    return { decision: "deny", reason: "the answer was none of those offered", answered_by };
  }
  const { decision, reason = "" } = answer;
  const said = visibleLine(reason.trim()).slice(0, MAX_REASON_CHARS);
  return { decision, ...(said !== "" && { reason: said }), answered_by };
}

const TITLES = {
  allow_once: "Allow once",
  allow_for_session: "Allow for this session",
  deny: "Deny",
} as const;

/** For a call that no one could approve. */
export function howToAllow({ session_id, tool_name, chain }: PermissionRequest): string {
  const answer =
    `To allow it, open the page of \`soong inspect\` or run \`soong attach ${session_id}\` in a terminal, ` +
    `call again and answer there`;
  // What a rule, a hook or the runtime asks about, no further rule allows.
  const asking = chain.find(({ decisive }) => decisive === true);
  return asking?.layer === "defaults"
    ? `${answer}; or add to config.toml:\n[[permissions.rules]]\ntool = ${writeTomlValue(tool_name)}\ndecision = "allow"`
    : `${answer}.`;
}

/** A question that is put every time covers nothing more. */
function listDecisions({ scopes }: PermissionRequest): (keyof typeof TITLES)[] {
  const isRemembered = scopes.length > 0;
  return isRemembered ? ["allow_once", "allow_for_session", "deny"] : ["allow_once", "deny"];
}

const NOT_SHOWN_HERE =
  "No preview is shown here, because the file is restricted; `soong inspect` and `soong attach` show what there is.";

function whatWouldHappen(request: PermissionRequest): string[] {
  const { arguments: input, resources } = request;
  // The client is a program: what a restricted file holds is not for it. The arguments say what would be done.
  const preview = request.preview_is_private === true ? undefined : request.preview;
  const programs = resources.flatMap((one) => (one.kind === "command" ? [one.executable] : []));
  const runs = programs.map((program) => `Runs: ${exactLine(program)}`);
  switch (preview?.kind) {
    case "diff":
      return [exactLine(preview.path), exactText(preview.diff)];
    case "text":
      return [exactText(preview.text)];
    case "command":
      return [`Command: ${visibleJson(preview.argv)}`, ...runs];
    case undefined:
      return [
        `Arguments: ${visibleJson(input)}`,
        ...runs,
        ...(request.preview_is_private === true ? [NOT_SHOWN_HERE] : []),
      ];
  }
}
