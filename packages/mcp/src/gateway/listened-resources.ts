// Resources a client of the newer protocol listens for: the SDK keeps those streams and tells no one which
// resources they are about, so the request that opens one is looked at on its way.

import { isJsonObject } from "@soong/schema";
import type { ClientRelay } from "./client-relay.ts";

const MAX_RESOURCES = 100;

/** Follows what the message asks to hear of; nothing where it asks for none. The returned function ends it. */
export function followListened(
  message: unknown,
  relay: ClientRelay | undefined,
): (() => void) | undefined {
  const uris = listenedIn(message);
  if (relay === undefined || uris.length === 0) return undefined;
  const following = uris.slice(0, MAX_RESOURCES).map((uri) =>
    // A server that will not tell of it is no reason to hear nothing of the others.
    relay.follow(uri).catch(() => () => {}),
  );
  return () => {
    for (const stopped of following) void stopped.then((stop) => stop());
  };
}

function listenedIn(message: unknown): string[] {
  if (!isJsonObject(message) || message["method"] !== "subscriptions/listen") return [];
  const { params } = message;
  const wanted = isJsonObject(params) ? params["notifications"] : undefined;
  const uris = isJsonObject(wanted) ? wanted["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}
