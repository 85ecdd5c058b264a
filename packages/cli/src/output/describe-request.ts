// What a person is shown before they answer for a call (PERM-6): the call, its preview, why it is asked, and
// what "for this session" would cover.

import type { PermissionRequest } from "@soong/core";
import type { Colours } from "./colours.ts";
import { colouredDiff } from "./diff.ts";
import { visible, visibleJson, visibleLine } from "./visible.ts";

export function describeRequest(request: PermissionRequest, colours: Colours): string {
  const { bold, dim, yellow } = colours;
  const marks = [
    ...(request.dangerous ? ["dangerous"] : []),
    ...(request.destructive ? ["destructive"] : []),
  ];
  const hosts =
    request.network_hosts === "unknown" ? ["a host that is not known"] : request.network_hosts;
  return [
    `${bold(request.tool_name)}${marks.length === 0 ? "" : ` ${yellow(`(${marks.join(", ")})`)}`}`,
    ...previewLines(request, colours),
    ...(hosts.length === 0 ? [] : [`Network: ${hosts.map(visibleLine).join(", ")}`]),
    dim(`Asked because: ${visibleLine(request.reason)}`),
    dim(`"For this session" would cover: ${visibleLine(request.session_scope)}`),
  ].join("\n");
}

function previewLines(request: PermissionRequest, colours: Colours): string[] {
  const { preview } = request;
  switch (preview?.kind) {
    case "diff":
      return [visibleLine(preview.path), colouredDiff(preview.diff, colours)];
    case "command":
      return [`$ ${preview.argv.map(shellWord).join(" ")}`, `in ${visibleLine(preview.cwd)}`];
    case "text":
      return [visible(preview.text)];
    case undefined:
      return [visibleJson(request.arguments)];
  }
}

/** As it would be typed, so that one argument is not taken for two. */
function shellWord(word: string): string {
  const shown = visibleLine(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`;
}
