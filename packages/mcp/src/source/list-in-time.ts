// A server that never answers has no tools: the whole list within a time, or an error that says so.

import type { Clock } from "@soong/core";
import { listTools, type ListedTools } from "../catalog/index.ts";
import type { ConnectedServer } from "../connection/index.ts";

export const LIST_TIMEOUT_MS = 60_000;

export async function listInTime(
  server: ConnectedServer,
  clock: Clock,
  ending: AbortSignal,
): Promise<ListedTools> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  ending.addEventListener("abort", stop);
  let disarm = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    disarm = clock.after(LIST_TIMEOUT_MS, () => {
      reject(new Error(`it did not list its tools within ${LIST_TIMEOUT_MS} ms`));
      abort.abort();
    });
  });
  try {
    return await Promise.race([listTools(server, abort.signal), late]);
  } finally {
    disarm();
    ending.removeEventListener("abort", stop);
  }
}
