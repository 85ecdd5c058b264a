// `soong grants`: what was allowed "for this session" in the sessions that are live, and taking it back (CLI-7).

import { CommandError, describeAge, visibleLine, wrap } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import { liveRuntimes, withClient } from "./live-runtimes.ts";

export const listGrants: Handler<"grants"> = async (context) => {
  const { output, print } = context;
  const { bold, dim } = output.colours;
  const live = await liveRuntimes(context);
  let count = 0;
  for (const runtime of live) {
    const { pid, project } = runtime.hello;
    // None, when it has ended since.
    const listed = await withClient(runtime, (client) => client.request("grants.list", {}));
    for (const grant of listed?.grants ?? []) {
      count += 1;
      print({ pid, project, ...grant }, () => {
        const { grant_id, tool_name, covers, granted_at, granted_by } = grant;
        const given = `given ${granted_at} by ${granted_by}, for ${grant.tool_call_id}`;
        const where = `in ${grant.session_id}, ${project} (process ${pid})`;
        return [
          `${bold(visibleLine(grant_id))}  ${visibleLine(tool_name)}`,
          ...wrap(visibleLine(covers), output.width, "    "),
          ...[given, where].map((text) => dim(`    ${visibleLine(text)}`)),
        ];
      });
    }
  }
  const sessions = live.length === 1 ? "one session that is" : `${live.length} sessions that are`;
  if (live.length === 0) output.note("No session is live, so nothing is granted.");
  else if (count === 0) output.note(`Nothing is granted in the ${sessions} live.`);
};

export const findAndRevokeGrant: Handler<"grants revoke"> = async (context, { id }) => {
  const granted = await listLiveGrants(context);
  const { runtime, grant: meant } = matchId(id, granted, GRANT);
  const { grant_id } = meant;
  const answer = await withClient(runtime, (client) =>
    client.request("grants.revoke", { grant_id }),
  ).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "not_found") throw error;
  });
  if (answer === undefined) {
    throw new CommandError(
      `The grant ${visibleLine(grant_id)} is gone already, or its session has ended.`,
    );
  }
  const { pid, project } = runtime.hello;
  const { grant } = answer;
  context.print(
    { pid, project, ...grant },
    () => `revoked ${visibleLine(grant.grant_id)}: ${visibleLine(grant.covers)}`,
  );
};

const GRANT: IdSubject<LiveGrant> = {
  kind: "grant",
  id: ({ grant }) => grant.grant_id,
  describe: ({ grant }) =>
    `${visibleLine(grant.covers)}  ${describeAge(grant.granted_at, Date.now())}`,
  hint: "No live session has it: `soong grants` lists what there is.",
};

type LiveGrant = Awaited<ReturnType<typeof listLiveGrants>>[number];

export async function listLiveGrants(context: CommandContext) {
  const live = await liveRuntimes(context);
  const listed = await Promise.all(
    live.map(async (runtime) => {
      // None, when it has ended since.
      const answer = await withClient(runtime, (client) => client.request("grants.list", {}));
      return (answer?.grants ?? []).map((grant) => ({ runtime, grant }));
    }),
  );
  return listed.flat();
}
