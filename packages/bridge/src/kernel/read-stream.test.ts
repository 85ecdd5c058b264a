import { expect, test } from "vitest";
import { readStream } from "./read-stream.ts";

test("each part may become none or several, and the end is reported", async () => {
  const closed: string[] = [];
  const stream = readStream(ReadableStream.from([1, 2, 3]), {
    read: (part) => Array.from({ length: part - 1 }, () => part),
    close: (reason) => closed.push(reason),
  });
  const read: number[] = [];
  for await (const part of stream) read.push(part);
  expect(read).toEqual([2, 3, 3]);
  expect(closed).toEqual(["the answer ended too early"]);
});

test("it is read no further than its reader does, and a cancellation reaches the source", async () => {
  const closed: string[] = [];
  let pulled = 0;
  let cancelled: unknown;
  const source = new ReadableStream<number>(
    {
      pull: (controller) => controller.enqueue((pulled += 1)),
      cancel: (reason) => {
        cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const reader = readStream(source, {
    read: (part) => [part],
    close: (reason) => closed.push(reason),
  }).getReader();
  await reader.read();
  expect(pulled).toBe(1);
  await reader.cancel("enough");
  expect([cancelled, closed]).toEqual(["enough", ["the answer was cancelled"]]);
});

test("a failure passes, and is reported", async () => {
  const closed: string[] = [];
  const source = new ReadableStream<number>({
    pull: () => {
      throw new Error("the connection broke");
    },
  });
  const reader = readStream(source, {
    read: (part) => [part],
    close: (reason) => closed.push(reason),
  }).getReader();
  await expect(reader.read()).rejects.toThrow("the connection broke");
  expect(closed).toEqual(["the answer failed"]);
});
