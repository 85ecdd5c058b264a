import type { ModelTools } from "@soong/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { wireNames } from "../../packages/core/src/surface/wire-name.ts";
import { CALL_TOOL, underOwnNames } from "../../packages/mcp/src/gateway/list-tools.ts";

const PROFILE = { first_chars: "A-Za-z_", chars: "A-Za-z0-9_-", max_length: 45 };

function listed(loaded: readonly string[], deferred: readonly string[] = []): ModelTools {
  const names = wireNames([...loaded, ...deferred], PROFILE);
  const tools = loaded.map((name) => ({
    name: names.toWire(name),
    description: "",
    input_schema: {},
  }));
  return { tools, names } as unknown as ModelTools;
}

const shown = (name: string): string =>
  underOwnNames(listed([name]), undefined).tools[0]?.name ?? "";

describe("names of tools in front of several servers", () => {
  test("are short where that is safe, and at most 45 characters", () => {
    verifies("GATE-1", "NAME-3");
    expect(shown("mcp.github.create_issue")).toBe("github_create_issue");
    expect(shown("mcp.github.get-me")).toBe("github_get-me");
    expect(shown("code.read_file")).toBe("code__read_file");
    expect(shown("mcp.my_server.log")).toBe("mcp__my_server__log");
    expect(shown("mcp.git._log")).not.toBe("git__log");
    expect(shown("mcp.call.tool")).not.toBe(CALL_TOOL);
    expect(shown(`mcp.git.${"long_".repeat(12)}name`).length).toBeLessThanOrEqual(45);
  });

  test("mean one tool each, whatever else there is; the longer name is taken, too", () => {
    verifies("NAME-3");
    const segment = fc.string({
      unit: fc.constantFrom("a", "b", "_", "-", "1"),
      minLength: 1,
      maxLength: 5,
    });
    const name = fc.oneof(
      fc.tuple(segment, segment).map(([server, tool]) => `mcp.${server}.${tool}`),
      fc.tuple(segment, segment).map(([space, tool]) => `${space}.${tool}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 30 }), (names) => {
        const tools = listed(names);
        const own = underOwnNames(tools, undefined);
        const wires = names.map((one) => own.names.toWire(one));
        expect(new Set(wires).size).toBe(names.length);
        expect(wires.map((wire) => own.names.toCanonical(wire))).toEqual(names);
        expect(names.map((one) => own.names.toCanonical(tools.names.toWire(one)))).toEqual(names);
        for (const [index, one] of names.entries()) expect(shown(one)).toBe(wires[index]);
      }),
    );
  });

  test("of a tool that is not listed yet are known", () => {
    const { names } = underOwnNames(listed(["code.read_file"], ["mcp.git.log"]), undefined);
    expect(names.toCanonical("git_log")).toBe("mcp.git.log");
    expect(names.toCanonical("git_blame")).toBeUndefined();
  });

  test("of one server alone are its own", () => {
    const { tools } = underOwnNames(listed(["mcp.git.log", "mcp.git.call_tool"]), "git");
    expect(tools.map(({ name }) => name)).toEqual(["log", "mcp__git__call_tool"]);
  });
});
