import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deliverOutput, drainOutput } from "./output.ts";

describe("an output", () => {
  test("is handed over in order, one piece at a time, however slow its consumer is", async () => {
    const pieces = fc.array(
      fc.record({ bytes: fc.uint8Array({ minLength: 1 }), turns: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), async (pieces, resumedByOthers) => {
        const stream = new PassThrough();
        const taken: Uint8Array[] = [];
        let isBusy = false;
        const output = deliverOutput(
          stream,
          (chunk) => {
            expect(isBusy).toBe(false);
            taken.push(chunk);
            const turns = pieces[taken.length - 1]?.turns ?? 0;
            return turns === 0 ? undefined : takeTime(turns);
          },
          (error) => {
            throw error;
          },
        );
        async function takeTime(turns: number): Promise<void> {
          isBusy = true;
          for (let count = 0; count < turns; count += 1) await turn();
          isBusy = false;
        }
        for (const { bytes } of pieces) {
          stream.write(bytes);
          // As Node does with the streams of a process that exits.
          if (resumedByOthers) stream.resume();
          await turn();
        }
        stream.end();
        await output.finished;
        expect(isBusy).toBe(false);
        expect(Buffer.concat(taken)).toEqual(Buffer.concat(pieces.map(({ bytes }) => bytes)));
        expect(output.progress()).toMatchObject({
          isFinished: true,
          isConsumerBusy: false,
          bytes: Buffer.concat(taken).length,
        });
      }),
      { numRuns: 50 },
    );
  });

  test("holds its writer back while the consumer is busy", async () => {
    const stream = new PassThrough({ highWaterMark: 4 });
    let go = () => {};
    const taken: string[] = [];
    deliverOutput(
      stream,
      (chunk) => {
        taken.push(chunk.toString());
        return new Promise<void>((resolve) => {
          go = resolve;
        });
      },
      () => {},
    );
    stream.write("first");
    await turn();
    expect(stream.isPaused()).toBe(true);
    expect(stream.write("second, too long to be kept")).toBe(false);
    await turn();
    expect(taken).toEqual(["first"]);
    go();
    await turn();
    await turn();
    expect(taken).toEqual(["first", "second, too long to be kept"]);
    stream.destroy();
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("full"))],
  ])("ends when its consumer %s, and says so once", async (_how, consume) => {
    const stream = new PassThrough();
    const failures: unknown[] = [];
    const output = deliverOutput(stream, consume, (error) => failures.push(error));
    stream.write("one");
    stream.write("two");
    await output.finished;
    await turn();
    expect(failures).toEqual([new Error("full")]);
    expect(stream.destroyed).toBe(true);
  });

  test("that breaks ends without an error", async () => {
    const stream = new PassThrough();
    const output = deliverOutput(
      stream,
      () => {},
      () => {},
    );
    stream.destroy(new Error("EIO"));
    await output.finished;
    expect(output.progress().isFinished).toBe(true);
  });
});

describe("draining an output", () => {
  const running = () => false;
  const stopped = () => true;

  test("waits for a consumer that takes its time, and reads to the end of file", async () => {
    const stream = new PassThrough();
    let text = "";
    let finish = () => {};
    const output = deliverOutput(
      stream,
      (chunk) => {
        text += chunk.toString();
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
      () => {},
    );
    stream.write("one");
    await turn();
    const drained = drainOutput(output, running);
    // Longer than a silent pipe would get.
    setTimeout(() => {
      stream.end();
      finish();
    }, 400);
    expect(await drained).toBe("complete");
    expect(text).toBe("one");
  });

  test("is over at once when everything was handed over", async () => {
    const stream = new PassThrough();
    const output = deliverOutput(
      stream,
      () => {},
      () => {},
    );
    stream.end();
    await output.finished;
    expect(await drainOutput(output, running)).toBe("complete");
  });

  test("cuts a pipe that no one writes to and no one closes", async () => {
    const stream = new PassThrough();
    const output = deliverOutput(
      stream,
      () => {},
      () => {},
    );
    expect(await drainOutput(output, running)).toBe("cut");
    expect(stream.destroyed).toBe(true);
  });

  test("cuts a pipe into which an unknown process writes for ever", async () => {
    const stream = new PassThrough();
    const output = deliverOutput(
      stream,
      () => {},
      () => {},
    );
    const flood = setInterval(() => stream.write(Buffer.alloc(1024 * 1024)), 1);
    expect(await drainOutput(output, running)).toBe("cut");
    clearInterval(flood);
  });

  test("cuts off a consumer that never ends, once the process was stopped, and hands over no more", async () => {
    const stream = new PassThrough();
    let taken = 0;
    const output = deliverOutput(
      stream,
      () => {
        taken += 1;
        return new Promise<void>(() => {});
      },
      () => {},
    );
    stream.write("one");
    await turn();
    stream.resume();
    stream.write("two");
    await turn();
    expect(await drainOutput(output, stopped)).toBe("cut");
    expect(taken).toBe(1);
  });
});
