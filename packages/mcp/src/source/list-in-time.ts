// A server that never answers has no tools: the whole list within a time, or an error that says so.

import type { Clock } from "@soong/core";
import { inTime } from "@soong/platform";
import { listTools, type ListedTools } from "../catalog/index.ts";
import type { ConnectedServer } from "../connection/index.ts";

export const LIST_TIMEOUT_MS = 60_000;

export async function listInTime(
  server: ConnectedServer,
  clock: Clock,
  ending: AbortSignal,
): Promise<ListedTools> {
  const abort = new AbortController();
  const listing = listTools(server, AbortSignal.any([ending, abort.signal]));
  const listed = await inTime(listing, { ms: LIST_TIMEOUT_MS, clock });
  if (listed.kind === "done") return listed.value;
  abort.abort();
  throw new Error(`it did not list its tools within ${LIST_TIMEOUT_MS} ms`);
}
