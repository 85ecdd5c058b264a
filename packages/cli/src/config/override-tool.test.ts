import { createHeldClock, createKernel, defineTool, type AnyTool } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { overrideTool } from "./apply-config.ts";
import { parseConfig } from "./parse-config.ts";

const VALUES = parseConfig(
  `
  [tools.overrides."notes.*"]
  timeout_ms = 5_000
  [tools.overrides."notes.slow"]
  timeout_ms = 1_000
  `,
  "config.toml",
);

function tool(name: string, more: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name,
    description: "Never ends on its own.",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => resolve("stopped"));
      }),
    ...more,
  });
}

describe("an override of a tool", () => {
  test("bounds its calls in a run", async () => {
    verifies("CONF-3");
    const clock = createHeldClock();
    const kernel = createKernel({ clock, tools: [overrideTool(tool("notes.slow"), VALUES)] });
    const run = await kernel.startRun();
    let status = "open";
    const ended = run.call("notes.slow", {}).then((result) => {
      status = result.status;
    });
    await clock.advance(999);
    expect(status).toBe("open");
    await clock.advance(10_000);
    await ended;
    expect(status).toBe("timed_out");
  });

  test("is the one whose pattern says most", () => {
    expect(overrideTool(tool("notes.slow"), VALUES).timeout_ms).toBe(1000);
    expect(overrideTool(tool("notes.other", { timeout_ms: 7 }), VALUES).timeout_ms).toBe(5000);
  });

  test("bounds what the model may ask for", () => {
    const asking = tool("notes.other", { timeoutFor: ({ ms }: { ms?: number }) => ms });
    const bounded = overrideTool(asking, VALUES);
    expect(bounded.timeoutFor?.({ ms: 9000 })).toBe(5000);
    expect(bounded.timeoutFor?.({ ms: 20 })).toBe(20);
    expect(bounded.timeoutFor?.({})).toBeUndefined();
    expect(overrideTool(tool("notes.other"), VALUES).timeoutFor?.({})).toBeUndefined();
  });

  test("leaves every other tool as it is", () => {
    const other = tool("code.read");
    expect(overrideTool(other, VALUES)).toBe(other);
    const marked = parseConfig("[tools.overrides.'mcp.x']\nreadonly = true", "config.toml");
    const ofServer = tool("mcp.x");
    expect(overrideTool(ofServer, marked)).toBe(ofServer);
  });
});
