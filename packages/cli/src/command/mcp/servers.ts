// `soong mcp list`: the servers of mcp.json, connected to see how they are (MCP-2), and why a tool is not offered.
// `soong mcp accept`: definitions that a server changed after they were allowed (MCP-7), shown, and allowed as they are now
// if the user says so. What is taken is what was shown, or nothing.

import { messageOf } from "@soong/core";
import { nearestName } from "@soong/schema";
import type { AcceptedChange, McpServerEntry, McpServers, McpServerStatus } from "@soong/mcp";
import type { LoadedConfig } from "../../config/index.ts";
import {
  CommandError,
  EXIT,
  pad,
  UsageError,
  visibleLine,
  wrap,
  type Output,
} from "../../output/index.ts";
import { loadUserServers } from "../../runtime/servers.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserConfig, withReadyRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";

/** With a server's id its tools, and what changed of them after they were allowed. */
export const listServers: Handler<"mcp list"> = async (context, { server }) => {
  const { output, json, print } = context;
  const config = await loadUserConfig(context);
  const { home } = config;
  const { entries } = await loadUserServers(home, context.env, config.values.mcp);
  if (server !== undefined) findServer(entries, server, config);
  const servers = server === undefined ? "all" : { only: server };
  return withReadyRuntime(context, {}, { config, servers }, async ({ mcp }) => {
    if (mcp === undefined) {
      if (!json) output.note(`There are no MCP servers: ${homePaths(home).servers} names none.`);
      return EXIT.ok;
    }
    const { openMcpLogins } = await import("@soong/mcp");
    const logins = openMcpLogins(homePaths(home).logins);
    const statuses = mcp.status();
    for (const status of statuses) {
      const { server_id } = status;
      const entry = findServer(entries, server_id, config);
      const log = homePaths(home).serverLog(server_id);
      const changes = mcp.changes(server_id);
      const isRemote = entry.transport.kind === "http";
      // One that cannot be read is none: the state of the server says why it is needed.
      const login = isRemote
        ? await logins.status(entry).catch(() => ({ kind: "none" as const }))
        : undefined;
      const { transport, place } = entry;
      print({ ...status, transport: transport.kind, login, changes, log, place }, () => [
        ...renderHeading(output, status),
        ...(server === undefined
          ? renderProblems(output, status, log)
          : renderDetails(output, status, {
              changes,
              log,
              issuer: login?.kind === "logged_in" ? login.issuer : undefined,
            })),
      ]);
    }
    return statuses.some(({ state }) => state === "failed") ? EXIT.failed : EXIT.ok;
  });
};

export const acceptChanges: Handler<"mcp accept"> = async (
  context,
  { server },
  { yes = false },
) => {
  const { output, json, print } = context;
  const config = await loadUserConfig(context);
  const { entries } = await loadUserServers(config.home, context.env, config.values.mcp);
  findServer(entries, server, config);
  const wish = { config, servers: { only: server } };
  return withReadyRuntime(context, {}, wish, async ({ mcp }) => {
    if (mcp === undefined) throw new Error(`the server ${server} was not opened`);
    const shown = listChanges(mcp, server);
    if (shown.length > 0) {
      if (!json) for (const line of renderChanges(output, shown)) output.line(line);
      if (!yes && !(await confirmChanges(context, server, shown.length))) return EXIT.denied;
    }
    const accepted = shown.length === 0 ? [] : await acceptShown(mcp, server, shown);
    print({ server_id: server, accepted }, () =>
      shown.length === 0
        ? `Nothing of ${visibleLine(server)} changed after it was allowed.`
        : `Accepted: ${countTools(accepted.length)} as ${accepted.length === 1 ? "it is" : "they are"} now.`,
    );
    return EXIT.ok;
  });
};

export async function acceptShown(
  mcp: McpServers,
  server: string,
  shown: readonly AcceptedChange[],
): ReturnType<McpServers["accept"]> {
  return mcp.accept(server, shown).catch((error: unknown) => {
    throw new CommandError(`Nothing was accepted: ${messageOf(error)}.`);
  });
}

/** A server that cannot be asked has no definitions that could be agreed to. */
function listChanges(mcp: McpServers, server: string): readonly AcceptedChange[] {
  const status = mcp.status().find(({ server_id }) => server_id === server);
  if (status?.state === "connected") return mcp.changes(server);
  const why = status?.message ?? status?.excluded[0]?.detail ?? "it has not answered";
  throw new CommandError(
    `The tools of ${visibleLine(server)} cannot be looked at: ${visibleLine(why)} \`soong mcp list ${visibleLine(server)}\` says more.`,
  );
}

async function confirmChanges(
  { isInteractive, stdin, output }: CommandContext,
  server: string,
  count: number,
): Promise<boolean> {
  const tools = `${countTools(count)} of ${visibleLine(server)}`;
  if (isInteractive) {
    return createTerminalQuestions(stdin, output).confirm(`Allow ${tools} as shown?`);
  }
  throw new UsageError(
    `${tools} changed, and no one can be asked here; add --yes to allow what is shown.`,
  );
}

function countTools(count: number): string {
  return count === 1 ? "one tool" : `${count} tools`;
}

const NAME_WIDTH = 20;

export function renderHeading(output: Output, status: McpServerStatus): string[] {
  const { bold, green, red, dim } = output.colours;
  const { server_id, state, tools, excluded, protocol_version, era, server_info, message } = status;
  const colour = state === "connected" ? green : state === "failed" ? red : dim;
  const out = excluded.length === 0 ? "" : `, ${excluded.length} not offered`;
  const figures = [
    `${tools.length} ${tools.length === 1 ? "tool" : "tools"}${out}`,
    `MCP ${protocol_version ?? "?"} (era ${era ?? "?"})`,
    ...(server_info === undefined ? [] : [`${server_info.name} ${server_info.version}`]),
  ];
  const heading = `${bold(pad(visibleLine(server_id), NAME_WIDTH))} ${colour(state)}`;
  return [
    [heading, ...(state === "connected" ? figures.map(visibleLine) : [])].join("  "),
    ...(message === undefined ? [] : renderDetail(output, message)),
  ];
}

/** As a list without ids shows them, for one who looks while they are connected. */
export function renderServers(
  output: Output,
  statuses: readonly McpServerStatus[],
  home: string,
): string[] {
  const { servers, serverLog } = homePaths(home);
  if (statuses.length === 0) return [`There are no MCP servers: ${servers} names none.`];
  return statuses.flatMap((status) => [
    ...renderHeading(output, status),
    ...renderProblems(output, status, serverLog(status.server_id)),
  ]);
}

/** What its heading does not say already. */
function renderProblems(output: Output, status: McpServerStatus, log: string): string[] {
  if (status.state === "failed") return renderDetail(output, `log ${log}`);
  if (status.state !== "connected") return [];
  return status.excluded.flatMap(({ tool_name, reason, detail }) =>
    renderDetail(output, `${tool_name}: ${reason}: ${detail}`),
  );
}

interface ServerDetails {
  readonly changes: readonly AcceptedChange[];
  readonly log: string;
  /** Whom the user is logged in through. */
  readonly issuer: string | undefined;
}

function renderDetails(
  output: Output,
  { server_id, tools, excluded }: McpServerStatus,
  { changes, log, issuer }: ServerDetails,
): string[] {
  const changed = new Set(changes.map(({ tool_name }) => tool_name));
  return [
    ...renderDetail(output, `log ${log}`),
    ...(issuer === undefined ? [] : renderDetail(output, `logged in through ${issuer}`)),
    ...tools.map((tool) => `  ${visibleLine(tool)}`),
    ...excluded
      .filter(({ tool_name }) => !changed.has(tool_name))
      .flatMap(({ tool_name, reason, detail }) => [
        `  ${visibleLine(tool_name)}  ${reason}`,
        ...renderDetail(output, detail),
      ]),
    ...renderChanges(output, changes),
    ...(changes.length === 0
      ? []
      : renderDetail(output, `To allow that: soong mcp accept ${server_id}`)),
  ];
}

function renderChanges(output: Output, changes: readonly AcceptedChange[]): string[] {
  const { yellow } = output.colours;
  return changes.flatMap(({ tool_name, changes: lines }) => [
    `  ${visibleLine(tool_name)}  ${yellow("changed after it was allowed")}`,
    ...lines.flatMap((line) => renderDetail(output, line)),
  ]);
}

function renderDetail({ width, colours }: Output, text: string): string[] {
  return wrap(visibleLine(text), width, "    ").map(colours.dim);
}

/** A name that is not in the file is a slip of the user's. */
export function findServer(
  entries: readonly McpServerEntry[],
  server: string,
  { home }: Pick<LoadedConfig, "home">,
): McpServerEntry {
  const entry = entries.find(({ server_id }) => server_id === server);
  if (entry !== undefined) return entry;
  const names = entries.map(({ server_id }) => server_id);
  const nearest = nearestName(server, names);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `${homePaths(home).servers} names no server ${visibleLine(server)}.${hint} \`soong mcp list\` lists those it names.`,
  );
}
