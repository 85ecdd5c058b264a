// Text of a server in a message of ours: one line, bounded, without what a terminal would obey, and
// without the secrets it was given.

const LONGEST = 500;
/** Shorter values are words like "true"; to hide them would hide the message. */
const SHORTEST_SECRET = 6;

export function oneLine(text: string, secrets: readonly string[] = [], longest = LONGEST): string {
  let line = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) line = line.replaceAll(secret, "[redacted]");
  }
  line = line.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  if (line.length <= longest) return line;
  // Not through the middle of a character.
  return `${line.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
