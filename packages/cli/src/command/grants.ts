// `soong grants`: what was allowed "for this session" in the sessions that are live, and taking it back (CLI-7).

import type { ListedGrant, LiveRuntime } from "../control/index.ts";
import { CommandError, EXIT, visibleLine, wrap, type Output } from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { liveRuntimes, talkTo } from "./live-runtimes.ts";

export interface GrantsOptions {
  readonly json?: boolean;
}

export async function grantsCommand(
  context: CommandContext,
  { json = false }: GrantsOptions,
): Promise<number> {
  const { output } = context;
  const live = await liveRuntimes(context);
  let count = 0;
  for (const runtime of live) {
    for (const grant of await grantsOf(runtime)) {
      count += 1;
      if (json) output.record("soong.grants/1", record(runtime, grant));
      else showGrant(output, runtime, grant);
    }
  }
  if (live.length === 0) output.note("No session is live, so nothing is granted.");
  else if (count === 0) output.note(`Nothing is granted in the ${sessions(live.length)} live.`);
  return EXIT.ok;
}

export async function grantsRevokeCommand(
  context: CommandContext,
  grant_id: string,
  { json = false }: GrantsOptions,
): Promise<number> {
  const { output } = context;
  for (const runtime of await liveRuntimes(context)) {
    const grant = await revoked(runtime, grant_id);
    if (grant === undefined) continue;
    if (json) output.record("soong.grants_revoke/1", record(runtime, grant));
    else output.line(`revoked ${visibleLine(grant.grant_id)}: ${visibleLine(grant.covers)}`);
    return EXIT.ok;
  }
  throw new CommandError(
    `No live session has the grant ${visibleLine(grant_id)}. \`soong grants\` lists what there is.`,
  );
}

/** None, when it has ended since. */
async function grantsOf(runtime: LiveRuntime): Promise<readonly ListedGrant[]> {
  const listed = await talkTo(runtime, (client) => client.request("grants.list", {}));
  return listed?.grants ?? [];
}

async function revoked(runtime: LiveRuntime, grant_id: string): Promise<ListedGrant | undefined> {
  try {
    const answer = await talkTo(runtime, (client) => client.request("grants.revoke", { grant_id }));
    return answer?.grant;
  } catch (error) {
    if ((error as { code?: unknown }).code === "not_found") return undefined;
    throw error;
  }
}

function record({ hello }: LiveRuntime, grant: ListedGrant): object {
  const { pid, project } = hello;
  return { pid, project, ...grant };
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

function sessions(count: number): string {
  return count === 1 ? "one session that is" : `${count} sessions that are`;
}
