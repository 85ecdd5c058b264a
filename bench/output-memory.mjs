// Prints, as rows of a report, what so many megabytes of command output cost in memory and time.

import { withHands } from "./hands.mjs";

const [, , amount, how] = process.argv;
const megabytes = Number(amount);
const isSandboxed = how === "sandboxed";
const rows = await withHands(
  async ({ call }) => {
    await call("code.run_command", { argv: ["true"] });
    const idle = process.memoryUsage().rss;
    const begun = performance.now();
    const bytes = megabytes * 1_000_000;
    const { data } = await call("code.run_command", {
      argv: ["sh", "-c", `yes 'a line of output' | head -c ${bytes}`],
    });
    const seconds = (performance.now() - begun) / 1000;
    // In kilobytes, the most this process ever had.
    const peak = process.resourceUsage().maxRSS * 1024;
    const { stdout } = /** @type {{ stdout: { bytes: number, artifact_id?: string } }} */ (data);
    const { contained_by: by } = /** @type {{ contained_by?: string }} */ (data);
    if (isSandboxed !== (by === "sandbox")) throw new Error(`it ran in: ${by}`);
    if (stdout.bytes !== bytes) throw new Error(`${stdout.bytes} bytes of output arrived`);
    return [
      {
        name: `${megabytes} MB of output, memory above idle`,
        value: (peak - idle) / 1e6,
        unit: "MB",
        note: `at ${(megabytes / seconds).toFixed(0)} MB/s, whole in an artifact`,
      },
    ];
  },
  { isSandboxed },
);
console.log(JSON.stringify(rows));
