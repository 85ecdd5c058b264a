import { expect, test } from "vitest";
import { printError, printText } from "./print-text.ts";

function atTerminal(columns: number) {
  const printed: string[] = [];
  const colours = { red: (text: string) => `<${text}>` } as never;
  return {
    printed,
    terminal: { columns, colours, print: (text: string) => void printed.push(text) },
  };
}

test("a sentence keeps its words whole, and its lines apart, at any width", () => {
  const { printed, terminal } = atTerminal(13);
  printText(terminal, "give another name\n\n再试一次，用另一个名字");
  expect(printed).toEqual(["give another\nname\n\n再试一次，用\n另一个名字"]);
});

test("an error is painted row by row, without what a terminal would obey", () => {
  const { printed, terminal } = atTerminal(13);
  printError(terminal, new Error("no such \u001b[2J model"));
  expect(printed).toEqual(["<no such>\n<\\u001b[2J>\n<model>"]);
});
