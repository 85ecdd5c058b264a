// The address of a store: where it is, without the credentials, and in which schema.

import { DEFAULT_SCHEMA, findAddressProblem } from "@soong/platform";
import { StoreError } from "../contract/store-error.ts";

export interface StoreAddress {
  readonly name: string;
  readonly schema: string;
  readonly url: string;
}

export function readAddress(given: string): StoreAddress {
  const problem = findAddressProblem(given);
  if (problem !== undefined) {
    throw new StoreError("store_unavailable", `The address of the store ${problem}.`);
  }
  const url = new URL(given);
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  url.searchParams.delete("schema");
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  return { name, schema, url: url.href };
}
