// What a user is shown before they answer for a call (PERM-6): one line with what and where, whose call it is, its preview,
// why it is asked, and what "for this session" would cover.

import { visibleJson, visibleLine, type PermissionRequest } from "@soong/core";
import {
  commandText,
  describeClaim,
  describeQuestion,
  describeSandbox,
  exactLine,
  exactText,
  listSandbox,
} from "@soong/core/internal";
import { measureWidth } from "./grapheme-width.ts";
import { renderDiff, wrap, type Colours } from "./output.ts";

/**
 * `screen`: how wide it is, and how many rows the preview may take; without it, all is shown. `hiddenLines`: of the preview, dropped
 * to fit the screen, and what one line says of the sandbox.
 */
export function describeRequest(
  request: PermissionRequest,
  colours: Colours,
  screen?: { readonly rows?: number; readonly columns: number },
): { text: string; hiddenLines: number } {
  const { bold, dim, yellow } = colours;
  const { marks = [] } = request;
  const claim = describeClaim(request);
  const hosts =
    request.network_hosts === "unknown" ? ["a host that is not known"] : request.network_hosts;
  const headline = describeQuestion(request);
  const preview = previewLines(request, headline, colours);
  const kept = screen === undefined ? preview.length : linesThatFit(preview, screen);
  const cut = preview.length - kept;
  const sandbox = describeSandbox(request);
  const limits = listSandbox(request);
  const showsLimits = screen === undefined;
  const text = [
    `${bold(headline)}${marks.length === 0 ? "" : ` ${yellow(`(${marks.join(", ")})`)}`}`,
    ...originLines(request, colours),
    ...(claim === undefined ? [] : prose(claim)),
    ...preview.slice(0, kept),
    ...(cut === 0 ? [] : [dim(`… ${cut} more ${cut === 1 ? "line" : "lines"}`)]),
    ...(sandbox === undefined ? [] : [sandbox]),
    ...(showsLimits ? limits.map((line) => dim(`  ${line}`)) : []),
    ...(hosts.length === 0 ? [] : [`Network: ${hosts.map(exactLine).join(", ")}`]),
    ...prose(`Asked because: ${visibleLine(request.reason)}`),
    ...prose(describeSession(request)),
  ].join("\n");
  return { text, hiddenLines: cut + (showsLimits ? 0 : limits.length) };

  function prose(sentence: string): string[] {
    return screen === undefined ? [dim(sentence)] : wrap(sentence, screen.columns - 1).map(dim);
  }
}

/** A user who answers thinks of the conversation they see; a child of it is another agent. */
function originLines(request: PermissionRequest, { yellow }: Colours): string[] {
  const { role, agent_id, parent_agent_id, run_id } = request;
  if (role === "main") return [];
  const by = parent_agent_id === undefined ? "" : `, started by ${visibleLine(parent_agent_id)}`;
  return [
    yellow(
      `Asked by the ${visibleLine(role)} agent ${visibleLine(agent_id)}${by}, in ${visibleLine(run_id)}`,
    ),
  ];
}

/** Nothing that the headline or the line above says in full. */
function previewLines(request: PermissionRequest, headline: string, colours: Colours): string[] {
  const { preview } = request;
  switch (preview?.kind) {
    case "diff": {
      const hunks = preview.diff.replace(/^--- .*\n\+\+\+ .*\n/, "").replace(/\n$/, "");
      return [exactLine(preview.path), ...renderDiff(hunks, colours).split("\n")];
    }
    case "command": {
      const command = commandText(preview.argv);
      const place = `in ${commandText([preview.cwd])}`;
      const programs = findPrograms(request);
      return [
        ...(headline.includes(`\`${command}\``) ? [] : [`$ ${command}`]),
        programs.length === 0 ? place : `runs ${commandText(programs)} ${place}`,
      ];
    }
    case "text":
      return exactText(preview.text).split("\n");
    case undefined:
      return [visibleJson(request.arguments)];
  }
}

/** The name in a command says little: the program that was found may be one of the project. */
function findPrograms({ resources }: PermissionRequest): string[] {
  return resources.flatMap((one) => (one.kind === "command" ? [one.executable] : []));
}

/** What "for this session" would cover. */
function describeSession({ scopes, session_scope, preview }: PermissionRequest): string {
  const sentence = visibleLine(session_scope);
  const [first, ...more] = scopes;
  if (first === undefined) return sentence;
  const isThisCommand =
    more.length === 0 &&
    first.kind === "argv" &&
    preview?.kind === "command" &&
    first.cwd === preview.cwd &&
    JSON.stringify(first.argv) === JSON.stringify(preview.argv);
  return isThisCommand
    ? '"For this session" covers exactly this command, in this directory.'
    : `"For this session": ${sentence.replace(/^For the rest of the session, /, "")}`;
}

/** Always one: a single long line is better seen whole than not at all. */
function linesThatFit(
  lines: readonly string[],
  {
    rows = Number.POSITIVE_INFINITY,
    columns,
  }: { readonly rows?: number; readonly columns: number },
): number {
  let used = 0;
  const over = lines.findIndex((line) => {
    used += Math.max(1, Math.ceil(measureWidth(line) / columns));
    return used > rows;
  });
  return over === -1 ? lines.length : Math.max(1, over);
}
