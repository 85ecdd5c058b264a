// CMD-6 on machines that have no sandbox: it is named what is missing, and nothing runs outside instead.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { createFolder, needsSandbox, USERS, useRuntimes } from "./support.ts";

const runtimes = useRuntimes();
const { uid } = USERS[0];

/** Made with what the sandbox itself needs: a namespace in which there is less. */
const less = (script: string) =>
  `exec unshare -Um --map-current-user --keep-caps sh -c '${script}; exec "$@"' sh "$@"`;

const MACHINES = [
  {
    machine: "without bubblewrap",
    first: less(
      "for p in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do [ -e $p ] && mount --bind /dev/null $p; done",
    ),
    missing: "bubblewrap is not installed",
  },
  {
    machine: "where no more namespaces may be made",
    first: less("echo 0 > /proc/sys/user/max_user_namespaces"),
    missing: "namespaces",
  },
];

describe.each(MACHINES)("on a machine $machine", ({ first, missing }) => {
  test("the state says so with what to do, and a command is refused instead of run outside", async (context) => {
    verifies("CMD-6");
    const ordinary = await runtimes.open(uid);
    await ordinary.close();
    needsSandbox(context, ordinary.state);
    const folder = createFolder(uid);
    try {
      const runtime = await runtimes.open(uid, first);
      expect(runtime.state).toEqual({
        missing: expect.stringContaining(missing) as string,
        fix: expect.stringMatching(/[^.]\.$/) as string,
      });
      const { failure, stdout } = await runtime.run({
        argv: ["/bin/sh", "-c", `echo ran; touch ${join(folder, "ran")}`],
        profile: { writable: [folder] },
      });
      expect(failure).toContain(missing);
      expect(stdout).toBe("");
      expect(existsSync(join(folder, "ran"))).toBe(false);
      await runtime.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("one that was there once is not missing later: commands fail, and none is judged as one that runs outside", async (context) => {
  verifies("CMD-6");
  const runtime = await runtimes.open(uid, less("true"));
  needsSandbox(context, runtime.state);
  const argv = ["/bin/sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces"];
  expect(await runtime.run({ argv })).toMatchObject({ end: { exit_code: 0 } });
  const { failure, state } = await runtime.run({
    argv: ["/bin/true"],
    profile: { writable: [] },
  });
  await runtime.close();
  expect(failure).toContain("namespaces");
  expect(state).toEqual(runtime.state);
});

test("in a sandbox there is no other one: it is named as a container that refuses namespaces", async (context) => {
  verifies("CMD-6");
  const runtime = await runtimes.open(uid);
  needsSandbox(context, runtime.state);
  const { stdout } = await runtime.run({
    argv: [process.execPath, runtimes.program()],
    stdin: "",
    profile: { writable: [] },
  });
  await runtime.close();
  expect(JSON.parse(stdout)).toMatchObject({
    key: "state",
    missing: expect.stringContaining("namespaces") as string,
    fix: expect.stringContaining("container") as string,
  });
});
