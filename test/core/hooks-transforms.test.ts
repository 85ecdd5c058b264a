import { defineHook, defineTool } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { z } from "zod";
import { createWorld } from "./world.ts";

test("a hook may change one field of an input that its schema transforms, and each is transformed once", async () => {
  verifies("HOOK-2", "PIPE-2", "DEF-6");
  const got: unknown[] = [];
  const pay = defineTool({
    name: "bank.pay",
    description: "Pay an amount",
    input_schema: z.object({
      amount: z.string().transform((text) => Number(text) + 1),
      to: z.string(),
    }),
    permission: "readonly",
    handler: (input) => void got.push(input),
  });
  const world = await createWorld({
    tools: [pay],
    hooks: [
      defineHook({
        id: "trims",
        event: "PreToolUse",
        run: ({ input }) => {
          const { to, ...rest } = input as { to: string };
          return { input: { ...rest, to: to.trim() } };
        },
      }),
    ],
  });
  const [result] = await world.execute({
    name: "bank.pay",
    arguments: { amount: "4", to: " ada " },
  });
  expect(result?.error?.message).toBeUndefined();
  expect(result?.status).toBe("succeeded");
  expect(got).toEqual([{ amount: 5, to: "ada" }]);
});
