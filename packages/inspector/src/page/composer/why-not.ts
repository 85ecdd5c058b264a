// Whether a prompt can be sent to a session from here, and what happens with it.

import type { About } from "../../wire/routes.ts";
import type { SessionRow } from "../../wire/session-records.ts";

export type SendState =
  /** A new run. */
  | { readonly can: "start" }
  /** A run of this inspector is under way, and reads it with its next request. */
  | { readonly can: "join" }
  | { readonly can: "not"; readonly why: string };

export function findSendState(
  about: Pick<About, "can" | "pid">,
  session: Pick<SessionRow, "live"> | undefined,
): SendState {
  if (!about.can.run) return { can: "not", why: "This inspector cannot start runs." };
  if (session === undefined) return { can: "not", why: "The session is being read." };
  const { live } = session;
  if (live === undefined) return { can: "start" };
  if (live.host === undefined && live.pid === about.pid) return { can: "join" };
  const where = live.host === undefined ? "" : ` on ${live.host}`;
  return {
    can: "not",
    why: `Process ${live.pid}${where} holds this session: continue there, or end it first.`,
  };
}
