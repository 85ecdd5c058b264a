// When a session that a process holds may be taken from it before its lease has ended.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, refusal, storeAt } from "./postgres-stage.ts";

/** More than any system gives out. */
const NO_PROCESS = 2 ** 30;

interface HolderRow {
  readonly holder: string;
}

test.each<[string, string, (holder: Record<string, unknown>) => object, number]>([
  ["is opened at once when its holder is dead on this machine", "none", (holder) => holder, 0],
  [
    "is in use when its holder is in another container, where other processes have these numbers",
    "session_in_use",
    (holder) => ({ ...holder, pid_namespace: "pid:[1]" }),
    0,
  ],
  [
    "is in use when its holder is on another machine",
    "session_in_use",
    (holder) => ({ ...holder, boot_id: "another" }),
    0,
  ],
  [
    "is in use when its holder has nothing but the name of its host, which two machines may have",
    "session_in_use",
    (holder) => ({ ...holder, boot_id: null, pid_namespace: null }),
    0,
  ],
  [
    "is in use when someone has locked it since, to remove or rebuild it",
    "session_in_use",
    (holder) => holder,
    1,
  ],
])("a session %s", async (_what, code, change, epochs) => {
  verifies("STORE-3");
  const url = await usePostgres();
  const [first, second] = [await storeAt(url), await storeAt(url)];
  await first.createSession({ session_id: "s1" });
  expect(await refusal(() => second.openSession("s1"))).toMatchObject({
    code: "session_in_use",
    message: expect.stringMatching(/\(if that is gone, the session is free in \d\d s\)/) as string,
  });
  const [row] = await ask<HolderRow>(url, "SELECT holder FROM soong.sessions");
  const holder = JSON.parse(row?.holder ?? "") as { process: Record<string, unknown> };
  const dead = { ...holder, process: change({ ...holder.process, pid: NO_PROCESS }) };
  await ask(
    url,
    `UPDATE soong.sessions SET holder = '${JSON.stringify(dead)}', epoch = epoch + ${epochs}`,
  );
  expect((await refusal(() => second.openSession("s1"))).code).toBe(code);
});
