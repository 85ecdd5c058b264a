// The sandbox of the system this runs on.

import { openBubblewrap, type BubblewrapOptions } from "./bubblewrap.ts";
import { sandboxFailure, type Sandbox } from "../process/index.ts";

export type SandboxOptions = BubblewrapOptions;

/** Nothing is looked up, tried or made before it is needed. */
export function openSandbox(options: SandboxOptions = {}): Sandbox {
  return process.platform === "linux" ? openBubblewrap(options) : noSandbox();
}

function noSandbox(): Sandbox {
  const missing = `there is no sandbox for this system (${process.platform})`;
  return {
    state: () => ({ missing, fix: "Use Linux or macOS." }),
    enter() {
      throw sandboxFailure(missing);
    },
    close() {},
  };
}
