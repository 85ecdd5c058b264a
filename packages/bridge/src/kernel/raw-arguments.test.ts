import { expect, test } from "vitest";
import { packArguments, unpackArguments, unpackInput } from "./raw-arguments.ts";

test("an object goes through a loop as it is", () => {
  for (const text of ['{"id":1}', "{}", '{"constructor":"of a class"}']) {
    expect(packArguments(text)).toBe(text);
    expect(unpackArguments(text)).toBe(text);
    expect(unpackInput(JSON.parse(text))).toEqual(JSON.parse(text));
  }
});

test.each([
  '{"id": 1,',
  "",
  "7",
  "[1]",
  '{"__proto__":{"a":1}}',
  '{"a":{"constructor":{"prototype":{}}}}',
  String.raw`{"\u005f_proto__":1}`,
])("%s goes through it in an object, and comes out as the model sent it", (text) => {
  const packed = packArguments(text);
  expect(packed).not.toBe(text);
  expect(unpackArguments(packed)).toBe(text);
  expect(unpackInput(JSON.parse(packed))).toBe(text);
});
