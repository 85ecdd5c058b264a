// Every recipe of the policy cookbook, and of the tutorial with rules, is loaded as a user's config, and every call of its tables is judged by the
// real policy, in a small project.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { staticVerdict, type Mode, type Run } from "@soong/core";
import { toolFacts } from "@soong/core/internal";
import { openSandbox } from "@soong/platform";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../packages/cli/src/config/index.ts";
import { openRuntime } from "../packages/cli/src/runtime/open-runtime.ts";
import { readRecipes, type JudgedCall } from "./samples/read-recipes.ts";
import { needsSandbox } from "./sandbox/support.ts";

const recipes = ["policy-cookbook.md", "tutorials/move-from-claude-code.md"].flatMap((page) =>
  readRecipes(readFileSync(join("docs", page), "utf8")).map((recipe) => ({ page, ...recipe })),
);

const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "one\n",
  "package.json": "{}\n",
  ".env": "KEY=1\n",
  "server.pem": "one\n",
  "src/a.ts": "one\n",
  "src/.env.local": "KEY=1\n",
  "config/secrets/db": "one\n",
  "infrastructure/main.tf": "one\n",
  npm: "#!/bin/sh\n",
};

let folder = "";

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-recipes-")));
  for (const [name, content] of Object.entries(PROJECT)) {
    const file = join(folder, "project", name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: 0o755 });
  }
  execFileSync("git", ["init", "-q", join(folder, "project")]);
  await mkdir(join(folder, "home"), { mode: 0o700 });
});

afterAll(() => rm(folder, { recursive: true }));

test("there is a recipe for what users ask for", () => {
  verifies("DOC-1");
  expect(recipes.length).toBeGreaterThan(10);
  expect(recipes.flatMap(({ calls }) => calls).length).toBeGreaterThan(40);
});

describe.each(recipes)("the recipe of $page:$line", ({ config, isInSandbox, calls }) => {
  test.for(calls)("judges $text", async (call, context) => {
    verifies("DOC-1", "DOC-2", "PERM-11");
    if (isInSandbox) needsSandbox(context, openSandbox().state());
    const home = join(folder, "home");
    await writeFile(join(home, "config.toml"), config, { mode: 0o600 });
    expect(await judged(home, call)).toEqual({ decision: call.decision, by: call.by });
  });
});

async function judged(home: string, call: JudgedCall): Promise<{ decision: string; by: string }> {
  const { allow, deny, mode } = call.flags;
  const ofMode = mode === undefined ? {} : { mode: mode as Mode };
  const runtime = await openRuntime({
    env: {},
    cwd: join(folder, "project"),
    config: await loadConfig({ home }),
    flags: { allow, deny, ...ofMode },
  });
  try {
    const session = await runtime.openEphemeralSession();
    const run = await session.startRun(ofMode);
    const explained = await run.explain({ name: call.tool, arguments: call.input });
    if (explained.outcome === "refused") return withoutBeingOffered(run, call.tool);
    const decisive = explained.chain.find((entry) => entry.decisive === true);
    return { decision: explained.outcome, by: decisive?.rule ?? "" };
  } finally {
    await runtime.close();
  }
}

/** A tool that is denied whatever its input is omitted from the surface. */
function withoutBeingOffered({ surface, policy }: Run, name: string) {
  const standing = surface.standing.get(name);
  if (standing?.state !== "excluded" || standing.tool === undefined) {
    return { decision: "refused", by: "the call itself is wrong" };
  }
  const { verdict, rule } = staticVerdict(policy, toolFacts(policy, standing.tool));
  return { decision: verdict === "denied" ? "deny" : verdict, by: rule };
}
