// `soong grants`: what was allowed "for this session" in the sessions that are live (CLI-7).

import type { ListedGrant, LiveRuntime } from "@soong/control";
import { EXIT, visibleLine, wrap, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { liveRuntimes, withClient } from "./live-runtimes.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "grants",
  summary: `list what was allowed "for this session" in the live sessions`,
  options: [JSON_OPTION],
  examples: ["soong grants", "soong grants revoke grant_0abc"],
  subcommands: { revoke: () => import("./grants-revoke.ts") },
  run: listGrants,
};

interface GrantsOptions {
  readonly json?: boolean;
}

async function listGrants(
  context: CommandContext,
  { json = false }: GrantsOptions,
): Promise<number> {
  const { output } = context;
  const live = await liveRuntimes(context);
  let count = 0;
  for (const runtime of live) {
    const { pid, project } = runtime.hello;
    for (const grant of await fetchGrants(runtime)) {
      count += 1;
      if (json) output.record("soong.grants/1", { pid, project, ...grant });
      else showGrant(output, runtime, grant);
    }
  }
  if (live.length === 0) output.note("No session is live, so nothing is granted.");
  else if (count === 0)
    output.note(`Nothing is granted in the ${countSessions(live.length)} live.`);
  return EXIT.ok;
}

/** None, when it has ended since. */
async function fetchGrants(runtime: LiveRuntime): Promise<readonly ListedGrant[]> {
  const listed = await withClient(runtime, (client) => client.request("grants.list", {}));
  return listed?.grants ?? [];
}

function showGrant(output: Output, { hello }: LiveRuntime, grant: ListedGrant): void {
  const { bold, dim } = output.colours;
  const { grant_id, tool_name, covers, granted_at, granted_by, tool_call_id, session_id } = grant;
  output.line(`${bold(visibleLine(grant_id))}  ${visibleLine(tool_name)}`);
  for (const line of wrap(visibleLine(covers), output.width, "    ")) output.line(line);
  const given = `given ${granted_at} by ${granted_by}, asked about ${tool_call_id}`;
  const where = `in ${session_id}, ${hello.project} (process ${hello.pid})`;
  for (const text of [given, where]) output.line(dim(`    ${visibleLine(text)}`));
}

function countSessions(count: number): string {
  return count === 1 ? "one session that is" : `${count} sessions that are`;
}
