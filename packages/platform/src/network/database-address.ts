// What an address of a PostgreSQL database has to be, wherever it is written: in a config, a variable or an argument.

/** Further stores in one database have other schemas: `?schema=name`. */
export const DEFAULT_SCHEMA = "soong";

/** A clause such as "is not …". It repeats nothing that could be of a password. */
export function findAddressProblem(given: string): string | undefined {
  if (!/^postgres(?:ql)?:\/\//.test(given)) {
    return "is not an address that begins with postgres://";
  }
  if (SEVERAL_HOSTS.test(given)) return "names several hosts, and a store has one";
  if (!URL.canParse(given)) {
    return "is not a valid address, such as postgres://USER@HOST:5432/DATABASE; percent-encode special characters of its parts";
  }
  const { username, password, searchParams, pathname, search, hash } = new URL(given);
  // Such a character would make a part of the password look like the host or the database, which are shown.
  if (hash !== "" || `${pathname}${search}`.includes("@")) {
    return "has a special character of a password or a name that is not percent-encoded: write @ as %40, : as %3A, / as %2F, ? as %3F and # as %23";
  }
  if (![username, password, pathname].every(isEncoded)) {
    return "has a % that does not begin a code such as %40";
  }
  const schema = searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    return "has a schema with other characters than a-z, 0-9 and _";
  }
  return /^(?:bullmq$|information_schema$|pg_)/.test(schema)
    ? `has the schema ${schema}, which is not for a store`
    : undefined;
}

/** A comma before the `@` is of a user name or a password. */
const SEVERAL_HOSTS = /^\w+:\/\/(?:[^/?#]*@|(?![^/?#]*@))[^/?#@]*,|[?&]host=[^&]*(?:,|%2c)/i;

function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
