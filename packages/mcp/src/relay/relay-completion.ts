// completion/complete on its way to the server whose prompt or template it is about, and what comes back of it.

import type { JsonObject } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { safeLine } from "../catalog/index.ts";
import { McpRequestFailure, type ConnectedServer } from "../connection/index.ts";
import type { Completion } from "./relay-types.ts";

interface Owner {
  readonly server_id: string;
  readonly server: ConnectedServer;
}

interface Owners {
  readonly promptOwner: (
    name: string,
  ) => Promise<(Owner & { readonly prompt: string }) | undefined>;
  readonly resourceOwner: (uri: string) => Promise<Owner | undefined>;
}

export interface CompletionTarget {
  readonly owner: Owner;
  readonly params: JsonObject;
}

/** As many as the protocol allows. */
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 1_000;

export async function completionTarget(
  { ref, argument, context }: JsonObject,
  { promptOwner, resourceOwner }: Owners,
): Promise<CompletionTarget | undefined> {
  if (!isJsonObject(ref) || argument === undefined) return undefined;
  const rest = { argument, ...omitUndefined({ context }) };
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string") {
    const owner = await promptOwner(name);
    if (owner === undefined) return undefined;
    return { owner, params: { ref: { ...ref, name: owner.prompt }, ...rest } };
  }
  if (type !== "ref/resource" || typeof uri !== "string") return undefined;
  const owner = await resourceOwner(uri);
  return owner === undefined ? undefined : { owner, params: { ref, ...rest } };
}

export function readCompletion({ completion }: JsonObject): Completion {
  if (!isJsonObject(completion) || !Array.isArray(completion["values"])) {
    throw new McpRequestFailure("invalid_answer", "the answer has no completion");
  }
  const { values, total, hasMore } = completion;
  const said = values.filter((value) => typeof value === "string");
  return {
    values: said.slice(0, MAX_VALUES).map((value) => safeLine(value, MAX_VALUE_CHARS)),
    ...(typeof total === "number" && Number.isSafeInteger(total) ? { total } : {}),
    ...(typeof hasMore === "boolean" ? { hasMore } : {}),
  };
}
