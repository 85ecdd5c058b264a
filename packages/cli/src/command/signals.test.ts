import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { listenForInterrupts, withInterrupt } from "./signals.ts";

function createSource() {
  const exits: unknown[] = [];
  const source = Object.assign(new EventEmitter(), {
    exit: (code: number) => void exits.push(code),
  });
  return { source, exits, interrupts: listenForInterrupts(source as unknown as NodeJS.Process) };
}

test("what begins after an interrupt, while the work around it still ends, is aborted at once", async () => {
  const { source, exits, interrupts } = createSource();
  await withInterrupt({ interrupts }, async (around) => {
    source.emit("SIGINT");
    expect(around.aborted).toBe(true);
    await withInterrupt({ interrupts }, async (within) => {
      await Promise.resolve();
      expect(within.aborted).toBe(true);
    });
  });
  expect(exits).toEqual([]);
});

test("a second interrupt ends the process", async () => {
  const { source, exits, interrupts } = createSource();
  await withInterrupt({ interrupts }, async () => {
    source.emit("SIGINT");
    source.emit("SIGINT");
  });
  expect(exits).toEqual([130]);
});
