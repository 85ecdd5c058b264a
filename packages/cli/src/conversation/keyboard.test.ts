import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ReadInput, Typed } from "../terminal/terminal.ts";
import { createKeyboard } from "./keyboard.ts";

interface Read {
  readonly initial: string;
  type(typed: Typed): void;
}

/** Reads as a terminal does: an abort gives what is in the line. */
function fakeTerminal(typedSoFar: () => string) {
  const reads: Read[] = [];
  return {
    reads,
    readInput: ({ initial = "", signal }: ReadInput) =>
      new Promise<Typed>((resolve) => {
        reads.push({ initial, type: resolve });
        signal?.addEventListener("abort", () => {
          resolve({ kind: "aborted", text: initial + typedSoFar() });
        });
      }),
  };
}

test("a question goes before the line, and what was typed is there again afterwards", async () => {
  const terminal = fakeTerminal(() => "half a pro");
  const keyboard = createKeyboard(terminal);
  const line = keyboard.readInput({ prompt: "> " });
  const order: string[] = [];
  const questions = ["a", "b"].map((name) =>
    keyboard.first(async () => {
      order.push(`${name} begins with ${terminal.reads.length} lines read`);
      await Promise.resolve();
      order.push(`${name} ends`);
      return name;
    }),
  );
  expect(await Promise.all(questions)).toEqual(["a", "b"]);
  expect(order).toEqual([
    "a begins with 1 lines read",
    "a ends",
    "b begins with 1 lines read",
    "b ends",
  ]);
  await soon();
  expect(terminal.reads[1]?.initial).toBe("half a pro");
  terminal.reads[1]?.type({ kind: "text", text: "half a prompt" });
  expect(await line).toEqual({ kind: "text", text: "half a prompt" });
});

test("a question that fails keeps neither the next question nor the line", async () => {
  const terminal = fakeTerminal(() => "");
  const keyboard = createKeyboard(terminal);
  await expect(keyboard.first(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await keyboard.first(async () => 1)).toBe(1);
  const line = keyboard.readInput({ prompt: "> " });
  await soon();
  terminal.reads[0]?.type({ kind: "end" });
  expect(await line).toEqual({ kind: "end" });
});

test("text that is given back is before what is being typed, and before what is typed next", async () => {
  let typed = "new";
  const terminal = fakeTerminal(() => typed);
  const keyboard = createKeyboard(terminal);
  const line = keyboard.readInput({ prompt: "> " });
  keyboard.giveBack("old");
  await soon();
  expect(terminal.reads[1]?.initial).toBe("old\nnew");
  typed = "";
  terminal.reads[1]?.type({ kind: "text", text: "sent" });
  await line;
  keyboard.giveBack("again");
  void keyboard.readInput({ prompt: "> " });
  await soon();
  expect(terminal.reads[2]?.initial).toBe("again");
});

test("a line that no one waits for any more is not taken up again", async () => {
  const terminal = fakeTerminal(() => "x");
  const keyboard = createKeyboard(terminal);
  const leaving = new AbortController();
  const line = keyboard.readInput({ prompt: "> ", signal: leaving.signal });
  leaving.abort();
  expect((await line).kind).toBe("aborted");
  expect((await keyboard.readInput({ prompt: "> ", signal: leaving.signal })).kind).toBe("aborted");
  expect(terminal.reads).toHaveLength(1);
});
