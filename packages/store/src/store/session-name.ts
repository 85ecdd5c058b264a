// The name of a session's own files. Ids may come from callers and hold anything.

import { createHash } from "node:crypto";

/** The id itself where any disk takes it as a name, also one that does not tell case. */
export function sessionName(session_id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,99}$/.test(session_id)) return session_id;
  return `~${createHash("sha256").update(session_id).digest("hex").slice(0, 40)}`;
}
