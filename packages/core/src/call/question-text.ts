// A question before a call in one line, what and where first: terminals, the inspector and the gateway all begin with it.
// All of it is escaped, so that what the user reads is what runs (PERM-19).

import { asRecord, shorten, type JsonObject } from "@soong/schema";
import { shellWord } from "../result/shell-word.ts";
import { exactLine, visibleLine } from "../result/visible.ts";
import { primaryArgument, type Resource } from "../tool/index.ts";
import type { PermissionRequest } from "./permission-request.ts";

/** Such as "Run `npm test` in .", "Edit src/a.ts (+3 −1)" or "Fetch https://example.org/". */
export function describeQuestion(request: PermissionRequest): string {
  const { preview, resources, tool_name } = request;
  const command = resources.find((one) => one.kind === "command");
  const run = preview?.kind === "command" ? preview : command;
  if (run !== undefined) {
    const program = tool_name === RUN_COMMAND ? "" : `${exactLine(tool_name)}: `;
    return `${program}Run \`${shorten(commandText(run.argv), MOST_SHOWN)}\` in ${placeText(request, run.cwd)}`;
  }
  const changed = preview?.kind === "diff" ? preview.path : undefined;
  const written = resources.find(isWrittenPath)?.path ?? changed;
  const change = CHANGES[tool_name];
  if (change !== undefined && written !== undefined) {
    return `${change(request)} ${placeText(request, written)}${countLines(request)}`;
  }
  const about = describeTarget(request);
  const does = DOES[tool_name];
  if (does !== undefined && about !== undefined) return `${does} ${about}`;
  const server = /^mcp\.([^.]+)\./.exec(tool_name)?.[1];
  const where = server === undefined ? "" : ` on server ${exactLine(server)}`;
  return `${exactLine(tool_name)}${where}${about === undefined || server !== undefined ? "" : `: ${about}`}`;
}

/** The same of a request that was stored, and may have been changed since: the tool's name where it says no more. */
export function describeStoredQuestion(tool_name: string, request: unknown): string {
  try {
    return describeQuestion(request as PermissionRequest);
  } catch {
    return exactLine(tool_name);
  }
}

/** Of a stored question: what a step waits for, with the command that answers it. */
export function describeOpenQuestion({
  question_id,
  tool_name,
  kind,
  request,
}: {
  readonly question_id: string;
  readonly tool_name: string;
  readonly kind: "permission" | "elicitation";
  readonly request?: JsonObject;
}): string {
  const what =
    kind === "permission"
      ? `approval: ${describeStoredQuestion(tool_name, request?.["request"])}`
      : `an answer to ${exactLine(tool_name)}`;
  return `${what} (\`soong questions answer ${exactLine(question_id)}\`)`;
}

/** What the model itself says of a command: a claim, and marked as one. */
export function describeClaim({
  tool_name,
  arguments: input,
}: PermissionRequest): string | undefined {
  const { description } = asRecord(input);
  if (tool_name !== RUN_COMMAND || typeof description !== "string") return undefined;
  const said = visibleLine(description.trim());
  return said === "" ? undefined : `The model says: ${said}`;
}

/** As it would be typed. */
export function commandText(argv: readonly string[]): string {
  return argv.map((word) => shellWord(exactLine(word))).join(" ");
}

const RUN_COMMAND = "code.run_command";

const CHANGES: Readonly<Record<string, (request: PermissionRequest) => string>> = {
  "code.edit_file": (request) =>
    asRecord(request.arguments)["create_if_missing"] === true && isOnEmpty(request)
      ? "Write new file"
      : "Edit",
  "code.write_file": ({ destructive, preview, preview_is_private }) => {
    // Whether a restricted file exists is not said, and without a plan it is not known.
    if (preview_is_private === true || preview?.kind !== "diff") return "Write";
    return destructive ? "Overwrite" : "Write new file";
  },
};

const DOES: Readonly<Record<string, string>> = {
  "code.read_file": "Read",
  "code.list_dir": "List",
  "code.search": "Search in",
  "web.fetch": "Fetch",
};

function isOnEmpty({ preview }: PermissionRequest): boolean {
  return preview?.kind === "diff" && /^@@ -0,0 /m.test(preview.diff);
}

function countLines({ preview }: PermissionRequest): string {
  if (preview?.kind !== "diff") return "";
  const body = preview.diff.split("\n").slice(2);
  const count = (sign: string): number => body.filter((line) => line.startsWith(sign)).length;
  return ` (+${count("+")} −${count("-")})`;
}

function describeTarget(request: PermissionRequest): string | undefined {
  const { url } = asRecord(request.arguments);
  if (typeof url === "string") return shorten(exactLine(url), MOST_SHOWN);
  const path = request.resources.find((one) => one.kind === "path")?.path;
  if (path !== undefined) return placeText(request, path);
  const said = primaryArgument(request.arguments);
  return said === undefined ? undefined : shorten(exactLine(said), MOST_SHOWN);
}

/** All of it is in the preview or the arguments below. */
const MOST_SHOWN = 161;

function isWrittenPath(resource: Resource): resource is Extract<Resource, { kind: "path" }> {
  return resource.kind === "path" && resource.access === "write";
}

/** Below the project as the user writes it, and elsewhere in full. */
export function placeText(
  { project = "" }: { readonly project?: string | undefined },
  path: string,
): string {
  if (project !== "" && path === project) return ".";
  const start = project.endsWith("/") ? project : `${project}/`;
  return exactLine(project !== "" && path.startsWith(start) ? path.slice(start.length) : path);
}
