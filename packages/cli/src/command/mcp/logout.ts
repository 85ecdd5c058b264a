// `soong mcp logout`: forgets a login (MCP-8).

import { EXIT, visibleLine } from "../../output/index.ts";
import { loginsFolder } from "../../runtime/index.ts";
import type { CommandContext } from "../context.ts";
import { findConfiguredServer } from "./login.ts";
import { argument, JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "logout",
  summary: "forget a login, and revoke its tokens where the server offers that",
  arguments: [argument("<server>", "its id, as `soong mcp list` lists it")],
  options: [JSON_OPTION],
  examples: ["soong mcp logout search"],
  run: logOut,
};

async function logOut(
  context: CommandContext,
  server: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { entry, home } = await findConfiguredServer(context, server);
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
