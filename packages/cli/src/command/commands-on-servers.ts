// The commands around MCP: the servers of mcp.json, and Soong as a server for other agents.

import { Option, type Command } from "commander";
import type { CommandContext } from "./context.ts";
import { HOST_HELP } from "./mcp-serve-config.ts";
import type { McpServeOptions } from "./mcp-serve.ts";
import type { McpAcceptOptions } from "./mcp-accept.ts";
import type { McpListOptions } from "./mcp-list.ts";
import type { McpLoginOptions } from "./mcp-login.ts";
import { examples, exits, JSON_FLAG, modeOption, rulesAndPlace, type Ended } from "./options.ts";

export function addServers(program: Command, context: CommandContext, ended: Ended): void {
  const mcp = program
    .command("mcp")
    .description("MCP: the servers of mcp.json, and Soong as a server for other agents");
  examples(mcp, ["soong mcp list", "soong mcp accept github", "soong mcp serve"]);
  addList(mcp, context, ended);
  addLogin(mcp, context, ended);
  addServe(mcp, context, ended);
}

function addList(mcp: Command, context: CommandContext, ended: Ended): void {
  const list = mcp
    .command("list")
    .description("connect the servers of mcp.json and say how they are")
    .argument("[server]", "its id: also its tools, and what changed of them")
    .option(...JSON_FLAG)
    .action(async (server: string | undefined, options: McpListOptions) => {
      const { mcpListCommand } = await import("./mcp-list.ts");
      ended(await mcpListCommand(context, server, options));
    });
  examples(list, ["soong mcp list", "soong mcp list github", "soong mcp list --json"]);
  exits(list, "0 listed, 1 a server failed, 2 used wrongly, 130 interrupted");

  const accept = mcp
    .command("accept")
    .description("allow what a server changed of its tools, after it is shown")
    .argument("<server>", "its id, as `soong mcp list` lists it")
    .option("--yes", "your answer: allow what is shown")
    .option(...JSON_FLAG)
    .action(async (server: string, options: McpAcceptOptions) => {
      const { mcpAcceptCommand } = await import("./mcp-accept.ts");
      ended(await mcpAcceptCommand(context, server, options));
    });
  examples(accept, ["soong mcp accept github", "soong mcp accept github --yes --json"]);
  exits(accept, "0 it is allowed now, 1 the server failed, 2 used wrongly, 3 you said no");
}

function addLogin(mcp: Command, context: CommandContext, ended: Ended): void {
  const login = mcp
    .command("login")
    .description("log in to a remote server that wants it, in your browser")
    .argument("<server>", "its id, as `soong mcp list` lists it")
    .option("--no-browser", "only print the address to go to")
    .option(...JSON_FLAG)
    .action(async (server: string, options: McpLoginOptions) => {
      const { mcpLoginCommand } = await import("./mcp-login.ts");
      ended(await mcpLoginCommand(context, server, options));
    });
  examples(login, ["soong mcp login search", "soong mcp login search --no-browser"]);
  exits(login, "0 logged in, 1 it did not come about, 2 used wrongly, 130 interrupted");

  const logout = mcp
    .command("logout")
    .description("forget a login, and take its tokens back where the server offers that")
    .argument("<server>", "its id, as `soong mcp list` lists it")
    .option(...JSON_FLAG)
    .action(async (server: string, options: McpLoginOptions) => {
      const { mcpLogoutCommand } = await import("./mcp-login.ts");
      ended(await mcpLogoutCommand(context, server, options));
    });
  examples(logout, ["soong mcp logout search"]);
}

function addServe(mcp: Command, context: CommandContext, ended: Ended): void {
  const serve = mcp
    .command("serve")
    .description("serve these tools to another agent, each call through permission and record")
    .option("--http <port>", "over streamable HTTP on this port, with a token; left out: stdio")
    .option("--host <host>", "the address to listen on; left out: 127.0.0.1")
    .option("--token-file <file>", "where the token is; left out: mcp-serve-token in the home")
    .option("--server <id>", "only this MCP server, under its own names, in its place")
    .addOption(
      new Option("--ask <whom>", "about a call: the client and whoever is attached, or these only")
        .choices(["all", "attached"])
        .default("all"),
    )
    .addOption(modeOption());
  rulesAndPlace(serve).action(async (options: McpServeOptions) => {
    const { mcpServeCommand } = await import("./mcp-serve.ts");
    ended(await mcpServeCommand(context, options));
  });
  examples(serve, [
    "soong mcp serve",
    "soong mcp serve --server github --allow 'mcp.github.*'",
    "soong mcp serve --http 8722",
  ]);
  serve.addHelpText("after", `\n${HOST_HELP}`);
  exits(serve, "0 the client has gone, 1 failed, 2 used wrongly, 130 or 143 ended by a signal");
}
