// `soong mcp`: the servers of mcp.json, and Soong as a server for other agents.

import type { CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "mcp",
  summary: "MCP: the servers of mcp.json, and Soong as a server for other agents",
  examples: ["soong mcp list", "soong mcp accept github", "soong mcp serve"],
  subcommands: {
    list: () => import("./list.ts"),
    accept: () => import("./accept.ts"),
    login: () => import("./login.ts"),
    logout: () => import("./logout.ts"),
    serve: () => import("./serve.ts"),
  },
};
