import { verifies } from "#laws";
import { expect, test } from "vitest";
import { describeViolations, findViolations, type MetInSandbox } from "./sandbox-report.ts";

const limits: MetInSandbox["limits"] = { roots: ["/p"], masked: [], network: "closed" };

function met(output: string): MetInSandbox {
  const failed = { exit_code: 1, signal: null };
  return { failed, output, refusedHosts: [], created: [], masked: [], limits };
}

test("the guess is the line that names the file, not the fields that Node prints below it", () => {
  verifies("CMD-6");
  const output = [
    "Error: EROFS: read-only file system, open '/opt/x'",
    "    at Object.writeFileSync (node:fs:2380:20) {",
    "  errno: -30,",
    "  code: 'EROFS',",
    "  syscall: 'open',",
    "  path: '/opt/x'",
    "}",
  ].join("\n");
  expect(findViolations(met(output))).toEqual([
    {
      kind: "write",
      detail: "Error: EROFS: read-only file system, open '/opt/x'",
      certain: false,
    },
  ]);
});

test.each([
  "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server",
  "Error: connect ECONNREFUSED 127.0.0.1:5432",
  "could not connect to server: Connection refused",
])("a server outside that seems to refuse may be closed by the sandbox: %s", (line) => {
  verifies("CMD-6");
  const violations = findViolations(met(line));
  expect(violations).toEqual([{ kind: "network", detail: line, certain: false }]);
  expect(describeViolations({ limits, created: [] }, violations, true).at(-1)).toMatch(
    /the network is closed, also to servers on this machine/,
  );
});
