// A runtime of its own, for what memory a flood of command output costs: prints one line of JSON.

import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel } from "@soong/core";
import { openFileArtifacts } from "@soong/store";
import { codeTools } from "@soong/tools";

const script = process.argv[2] ?? "";
const base = await realpath(await mkdtemp(join(tmpdir(), "soong-volume-")));
try {
  const kernel = createKernel({ tools: codeTools({ lockDirectory: join(base, "locks") }) });
  const run = await kernel.startRun({
    roots: { project: base, write: [] },
    artifacts: await openFileArtifacts({ directory: join(base, "artifacts") }),
    policy: { rules: [{ tool: "code.run_command", decision: "allow" }] },
  });
  await run.execute([{ id: "0", name: "code.run_command", arguments: { argv: ["true"] } }]);
  const idle = process.memoryUsage.rss();
  const [result] = await run.execute([
    { id: "1", name: "code.run_command", arguments: { argv: ["sh", "-c", script] } },
  ]);
  const peak = await peakBytes();
  const text = result?.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  process.stdout.write(
    JSON.stringify({
      status: result?.status,
      above_idle: peak - idle,
      shown_bytes: Buffer.byteLength(text ?? ""),
      begins: text?.startsWith("first\nline"),
      ends: text?.includes("line\nlast\n") || text?.trimEnd().endsWith("line\nlast"),
      artifacts: result?.artifacts,
    }),
  );
} finally {
  await rm(base, { recursive: true, force: true });
}

/** Of this program alone: `maxRSS` also counts what the process was before it became this program. */
async function peakBytes(): Promise<number> {
  const status = await readFile("/proc/self/status", "utf8").catch(() => "");
  const kilobytes = Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]);
  return (Number.isNaN(kilobytes) ? process.resourceUsage().maxRSS : kilobytes) * 1024;
}
