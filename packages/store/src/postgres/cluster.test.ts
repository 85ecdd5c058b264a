import type { QueryConfig } from "pg";
import { expect, test, vi } from "vitest";
import { createCluster } from "./cluster.ts";

test("a wake-up that comes while another is on its way is sent after it; many at once are one statement", async () => {
  const sent: { channels: number; answer: () => void }[] = [];
  const query = ({ values }: QueryConfig): Promise<object> =>
    new Promise((resolve) => {
      const [channels] = values as [string[]];
      sent.push({ channels: channels.length, answer: () => resolve({ rows: [] }) });
    });
  const cluster = createCluster({
    connections: { query } as never,
    runner: undefined as never,
    schema: "soong",
    held: () => [],
  });
  for (const topic of ["one", "two", "one"]) cluster.wake(topic);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  cluster.wake("three");
  sent[0]?.answer();
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent.map(({ channels }) => channels)).toEqual([2, 1]);
  sent[1]?.answer();
});

test("closing sends what is still to be sent, and nothing fails where it cannot be", async () => {
  const query = vi.fn(() => Promise.reject(new Error("it is away")));
  const cluster = createCluster({
    connections: { query } as never,
    runner: undefined as never,
    schema: "soong",
    held: () => [],
  });
  cluster.wake("one");
  await cluster.close();
  expect(query).toHaveBeenCalledTimes(1);
});
