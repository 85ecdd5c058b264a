// Who else could have written a config. It grants rights, and whoever can write it grants them.

/** As clauses about the file. `self` is the user's id; where there is none, nothing can be told. */
export function trustDoubts(
  { uid, mode }: { readonly uid: number; readonly mode: number },
  self: number | undefined,
): string[] {
  if (self === undefined) return [];
  const doubts: string[] = [];
  if (uid !== self && uid !== ROOT) {
    doubts.push(`belongs to the user with the id ${uid}, who can change what it allows; chown it`);
  }
  if ((mode & 0o022) !== 0) {
    doubts.push("can be written by others, who can change what it allows; run chmod go-w on it");
  }
  return doubts;
}

const ROOT = 0;
