// CMD-6 through the real tool: what a command leaves in a project must not make the user's next `git status` run something.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { openSandbox, startProcess } from "@soong/platform";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { openStage, textOf } from "../tools/command-stage.ts";
import { needsSandbox, VISIBLE_PLACE } from "./support.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const CONFIG = String.raw`[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = $PWD\n\tfsmonitor = \"touch $PWD/ran; false\"\n\thooksPath = $PWD/hooks\n`;

/** In a project without a repository. */
const PLANTS = {
  "a bare repository": `mkdir -p objects refs; echo "ref: refs/heads/main" > HEAD; printf "${CONFIG}" > config`,
  "a repository": `git init -q; printf "${CONFIG}" >> .git/config`,
  "a repository made by hand": `mkdir -p .git/objects .git/refs; echo "ref: refs/heads/main" > .git/HEAD; printf "${CONFIG}" > .git/config`,
  "a file that names a repository": `mkdir -p x/objects x/refs; echo "ref: refs/heads/main" > x/HEAD; printf "${CONFIG}" > x/config; echo "gitdir: x" > .git`,
  "a link to a repository": `mkdir -p x/objects x/refs; echo "ref: refs/heads/main" > x/HEAD; printf "${CONFIG}" > x/config; ln -s x .git; ln -s x/* .`,
};

test.for(Object.entries(PLANTS))("%s cannot be planted", async ([, plant], context) => {
  verifies("CMD-6");
  needsSandbox(context, sandbox.state());
  const stage = await openStage({
    tool: () => ({ sandbox, startProcess }),
    parent: VISIBLE_PLACE,
  });
  onTestFinished(() => stage.close());
  stage.write("plant.sh", plant);
  await stage.command(["sh", "plant.sh"]);
  try {
    execFileSync("git", ["status"], { cwd: stage.project, stdio: "ignore" });
  } catch {
    // There is no repository.
  }
  expect(existsSync(join(stage.project, "ran"))).toBe(false);
  expect(readdirSync(stage.project)).not.toContain(".git");
});

test("a link in the place of a file that git writes is noticed", async (context) => {
  verifies("CMD-6");
  needsSandbox(context, sandbox.state());
  const stage = await openStage({ tool: () => ({ sandbox, startProcess }), parent: VISIBLE_PLACE });
  onTestFinished(() => stage.close());
  execFileSync("git", ["init", "-q", stage.project]);
  stage.write(
    "plant.sh",
    "mkdir -p .git/logs; ln -s ../../x .git/COMMIT_EDITMSG; ln -s ../../../x .git/logs/HEAD",
  );
  const shown = textOf(await stage.command(["sh", "plant.sh"]));
  expect(shown).toMatch(/It created .*\.git\/COMMIT_EDITMSG.*\.git\/logs\/HEAD.*Tell the user/);
  expect(textOf(await stage.command(["sh", "-c", "echo again"]))).toBe("again");
});
