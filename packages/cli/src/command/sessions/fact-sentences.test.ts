import { KERNEL_FACT_TEXTS, type FactTexts } from "@soong/core";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { coloursFor } from "../../output/index.ts";
import { createFactSentences } from "./fact-sentences.ts";

const FACTS = [
  writtenFact({ seq: 7, type: "run.started", data: { role: "main", mode: "normal" } }),
  ...["call_a", "call_b"].map((tool_call_id, at) =>
    writtenFact({
      seq: 8 + at,
      type: "tool.requested",
      tool_call_id,
      tool_name: "code.read_file",
      data: { model_input: JSON.stringify({ path: "a\u001b[2J.txt" }) },
    }),
  ),
  writtenFact({
    seq: 10,
    type: "tool.failed",
    tool_call_id: "call_a",
    tool_name: "code.read_file",
    data: { result: { status: "failed", summary: `There is no file ${"x".repeat(20)} here.` } },
  }),
];

function render(width: number): string[] {
  const texts = KERNEL_FACT_TEXTS as FactTexts;
  const sentences = createFactSentences({ width, colours: coloursFor({}, {}) }, texts);
  return FACTS.flatMap(sentences).map((line) => line.replace(/\d\d:\d\d:\d\d\.\d{3}/, "<time>"));
}

test("facts are sentences with the number of their call, wrapped and never cut short", () => {
  expect(render(80)).toEqual([
    "    7 <time>  main run in normal mode · run.started",
    "    8 <time>  #1 code.read_file requested: a\\u001b[2J.txt (call_a) ·",
    "                    tool.requested",
    "    9 <time>  #2 code.read_file requested: a\\u001b[2J.txt (call_b) ·",
    "                    tool.requested",
    "   10 <time>  #1 code.read_file: failed: There is no file",
    "                    xxxxxxxxxxxxxxxxxxxx here. · tool.failed",
  ]);
  for (const line of render(40)) expect(line.length).toBeLessThanOrEqual(40);
});
