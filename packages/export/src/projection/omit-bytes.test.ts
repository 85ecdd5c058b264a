import { expect, test } from "vitest";
import { hasBytes, omitBytes, omitResultBytes } from "./omit-bytes.ts";

const PNG = { type: "image", media_type: "image/png", data: "iVBORw==" };
const SOUND = { type: "audio", media_type: "audio/wav", data: "UklG" };
const FILE = { type: "resource", uri: "file:///a.bin", media_type: "a/b", blob: "AAE=" };
const KEPT = [
  { type: "text", text: "hi" },
  { type: "json", json: { data: "iVBORw==" } },
  { type: "resource", uri: "file:///a.txt", text: "hi" },
  { type: "artifact_ref", artifact_id: "a", media_type: "image/png", size: 7 },
];

test("blocks with bytes keep their type, media type and size", () => {
  expect(omitBytes([PNG, SOUND, FILE, ...KEPT])).toEqual([
    { type: "image", media_type: "image/png", size: 4 },
    { type: "audio", media_type: "audio/wav", size: 3 },
    { type: "resource", uri: "file:///a.bin", media_type: "a/b", size: 2 },
    ...KEPT,
  ]);
  expect([PNG, SOUND, FILE].every(hasBytes)).toBe(true);
});

test("what has no bytes is the same list, and the same data", () => {
  expect(omitBytes(KEPT)).toBe(KEPT);
  for (const data of [{ result: { content: KEPT } }, { result: { content: [] } }, {}, null, "x"]) {
    expect(omitResultBytes(data)).toBe(data);
  }
});

test("the result in the data of a fact loses its bytes and nothing else", () => {
  const data = { decision_ref: "f1", result: { status: "succeeded", content: [PNG] } };
  const before = JSON.stringify(data);
  expect(omitResultBytes(data)).toEqual({
    decision_ref: "f1",
    result: {
      status: "succeeded",
      content: [{ type: "image", media_type: "image/png", size: 4 }],
    },
  });
  expect(JSON.stringify(data)).toBe(before);
});

test("damaged blocks stay as they are", () => {
  const damaged = [null, 1, "x", [], { type: "image" }, { type: "image", data: 3 }];
  expect(omitBytes(damaged)).toBe(damaged);
  expect(omitBytes("x")).toEqual([]);
});
