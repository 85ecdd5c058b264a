// The throw-away folder of the demo: a copy of its project, and a home with the demo's own rules. It stays, so that
// what happened can be looked at.

import { chmod, cp, mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "../../output/index.ts";

export interface DemoStage {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  /** What the model says. */
  readonly script: string;
}

export async function createDemoStage(): Promise<DemoStage> {
  // Beside the program, whichever piece of it this is in.
  const shipped = fileURLToPath(new URL("demo/", import.meta.url));
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-demo-")));
  const home = join(folder, "home");
  const project = join(folder, "project");
  await mkdir(home, { mode: 0o700 });
  try {
    await cp(join(shipped, "project"), project, { recursive: true });
    await cp(join(shipped, "config.toml"), join(home, "config.toml"));
    await cp(join(shipped, "script.yaml"), join(folder, "script.yaml"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `The files of the demo cannot be copied from ${shipped}: ${why}. Install soong again.`,
    );
  }
  // Whoever unpacked the package may have let others write it.
  await chmod(join(home, "config.toml"), 0o600);
  return { folder, home, project, script: join(folder, "script.yaml") };
}
