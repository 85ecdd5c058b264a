// Turns errors of PostgreSQL into errors that the user can act on. The driver's own errors may name the user, never the password;
// ours name neither.

import { StoreError, type StoreErrorCode } from "../contract/store-error.ts";

type Meaning = readonly [StoreErrorCode, string];

const AWAY: Meaning = [
  "store_unavailable",
  "it does not answer; check that it runs and can be reached",
];
const REFUSED: Meaning = [
  "store_unavailable",
  "it does not accept the user or password; check those of the URL, or the variable that store.password_env names",
];
/** Nothing was sent yet, so this can be retried. */
const BUSY: Meaning = [
  "store_unavailable",
  "it takes no more connections; end some, or raise max_connections",
];
const FORBIDDEN: Meaning = [
  "store_read_only",
  "this user may not do that; GRANT it the rights on the schema and its tables",
];
const FORBIDDEN_DATABASE: Meaning = [
  "store_read_only",
  "this user may not do that; GRANT it CONNECT and CREATE on the database",
];
const FULL: Meaning = ["store_full", "it has no room left; free some space there"];

/** The server refuses an unencrypted login with the code of a wrong user. */
const NO_ENCRYPTION = /no encryption/;
const UNENCRYPTED: Meaning = [
  "store_unavailable",
  "it takes no unencrypted connection, or not from this address; add ?sslmode=verify-full to the URL",
];

/** A message of PgBouncer, which gives it the code of an unreachable server. */
const REFUSED_PARAMETER = /unsupported startup parameter/;
const UNSUPPORTED: Meaning = [
  "store_unavailable",
  "the pooler in front of it does not take the options of the URL; remove them, or let the pooler ignore them",
];

/** By SQLSTATE, or by its first two characters. */
const MEANING: Readonly<Record<string, Meaning>> = {
  "28P01": REFUSED,
  "28000": REFUSED,
  "3D000": ["store_unavailable", "there is no such database; create it, or correct the URL"],
  "42501": FORBIDDEN,
  "25006": ["store_read_only", "it can only be read"],
  "53100": FULL,
  "53200": ["store_unavailable", "it has no memory left"],
  "53300": BUSY,
  "57014": ["store_locked", "it took too long; try again when it has less to do"],
  "55P03": ["store_locked", "another process has held it for too long; try again"],
  "57P01": AWAY,
  "57P02": AWAY,
  "57P03": AWAY,
  "57P05": AWAY,
  // The server does not accept connections now.
  "55000": AWAY,
  // The server ended a transaction that stood still, because this process was stopped or cut off.
  "25P03": AWAY,
  "08": AWAY,
  XX001: ["store_corrupted", "it is damaged; nothing more is written to it"],
  XX002: ["store_corrupted", "it is damaged; nothing more is written to it"],
};

/** Network errors between this process and the server. */
const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "ENOENT",
]);

/** The driver gives these no code. */
const NETWORK_WORDS =
  /Connection terminated|Query read timeout|timeout (exceeded )?when trying to connect|timeout expired|Client has encountered a connection error|not queryable|socket hang up/i;

/** Codes of Node for refused certificates, and what to do. */
const CERTIFICATES: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/,
    "its certificate is of an authority that this machine does not know; name the file with the certificate of that authority in the URL: &sslrootcert=FILE",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "its certificate is not for the host of the URL; use a name that the certificate has",
  ],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired; renew it on the server"],
];

/** A message of the driver. */
const NO_PASSWORD = /client password must be/;

export class PostgresError extends StoreError {
  /** SQLSTATE, or the error code of the system. */
  readonly state: string;
  /** The name of the violated constraint. */
  readonly constraint: string | undefined;
  /** There was no answer, so it is unknown whether the statement was executed. */
  readonly isAway: boolean;

  constructor(code: StoreErrorCode, message: string, about: ErrorAbout, cause: unknown) {
    super(code, message, { cause });
    this.state = about.state;
    this.constraint = about.constraint;
    this.isAway = about.isAway;
  }
}

interface ErrorAbout {
  readonly state: string;
  readonly constraint: string | undefined;
  readonly isAway: boolean;
}

export function asPostgresError(error: unknown, name: string): Error {
  if (error instanceof StoreError) return error;
  const {
    code: state = "",
    message,
    constraint,
  } = error as Error & {
    code?: string;
    constraint?: string;
  };
  const known = findMeaning(state, message);
  const isOfDatabase = known === FORBIDDEN && message.includes("for database");
  const meaning = isOfDatabase ? FORBIDDEN_DATABASE : known;
  const isAway =
    meaning === AWAY || meaning === BUSY || NETWORK.has(state) || NETWORK_WORDS.test(message);
  const isDatabase = meaning !== undefined || isAway || /^[0-9A-Z]{5}$/.test(state);
  // An error of our own code in the middle of a transaction.
  if (!isDatabase) return error as Error;
  const [code, what] = meaning ?? (isAway ? AWAY : (["store_unavailable", ""] as const));
  // The server's message about a login names the user.
  const why = meaning === REFUSED || meaning === UNENCRYPTED ? "" : firstLine(message);
  const because = [what, what === "" || why === "" ? why : `(${why})`].filter(Boolean).join(" ");
  const text = `The store ${name}: ${because}.`;
  return new PostgresError(code, text, { state, constraint, isAway }, error);
}

function findMeaning(state: string, message: string): Meaning | undefined {
  if (REFUSED_PARAMETER.test(message)) return UNSUPPORTED;
  if (state === "28000" && NO_ENCRYPTION.test(message)) return UNENCRYPTED;
  return MEANING[state] ?? MEANING[state.slice(0, 2)];
}

/** An error while connecting is never an error of our own code. */
export function asConnectError(given: unknown, name: string): Error {
  const error = asPostgresError(given, name);
  if (error instanceof StoreError) return error;
  const why = firstLine(error.message);
  if (NO_PASSWORD.test(why)) {
    const message = `The store ${name}: the server asks for a password, and none is given; set the variable that store.password_env of the config names, which counts for the address of the config alone, or put the password into SOONG_STORE_URL. Of another address, write 'postgres://USER:$NAME@HOST/DATABASE' with the name of a variable.`;
    return new StoreError("store_unavailable", message, { cause: error });
  }
  const { code = "" } = error as { code?: string };
  const certificate = CERTIFICATES.find(([codes]) => codes.test(code))?.[1];
  if (certificate !== undefined) {
    const message = `The store ${name}: ${certificate} (${code}).`;
    return new StoreError("store_unavailable", message, { cause: error });
  }
  const what = /SSL|TLS|certificate/i.test(why)
    ? `it cannot be reached with TLS as the URL says; check its sslmode (${why})`
    : `no connection can be made; check the URL (${why})`;
  return new StoreError("store_unavailable", `The store ${name}: ${what}.`, { cause: error });
}

function firstLine(message: string): string {
  const [line = ""] = message.split("\n");
  return line.replace(/\.$/, "");
}

export function isTableMissing(error: unknown): boolean {
  return error instanceof PostgresError && error.state === "42P01";
}

export function isAway(error: unknown): boolean {
  return error instanceof PostgresError && error.isAway;
}

/** Whether a row with that key exists already. */
export function isTaken(error: unknown): error is PostgresError {
  return error instanceof PostgresError && error.state === "23505";
}

/** Whether two transactions conflicted and this one was rolled back. */
export function isUndone(error: unknown): boolean {
  return error instanceof PostgresError && (error.state === "40001" || error.state === "40P01");
}
