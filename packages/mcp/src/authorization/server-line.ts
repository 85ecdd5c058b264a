// Text of a server in a message of ours: one line, bounded, without what a terminal would obey, and
// without the secrets it was given.

import { oneLine } from "@soong/schema";

const LONGEST = 500;
/** Shorter values are words like "true"; to hide them would hide the message. */
const SHORTEST_SECRET = 6;

export function serverLine(text: string, secrets: readonly string[] = [], most = LONGEST): string {
  let line = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) line = line.replaceAll(secret, "[redacted]");
  }
  return oneLine(line, most);
}
