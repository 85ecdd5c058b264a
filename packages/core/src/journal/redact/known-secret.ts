// The secrets config names, and which of them can be looked for without mangling everything else. How
// they are found is not known here.

import { OPENING } from "./placeholders.ts";

export interface KnownSecret {
  name: string;
  value: string;
}

const SECRET_NAME =
  /token|secret|passw|passphrase|pwd|credential|cookie|session|auth|bearer|private|signature|api[-_]?key|access[-_]?key|(?:^|[-_])(?:key|pat|pass|sig)(?:$|[-_])|dsn|database_url|connection_?string/i;

/** Whether a variable, header or field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a value looks like a key: long, without words, letters and digits mixed. */
export function isSecretShape(value: string): boolean {
  return (
    /^(?!\/)[A-Za-z0-9+/=_.~-]{20,512}$/.test(value) &&
    /[0-9]/.test(value) &&
    /[A-Za-z]/.test(value) &&
    new Set(value).size >= 12 &&
    !/[A-Za-z]{12}/.test(value) &&
    !/^(?:[\w-]+\.)+[a-z]{2,}$/i.test(value)
  );
}

/** Those of the named variables that are set and hold a secret, by name or by shape. */
export function secretVariables(
  names: Iterable<string>,
  env: Readonly<Record<string, string | undefined>>,
): KnownSecret[] {
  return [...new Set(names)].flatMap((name) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined || value === "") return [];
    return isSecretName(name) || isSecretShape(value) ? [{ name, value }] : [];
  });
}

/** Also line by line; without those that are too short, that are mere stand-ins, or whose value came before. */
export function worthHiding(secrets: readonly KnownSecret[]): KnownSecret[] {
  const values = new Set<string>();
  return secrets.flatMap(splitLines).filter(({ value }) => {
    const worth =
      value.length >= MIN_LENGTH &&
      !STAND_INS.has(value.toLowerCase()) &&
      !OPENING.includes(value) &&
      !values.has(value);
    values.add(value);
    return worth;
  });
}

/** A diff or a listing puts something before each line. Of a key in PEM, the lines that are words stay. */
function splitLines(secret: KnownSecret): KnownSecret[] {
  const { name, value } = secret;
  if (!value.includes("\n")) return [secret];
  const lines = value.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line.length >= MIN_LINE_LENGTH && !/\s|-----/.test(line));
  return [secret, ...keys.map((line) => ({ name, value: line }))];
}

/** Shorter ones may be ordinary words. */
const MIN_LINE_LENGTH = 12;

/** A text shorter than this holds no secret of any kind. */
export const MIN_LENGTH = 6;

/** What users write where a secret will be. To replace these would mangle every source file. */
const STAND_INS: ReadonlySet<string> = new Set(
  "changeme default development disabled enabled example localhost password private production public secret string undefined username".split(
    " ",
  ),
);
