// `soong mcp add` and `soong mcp remove`: an entry of mcp.json, written from what was typed, and tried at once.

import type { McpServerStatus } from "@soong/mcp";
import { describeRule, loadConfig } from "../../config/index.ts";
import { EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { changeServers, type ChangedServers } from "../../runtime/change-servers.ts";
import type { ServerEntry } from "../../runtime/host-servers.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserServers } from "../../runtime/servers.ts";
import { loadUserConfig, resolveHome, withReadyRuntime } from "../context.ts";
import type { CommandContext, Handler, Options } from "../handler.ts";
import type { COMMANDS } from "../commands.ts";
import { findServer, renderHeading } from "./servers.ts";
import { listWrapped } from "./wrapped.ts";

export const addServer: Handler<"mcp add"> = async (context, { name, command }, options) => {
  const { json, output, print } = context;
  const entry = readEntry(command, options);
  const config = await loadUserConfig(context);
  const { home, values } = config;
  const { entries } = await loadUserServers(home, context.env, values.mcp);
  const isThere = entries.some(({ server_id }) => server_id === name);
  if (isThere && options.replace !== true) {
    throw new UsageError(
      `${homePaths(home).servers} has a server ${visibleLine(name)} already; --replace puts this one in its place.`,
    );
  }
  const changed = await changeServers(home, context.env, { [name]: entry });
  const outcome = isThere ? "replaced" : "added";
  const did = isThere ? `Replaced ${visibleLine(name)} in` : `Added ${visibleLine(name)} to`;
  if (!json) output.line(`${did} ${visibleLine(changed.file)}.`);
  if (options.connect === false) {
    noteWarnings(context, changed);
    print({ server_id: name, file: changed.file, outcome }, () => {});
    return EXIT.ok;
  }
  const status = await tryServer(context, name);
  if (status === undefined) return EXIT.interrupted;
  print({ server_id: name, file: changed.file, outcome, status }, () =>
    renderTried(context, status),
  );
  return isUsable(status) ? EXIT.ok : EXIT.failed;
};

export const removeServer: Handler<"mcp remove"> = async (context, { server }) => {
  const config = await loadUserConfig(context);
  const { home, values } = config;
  const { entries } = await loadUserServers(home, context.env, values.mcp);
  const entry = findServer(entries, server, config);
  const [wrapped] = (await listWrapped(home)).filter(({ server_id }) => server_id === server);
  if (wrapped !== undefined) {
    throw new UsageError(
      `${wrapped.file} starts ${visibleLine(server)} through Soong; run \`soong mcp unwrap ${server}\` first.`,
    );
  }
  const { logOutOfServer, openMcpLogins } = await import("@soong/mcp");
  const logins = openMcpLogins(homePaths(home).logins);
  const isRemote = entry.transport.kind === "http";
  // A login is of no use without its entry. One that cannot be revoked is removed all the same.
  const was_logged_in =
    isRemote && (await logOutOfServer(entry, { logins }).catch(() => logins.remove(server)));
  const { file } = await changeServers(home, context.env, { [server]: undefined });
  context.print({ server_id: server, file, was_logged_in }, () => [
    `Removed ${visibleLine(server)} from ${visibleLine(file)}.`,
    ...(was_logged_in ? ["Its login was removed, too."] : []),
  ]);
};

type AddOptions = Options<(typeof COMMANDS)["mcp add"]>;

export function readEntry(
  command: readonly string[],
  {
    url,
    header = [],
    env = [],
    sandbox = false,
  }: Pick<AddOptions, "url" | "header" | "env" | "sandbox">,
): ServerEntry {
  const [program, ...args] = command;
  if ((program === undefined) === (url === undefined)) {
    throw new UsageError(
      "Give the command that starts the server behind --, as in `soong mcp add files -- npx -y some-server`, or an address with --url.",
    );
  }
  const variables = Object.fromEntries(env.map(readVariable));
  const headers = Object.fromEntries(header.map(readHeader));
  if (url !== undefined && env.length > 0) {
    throw new UsageError("--env is for a server that is started; an address takes --header.");
  }
  if (url !== undefined && sandbox) {
    throw new UsageError("--sandbox is for a server that is started; an address runs elsewhere.");
  }
  if (program !== undefined && header.length > 0) {
    throw new UsageError("--header is for an address; a server that is started takes --env.");
  }
  return {
    ...(program === undefined ? { url } : { command: program }),
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: variables }),
    ...(header.length > 0 && { headers }),
    ...(sandbox && { sandbox }),
  };
}

/** Without a value it is looked up whenever the server starts. */
function readVariable(given: string): [name: string, value: string] {
  const at = given.indexOf("=");
  if (at === 0) throw new UsageError(`--env takes NAME=VALUE or NAME, not ${visibleLine(given)}.`);
  return at === -1 ? [given, `\${${given}}`] : [given.slice(0, at), given.slice(at + 1)];
}

function readHeader(given: string): [name: string, value: string] {
  const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/s.exec(given) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError(
    "--header takes a name and a value, as in 'Authorization: Bearer ${TOKEN}'.",
  );
}

/** Its state after it was connected, as long as that may take; undefined: interrupted. */
export async function tryServer(
  context: CommandContext,
  server: string,
): Promise<McpServerStatus | undefined> {
  const loaded = await loadConfig({ home: resolveHome(context) });
  const { mcp } = loaded.values;
  const config = { ...loaded, values: { ...loaded.values, mcp: { ...mcp, wait_ms: WAIT_MS } } };
  let status: McpServerStatus | undefined;
  await withReadyRuntime(context, {}, { config, servers: { only: server } }, async (runtime) => {
    status = runtime.mcp?.status()[0];
  });
  return status;
}

/** A package may have to be downloaded first; its own time limit is mostly shorter. */
const WAIT_MS = 120_000;

/** It answers, or does once the user has logged in. */
export function isUsable({ state, excluded }: McpServerStatus): boolean {
  return state === "connected" || excluded.some(({ reason }) => reason === "setup_required");
}

export function renderTried({ output }: CommandContext, status: McpServerStatus): string[] {
  const { server_id, state, tools } = status;
  const { dim } = output.colours;
  const heading = renderHeading(output, status);
  if (state !== "connected") {
    return [
      ...heading,
      isUsable(status)
        ? `Log in with \`soong mcp login ${server_id}\`, or set what is missing.`
        : `The entry is kept. Fix it with \`soong mcp add ${server_id} --replace …\`, or remove it with \`soong mcp remove ${server_id}\`.`,
    ];
  }
  const shown = tools.slice(0, MOST_SHOWN).map((name) => `  ${visibleLine(name)}`);
  const more = tools.length - shown.length;
  return [
    ...heading,
    ...shown,
    ...(more > 0 ? [`  and ${more} more: \`soong mcp list ${server_id}\``] : []),
    dim("Its calls require approval. To allow all of them, in config.toml:"),
    ...describeRule({ tool: `mcp.${server_id}.*`, decision: "allow" })
      .split("\n")
      .map((line) => dim(`  ${line}`)),
  ];
}

const MOST_SHOWN = 20;

/** Where no runtime is opened, which notes them itself. */
export function noteWarnings({ output }: CommandContext, { warnings }: ChangedServers): void {
  for (const warning of warnings) output.note(`warning: ${visibleLine(warning)}`);
}
