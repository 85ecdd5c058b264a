import { describe, expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

describe("the nearest name", () => {
  test.each([
    ["serach", ["read", "search"], "search"],
    ["denyTools", ["allow_tools", "deny_tools"], "deny_tools"],
    ["PATH", ["path"], "path"],
    ["tols", ["tags", "tools"], "tools"],
    ["cwd", ["cmd", "env"], "cmd"],
  ])("%s among %j is %s", (given, known, meant) => {
    expect(nearestName(given, known)).toBe(meant);
  });

  test("is none where too much differs", () => {
    expect(nearestName("cat", ["dot"])).toBeUndefined();
    expect(nearestName("sl", ["ls"])).toBeUndefined();
    expect(nearestName("command", ["timeout", "stdin"])).toBeUndefined();
  });
});
