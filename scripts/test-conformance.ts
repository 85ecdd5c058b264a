// The official MCP conformance suite at length (MCP-9, GATE-6): every scored scenario of both revisions, as a client
// and as a server, one at a time. `npm run test:conformance -- WORDS` runs those whose names have the words.

import { CommandFailed, run } from "./command.ts";

const words = process.argv.slice(2).join(" ");

try {
  run(
    "vitest",
    [
      "run",
      "test/mcp/conformance/conformance.test.ts",
      "--reporter=verbose",
      "--no-file-parallelism",
      ...(words === "" ? [] : ["-t", words]),
    ],
    { env: { SOONG_TEST_CONFORMANCE: "all" } },
  );
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  console.error(error.message.trim());
  process.exitCode = 1;
}
