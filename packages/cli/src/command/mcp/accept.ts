// `soong mcp accept`: definitions that a server changed after they were allowed (MCP-7), shown, and allowed as they are
// now if the user says so. What is taken is what was shown, or nothing.

import { messageOf } from "@soong/core";
import type { AcceptedChange, McpServers } from "@soong/mcp";
import { CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { openRuntime, loadUserServers } from "../../runtime/index.ts";
import { awaitServers, noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import { findServer, showChanges } from "./server.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "accept",
  summary: "allow what a server changed of its tools, after it is shown",
  arguments: [argument("<server>", "its id, as `soong mcp list` lists it")],
  options: [option("--yes", "allow what is shown without asking"), JSON_OPTION],
  examples: ["soong mcp accept github", "soong mcp accept github --yes --json"],
  exitCodes: "0 it is allowed now, 1 the server failed, 2 usage error, 3 you said no",
  run: acceptChanges,
};

interface McpAcceptOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

async function acceptChanges(
  context: CommandContext,
  server: string,
  { json = false, yes = false }: McpAcceptOptions,
): Promise<number> {
  const { env, cwd, output } = context;
  const config = await loadUserConfig(context);
  const { entries } = await loadUserServers(config.home, env, config.values.mcp);
  findServer(entries, server, config);
  const note = noteWaiting(context, json);
  const runtime = await openRuntime({ env, cwd, config, servers: { only: server }, ...note });
  try {
    const { mcp } = runtime;
    if (mcp === undefined) throw new Error(`the server ${server} was not opened`);
    if ((await awaitServers(context, runtime)) === "interrupted") return EXIT.interrupted;
    const shown = listChanges(mcp, server);
    if (shown.length === 0) {
      if (json) output.record("soong.mcp_accept/1", { server_id: server, accepted: [] });
      else output.line(`Nothing of ${visibleLine(server)} changed after it was allowed.`);
      return EXIT.ok;
    }
    if (!json) showChanges(output, shown);
    if (!yes && !(await confirmChanges(context, server, shown.length))) return EXIT.denied;
    const accepted = await mcp.accept(server, shown).catch((error: unknown) => {
      throw new CommandError(`Nothing was accepted: ${messageOf(error)}.`);
    });
    if (json) output.record("soong.mcp_accept/1", { server_id: server, accepted });
    else
      output.line(
        `Accepted: ${tools(accepted.length)} as ${accepted.length === 1 ? "it is" : "they are"} now.`,
      );
    return EXIT.ok;
  } finally {
    await runtime.close();
  }
}

/** A server that cannot be asked has no definitions that anybody could agree to. */
function listChanges(mcp: McpServers, server: string): readonly AcceptedChange[] {
  const status = mcp.status().find(({ server_id }) => server_id === server);
  if (status?.state === "connected") return mcp.changes(server);
  const why = status?.message ?? status?.excluded[0]?.detail ?? "it has not answered";
  throw new CommandError(
    `The tools of ${visibleLine(server)} cannot be looked at: ${visibleLine(why)} \`soong mcp list ${visibleLine(server)}\` tells more.`,
  );
}

async function confirmChanges(
  context: CommandContext,
  server: string,
  count: number,
): Promise<boolean> {
  if (!context.isInteractive) {
    throw new UsageError(
      `${tools(count)} of ${visibleLine(server)} changed, and no one can be asked here; add --yes to allow what is shown.`,
    );
  }
  const questions = createTerminalQuestions(context.stdin, context.output);
  return questions.confirm(`Allow ${tools(count)} of ${visibleLine(server)} as shown?`);
}

function tools(count: number): string {
  return count === 1 ? "one tool" : `${count} tools`;
}
