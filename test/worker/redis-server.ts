// A Redis for one test: the installed `redis-server`, or the one at the path in SOONG_TEST_REDIS.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { findFreePort } from "../postgres/free-port.ts";
import { skipTest } from "../skip-test.ts";

/** Its end of the pipe closes with our process, however that ends; then so does the server. */
const GUARDED = 'command -v "$1" > /dev/null || exit; "$@" & read -r _; kill -KILL $!; wait';

export async function useRedis(): Promise<string> {
  const { SOONG_TEST_REDIS: program = "redis-server" } = process.env;
  const port = await findFreePort();
  const password = randomBytes(12).toString("hex");
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--requirepass", password];
  const child = spawn("/bin/sh", ["-c", GUARDED, "sh", program, ...options, "--save", ""], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes("Ready to accept connections")) {
      child.stdout.resume();
      return `redis://:${password}@127.0.0.1:${port}`;
    }
  }
  return skipTest("Redis (Debian's `redis-server`, or its path in SOONG_TEST_REDIS)");
}
