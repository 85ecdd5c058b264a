// Starting a command that does nothing in the sandbox, against outside of it and against bubblewrap with the fewest options.
// All of them with the marker, the watchdog and the look for what is left. And what a gigabyte of output through it costs.

import { access } from "node:fs/promises";
import { withHome } from "../store.mjs";
import { paired } from "../paired.mjs";
import { MANY, many, memoryOfOutput } from "./run-command.mjs";

/** @import { Report } from "./index.mjs" */

/** @type {Report} */
export const sandbox = {
  id: "sandbox",
  rows: ["inside", "plain bwrap"],
  title: "A command that does nothing in the sandbox; a gigabyte of output (quick: 100 MB)",
  async report({ quick }) {
    const { openSandbox, startProcess } = await import("@soong/platform");
    const by = openSandbox();
    const state = by.state();
    if ("missing" in state) return [{ name: "skipped", value: state.missing }];
    const bwrap = await access("/usr/bin/bwrap").then(
      () => "/usr/bin/bwrap",
      () => "/bin/bwrap",
    );
    try {
      const rows = await withHome(async (project) => {
        const start = (/** @type {string} */ executable, /** @type {string[]} */ ...args) => ({
          executable,
          argv: [executable, ...args],
          cwd: project,
          env: { PATH: "/usr/bin:/bin" },
          onStdout() {},
          onStderr() {},
        });
        const profile = { writable: [project], fixed: [], masked: [], absent: [] };
        const outside = start("/bin/true");
        const plain = start(bwrap, "--ro-bind", "/", "/", "--unshare-all", "/bin/true");
        const inside = { ...outside, sandbox: { by, profile } };
        return paired(
          [
            { name: "plain bwrap", run: () => many(() => startProcess(plain).end) },
            { name: "outside", run: () => many(() => startProcess(outside).end) },
            { name: "inside", run: () => many(() => startProcess(inside).end) },
          ],
          { rounds: quick ? 5 : 15, unit: "ms", per: MANY },
        );
      });
      return [...rows, ...(await memoryOfOutput(quick ? 100 : 1000, "sandboxed"))];
    } finally {
      by.close();
    }
  },
};
