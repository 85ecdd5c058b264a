// The connection on which PostgreSQL calls a process, over a network that breaks.

import { expect, onTestFinished, test, vi } from "vitest";
import {
  openConnections,
  type Connections,
} from "../../../packages/store/src/postgres/connection.ts";
import { readAddress } from "../../../packages/store/src/postgres/store-address.ts";
import { createListener } from "../../../packages/store/src/postgres/listener.ts";
import { startProxy } from "../../postgres/proxy.ts";
import { usePostgres } from "../../postgres/shared.ts";

const LONG = { timeout: 15_000, interval: 20 };

test("a silent network is noticed by the regular statement, and the connection made again", async () => {
  const url = await usePostgres();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const { listener, beats, woken, connect } = await openListener(proxy.url);
  await vi.waitFor(() => expect(beats).toHaveBeenCalled(), LONG);
  proxy.hole();
  // The attempt after the one that was lost.
  await vi.waitFor(() => expect(connect.mock.calls.length).toBeGreaterThan(1), LONG);
  const before = woken.mock.calls.length;
  proxy.heal();
  await vi.waitFor(() => expect(woken.mock.calls.length).toBeGreaterThan(before), LONG);
  const connections = await openConnections(readAddress(url), OPTIONS);
  onTestFinished(() => connections.close());
  const after = woken.mock.calls.length;
  await connections.query({
    text: "SELECT pg_notify($1, '')",
    values: [listener.channel("topic")],
  });
  await vi.waitFor(() => expect(woken.mock.calls.length).toBeGreaterThan(after), LONG);
});

test("a server that cannot be reached is tried again with growing pauses, and closing does not wait for it", async () => {
  const proxy = await startProxy(await usePostgres());
  onTestFinished(() => proxy.close());
  proxy.reset();
  const { listener, woken, connect } = await openListener(proxy.url);
  await vi.waitFor(() => expect(connect.mock.calls.length).toBeGreaterThan(2), LONG);
  expect(woken).not.toHaveBeenCalled();
  await listener.close();
  const tried = connect.mock.calls.length;
  proxy.heal();
  expect(listener.listen("topic", woken)).toBeTypeOf("function");
  expect(connect).toHaveBeenCalledTimes(tried);
});

test("where no connection is left for it, the pool is asked at the same times", async () => {
  const { beats, connect } = await openListener(await usePostgres(), (connections) => {
    vi.spyOn(connections, "connectListener").mockRejectedValue(new Error("too many connections"));
  });
  await vi.waitFor(() => expect(beats.mock.calls.length).toBeGreaterThan(1), LONG);
  expect(connect).toHaveBeenCalled();
});

const OPTIONS = { readOnly: false, answerTimeoutMs: 1_000 };

async function openListener(url: string, change: (connections: Connections) => void = () => {}) {
  const connections = await openConnections(readAddress(url), OPTIONS);
  change(connections);
  const connect = vi.spyOn(connections, "connectListener");
  const beats = vi.fn<() => void>();
  const beat = { statement: () => ({ text: "SELECT 1" }), take: beats };
  const listener = createListener({ connections, schema: "soong", beat, beatMs: 100 });
  const woken = vi.fn<() => void>();
  listener.listen("topic", woken);
  onTestFinished(async () => {
    await listener.close();
    await connections.close();
  });
  return { listener, beats, woken, connect };
}
