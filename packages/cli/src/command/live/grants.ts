// `soong grants`: lists and revokes what was allowed "for this session" in live sessions, here and on other machines that share the
// store (CLI-7).

import type { ListedGrant, LiveRuntime } from "@soong/control";
import { CommandError, describeAge, visibleLine, wrap } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import { isStoreShared, withReadOnlyStore, withStore } from "../stored.ts";
import { liveRuntimes, withClient } from "./live-runtimes.ts";
import {
  findRemoteHolders,
  listRemoteGrants,
  revokeRemoteGrant,
  type RemoteGrant,
} from "./remote-grants.ts";

export const listGrants: Handler<"grants"> = async (context) => {
  const { output, print } = context;
  const { bold, dim } = output.colours;
  const live = await liveRuntimes(context);
  const { granted, sessions } = await findGrants(context, live);
  for (const { runtime: _runtime, grant, ...place } of granted) {
    print({ ...place, ...grant }, () => {
      const { grant_id, tool_name, covers, granted_at, granted_by } = grant;
      const given = `given ${granted_at} by ${granted_by}, for ${grant.tool_call_id}`;
      const host = place.host === undefined ? "" : ` on ${place.host}`;
      const where = `in ${grant.session_id}, ${place.project} (process ${place.pid}${host})`;
      return [
        `${bold(visibleLine(grant_id))}  ${visibleLine(tool_name)}`,
        ...wrap(visibleLine(covers), output.width, "    "),
        ...[given, where].map((text) => dim(`    ${visibleLine(text)}`)),
      ];
    });
  }
  if (granted.length > 0) return;
  if (sessions === 0) output.note("No session is live, so nothing is granted.");
  else
    output.note(
      `Nothing is granted in the ${sessions === 1 ? "one session" : `${sessions} sessions`} that ${sessions === 1 ? "is" : "are"} live.`,
    );
};

export const findAndRevokeGrant: Handler<"grants revoke"> = async (context, { id }) => {
  const meant = matchId(id, await listLiveGrants(context), GRANT);
  const { runtime, grant, ...place } = meant;
  if (runtime === undefined) await revokeElsewhere(context, meant);
  else await revokeHere(runtime, grant);
  context.print(
    { ...place, ...grant },
    () => `revoked ${visibleLine(grant.grant_id)}: ${visibleLine(grant.covers)}`,
  );
};

async function revokeHere(runtime: LiveRuntime, { grant_id }: ListedGrant): Promise<void> {
  const answer = await withClient(runtime, (client) =>
    client.request("grants.revoke", { grant_id }),
  ).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "not_found") throw error;
  });
  if (answer === undefined) throw refuseGone(grant_id);
}

async function revokeElsewhere(
  context: CommandContext,
  { grant, host = "" }: LiveGrant,
): Promise<void> {
  const { grant_id } = grant;
  const outcome = await withStore(context, (store) => revokeRemoteGrant(store, grant, context));
  if (outcome === "gone") throw refuseGone(grant_id);
  if (outcome === "revoked") return;
  throw new CommandError(
    `The process on ${visibleLine(host)} has not confirmed yet that it revoked ${visibleLine(grant_id)}: it may be cut off. \`soong grants\` lists what it still has.`,
  );
}

function refuseGone(grant_id: string): CommandError {
  return new CommandError(
    `The grant ${visibleLine(grant_id)} is gone already, or its session has ended.`,
  );
}

const GRANT: IdSubject<LiveGrant> = {
  kind: "grant",
  id: ({ grant }) => grant.grant_id,
  describe: ({ grant }) =>
    `${visibleLine(grant.covers)}  ${describeAge(grant.granted_at, Date.now())}`,
  hint: "No live session has it: `soong grants` lists what there is.",
};

interface LiveGrant {
  /** For a grant on this machine. Otherwise `host` is set. */
  readonly runtime?: LiveRuntime;
  readonly host?: string;
  readonly pid: number;
  readonly project: string;
  readonly grant: ListedGrant;
}

export async function listLiveGrants(context: CommandContext): Promise<LiveGrant[]> {
  return (await findGrants(context, await liveRuntimes(context))).granted;
}

async function findGrants(
  context: CommandContext,
  live: readonly LiveRuntime[],
): Promise<{ readonly granted: LiveGrant[]; readonly sessions: number }> {
  const listed = await Promise.all(
    live.map(async (runtime) => {
      // Undefined if the runtime has ended since.
      const answer = await withClient(runtime, (client) => client.request("grants.list", {}));
      const { pid, project } = runtime.hello;
      return (answer?.grants ?? []).map((grant) => ({ runtime, pid, project, grant }));
    }),
  );
  const remote = await findRemote(context, live);
  return {
    granted: [...listed.flat(), ...remote.granted],
    sessions: live.length + remote.sessions,
  };
}

async function findRemote(
  context: CommandContext,
  live: readonly LiveRuntime[],
): Promise<{ readonly granted: RemoteGrant[]; readonly sessions: number }> {
  const none = { granted: [], sessions: 0 };
  if (!(await isStoreShared(context))) return none;
  const reached = new Set(live.map(({ hello }) => hello.session_id));
  return withReadOnlyStore<{ granted: RemoteGrant[]; sessions: number }>(
    context,
    () => none,
    async (store) => {
      const holders = await findRemoteHolders(store, reached);
      return { granted: await listRemoteGrants(store, holders), sessions: holders.length };
    },
  );
}
