import { describe, expect, it } from "vitest";
import { createStrayKeys } from "./reads.ts";

const key = (text: string) => ({ kind: "text", text }) as const;

function create() {
  let time = 1000;
  const stray = createStrayKeys(() => time);
  return { stray, pass: (ms: number) => void (time += ms) };
}

describe("unexpected keys", () => {
  it("are kept for the next line, and make a question wait until the typing pauses", () => {
    const { stray, pass } = create();
    expect(stray.msUntilQuiet()).toBe(0);
    stray.add(key("a"));
    pass(100);
    stray.add(key("b"));
    expect(stray.msUntilQuiet()).toBe(300);
    pass(299);
    expect(stray.msUntilQuiet()).toBe(1);
    pass(1);
    expect(stray.msUntilQuiet()).toBe(0);
    expect(stray.take()).toEqual([key("a"), key("b")]);
    expect(stray.take()).toEqual([]);
  });

  it("belong to an answer that was just given, and go with it", () => {
    const { stray, pass } = create();
    stray.answered();
    pass(200);
    stray.add(key("e"));
    pass(200);
    stray.add(key("s"));
    expect(stray.msUntilQuiet()).toBe(300);
    pass(300);
    stray.add(key("n"));
    expect(stray.take()).toEqual([key("n")]);
  });

  it("make a question wait while a line is being typed, and not after it was sent", () => {
    const { stray } = create();
    stray.typing();
    expect(stray.msUntilQuiet()).toBe(300);
    stray.sent();
    expect(stray.msUntilQuiet()).toBe(0);
  });

  it("are forgotten with Ctrl-C, and are not kept without end", () => {
    const { stray } = create();
    for (let at = 0; at < 5000; at += 1) stray.add(key("x"));
    expect(stray.take()).toHaveLength(1000);
    stray.add(key("x"));
    stray.forget();
    expect(stray.take()).toEqual([]);
    expect(stray.msUntilQuiet()).toBe(0);
  });
});
