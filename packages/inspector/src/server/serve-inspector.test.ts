import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openStore } from "@soong/store";
import { verifies } from "#laws";
import { keepSession, serveHome, type ServedHome } from "../../../../test/inspector/served-home.ts";
import { createAttendance, createHeartbeat } from "./attendance.ts";
import type { LivePort } from "./ports.ts";
import { serveInspector } from "./serve-inspector.ts";

let home: ServedHome | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await home?.close();
  home = undefined;
});

const NOTHING = { store: async () => undefined, home: "/h", cwd: "/c", version: "1" };

describe("the inspector", () => {
  test("is on loopback only, under an address with a token that no other has", async () => {
    verifies("UI-1");
    for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.org", ""]) {
      await expect(serveInspector({ ...NOTHING, host })).rejects.toThrow("this machine only");
    }
    for (const token of ["", "short", "a token with spaces in it", "ü".repeat(20)]) {
      await expect(serveInspector({ ...NOTHING, token })).rejects.toThrow("The token");
    }
    const one = await serveInspector(NOTHING);
    const other = await serveInspector(NOTHING);
    const address = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=(soong_inspect_[\w-]{43})$/u;
    const [, port, token] = address.exec(one.url) ?? [];
    expect(Number(port)).toBe(one.port);
    expect(address.exec(other.url)?.[2]).not.toBe(token);
    const asked = await fetch(`http://127.0.0.1:${one.port}/api/about`, {
      headers: { authorization: `Bearer ${token ?? ""}` },
    });
    expect(await asked.json()).toMatchObject({ home: "/h", cwd: "/c", version: "1" });
    await one.close();
    await other.close();
  });

  test("says which port is taken, and leaves nothing behind then", async () => {
    verifies("UI-1");
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(serveInspector({ ...NOTHING, port })).rejects.toThrow(
      `The inspector cannot use port ${port}: another program uses it. Choose another one, or none to get any that is free.`,
    );
    other.close();
  });

  test("says what is wrong when the files of its page are not there", async () => {
    verifies("UI-1");
    home = await serveHome({ assets: "/nowhere/at/all" });
    const answered = await home.ask("/", { token: null });
    expect(answered.status).toBe(500);
    expect(answered.text).toContain("The files of the page cannot be read");
  });

  test("closes the store it opened, and not the one it was given", async () => {
    verifies("UI-1");
    home = await serveHome();
    await (await keepSession(home.store)).close();
    const given = await openStore({ directory: `${home.directory}/home`, readOnly: true });
    const opened = await openStore({ directory: `${home.directory}/home`, readOnly: true });
    for (const store of [given, async () => opened]) {
      const inspector = await serveInspector({ ...NOTHING, store, token: "0123456789abcdef" });
      const asked = await fetch(`http://127.0.0.1:${inspector.port}/api/sessions`, {
        headers: { authorization: "Bearer 0123456789abcdef" },
      });
      expect(await asked.json()).toMatchObject({ sessions: [{ title: "a session" }] });
      await inspector.close();
    }
    expect(await given.sessions()).toHaveLength(1);
    await expect(opened.sessions()).rejects.toThrow("is closed");
    await given.close();
  });

  test("a process whose inspector has ended ends on its own, though pages were waiting", async () => {
    verifies("UI-1");
    home = await serveHome();
    const inspector = join(home.directory, "inspector.mjs");
    await build({
      entryPoints: [here("../index.ts")],
      outfile: inspector,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      alias: {
        "@soong/core/internal": here("../../../core/src/internal/index.ts"),
        "@soong/core": here("../../../core/src/index.ts"),
        "@soong/store": here("../../../store/src/index.ts"),
      },
      external: ["@photostructure/sqlite"],
      logLevel: "error",
    });
    const program = `
      import { serveInspector } from ${JSON.stringify(inspector)};
      const token = "0123456789abcdef";
      const inspector = await serveInspector({ store: async () => undefined, home: "/h", cwd: "/c", version: "1", token });
      const ask = (path) => fetch("http://127.0.0.1:" + inspector.port + path, { headers: { authorization: "Bearer " + token } });
      const { cursor } = await (await ask("/api/changes")).json();
      const held = [ask("/api/changes?hold=1&cursor=" + cursor), ask("/api/changes?hold=1&cursor=" + cursor)];
      await ask("/api/about");
      await inspector.close();
      const ends = await Promise.allSettled(held);
      console.log(ends.map(({ status }) => status).join());
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "--eval",
      program,
    ]);
    expect(stdout.trim()).toBe("rejected,rejected");
  });
});

describe("whether a page looks", () => {
  test("is counted from when the last page went, and a page that comes back in time never went", () => {
    verifies("UI-1");
    vi.useFakeTimers();
    const calls: string[] = [];
    const live = { attend: () => calls.push("attend"), leave: () => calls.push("leave") };
    const attendance = createAttendance(live as unknown as LivePort, 1000);
    const gone = attendance.seen();
    gone();
    gone();
    vi.advanceTimersByTime(900);
    const back = attendance.seen();
    const second = attendance.seen();
    vi.advanceTimersByTime(5000);
    second();
    vi.advanceTimersByTime(5000);
    expect(calls).toEqual(["attend"]);
    back();
    vi.advanceTimersByTime(999);
    expect(calls).toEqual(["attend"]);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(["attend", "leave"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the beat of those who wait", () => {
  test("is one for all of them, and none without readers", async () => {
    verifies("EVENT-4");
    vi.useFakeTimers();
    const heartbeat = createHeartbeat(150);
    expect(vi.getTimerCount()).toBe(0);
    const gone = new AbortController();
    const waiting = [
      heartbeat.next(new AbortController().signal),
      heartbeat.next(new AbortController().signal),
      heartbeat.next(gone.signal),
    ];
    expect(vi.getTimerCount()).toBe(1);
    gone.abort();
    await waiting[2];
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(150);
    await Promise.all(waiting);
    expect(vi.getTimerCount()).toBe(0);
    const last = heartbeat.next(gone.signal);
    await last;
    const beat = heartbeat.next(new AbortController().signal);
    heartbeat.beat();
    await beat;
    expect(vi.getTimerCount()).toBe(0);
  });
});

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
