// `soong mcp login`: the user's login to a remote server (MCP-8). The yes is given in a browser; what comes
// of it is kept in the home and never shown.

import type { McpLoginReport, McpServerEntry } from "@soong/mcp";
import { EXIT, visibleLine } from "../../output/index.ts";
import { loginsFolder, loadUserServers } from "../../runtime/index.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { findServer } from "./server.ts";
import { openBrowser } from "../open-browser.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "login",
  summary: "log in to a remote server that requires it, in your browser",
  arguments: [argument("<server>", "its id, as `soong mcp list` lists it")],
  options: [option("--no-browser", "only print the address to go to"), JSON_OPTION],
  examples: ["soong mcp login search", "soong mcp login search --no-browser"],
  exitCodes: "0 logged in, 1 the login failed, 2 usage error, 130 interrupted",
  run: logIn,
};

interface McpLoginOptions {
  readonly json?: boolean;
  readonly browser?: boolean;
}

async function logIn(
  context: CommandContext,
  server: string,
  { json = false, browser = true }: McpLoginOptions,
): Promise<number> {
  const { output, interrupts } = context;
  const { entry, home } = await findConfiguredServer(context, server);
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

export async function findConfiguredServer(
  context: CommandContext,
  server: string,
): Promise<{ entry: McpServerEntry; home: string }> {
  const config = await loadUserConfig(context);
  const { entries } = await loadUserServers(config.home, context.env, config.values.mcp);
  return { entry: findServer(entries, server, config), home: config.home };
}

function describe({ server_id, issuer, scopes, expires_at, renewable }: McpLoginReport): string {
  const may = scopes.length === 0 ? "" : ` It may: ${scopes.join(", ")}.`;
  const until = expires_at === undefined ? "" : ` until ${new Date(expires_at).toISOString()}`;
  const renewed = renewable
    ? "It is renewed automatically."
    : `It holds${until || " until it is refused"}.`;
  return visibleLine(`Logged in to ${server_id} through ${issuer}.${may} ${renewed}`);
}
