import { describe, expect, it } from "vitest";
import { coloursFor } from "../output/index.ts";
import type { InputView } from "./input-layout.ts";
import type { Key } from "./key-decoder.ts";
import { filterItems, readChoice } from "./read-choice.ts";
import { createScreen } from "./screen.ts";
import type { Choice, ChoiceItem } from "./terminal.ts";

const SESSIONS: ChoiceItem[] = [
  { label: "Fix the test", hint: "2 min ago · completed" },
  { label: "修复测试", hint: "1 h ago · failed" },
  { label: "Write the docs \u001b[31m", hint: "3 d ago · aborted" },
];

function open(items = SESSIONS, { columns = 60, rows = 24 } = {}) {
  let view: InputView | undefined;
  let lines: readonly string[] = [];
  const sent: string[] = [];
  const choices: Choice[] = [];
  const size = { columns, rows };
  const screen = {
    ...createScreen({ put() {}, size: () => size, reflows: false, soon() {} }),
    input(next: InputView | undefined, about: readonly string[] = []) {
      view = next;
      lines = about;
    },
    sent: ({ prompt, text }: InputView) => void sent.push(prompt + text),
  };
  const read = readChoice(
    { screen, columns: () => columns, rows: () => rows, colours: coloursFor({}, {}) },
    { title: "Which?", items },
    (choice) => choices.push(choice),
  );
  const press = (...kinds: Exclude<Key["kind"], "text" | "paste">[]) => {
    for (const kind of kinds) read.press({ kind });
  };
  const type = (text: string) => read.press({ kind: "text", text });
  return { read, press, type, choices, sent, lines: () => lines, view: () => view };
}

describe("a list to choose from", () => {
  it("marks the first, moves with the arrows, stays within its ends, and tells what was chosen", () => {
    const { press, lines, choices, sent, view } = open();
    expect(lines().map((line) => line.replaceAll(/ {3,}/g, " … "))).toEqual([
      "Which? · ↑↓, type to filter, Enter, Esc",
      "❯ Fix the test … 2 min ago · completed",
      "  修复测试 … 1 h ago · failed",
      "  Write the docs \\u001b[31m … 3 d ago · aborted",
    ]);
    press("up", "down", "down", "down", "down", "up", "enter");
    expect(choices).toEqual([{ kind: "chosen", index: 1 }]);
    expect(sent).toEqual(["Which? 修复测试"]);
    expect(view()).toBeUndefined();
  });

  it("filters by words in any order and either case; Enter without a match does nothing", () => {
    const { press, type, lines, choices } = open();
    type("AGO docs");
    expect(lines()).toHaveLength(2);
    type("x");
    expect(lines()[1]).toBe("  nothing matches");
    press("enter");
    expect(choices).toEqual([]);
    press("backspace", "enter");
    expect(choices).toEqual([{ kind: "chosen", index: 2 }]);
  });

  it("shows the part around the mark where there is no room for all, also on a small screen", () => {
    const many = Array.from({ length: 50 }, (_, at) => ({ label: `item ${at + 1}` }));
    const { press, lines } = open(many, { columns: 20, rows: 8 });
    expect(lines()).toHaveLength(1 + 4);
    press("down", "down", "down", "down", "down");
    expect(lines()[0]).toContain("6 of 50");
    expect(lines().slice(1)).toEqual(["  item 3", "  item 4", "  item 5", "❯ item 6"]);
    press("up", "up", "up", "up");
    expect(lines().slice(1)).toEqual(["❯ item 2", "  item 3", "  item 4", "  item 5"]);
  });

  it.each([
    ["escape", "cancelled"],
    ["end_of_input", "cancelled"],
  ] as const)("%s leaves it", (key, kind) => {
    const { press, choices, view } = open();
    press(key);
    expect(choices).toEqual([{ kind }]);
    expect(view()).toBeUndefined();
  });

  it("ends with what stops it", () => {
    const { read, choices } = open([]);
    read.press({ kind: "enter" });
    read.stop("interrupt");
    expect(choices).toEqual([{ kind: "interrupt" }]);
  });

  it("no row is wider than the screen", async () => {
    const { measureWidth } = await import("../output/grapheme-width.ts");
    const wide = [{ label: "修".repeat(90), hint: "很久以前".repeat(30) }];
    for (const columns of [8, 21, 40]) {
      for (const line of open(wide, { columns }).lines().slice(1)) {
        expect(measureWidth(line)).toBeLessThan(columns);
      }
    }
  });
});

describe("filterItems", () => {
  it("takes all without a filter", () => {
    expect(filterItems(SESSIONS, "  ")).toEqual([0, 1, 2]);
  });
});
