// What a tool that cuts text itself is given for it: the redaction its result would get.

import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { createWorld, reader, textOf } from "./world.ts";

const LOOK_ALIKE = "AKIAIOSFODNN7EXAMPLQ";
const KNOWN = "correct-horse-battery";

describe("context.redact", () => {
  it.each([
    ["full", false],
    ["known_values", true],
  ] as const)("hides as the result is hidden: %s", async (redaction, keepsLookAlikes) => {
    verifies("REDACT-1");
    const seen: string[] = [];
    const tool = reader("notes.read", 0, {
      redaction,
      handler(_input: unknown, context: { redact: (text: string) => string }) {
        seen.push(context.redact(`${KNOWN} ${LOOK_ALIKE}`));
        return seen.at(-1);
      },
    });
    const world = await createWorld({
      tools: [tool],
      secrets: [{ name: "PASS", value: KNOWN }],
    });
    const [result] = await world.execute({ id: "1", name: "notes.read", arguments: {} });
    expect(seen[0]).not.toContain(KNOWN);
    expect(seen[0]?.includes(LOOK_ALIKE)).toBe(keepsLookAlikes);
    expect(textOf(result)).toBe(seen[0]);
  });
});
