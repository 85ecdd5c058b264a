import { ProtocolError, type McpSubscription } from "@modelcontextprotocol/client";
import { createHeldClock } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { keepListening } from "./server-notices.ts";

/** Streams that end on request; what `next` holds is thrown instead of the next one. */
function stage() {
  const clock = createHeldClock();
  const ends: ((cause: "graceful" | "remote") => void)[] = [];
  let next: Error | undefined;
  let gaps = 0;
  let opened = 0;
  const stop = keepListening({
    clock,
    filter: { toolsListChanged: true },
    onGap: () => {
      gaps += 1;
    },
    client: {
      listen: (_filter, options) => {
        opened += 1;
        if (next !== undefined) return Promise.reject(next);
        const closed: McpSubscription["closed"] = new Promise((resolve) => {
          ends.push(resolve);
          options?.signal?.addEventListener("abort", () => resolve("local"));
        });
        return Promise.resolve({ honoredFilter: {}, close: async () => {}, closed });
      },
    },
  });
  return {
    clock,
    stop,
    get opened() {
      return opened;
    },
    get gaps() {
      return gaps;
    },
    fails(error: Error | undefined) {
      next = error;
    },
    async end(cause: "graceful" | "remote" = "remote") {
      await clock.settle();
      ends.pop()?.(cause);
      await clock.settle();
    },
  };
}

test("a stream that ends is opened again, with longer pauses, and what was missed counts as changed", async () => {
  verifies("MCP-3");
  const staged = stage();
  await staged.end();
  await staged.clock.advance(999);
  expect(staged).toMatchObject({ opened: 1, gaps: 0 });
  await staged.clock.advance(1);
  expect(staged).toMatchObject({ opened: 2, gaps: 1 });
  await staged.end("graceful");
  await staged.clock.advance(1999);
  expect(staged.opened).toBe(2);
  await staged.clock.advance(1);
  expect(staged).toMatchObject({ opened: 3, gaps: 2 });
  // One that lasted is a good one.
  await staged.clock.advance(60_000);
  await staged.end();
  await staged.clock.advance(1000);
  expect(staged.opened).toBe(4);
  staged.stop();
});

test("errors on the way are tried again; a no is a no", async () => {
  verifies("MCP-3");
  const staged = stage();
  staged.fails(new TypeError("fetch failed"));
  await staged.end();
  for (const pause of [1000, 2000, 4000, 8000]) await staged.clock.advance(pause);
  expect(staged.opened).toBe(5);
  staged.fails(undefined);
  await staged.clock.advance(16_000);
  expect(staged).toMatchObject({ opened: 6, gaps: 1 });
  staged.fails(new ProtocolError(-32601, "unknown"));
  await staged.end();
  await staged.clock.advance(600_000);
  expect(staged.opened).toBe(7);
  expect(staged.clock.pending).toBe(0);
});

test("one that never begins is given up", async () => {
  const clock = createHeldClock();
  let opened = 0;
  keepListening({
    clock,
    filter: {},
    onGap: () => {},
    client: {
      listen: () => {
        opened += 1;
        return Promise.reject(new Error("no answer"));
      },
    },
  });
  for (let count = 0; count < 6; count += 1) await clock.advance(60_000);
  expect(opened).toBe(3);
  expect(clock.pending).toBe(0);
});

test("stopped, it opens nothing any more", async () => {
  const staged = stage();
  await staged.end();
  staged.stop();
  await staged.clock.advance(60_000);
  expect(staged.opened).toBe(1);
  expect(staged.clock.pending).toBe(0);
});
