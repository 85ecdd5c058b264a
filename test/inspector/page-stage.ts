// What every story at the page needs: a run that waits where the test wants it, the page of an inspector, and the ways a
// person gets about on it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page, Request } from "playwright-core";
import { expect, vi } from "vitest";
import { listLiveRuntimes } from "@soong/control";
import type { Place } from "../cli/cli-bundle.ts";
import type { RunningInspector } from "../cli/inspect-stage.ts";

export const WAIT = { timeout: 30_000 };

export interface Gate {
  /** Whoever reads the file continues; this waits until someone does. */
  open(): Promise<void>;
}

/** A file of the project whose reader waits. */
export async function gateIn({ project }: Place, name = "gate"): Promise<Gate> {
  const gate = join(project, name);
  await once(spawn("mkfifo", [gate]), "close");
  return { open: () => writeFile(gate, "open") };
}

export async function openPage(page: Page, inspector: RunningInspector): Promise<void> {
  await page.goto(String(inspector.record["url"]));
  await seen(page.getByRole("banner"));
}

/** By the address, as a bookmark would. */
export async function goTo(page: Page, route: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/#/${route}`);
}

/** The one live session of the home asks at the page from now on. */
export async function attended({ home }: Place): Promise<void> {
  await vi.waitFor(async () => {
    const { live } = await listLiveRuntimes(home);
    expect(live.map(({ hello }) => hello.attendants)).toEqual([1]);
  }, WAIT);
}

/** The sessions beside every view. */
export function sidebarOf(page: Page): Locator {
  return page.getByRole("complementary", { name: "Sessions" });
}

/** The timeline of the session that is shown. */
export async function showTimeline(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Timeline" }).click();
}

export function lanesOf(page: Page): Locator {
  return page.getByRole("treegrid", { name: "Runs and calls" });
}

export function detailsOf(page: Page): Locator {
  return page.getByRole("region", { name: "Details", exact: true });
}

/** A part of the details of a call. */
export function partOf(page: Page, name: string): Locator {
  return detailsOf(page).getByRole("region", { name, exact: true });
}

export async function seen(what: Locator): Promise<void> {
  await what.first().waitFor({ state: "visible", ...WAIT });
}

/** As soon as its text is so. */
export async function says(what: Locator, text: string | RegExp): Promise<void> {
  await expect.poll(() => what.first().innerText(WAIT), WAIT).toMatch(text);
}

/** With the key everyone has for it. */
export async function reach(page: Page, what: Locator): Promise<void> {
  for (let i = 0; i < 80; i += 1) {
    const isThere = await what
      .first()
      .evaluate((element) => element.contains(document.activeElement));
    if (isThere) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not lead there");
}

/** A press that comes too soon after the question is no answer, so it may take another. */
export async function untilGone(what: Locator, press: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      if (await what.isVisible()) await press();
      await what.waitFor({ state: "hidden", timeout: 700 });
    },
    { ...WAIT, interval: 50 },
  );
}

/** The same for what does not vanish on its own: until the page has asked for it. */
export async function untilSent(
  page: Page,
  path: string,
  press: () => Promise<void>,
): Promise<void> {
  let isSent = false;
  const look = (request: Request): void => {
    isSent ||= new URL(request.url()).pathname.endsWith(path);
  };
  page.on("request", look);
  await vi.waitFor(
    async () => {
      if (!isSent) await press();
      expect(isSent).toBe(true);
    },
    { ...WAIT, interval: 100 },
  );
  page.off("request", look);
}
