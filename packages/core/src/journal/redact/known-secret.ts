// The secrets config names, and which of them can be looked for without mangling everything else. How
// they are found is not known here.

import { OPENING } from "./placeholder-form.ts";

export interface KnownSecret {
  name: string;
  value: string;
}

/** Without those that are too short, that are mere stand-ins, or whose value came before. */
export function worthHiding(secrets: readonly KnownSecret[]): KnownSecret[] {
  const values = new Set<string>();
  return secrets.filter(({ value }) => {
    const worth =
      value.length >= MIN_LENGTH &&
      !STAND_INS.has(value.toLowerCase()) &&
      !OPENING.includes(value) &&
      !values.has(value);
    values.add(value);
    return worth;
  });
}

/** A text shorter than this holds no secret of any kind. */
export const MIN_LENGTH = 6;

/** What people write where a secret will be. To replace these would mangle every source file. */
const STAND_INS: ReadonlySet<string> = new Set(
  "changeme default development disabled enabled example localhost password private production public secret string undefined username".split(
    " ",
  ),
);
