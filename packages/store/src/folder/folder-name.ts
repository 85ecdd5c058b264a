// The name of a run's folder. Run ids come from callers: none may lead out of the directory, and no two
// may share a folder, also on a disk that takes `A` and `a` for the same name.

import { createHash } from "node:crypto";

const PLAIN = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** Names that are devices on Windows, with any ending, and the trailing dot it drops. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/;

/** The id itself where that is safe, otherwise what can be read of it, `~` and its hash. */
export function folderName(run_id: string): string {
  if (PLAIN.test(run_id) && !RESERVED.test(run_id)) return run_id;
  const readable = run_id
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  // As UTF-16: in UTF-8 all halves of surrogate pairs would be the same character.
  const hash = createHash("sha256").update(Buffer.from(run_id, "utf16le")).digest("hex");
  return `${readable === "" ? "run" : readable}~${hash.slice(0, 32)}`;
}
