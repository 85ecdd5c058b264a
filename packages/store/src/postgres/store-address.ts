// The address of a store: where it is, without the credentials, and in which schema.

import { StoreError } from "../contract/store-error.ts";

/** Further stores in one database have other schemas: `?schema=name`. */
const DEFAULT_SCHEMA = "soong";

export interface StoreAddress {
  readonly name: string;
  readonly schema: string;
  readonly url: string;
}

export function readAddress(given: string): StoreAddress {
  let url: URL;
  if (SEVERAL_HOSTS.test(given)) throw badUrl("It names several hosts, and a store has one");
  try {
    url = new URL(given);
  } catch {
    throw badUrl("It is no URL");
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:") {
    throw badUrl(`It begins with ${url.protocol}//`);
  }
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw badUrl("Its schema has other characters than a-z, 0-9 and _");
  }
  if (/^(?:bullmq$|information_schema$|pg_)/.test(schema)) {
    throw badUrl(`Its schema is ${schema}, which is not for a store`);
  }
  url.searchParams.delete("schema");
  // An unencoded character would make a part of the password look like the host or the database, which are shown.
  if (url.hash !== "" || `${url.pathname}${url.search}`.includes("@")) {
    throw badUrl(
      "A special character of a part is not percent-encoded, as @ is by %40 and # by %23",
    );
  }
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
  } catch {
    throw badUrl("A % in it does not begin a code such as %40");
  }
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  return { name, schema, url: url.href };
}

/** A comma before the `@` is of a user name or a password. */
const SEVERAL_HOSTS = /^\w+:\/\/(?:[^/?#]*@|(?![^/?#]*@))[^/?#@]*,|[?&]host=[^&]*(?:,|%2c)/i;

function badUrl(why: string): StoreError {
  return new StoreError(
    "store_unavailable",
    `The URL of the store cannot be used. ${why}; it has to be like postgres://USER:PASSWORD@HOST:5432/DATABASE.`,
  );
}
