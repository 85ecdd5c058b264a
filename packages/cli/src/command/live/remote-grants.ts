// Lists and revokes what was allowed "for this session" in sessions that other machines hold (CLI-7). Grants are in the memory of
// the process that holds the session: its facts show which exist, and a command through the store revokes one.

import type { Fact, ToolGrant } from "@soong/core";
import { describeScopes } from "@soong/core/internal";
import type { ListedGrant } from "@soong/control";
import { inTime } from "@soong/platform";
import { asRecord } from "@soong/schema";
import type { SessionHolder, Store } from "@soong/store";
import { readSound } from "../sessions/read-sound.ts";
import { refuseRuntimeChild, type Actor } from "./actor.ts";

export interface RemoteGrant {
  readonly host: string;
  readonly pid: number;
  readonly project: string;
  readonly grant: ListedGrant;
}

/** `reached`: the sessions whose sockets are on this machine. */
export async function findRemoteHolders(
  { cluster }: Pick<Store, "cluster">,
  reached: ReadonlySet<string>,
): Promise<SessionHolder[]> {
  const holders = (await cluster?.holders()) ?? [];
  return holders.filter(({ session_id }) => !reached.has(session_id));
}

export async function listRemoteGrants(
  store: Pick<Store, "factsOfTypes">,
  remote: readonly SessionHolder[],
): Promise<RemoteGrant[]> {
  const ids = remote.map(({ session_id }) => session_id);
  const { facts } = await readSound(ids, (some) =>
    store.factsOfTypes(some, ["grant.created", "grant.revoked"]),
  );
  const revoked = new Set(
    facts.flatMap((fact) => (fact.type === "grant.revoked" ? [fact.data.grant_id] : [])),
  );
  return remote.flatMap(({ session_id, host, pid, project = "", since }) =>
    facts.flatMap((fact) => {
      if (fact.type !== "grant.created" || fact.session_id !== session_id) return [];
      const grant = readGrant(fact);
      // Grants of an earlier holder ended with its process.
      if (grant === undefined || revoked.has(grant.grant_id) || grant.granted_at < since) return [];
      return [{ host, pid, project, grant }];
    }),
  );
}

/** Undefined for what was changed by hand: it grants nothing, and the others are still listed. */
function readGrant({ data }: Fact<"grant.created">): ListedGrant | undefined {
  const { grant_id, tool_name, granted_at, scopes }: Partial<ToolGrant> = asRecord(data.grant);
  const texts = [grant_id, tool_name, granted_at];
  if (!texts.every((text) => typeof text === "string") || !Array.isArray(scopes)) return undefined;
  try {
    return { ...data.grant, covers: describeScopes(data.grant.tool_name, data.grant.scopes) };
  } catch {
    return undefined;
  }
}

const CONFIRMED_WITHIN_MS = 15_000;

/** `gone`: its session has ended. `unconfirmed`: it was sent, and its holder has not recorded it yet. */
export async function revokeRemoteGrant(
  store: Store,
  { session_id, grant_id }: Pick<ListedGrant, "session_id" | "grant_id">,
  actor: Pick<Actor, "env">,
): Promise<"revoked" | "gone" | "unconfirmed"> {
  refuseRuntimeChild(actor);
  const { cluster } = store;
  if (cluster === undefined) return "gone";
  let unlisten: (() => void) | undefined;
  const confirmed = new Promise<void>((resolve) => {
    unlisten = cluster.listen(`facts/${session_id}`, () => {
      void isRevoked().then((isSo) => isSo && resolve(), ignoreUnread);
    });
  });
  try {
    if (!(await cluster.send(session_id, { kind: "revoke", grant_id }))) return "gone";
    const { kind } = await inTime(confirmed, { ms: CONFIRMED_WITHIN_MS });
    return kind === "done" || (await isRevoked()) ? "revoked" : "unconfirmed";
  } finally {
    unlisten?.();
  }

  async function isRevoked(): Promise<boolean> {
    const facts = await store.factsOfTypes([session_id], ["grant.revoked"]);
    return facts.some((fact) => fact.type === "grant.revoked" && fact.data.grant_id === grant_id);
  }
}

/** If the store cannot be read, the last look throws. */
function ignoreUnread(): void {}
