import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { InputView } from "./input-layout.ts";
import type { Key } from "./key-decoder.ts";
import { createStrayKeys, readLine, readOneKey } from "./reads.ts";
import { createScreen } from "./screen.ts";
import type { PressedKey, ReadInput, Typed } from "./terminal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a read draws with, and what it last drew. */
function open() {
  const drawn: { view: InputView | undefined; notes: readonly string[] } = {
    view: undefined,
    notes: [],
  };
  const screen = createScreen({
    put() {},
    size: () => ({ columns: 80, rows: 24 }),
    reflows: false,
    soon() {},
  });
  const strayKeys = createStrayKeys();
  const readable = {
    screen: {
      ...screen,
      input(view: InputView | undefined, notes: readonly string[] = []) {
        drawn.view = view;
        drawn.notes = notes;
      },
    },
    strayKeys,
    columns: () => 80,
  };
  return { readable, strayKeys, drawn };
}

function text(typed: string): Key {
  return { kind: "text", text: typed };
}

describe("a question", () => {
  const question = { question: "Sure? ", keys: ["y", "s", "n"] };

  it("waits while a line is being typed, and is answered by nothing typed before it is shown", async () => {
    const { readable, strayKeys, drawn } = open();
    const answers: PressedKey[] = [];
    strayKeys.typing();
    const read = readOneKey(readable, question, (answer) => answers.push(answer));
    await vi.advanceTimersByTimeAsync(200);
    read.press(text("y"));
    await vi.advanceTimersByTimeAsync(200);
    expect(drawn.view).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(drawn.view?.prompt).toBe("Sure? ");
    expect(answers).toEqual([]);
    read.press({ kind: "paste", text: "y" });
    read.press({ kind: "enter" });
    read.press(text("xN"));
    expect(answers).toEqual([{ kind: "key", key: "n" }]);
    expect(drawn.view).toBeUndefined();
    expect(strayKeys.take()).toEqual([text("y")]);
  });

  it("is not answered by the rest of a word that answered the one before", async () => {
    const { readable, strayKeys, drawn } = open();
    const answers: PressedKey[] = [];
    const first = readOneKey(readable, question, (answer) => answers.push(answer));
    expect(drawn.view).toBeDefined();
    first.press(text("y"));
    const second = readOneKey(readable, question, (answer) => answers.push(answer));
    second.press(text("e"));
    second.press(text("s"));
    await vi.advanceTimersByTimeAsync(300);
    expect(drawn.view).toBeDefined();
    expect(answers).toHaveLength(1);
    expect(strayKeys.take()).toEqual([]);
    second.press(text("s"));
    expect(answers).toEqual([
      { kind: "key", key: "y" },
      { kind: "key", key: "s" },
    ]);
  });

  it("that is stopped before it was shown is never shown", async () => {
    const { readable, strayKeys, drawn } = open();
    const answers: PressedKey[] = [];
    strayKeys.typing();
    readOneKey(readable, question, (answer) => answers.push(answer)).stop("aborted");
    await vi.advanceTimersByTimeAsync(1000);
    expect(drawn.view).toBeUndefined();
    expect(answers).toEqual([{ kind: "aborted" }]);
  });
});

describe("Tab", () => {
  function openLine(complete: NonNullable<ReadInput["complete"]>, initial = "") {
    const opened = open();
    const typed: Typed[] = [];
    const read = readLine(opened.readable, { prompt: "> ", initial, complete }, (line) =>
      typed.push(line),
    );
    const settle = () => vi.advanceTimersByTimeAsync(0);
    return { ...opened, read, typed, settle };
  }

  it("puts in the only candidate, and of several what they share, with a list until the next key", async () => {
    const all = ["src/main.ts", "src/map.ts", "src/other.ts"];
    const asked: string[][] = [];
    const { read, drawn, settle } = openLine(async (word, line) => {
      asked.push([word, line]);
      return all.filter((one) => one.startsWith(word));
    }, "see src/m");
    read.press({ kind: "tab" });
    await settle();
    expect(drawn.view?.text).toBe("see src/ma");
    expect(drawn.notes).toEqual(["src/main.ts  src/map.ts"]);
    read.press(text("i"));
    expect(drawn.notes).toEqual([]);
    read.press({ kind: "tab" });
    await settle();
    expect(drawn.view?.text).toBe("see src/main.ts");
    expect(drawn.notes).toEqual([]);
    expect(asked).toEqual([
      ["src/m", "see src/m"],
      ["src/mai", "see src/mai"],
    ]);
  });

  it("holds what is typed behind it until it is done, in order", async () => {
    const { read, typed, settle } = openLine(async () => ["/model "], "/m");
    for (const key of [{ kind: "tab" }, text("x"), { kind: "enter" }] as Key[]) read.press(key);
    await settle();
    expect(typed).toEqual([{ kind: "text", text: "/model x" }]);
  });

  it("blocks nothing for long, and changes nothing once the text has changed", async () => {
    let answer: ((candidates: string[]) => void) | undefined;
    const { read, drawn } = openLine(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
      "/m",
    );
    read.press({ kind: "tab" });
    read.press(text("x"));
    expect(drawn.view?.text).toBe("/m");
    await vi.advanceTimersByTimeAsync(200);
    expect(drawn.view?.text).toBe("/mx");
    answer?.(["/model"]);
    await vi.advanceTimersByTimeAsync(0);
    expect(drawn.view?.text).toBe("/mx");
  });

  it("does nothing where there are no candidates, where they cannot be found, or that agree on less", async () => {
    for (const complete of [
      async () => [],
      async () => Promise.reject(new Error("no such folder")),
      async () => ["model", "/mode"],
    ]) {
      const { read, drawn, settle } = openLine(complete, "/m");
      read.press({ kind: "tab" });
      await settle();
      expect(drawn.view?.text).toBe("/m");
    }
  });

  it("keeps the keys behind it for the next line when its own is broken off", async () => {
    const { read, typed, strayKeys, drawn, settle } = openLine(async () => ["/model"], "/m");
    read.press({ kind: "tab" });
    read.press(text("x"));
    read.stop("aborted");
    await settle();
    expect(typed).toEqual([{ kind: "aborted", text: "/m" }]);
    expect(drawn.view).toBeUndefined();
    expect(strayKeys.take()).toEqual([text("x")]);
  });
});
