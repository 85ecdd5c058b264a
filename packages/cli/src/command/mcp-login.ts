// `soong mcp login` and `logout`: a person's login to a remote server (MCP-8). The yes is given in a browser; what comes
// of it is kept in the home and never shown.

import type { McpLoginReport, McpServerEntry } from "@soong/mcp";
import { EXIT, visibleLine } from "../output/index.ts";
import { loginsFolder, ownServers } from "../runtime/index.ts";
import { configOf, type CommandContext } from "./context.ts";
import { serverNamed } from "./server-named.ts";
import { openBrowser } from "./open-browser.ts";

export interface McpLoginOptions {
  readonly json?: boolean;
  readonly browser?: boolean;
}

export async function mcpLoginCommand(
  context: CommandContext,
  server: string,
  { json = false, browser = true }: McpLoginOptions,
): Promise<number> {
  const { output, interrupts } = context;
  const { entry, home } = await entryOf(context, server);
  const { logInToServer, openMcpLogins } = await import("@soong/mcp");
  const interrupted = new AbortController();
  const stopListening = interrupts.on(() => interrupted.abort());
  try {
    const report = await logInToServer(entry, {
      logins: openMcpLogins(loginsFolder(home)),
      signal: interrupted.signal,
      show(url) {
        output.note(`To log in to ${visibleLine(server)}, go to:\n\n  ${visibleLine(url)}\n`);
        if (browser && context.isInteractive) openBrowser(url, context);
      },
    });
    if (json) output.record("soong.mcp_login/1", report);
    else output.line(describe(report));
    return EXIT.ok;
  } catch (error) {
    if (interrupted.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    stopListening();
  }
}

export async function mcpLogoutCommand(
  context: CommandContext,
  server: string,
  { json = false }: Pick<McpLoginOptions, "json">,
): Promise<number> {
  const { entry, home } = await entryOf(context, server);
  const { logOutOfServer, openMcpLogins } = await import("@soong/mcp");
  const logins = openMcpLogins(loginsFolder(home));
  const was_logged_in = await logOutOfServer(entry, { logins });
  const { output } = context;
  if (json) output.record("soong.mcp_logout/1", { server_id: server, was_logged_in });
  else {
    output.line(
      was_logged_in
        ? `Logged out of ${visibleLine(server)}.`
        : `There was no login to ${visibleLine(server)}.`,
    );
  }
  return EXIT.ok;
}

async function entryOf(
  context: CommandContext,
  server: string,
): Promise<{ entry: McpServerEntry; home: string }> {
  const config = await configOf(context);
  const { entries } = await ownServers(config.home, context.env, config.values.mcp);
  return { entry: serverNamed(entries, server, config), home: config.home };
}

function describe({ server_id, issuer, scopes, expires_at, renewable }: McpLoginReport): string {
  const may = scopes.length === 0 ? "" : ` It may: ${scopes.join(", ")}.`;
  const until = expires_at === undefined ? "" : ` until ${new Date(expires_at).toISOString()}`;
  const renewed = renewable
    ? "It is renewed by itself."
    : `It holds${until || " until it is refused"}.`;
  return visibleLine(`Logged in to ${server_id} through ${issuer}.${may} ${renewed}`);
}
