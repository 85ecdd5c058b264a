// Aborts runs and revokes grants in a session that a process of another machine holds, by commands through the store. Used by the
// inspector and by `soong attach`.

import { ControlError } from "@soong/control";
import type { Store } from "@soong/store";
import { refuseRuntimeChild, type Actor } from "./actor.ts";
import { revokeRemoteGrant } from "./remote-grants.ts";

export async function revokeRemotely(
  store: Store,
  session_id: string,
  grant_id: string,
  actor: Pick<Actor, "env">,
): Promise<void> {
  const outcome = await revokeRemoteGrant(store, { session_id, grant_id }, actor);
  if (outcome === "gone") throw refuseGone(session_id);
  if (outcome === "unconfirmed") {
    throw new ControlError(
      "failed",
      `It was sent to the process that holds ${session_id}, which has not confirmed it yet: it may be cut off.`,
    );
  }
}

/** Without `run_id`, aborts all runs that are under way. */
export async function abortRemotely(
  { cluster }: Pick<Store, "cluster">,
  session_id: string,
  about: { readonly run_id?: string | undefined; readonly reason: string },
  actor: Pick<Actor, "env">,
): Promise<void> {
  refuseRuntimeChild(actor);
  const { run_id, reason } = about;
  const command = { kind: "abort", reason, ...(run_id !== undefined && { run_id }) } as const;
  if ((await cluster?.send(session_id, command)) !== true) throw refuseGone(session_id);
}

function refuseGone(session_id: string): ControlError {
  return new ControlError("unreachable", `The session ${session_id} is not live: it has ended.`);
}
