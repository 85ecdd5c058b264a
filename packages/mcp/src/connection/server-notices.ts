// Notifications of a server about its prompts and resources, in either era, and how to subscribe to one
// resource. Listeners look up whether it is true.

import { ProtocolError, type Client, type SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";
import type { ConnectedServer, ServerNotice } from "./connected-server.ts";

const WATCH_TIMEOUT_MS = 10_000;

interface NoticeListeners {
  readonly onToolsChanged: () => void;
  readonly onNotice: (notice: ServerNotice) => void;
}

export function takeNotices(client: Client, { onToolsChanged, onNotice }: NoticeListeners): void {
  client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
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
  { onToolsChanged, onNotice }: NoticeListeners,
): () => void {
  if (client.getProtocolEra() !== "modern") return () => {};
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const filter: SubscriptionFilter = {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
    ...(resources?.listChanged === true && { resourcesListChanged: true }),
  };
  if (Object.keys(filter).length === 0) return () => {};
  const onGap = () => {
    if (filter.toolsListChanged === true) onToolsChanged();
    if (filter.promptsListChanged === true) onNotice({ kind: "prompts_changed" });
    if (filter.resourcesListChanged === true) onNotice({ kind: "resources_changed" });
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

/** A server that promises news and never begins to tell any is as good as one without. */
const FIRST_TRIES = 3;
/** A stream that lasted so long was a good one: the next pause is short again. */
const GOOD_MS = 60_000;

/**
 * The stream on which a server of the newer era tells of changes: when it ends it is opened again, with pauses (MCP-3).
 * Nothing is waited for. The returned function ends it; it never rejects.
 */
export function keepListening(parts: {
  readonly client: Pick<Client, "listen">;
  readonly filter: SubscriptionFilter;
  readonly clock: Clock;
  /** The stream is there again: what may have been missed meanwhile counts as changed. */
  readonly onGap: () => void;
}): () => void {
  const { client, filter, clock, onGap } = parts;
  const stop = new AbortController();
  let cancelPause = () => {};
  let failures = 0;
  let wasOpen = false;
  void listen();
  return () => {
    stop.abort();
    cancelPause();
  };

  async function listen(): Promise<void> {
    try {
      const stream = await client.listen(filter, { signal: stop.signal });
      if (wasOpen) onGap();
      wasOpen = true;
      const since = clock.monotonic();
      const end = await stream.closed;
      if (end === "local") return;
      failures = clock.monotonic() - since >= GOOD_MS ? 1 : failures + 1;
    } catch (error) {
      failures += 1;
      // It answered, and will answer the same again.
      const isNo = error instanceof ProtocolError || (!wasOpen && failures >= FIRST_TRIES);
      if (isNo) return;
    }
    if (stop.signal.aborted) return;
    cancelPause = clock.after(backoffMs(failures), () => void listen());
  }
}

/** How long a server that failed so often in a row is not contacted: a second, then twice as long each time. */
export function backoffMs(failures: number): number {
  return Math.min(1000 * 2 ** Math.min(failures - 1, 20), 60_000);
}
