// `soong mcp serve`: the surface of a stored session as an MCP server, for other agents (GATE-1, GATE-2). Over stdio
// stdout belongs to the protocol; what is said to users goes to stderr.

import { NoOneToAsk, type Session } from "@soong/core";
import { createApprovalBroker } from "@soong/control";
import type { GatewayOptions } from "@soong/mcp";
import { EXIT, UsageError, visible, visibleLine } from "../../output/index.ts";
import { loadUserServers } from "../../runtime/servers.ts";
import { homePaths } from "../../runtime/home.ts";
import { openOnce } from "../../runtime/open-once.ts";
import { loadUserConfig, withRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { untilSignal } from "../signals.ts";
import { VERSION } from "../version.ts";
import { parseServeAddress, refuseAddress, type ServeAddress } from "./serve-address.ts";
import { loadServeToken, type ServeToken } from "./serve-token.ts";
import { findServer } from "./servers.ts";

/** Ends when the client is gone, or by a signal; by then its calls, its runs and its servers have ended. */
export const serveTools: Handler<"mcp serve"> = async (context, _given, options) => {
  const address = parseServeAddress(options);
  const { env, output } = context;
  const { mode, server } = options;
  const note = (text: string): void => output.note(visible(text), "dim");
  const config = await loadUserConfig(context);
  if (server !== undefined) {
    const { entries } = await loadUserServers(config.home, env, config.values.mcp);
    if (findServer(entries, server, config).disabled) {
      throw new UsageError(
        `The MCP server ${server} is disabled in ${homePaths(config.home).servers}; take "disabled" out of its entry to serve it.`,
      );
    }
  }
  const token =
    address === undefined ? undefined : await loadServeToken(config.home, options.tokenFile, note);
  const broker = createApprovalBroker();
  const { createGatewayBroker } = await import("@soong/mcp");
  const clients = createGatewayBroker({ elicit: denyUnanswered });
  if (options.ask !== "attached") {
    // The client whose call it is and attached terminals are asked side by side, and the first answer counts: a host that
    // shows a question does not keep it from a second terminal, and the other learns that it is settled.
    broker.addResponder({
      ask: async ({ request }, signal) => clients.ask(request, { signal }),
      elicit: async ({ request }, signal) => clients.elicit(request, { signal }),
    });
  }
  const wish = {
    config,
    broker,
    host: clients.host,
    secrets: token && [{ name: "gateway_token", value: token.token }],
    servers: server === undefined ? undefined : { only: server },
    note,
    onWaiting() {},
  };
  return untilSignal(context, (stopped) =>
    withRuntime(context, options, wish, async (runtime) => {
      const of = server === undefined ? "" : ` ${visibleLine(server)}`;
      const open = async (): Promise<Session> =>
        (await runtime.openSession({ title: `soong mcp serve${of}` })).session;
      const gateway: GatewayParts = {
        broker: clients,
        server: { name: "soong", version: VERSION },
        run: { mode },
        servers: runtime.mcp,
        only: server,
        onError: (error) => note(`mcp: ${visibleLine(error.message)}`),
      };
      return address === undefined || token === undefined
        ? serveStdio(context, gateway, open, stopped)
        : serveHttp(context, gateway, await open(), { ...address, ...token }, stopped);
    }),
  );
};

/** Not a no: an attached terminal may still answer. */
function denyUnanswered(): never {
  throw new NoOneToAsk("this client cannot show questions");
}

type GatewayParts = Omit<GatewayOptions, "session">;

async function serveStdio(
  { stdin, output }: CommandContext,
  gateway: GatewayParts,
  open: () => Promise<Session>,
  stopped: Promise<number>,
): Promise<number> {
  const { serveGatewayStdio } = await import("@soong/mcp");
  const session = openSessionLazily(open);
  const served = serveGatewayStdio({ ...gateway, session, input: stdin, output: process.stdout });
  // A user who typed this waits for something to happen.
  if (stdin.isTTY) {
    output.note(
      [
        "This speaks MCP over stdin and stdout, with a host that starts it. Ctrl-C ends it.",
        "For the config of a host; `soong mcp serve --help` has the form of each:",
        renderHostConfig({ command: "soong", args: ["mcp", "serve"] }),
      ].join("\n"),
    );
  }
  const exitCode = await Promise.race([served.ended.then(() => EXIT.ok), stopped]);
  await served.close();
  return exitCode;
}

async function serveHttp(
  { output }: CommandContext,
  gateway: GatewayParts,
  session: Session,
  at: ServeAddress & ServeToken,
  stopped: Promise<number>,
): Promise<number> {
  const { serveGatewayHttp } = await import("@soong/mcp");
  const served = await serveGatewayHttp({ ...gateway, ...at, session }).catch((error: unknown) =>
    refuseAddress(error, at),
  );
  const { url } = served;
  const file = visibleLine(at.tokenFile);
  // A terminal is read by someone; what is kept in a log has no token in it.
  const bearer = process.stderr.isTTY ? at.token : `the token in ${file}`;
  output.note(
    [
      `Serving ${visibleLine(session.session_id)} at ${url}. Ctrl-C ends it.`,
      ...(at.isOpen
        ? ["warning: other machines can reach it, and nothing on the way there is encrypted."]
        : []),
      `The token is kept in ${file}; delete that file to have a new one. For the config of a host:`,
      renderHostConfig({ type: "http", url, headers: { Authorization: `Bearer ${bearer}` } }),
    ].join("\n"),
  );
  const exitCode = await stopped;
  await served.close();
  return exitCode;
}

function renderHostConfig(entry: object): string {
  return JSON.stringify({ mcpServers: { soong: entry } }, undefined, 2);
}

/**
 * A session that is stored from its first run on. Some hosts start the program once only to see which protocol it speaks;
 * of that nothing needs to be stored.
 */
function openSessionLazily(open: () => Promise<Session>): GatewayOptions["session"] {
  const openNow = openOnce(open);
  let opened: (session: Session) => void = () => {};
  const session = new Promise<Session>((resolve) => {
    opened = resolve;
  });

  return {
    async startRun(options) {
      opened(await openNow());
      // After those who watch it.
      return (await session).startRun(options);
    },
    watch(wanted, listener) {
      let stop: (() => void) | undefined;
      let isOver = false;
      void session.then((here) => {
        if (!isOver) stop = here.watch(wanted, listener);
      });
      return () => {
        isOver = true;
        stop?.();
      };
    },
  };
}
