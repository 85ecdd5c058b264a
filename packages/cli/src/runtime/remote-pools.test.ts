import { verifies } from "#laws";
import { expect, test } from "vitest";
import { parseConfig } from "../config/index.ts";
import { describeLocalGuards } from "./remote-pools.ts";

const REMOTE = parseConfig("[agents.worker_pools.builders]\nremote = true\n", "config.toml");
const LOCAL = parseConfig("[agents.worker_pools.builders]\nsize = 2\n", "config.toml");
const GUARD = { id: "hooks.json[0]", event: "PreToolUse" } as const;
const OBSERVER = { id: "hooks.json[1]", event: "PostToolUse" } as const;

test("guards of a home that has remote pools are named, because they do not reach their workers", () => {
  verifies("HOOK-1", "DIST-1");
  expect(describeLocalGuards([GUARD, OBSERVER], REMOTE)).toEqual([
    "hooks.json: hooks.json[0] guards calls of this process, not those of remote workers (builders); give their homes the same hooks, or use a rule.",
  ]);
  expect(describeLocalGuards([OBSERVER], REMOTE)).toEqual([]);
  expect(describeLocalGuards([GUARD], LOCAL)).toEqual([]);
});
