// `soong grants`: what was allowed "for this session" in the sessions that are live, and taking it back (CLI-7).

import { CommandError, visibleLine, wrap } from "../../output/index.ts";
import type { Handler } from "../handler.ts";
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

export const findAndRevokeGrant: Handler<"grants revoke"> = async (context, { id: grant_id }) => {
  for (const runtime of await liveRuntimes(context)) {
    const answer = await withClient(runtime, (client) =>
      client.request("grants.revoke", { grant_id }),
    ).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "not_found") throw error;
    });
    if (answer === undefined) continue;
    const { pid, project } = runtime.hello;
    const { grant } = answer;
    return context.print(
      { pid, project, ...grant },
      () => `revoked ${visibleLine(grant.grant_id)}: ${visibleLine(grant.covers)}`,
    );
  }
  throw new CommandError(
    `No live session has the grant ${visibleLine(grant_id)}. \`soong grants\` lists what there is.`,
  );
};
