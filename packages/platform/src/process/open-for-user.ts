// Starts a program that belongs to the user and not to the runtime, such as the browser an address is opened in: it is
// meant to outlive the runtime, so it has neither marker nor watchdog. Only what the user asked for is started so.

import { spawn } from "node:child_process";
import { MARKER_NAME } from "./marker.ts";

/** Best effort: a program that cannot be started is no failure. */
export function openForUser(
  executable: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const child = spawn(executable, args, {
    // The marker of a runtime around this one stays: it still has to find what was started in it.
    env: { ...env, [MARKER_NAME]: process.env[MARKER_NAME] },
    stdio: "ignore",
    detached: true,
  });
  child.on("error", () => {});
  child.unref();
}
