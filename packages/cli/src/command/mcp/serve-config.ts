// How a host is told of `soong mcp serve`: what to put into its config, for help and for whoever started it.

import { visibleLine } from "../../output/index.ts";

/** For the help: what each host is told, over stdio. */
export const HOST_HELP: string = [
  "In the config of a host:",
  "  Claude Code  claude mcp add soong -- soong mcp serve",
  "  Codex        codex mcp add soong -- soong mcp serve",
  "  Gemini CLI   gemini mcp add soong soong mcp serve",
  `  Cursor       .cursor/mcp.json: {"mcpServers": {"soong": ENTRY}}`,
  `  VS Code      .vscode/mcp.json: {"servers": {"soong": {"type": "stdio", …ENTRY}}}`,
  `  opencode     opencode.json: {"mcp": {"soong": {"type": "local", "command": ["soong", "mcp", "serve"]}}}`,
  `  where ENTRY is {"command": "soong", "args": ["mcp", "serve"]}`,
].join("\n");

export function describeStdio(): string {
  return [
    "This speaks MCP over stdin and stdout, with a host that starts it. Ctrl-C ends it.",
    "For the config of a host; `soong mcp serve --help` has the form of each:",
    inConfig({ command: "soong", args: ["mcp", "serve"] }),
  ].join("\n");
}

export interface ServedAddress {
  readonly url: string;
  readonly token: string;
  /** Where the token is kept. */
  readonly tokenFile: string;
  /** Someone reads this at a terminal; what is kept in a log has no token in it. */
  readonly isSeen: boolean;
  readonly isOpen: boolean;
  readonly session_id: string;
}

export function describeHttp(served: ServedAddress): string {
  const { url, tokenFile, isSeen } = served;
  const file = visibleLine(tokenFile);
  const bearer = isSeen ? served.token : `the token in ${file}`;
  return [
    `Serving ${visibleLine(served.session_id)} at ${url}. Ctrl-C ends it.`,
    ...(served.isOpen
      ? ["warning: other machines can reach it, and nothing on the way there is encrypted."]
      : []),
    `The token is kept in ${file}; delete that file to have a new one. For the config of a host:`,
    inConfig({ type: "http", url, headers: { Authorization: `Bearer ${bearer}` } }),
  ].join("\n");
}

function inConfig(entry: object): string {
  return JSON.stringify({ mcpServers: { soong: entry } }, undefined, 2);
}
