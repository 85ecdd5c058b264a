// Notifications of a server about its prompts and resources, in either era, and how to subscribe to one
// resource. Listeners look up whether it is true.

import type { Client, SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";
import type { ConnectedServer } from "./connected-server.ts";
import { keepListening } from "./keep-listening.ts";

export type ServerNotice =
  | { readonly kind: "prompts_changed" | "resources_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

const WATCH_TIMEOUT_MS = 10_000;

export function takeNotices(client: Client, onNotice: (notice: ServerNotice) => void): void {
  client.setNotificationHandler("notifications/prompts/list_changed", () =>
    onNotice({ kind: "prompts_changed" }),
  );
  client.setNotificationHandler("notifications/resources/list_changed", () =>
    onNotice({ kind: "resources_changed" }),
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    onNotice({ kind: "resource_updated", uri: params.uri }),
  );
}

/**
 * The newer era tells of changes only to those who ask. Not waited for; the returned function ends it. When the
 * server has ended it, what may have been missed counts as changed.
 */
export function listenForChanges(
  client: Client,
  clock: Clock,
  on: { tools: () => void; notice: (notice: ServerNotice) => void },
): () => void {
  if (client.getProtocolEra() !== "modern") return () => {};
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const filter: SubscriptionFilter = {
    ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
  };
  if (Object.keys(filter).length === 0) return () => {};
  const onGap = () => {
    if (filter.toolsListChanged === true) on.tools();
    if (filter.promptsListChanged === true) on.notice({ kind: "prompts_changed" });
    if (filter.resourcesListChanged === true) on.notice({ kind: "resources_changed" });
  };
  return keepListening({ client, filter, clock, onGap });
}

/** Rejects with what the server says against it; the returned function ends it and never rejects. */
export async function watchResource(
  client: Client,
  request: ConnectedServer["request"],
  uri: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (client.getProtocolEra() === "modern") {
    const filter: SubscriptionFilter = { resourceSubscriptions: [uri] };
    const watching = await client.listen(filter, { signal, timeout: WATCH_TIMEOUT_MS });
    return () => watching.close().catch(() => {});
  }
  await request("resources/subscribe", { uri }, { signal, timeoutMs: WATCH_TIMEOUT_MS });
  return async () => {
    const options = { signal: new AbortController().signal, timeoutMs: WATCH_TIMEOUT_MS };
    await request("resources/unsubscribe", { uri }, options).catch(() => {});
  };
}
