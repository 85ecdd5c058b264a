// The real hosts as one test of the full run (GATE-5). They are 2 GB, so `npm run test:hosts` installs them first.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { HOSTS } from "./hosts.ts";
import { tryHost } from "./try-host.ts";

const folderOf = (name: string) => resolve("test", "mcp", "hosts", "installed", name);
const isInstalled = HOSTS.every((host) =>
  existsSync(join(folderOf(host.name), "node_modules", host.package, "package.json")),
);
const isAsked = process.env["SOONG_TEST_FULL"] === "1";

test(
  "unmodified hosts read and write through the gateway, over stdio and HTTP",
  { timeout: HOSTS.length * 300_000 },
  async ({ task, skip }) => {
    verifies("GATE-5");
    if (!isInstalled || !isAsked) {
      task.meta.lacks = "`npm run test:hosts`, which installs the hosts, and SOONG_TEST_FULL=1";
      skip("the hosts are not installed, or this is not a full run");
    }
    const program = resolve("packages", "cli", "bin", "soong.cjs");
    const problems: string[] = [];
    for (const host of HOSTS) {
      for (const transport of ["stdio", "http"] as const) {
        const installed = folderOf(host.name);
        const outcome = await tryHost(program, { host, installed, transport });
        if (!outcome.ok) problems.push(`${host.name} ${transport}: ${outcome.problems.join("; ")}`);
      }
    }
    expect(problems).toEqual([]);
  },
);
