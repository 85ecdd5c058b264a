// Which models of a chain can take the tools of a run, settled before anything is sent (MODEL-2, MODEL-4).

import { defineTool, PORTABLE_PROFILE, type JsonObject, type ModelProfile } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { GOOGLE_PROFILE, OPENAI_PROFILE } from "@soong/agent";
import { server } from "../core/sources.ts";
import { done, failed, openStage, says, writtenModel, type WrittenModel } from "./loop-stage.ts";

/** Takes anything, so that schemas go out as they are. */
const OPEN: ModelProfile = { ...PORTABLE_PROFILE, id: "open", extended_schemas: true };

async function fallBack(input_schema: JsonObject, ...profiles: ModelProfile[]) {
  const models: WrittenModel[] = [];
  // Only a server's schemas go beyond what every model takes.
  const tool = defineTool({
    name: "mcp.s.pick",
    description: "Pick",
    input_schema,
    handler: () => "x",
  });
  const stage = await openStage([[failed("overloaded")]], {
    sources: [server("s", [tool])],
    run: { profile: OPEN },
    limits: { retries: 0 },
    others: (clock) => {
      models.push(
        ...profiles.map((profile, i) =>
          writtenModel(clock, [[says(`from ${i}`), done()]], `test:${i}`, profile),
        ),
      );
      return models;
    },
  });
  const end = await stage.ask("go");
  const { candidates } = stage.facts("routing.decided")[0]?.data ?? {};
  return { end, candidates, asked: models.map(({ requests }) => requests.length) };
}

test("a model that does not take a schema is passed over, named with the tool and the keyword", async () => {
  verifies("MODEL-2", "MODEL-4");
  const schema = {
    type: "object",
    properties: { a: { type: "object", patternProperties: { "^x": { type: "string" } } } },
  };
  const refusing = { ...OPEN, refused_keywords: ["patternProperties"] };
  const { end, candidates, asked } = await fallBack(schema, GOOGLE_PROFILE, refusing, OPEN);
  expect(end.answer).toBe("from 2");
  expect(asked).toEqual([0, 0, 1]);
  expect(candidates).toEqual([
    { model: "test:written" },
    {
      model: "test:0",
      excluded: expect.stringMatching(/"mcp__s__pick" uses patternProperties at /) as string,
    },
    {
      model: "test:1",
      excluded:
        'it does not take this: the schema of the tool "mcp__s__pick" uses patternProperties',
    },
    { model: "test:2" },
  ]);
});

test("so is one that does not take a schema's beginning, and where none is left the run says why it failed", async () => {
  verifies("MODEL-2", "MODEL-4");
  const schema = { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] };
  const { end, candidates, asked } = await fallBack(schema, OPENAI_PROFILE);
  expect(end).toMatchObject({ reason: "failed", error: { code: "overloaded" } });
  expect(asked).toEqual([0]);
  expect(candidates).toMatchObject([
    {},
    { excluded: expect.stringContaining("begins with anyOf") as string },
  ]);
});
