import { expect, test } from "vitest";
import { toModelOutput } from "./to-model-output.ts";

const text = { type: "text", text: "a note" };
const image = { type: "image", media_type: "image/png", data: "aGk=" };

test("a failure is marked as one, with any content", () => {
  const output = { status: "failed", is_error: true, content: [text, image] };
  expect(toModelOutput(output, true)).toEqual({
    type: "error-text",
    value: "a note\n[image image/png]",
  });
});

test("an image is sent as an image, in the way of each version", () => {
  const output = { status: "succeeded", is_error: false, content: [text, image] };
  expect(toModelOutput(output, false)).toEqual({
    type: "content",
    value: [text, { type: "image-data", data: "aGk=", mediaType: "image/png" }],
  });
  expect(toModelOutput(output, true)).toEqual({
    type: "content",
    value: [text, { type: "file", data: { type: "data", data: "aGk=" }, mediaType: "image/png" }],
  });
});

test("stored outputs of any shape are sent as text", () => {
  for (const output of [undefined, null, 7, "text", {}, { content: 7 }, { content: [{}] }]) {
    expect(toModelOutput(output, false)).toEqual({
      type: "text",
      value: JSON.stringify(output) ?? "",
    });
  }
});
