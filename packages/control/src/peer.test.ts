import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createChallenge } from "./peer.ts";

test.skipIf(process.platform !== "linux")(
  "a client is not identified by the descriptor of the runtime itself",
  () => {
    verifies("MCP-11");
    const folder = mkdtempSync(join(tmpdir(), "soong-peer-"));
    const challenge = createChallenge(folder)!;
    onTestFinished(() => {
      challenge.close();
      rmSync(folder, { recursive: true });
    });
    const [, pid, descriptor] = /^\/proc\/(\d+)\/fd\/(\d+)$/.exec(challenge.path)!;
    expect(() => challenge.identify(Number(pid), Number(descriptor))).toThrow(
      "cannot act on it: answer from another terminal",
    );
    // A client in the same process opens the file itself.
    const opened = openSync(challenge.path, "r");
    expect(challenge.identify(process.pid, opened)).toMatchObject({});
    closeSync(opened);
  },
);
