// `soong mcp serve`: the surface of a kept session as an MCP server, for other agents (GATE-1, GATE-2). Over stdio
// stdout belongs to the protocol; whatever is said to people goes to stderr.

import { resolve } from "node:path";
import { NobodyToAsk, type Mode, type Session } from "@soong/core";
import type { GatewayBroker, GatewayOptions } from "@soong/mcp";
import { createApprovalBroker, type ApprovalBroker } from "@soong/control";
import type { LoadedConfig } from "../../config/index.ts";
import { EXIT, UsageError, visible, visibleLine } from "../../output/index.ts";
import { openRuntime, loadUserServers, serversFile } from "../../runtime/index.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { listenForEnd } from "../signals.ts";
import { parseServeAddress, refuseAddress, type ServeAddress } from "./serve-address.ts";
import { describeHttp, describeStdio, HOST_HELP } from "./serve-config.ts";
import { openSessionLazily } from "./serve-session.ts";
import { loadServeToken, type ServeToken } from "./serve-token.ts";
import { findServer } from "./server.ts";
import { VERSION } from "../version.ts";
import {
  MODE_OPTION,
  option,
  RULE_OPTIONS,
  type CommandDefinition,
  type RuleFlags,
} from "../define-command.ts";

export const command: CommandDefinition = {
  name: "serve",
  summary: "serve these tools to another agent, each call through permission and record",
  options: [
    option("--http <port>", "over streamable HTTP on this port, with a token; default: stdio"),
    option("--host <host>", "the address to listen on; default: 127.0.0.1"),
    option("--token-file <file>", "where the token is; default: mcp-serve-token in the home"),
    option("--server <id>", "only this MCP server, under its own names, in its place"),
    option("--ask <whom>", "about a call: the client and attached terminals, or these only")
      .choices(["all", "attached"])
      .default("all"),
    MODE_OPTION,
    ...RULE_OPTIONS,
  ],
  examples: [
    "soong mcp serve",
    "soong mcp serve --server github --allow 'mcp.github.*'",
    "soong mcp serve --http 8722",
  ],
  notes: HOST_HELP,
  exitCodes: "0 the client has gone, 1 failed, 2 usage error, 130 or 143 ended by a signal",
  run: serveTools,
};

interface McpServeOptions extends RuleFlags {
  readonly http?: string;
  readonly host?: string;
  readonly tokenFile?: string;
  readonly server?: string;
  /** Who is asked; default: all who are there. */
  readonly ask?: "all" | "attached";
  readonly mode?: Mode;
}

/** Ends when the client is gone, or by a signal; by then its calls, its runs and its servers have ended. */
async function serveTools(context: CommandContext, options: McpServeOptions): Promise<number> {
  const address = parseServeAddress(options);
  const { env, output } = context;
  const { allow = [], deny = [], cwd = "", mode, server } = options;
  const note = (text: string): void => output.note(output.noteColours.dim(visible(text)));
  const config = await loadUserConfig(context);
  if (server !== undefined) await refuseUnusable(server, env, config);
  const token =
    address === undefined ? undefined : await loadServeToken(config.home, options.tokenFile, note);
  const serve =
    address === undefined || token === undefined ? serveStdio : serveHttp({ ...address, ...token });
  const broker = createApprovalBroker();
  const { createGatewayBroker } = await import("@soong/mcp");
  const clients = createGatewayBroker({ elicit: denyUnanswered });
  if (options.ask !== "attached") addClientResponder(broker, clients);
  const end = listenForEnd(context);
  try {
    const runtime = await openRuntime({
      env,
      cwd: resolve(context.cwd, cwd),
      config,
      flags: { allow, deny, mode },
      broker,
      host: clients.host,
      ...(token === undefined ? {} : { secrets: [{ name: "gateway_token", value: token.token }] }),
      ...(server === undefined ? {} : { servers: { only: server } }),
      note,
    });
    try {
      const open = async () => (await runtime.openSession({ title: makeTitle(options) })).session;
      const gateway: GatewayParts = {
        broker: clients,
        server: { name: "soong", version: VERSION },
        run: mode === undefined ? {} : { mode },
        servers: runtime.mcp,
        only: server,
        onError: (error) => note(`mcp: ${visibleLine(error.message)}`),
      };
      return await serve(context, gateway, open, end.bySignal);
    } finally {
      await runtime.close();
    }
  } finally {
    end.stopListening();
  }
}

async function refuseUnusable(
  server: string,
  env: CommandContext["env"],
  config: LoadedConfig,
): Promise<void> {
  const { entries } = await loadUserServers(config.home, env, config.values.mcp);
  if (!findServer(entries, server, config).disabled) return;
  throw new UsageError(
    `The MCP server ${server} is disabled in ${serversFile(config.home)}; take "disabled" out of its entry to serve it.`,
  );
}

type GatewayParts = Omit<GatewayOptions, "session">;

/** Serves the session that `open` opens until the client is gone, or `stopped` with an exit code. */
type Serve = (
  context: CommandContext,
  gateway: GatewayParts,
  open: () => Promise<Session>,
  stopped: Promise<number>,
) => Promise<number>;

const serveStdio: Serve = async ({ stdin, output }, gateway, open, stopped) => {
  const { serveGatewayStdio } = await import("@soong/mcp");
  const session = openSessionLazily(open);
  const served = serveGatewayStdio({ ...gateway, session, input: stdin, output: process.stdout });
  // Whoever typed this waits for something to happen.
  if (stdin.isTTY) output.note(describeStdio());
  const exitCode = await Promise.race([served.ended.then(() => EXIT.ok), stopped]);
  await served.close();
  return exitCode;
};

function serveHttp(at: ServeAddress & ServeToken): Serve {
  return async ({ output }, gateway, open, stopped) => {
    const { serveGatewayHttp } = await import("@soong/mcp");
    const session = await open();
    const served = await serveGatewayHttp({ ...gateway, ...at, session }).catch((error: unknown) =>
      refuseAddress(error, at),
    );
    const { session_id } = session;
    const isSeen = process.stderr.isTTY;
    output.note(describeHttp({ ...at, url: served.url, session_id, isSeen }));
    const exitCode = await stopped;
    await served.close();
    return exitCode;
  };
}

/**
 * The client whose call it is and whoever is attached are asked side by side, and the first answer counts: a host that
 * shows a question does not keep it from a second terminal, and the other is told that it is settled.
 */
function addClientResponder(broker: ApprovalBroker, clients: GatewayBroker): void {
  broker.addResponder({
    ask: async ({ request }, signal) => clients.ask(request, { signal }),
    elicit: async ({ request }, signal) => clients.elicit(request, { signal }),
  });
}

/** Not a no: whoever is attached may still answer. */
function denyUnanswered(): never {
  throw new NobodyToAsk("this client cannot show questions");
}

function makeTitle({ server }: McpServeOptions): string {
  return server === undefined ? "soong mcp serve" : `soong mcp serve ${visibleLine(server)}`;
}
