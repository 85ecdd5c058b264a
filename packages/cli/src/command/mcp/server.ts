// A server for people: how it is in a line, what of it is not offered and why, and what changed after it was allowed.

import type { AcceptedChange, McpLoginStatus, McpServerEntry, McpServerStatus } from "@soong/mcp";
import { pad, UsageError, visibleLine, wrap, type Output } from "../../output/index.ts";
import { nearestName } from "@soong/schema";
import type { LoadedConfig } from "../../config/index.ts";
import { serversFile } from "../../runtime/index.ts";

export interface ListedServer {
  readonly status: McpServerStatus;
  readonly entry: McpServerEntry;
  readonly changes: readonly AcceptedChange[];
  readonly log: string;
  readonly login: McpLoginStatus;
}

const NAME_WIDTH = 20;

export function showServer(output: Output, { status, log }: ListedServer): void {
  showHeading(output, status);
  for (const { tool_name, reason, detail } of listExcluded(status)) {
    printDetail(output, `${tool_name}: ${reason}: ${detail}`);
  }
  if (status.state === "failed") printDetail(output, `log ${log}`);
}

export function showServerDetails(
  output: Output,
  { status, changes, log, login }: ListedServer,
): void {
  showHeading(output, status);
  printDetail(output, `log ${log}`);
  if (login.kind === "logged_in") printDetail(output, `logged in through ${login.issuer}`);
  for (const tool of status.tools) output.line(`  ${visibleLine(tool)}`);
  const changed = new Set(changes.map(({ tool_name }) => tool_name));
  for (const { tool_name, reason, detail } of status.excluded) {
    if (changed.has(tool_name)) continue;
    output.line(`  ${visibleLine(tool_name)}  ${reason}`);
    printDetail(output, detail);
  }
  showChanges(output, changes);
  if (changes.length > 0)
    printDetail(output, `To allow that: soong mcp accept ${status.server_id}`);
}

export function showChanges(output: Output, changes: readonly AcceptedChange[]): void {
  const { yellow } = output.colours;
  for (const { tool_name, changes: lines } of changes) {
    output.line(`  ${visibleLine(tool_name)}  ${yellow("changed after it was allowed")}`);
    for (const line of lines) printDetail(output, line);
  }
}

function showHeading(output: Output, status: McpServerStatus): void {
  const { bold, green, red, dim } = output.colours;
  const { server_id, state, message } = status;
  const colour = state === "connected" ? green : state === "failed" ? red : dim;
  const heading = `${bold(pad(visibleLine(server_id), NAME_WIDTH))} ${colour(state)}`;
  output.line([heading, ...figures(status)].join("  "));
  if (message !== undefined) printDetail(output, message);
}

function figures({ state, tools, excluded, protocol_version, era, server_info }: McpServerStatus) {
  if (state !== "connected") return [];
  const speaks = server_info === undefined ? [] : [`${server_info.name} ${server_info.version}`];
  const out = excluded.length === 0 ? "" : `, ${excluded.length} not offered`;
  return [
    `${tools.length} ${tools.length === 1 ? "tool" : "tools"}${out}`,
    `MCP ${protocol_version ?? "?"} (era ${era ?? "?"})`,
    ...speaks,
  ].map(visibleLine);
}

/** What its heading does not say already. */
function listExcluded({ state, excluded }: McpServerStatus): McpServerStatus["excluded"] {
  return state === "connected" ? excluded : [];
}

function printDetail(output: Output, text: string): void {
  for (const line of wrap(visibleLine(text), output.width, "    ")) {
    output.line(output.colours.dim(line));
  }
}

/** A name no one has is a slip of the user's. */
export function findServer(
  entries: readonly McpServerEntry[],
  server: string,
  { home }: Pick<LoadedConfig, "home">,
): McpServerEntry {
  const entry = entries.find(({ server_id }) => server_id === server);
  if (entry !== undefined) return entry;
  const nearest = nearestName(
    server,
    entries.map(({ server_id }) => server_id),
  );
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `${serversFile(home)} names no server ${visibleLine(server)}.${hint} \`soong mcp list\` lists those it names.`,
  );
}
