// Runs a piece of a test without root's privileges, so that a test about missing rights says something
// whoever runs it.

export const isRoot = process.geteuid?.() === 0;

/** The user id that root becomes. */
export const ORDINARY_USER = 65_534;

export async function asOrdinaryUser<Result>(work: () => Promise<Result>): Promise<Result> {
  if (!isRoot) {
    return work();
  }
  process.seteuid?.(ORDINARY_USER);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
