// `soong mcp login` and `logout`: the user's login to a remote server (MCP-8). The yes is given in a browser; what comes
// of it is stored in the home and never shown.

import type { McpLoginReport, McpServerEntry } from "@soong/mcp";
import { EXIT, visibleLine } from "../../output/index.ts";
import { loadUserServers } from "../../runtime/servers.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserConfig } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { openBrowser } from "../open-browser.ts";
import { withInterrupt } from "../signals.ts";
import { findServer } from "./servers.ts";

export const logIn: Handler<"mcp login"> = async (context, { server }, { browser = true }) => {
  const { output, isInteractive, print } = context;
  const { entry, home } = await findConfiguredServer(context, server);
  const { logInToServer, openMcpLogins } = await import("@soong/mcp");
  return withInterrupt(context, async (signal) => {
    try {
      const report = await logInToServer(entry, {
        logins: openMcpLogins(homePaths(home).logins),
        signal,
        show(url) {
          output.note(`To log in to ${visibleLine(server)}, go to:\n\n  ${visibleLine(url)}\n`);
          if (browser && isInteractive) openBrowser(url, context);
        },
      });
      print(report, () => describeLogin(report));
      return EXIT.ok;
    } catch (error) {
      if (signal.aborted) return EXIT.interrupted;
      throw error;
    }
  });
};

export const logOut: Handler<"mcp logout"> = async (context, { server }) => {
  const { entry, home } = await findConfiguredServer(context, server);
  const { logOutOfServer, openMcpLogins } = await import("@soong/mcp");
  const logins = openMcpLogins(homePaths(home).logins);
  const was_logged_in = await logOutOfServer(entry, { logins });
  context.print({ server_id: server, was_logged_in }, () =>
    was_logged_in
      ? `Logged out of ${visibleLine(server)}.`
      : `There was no login to ${visibleLine(server)}.`,
  );
};

async function findConfiguredServer(
  context: CommandContext,
  server: string,
): Promise<{ entry: McpServerEntry; home: string }> {
  const config = await loadUserConfig(context);
  const { entries } = await loadUserServers(config.home, context.env, config.values.mcp);
  return { entry: findServer(entries, server, config), home: config.home };
}

function describeLogin(report: McpLoginReport): string {
  const { server_id, issuer, scopes, expires_at, renewable } = report;
  const may = scopes.length === 0 ? "" : ` It may: ${scopes.join(", ")}.`;
  const until = expires_at === undefined ? "" : ` until ${new Date(expires_at).toISOString()}`;
  const renewed = renewable
    ? "It is renewed automatically."
    : `It holds${until || " until it is refused"}.`;
  return visibleLine(`Logged in to ${server_id} through ${issuer}.${may} ${renewed}`);
}
