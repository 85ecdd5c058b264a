import { createKernel, defineTool, toolResult, type ContentBlock } from "@soong/core";
import { expect, test } from "vitest";
import { createGate } from "../kernel/index.ts";
import { renderOutput } from "./render-output.ts";

test("a result of text is text", async () => {
  expect(renderOutput(await executeWith([{ type: "text", text: "hello" }]))).toBe("hello");
});

test("images follow the text, which names them for models that take text alone", async () => {
  const outcome = await executeWith([
    { type: "text", text: "see" },
    { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" },
  ]);
  expect(renderOutput(outcome)).toEqual([
    { type: "text", text: "see\n[image image/png]" },
    { type: "image", image: { data: "iVBORw0KGgo=", mediaType: "image/png" } },
  ]);
});

async function executeWith(content: ContentBlock[]) {
  const look = defineTool({
    name: "notes.look",
    description: "Look",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: () => toolResult({ content }),
  });
  const run = await createKernel({ tools: [look] }).startRun();
  return createGate(run).execute({ id: "c1", name: "notes__look", arguments: "{}" });
}
