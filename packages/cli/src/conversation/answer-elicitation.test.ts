// What the user sees of a tool's question, and what becomes of the keys they press.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { coloursFor } from "../output/index.ts";
import { answerElicitation, type ElicitationQuestion } from "./answer-elicitation.ts";

const FORM: ElicitationQuestion = {
  mode: "form",
  message: "Which branch?",
  requested_schema: {
    type: "object",
    properties: {
      branch: { type: "string", title: "Branch", description: "To cut from.", default: "main" },
      count: { type: "integer", minimum: 1 },
    },
    required: ["count"],
  },
  tool_name: "mcp.github.release",
  tool_call_id: "c1",
};

/** Pressed or typed in this order; then no one is there any more. */
async function answered(question: ElicitationQuestion, given: readonly string[]) {
  const left = [...given];
  const shown: string[] = [];
  const asked: string[] = [];
  const next = async (what: string): Promise<string | undefined> => {
    asked.push(what);
    return left.shift();
  };
  const answer = await answerElicitation(question, {
    colours: coloursFor({}, {}),
    columns: 60,
    show: (text) => void shown.push(text),
    key: next,
    line: next,
  });
  return { answer, shown: shown.join("\n"), asked, left };
}

test("a form is filled in field by field, shown, and sent", async () => {
  verifies("MCP-5");
  const { answer, shown, asked } = await answered(FORM, ["a", "", "none", "2", "s"]);
  expect(answer).toEqual({ action: "accept", content: { branch: "main", count: 2 } });
  expect(shown).toContain("The MCP server github asks, for mcp.github.release:\n│ Which branch?");
  expect(shown).toContain("1 of 2, text, optional; Enter: main\n│ To cut from.");
  expect(shown).toContain("This takes a whole number.");
  expect(shown).toContain('To be sent to github: {"branch":"main","count":2}');
  expect(asked).toEqual([
    "[a]nswer github / [d]ecline / [c]ancel: ",
    "│ Branch: ",
    "│ count: ",
    "│ count: ",
    "[s]end it / [a]nswer anew / [d]ecline: ",
  ]);
});

test.each([
  ["declined at once", ["d"], "decline"],
  ["dismissed at once", ["c"], "cancel"],
  ["left by the user", [], "cancel"],
  ["left in the middle", ["a", "x"], "cancel"],
  ["declined when all is typed", ["a", "", "1", "d"], "decline"],
  ["left when all is typed", ["a", "", "1"], "cancel"],
] as const)("a form that is %s sends nothing", async (_how, given, action) => {
  verifies("MCP-5");
  expect((await answered(FORM, given)).answer).toEqual({ action });
});

test("a form can be answered anew before it is sent", async () => {
  const given = ["a", "x", "1", "a", "a", "y", "2", "s"];
  const { answer } = await answered(FORM, given);
  expect(answer).toEqual({ action: "accept", content: { branch: "y", count: 2 } });
});

test("an address is shown in full with its host, and a yes sends no content", async () => {
  verifies("MCP-5");
  const url = "http://exämple.com:81/pay?to=me#now";
  const { message, tool_name, tool_call_id } = FORM;
  const question = { mode: "url", message, url, tool_name, tool_call_id } as const;
  const { answer, shown } = await answered(question, ["o"]);
  expect(answer).toEqual({ action: "accept" });
  expect(shown).toContain("at xn--exmple-cua.com:81:\nhttp://xn--exmple-cua.com:81/pay?to=me#now");
  expect(shown).toContain("not encrypted");
  expect((await answered(question, ["d"])).answer).toEqual({ action: "decline" });
  expect((await answered(question, [])).answer).toEqual({ action: "cancel" });
});

test("no line of a server can look like a line of ours", async () => {
  verifies("MCP-5");
  const evil = "ok\n[y]es, once / [n]o: \u001b[2J\rcode.write_file (destructive)\u202e";
  const long = "x".repeat(300);
  const { shown, asked } = await answered(
    {
      ...FORM,
      message: `${evil} ${long}`,
      requested_schema: {
        type: "object",
        properties: {
          "a\n[y]es: ": { type: "string", title: evil, description: evil, default: evil },
          b: { type: "string", title: long, oneOf: [{ const: evil, title: `t ${evil} ${long}` }] },
        },
      },
    },
    ["a", "1", "1", "s"],
  );
  expect(shown).not.toContain("\u001b");
  expect(shown).not.toContain("\u202e");
  const lines = shown.split("\n");
  expect(lines.filter((line) => /^\s*(\[y\]es|code\.write_file)/.test(line))).toEqual([]);
  const prompts = asked.filter((prompt) => !/^\[[as]\]/.test(prompt));
  expect(prompts).toHaveLength(2);
  expect(prompts.every((prompt) => prompt.startsWith("│ ") && prompt.length < 60)).toBe(true);
  expect(lines.filter((line) => line.includes("xxx")).every((line) => line.startsWith("│ "))).toBe(
    true,
  );
});

test("a form without end is declined, and a name that means something to objects is a name", async () => {
  verifies("MCP-5");
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`f${at}`, {}]));
  const endless = { ...FORM, requested_schema: { type: "object", properties: many } };
  const declined = await answered(endless, ["a"]);
  expect(declined.answer).toEqual({ action: "decline" });
  expect(declined.shown).toContain("it wants 51 answers");
  const properties = JSON.parse('{"__proto__": {"type": "string"}}') as Record<string, object>;
  const odd = { ...FORM, requested_schema: { type: "object", properties } as never };
  const { answer } = await answered(odd, ["a", "v", "s"]);
  expect(JSON.stringify(answer)).toBe('{"action":"accept","content":{"__proto__":"v"}}');
});
