// The text of a patch as a byte string: one character for each byte, so that lengths and slices are
// those of bytes.

/** With its line feed, if it has one. */
export function lineAt(patch: string, at: number): string {
  const end = patch.indexOf("\n", at);
  return end === -1 ? patch.slice(at) : patch.slice(at, end + 1);
}

/** From 1. */
export function lineNumberAt(patch: string, offset: number): number {
  let number = 1;
  for (let at = patch.indexOf("\n"); at !== -1 && at < offset; at = patch.indexOf("\n", at + 1)) {
    number += 1;
  }
  return number;
}

/** The bytes as characters a person can read. */
export function readable(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
