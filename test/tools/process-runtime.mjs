// A runtime for tests: `node process-runtime.mjs BUNDLE DEED …` does one deed with the process room and
// tells of it in lines of JSON.

import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [bundle = "", deed = "", ...rest] = process.argv.slice(2);
const { startProcess } =
  /** @type {typeof import("../../packages/platform/src/process/index.ts")} */ (
    await import(pathToFileURL(bundle).href)
  );

const env = { PATH: process.env.PATH ?? "", TEST_MARK: process.env.TEST_MARK ?? "" };

/** @type {Record<string, () => void | Promise<void>>} */
const deeds = {
  /** Starts a family and stays. */
  hold() {
    startFamily();
  },

  /** Starts a family and then ends in the given way. */
  async leave() {
    const how = rest.pop();
    await startFamily().ready;
    if (how === "exit") process.exit(0);
    if (how === "throw")
      setImmediate(() => {
        throw new Error("on purpose");
      });
    if (how === "signal") process.kill(process.pid, "SIGTERM");
  },

  /** Runs another runtime as its command. */
  nest() {
    const argv = ["node", ...rest];
    const command = { executable: process.execPath, argv, cwd: "/", env };
    tell({ pid: startProcess(command).pid });
  },

  /** Never does anything but start commands. */
  async storm() {
    for (;;) {
      const { pid } = startProcess({
        executable: "/bin/sleep",
        argv: ["sleep", "300"],
        cwd: "/",
        env,
      });
      tell({ pid });
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  },

  /** One command, and another one when asked for. */
  async twice() {
    process.on("SIGUSR2", () => {
      const { pid } = startProcess({
        executable: "/bin/sleep",
        argv: ["sleep", "300"],
        cwd: "/",
        env,
      });
      tell({ pid });
    });
    tell(await run("/bin/true", []));
    setInterval(() => {}, 60_000);
  },

  /** Stops a family. */
  async stop() {
    const { command, ready } = startFamily();
    await ready;
    tell(await command.stop("abort"));
  },

  /** Takes in very much output. */
  async volume() {
    const bytes = Number(rest[0]);
    await run("/bin/true", []);
    globalThis.gc?.();
    const idle = process.memoryUsage.rss();
    let peak = idle;
    let seen = 0;
    const hash = createHash("sha256");
    const end = await startProcess({
      executable: "/bin/sh",
      argv: ["sh", "-c", `head -c ${bytes} /dev/zero`],
      cwd: "/",
      env,
      async onStdout(chunk) {
        seen += chunk.length;
        hash.update(chunk);
        peak = Math.max(peak, process.memoryUsage.rss());
        // A consumer slower than the program, now and then.
        if (seen % 16 === 0)
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
      },
    }).end;
    tell({ seen, sha256: hash.digest("hex"), grown: peak - idle, end });
  },

  /** Starts very many processes and looks for what stays open. */
  async many() {
    await run("/bin/true", []);
    const before = openDescriptors();
    for (let count = 0; count < 200; count += 1) await run("/bin/true", []);
    const atOnce = Array.from({ length: 50 }, () => run("/bin/sh", ["-c", "sleep 0.1; echo done"]));
    const ends = await Promise.all(atOnce);
    const refused = Array.from({ length: 50 }, () => {
      try {
        return run("/nowhere/at/all", []);
      } catch {
        return "refused";
      }
    });
    // What was refused is closed by Node a moment later.
    for (let tries = 0; tries < 500 && openDescriptors() > before; tries += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
    tell({
      ends: ends.filter((end) => end.exit_code === 0 && end.leftovers === 0).length,
      refused: refused.filter((outcome) => outcome === "refused").length,
      opened: openDescriptors() - before,
      held: process
        .getActiveResourcesInfo()
        .filter((name) => name !== "PipeWrap" && name !== "TTYWrap"),
    });
  },

  /** Starts processes until the system allows no more. */
  exhaust() {
    const command = { executable: "/bin/sleep", argv: ["sleep", "300"], cwd: "/", env };
    try {
      for (let count = 0; count < 500; count += 1) startProcess({ ...command, onStdout() {} });
      tell({ code: "none" });
    } catch (error) {
      tell({ code: /** @type {{ error: { code: string } }} */ (error).error.code });
    }
    process.exit(0);
  },
};

await deeds[deed]?.();

function startFamily() {
  const [script = "", ...args] = rest;
  const held = { ready: () => {} };
  /** @type {Promise<void>} */
  const ready = new Promise((resolve) => {
    held.ready = resolve;
  });
  const command = startProcess({
    executable: "/bin/sh",
    argv: ["sh", script, ...args],
    cwd: "/",
    env,
    onStdout() {
      tell({ ready: true });
      held.ready();
    },
    onStderr: (chunk) => {
      process.stderr.write(chunk);
    },
  });
  tell({ pid: command.pid });
  return { command, ready };
}

/** @param {string} executable @param {string[]} args */
function run(executable, args) {
  return startProcess({
    executable,
    argv: [executable, ...args],
    cwd: "/",
    env,
    stdin: "unread",
    onStdout() {},
    onStderr() {},
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  }).end;
}

function openDescriptors() {
  return readdirSync("/dev/fd").length;
}

/** @param {object} line */
function tell(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
