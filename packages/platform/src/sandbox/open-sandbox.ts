// The sandbox of the system this runs on.

import { openBubblewrap, type BubblewrapOptions } from "./bubblewrap.ts";
import { openSeatbelt } from "./seatbelt.ts";
import { sandboxFailure, type Sandbox } from "../process/index.ts";

export type SandboxOptions = BubblewrapOptions;

/** Nothing is looked up, tried or made before it is needed. */
export function openSandbox(options: SandboxOptions = {}): Sandbox {
  if (process.platform === "linux") return openBubblewrap(options);
  return process.platform === "darwin" ? openSeatbelt() : noSandbox();
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
