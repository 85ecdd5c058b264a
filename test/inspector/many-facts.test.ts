// A journal of 100 000 facts in a real browser: read with progress, and scrolled by frames that the user does not feel.

import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { keepManyFacts } from "./many-facts.ts";
import { sidebarOf } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const FACTS = 100_000;
const MOST_MS = 50;
/** What else the machine does only ever makes frames longer, so the best of some passes is what the page takes. */
const PASSES = 8;
const FRAMES = 90;
const WAIT = { timeout: 50_000 };

describe("a run of 100 000 facts", () => {
  it("is scrolled, lanes and facts, at a p95 frame of at most 50 ms", async (context) => {
    verifies("UI-3");
    needsBrowser(context);
    const place = await bundle.place();
    const { session_id, calls } = await keepManyFacts(place.home, FACTS);
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await page.goto(String(inspector.record["url"]));
    await sidebarOf(page)
      .getByRole("link", { name: /very many facts/ })
      .click(WAIT);
    await page.getByRole("tab", { name: "Timeline" }).click(WAIT);
    const counted = calls.toLocaleString("en");
    await page
      .getByText(new RegExp(`${counted}|${calls} calls`))
      .first()
      .waitFor(WAIT);

    const lanes = page.getByRole("treegrid", { name: "Runs and calls" });
    expect(await lanes.getByRole("row").count()).toBeLessThan(120);
    expect(await bestP95(page, "treegrid")).toBeLessThanOrEqual(MOST_MS);
    await lanes.press("End");
    await page
      .getByText(`file-${calls - 1}.ts`)
      .first()
      .waitFor(WAIT);

    await page.goto(`${new URL(page.url()).origin}/#/session/${session_id}/facts`);
    await page.getByText("session.created").waitFor(WAIT);
    expect(await bestP95(page, "grid")).toBeLessThanOrEqual(MOST_MS);
    await page.getByText("run.completed").waitFor(WAIT);
  });
});

async function bestP95(page: Page, role: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < PASSES && best > MOST_MS; pass += 1) {
    best = Math.min(best, await page.evaluate(p95WhileScrolling, { role, frames: FRAMES }));
  }
  return best;
}

/** Runs in the page: from top to bottom, a stretch each frame. */
async function p95WhileScrolling({ role, frames }: { role: string; frames: number }) {
  const list = document.querySelector(`[role="${role}"]`);
  let box = list;
  while (box !== null && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement;
  const inside = [...(list?.querySelectorAll("*") ?? [])];
  box ??= inside.find((one) => one.scrollHeight > one.clientHeight * 10) ?? null;
  if (box === null) throw new Error("there is nothing to scroll");
  const scrolled = box;
  const stretch = (scrolled.scrollHeight - scrolled.clientHeight) / frames;
  scrolled.scrollTop = 0;
  const took: number[] = [];
  let before = await nextFrame();
  for (let i = 1; i <= frames; i += 1) {
    scrolled.scrollTop = i * stretch;
    const now = await nextFrame();
    took.push(now - before);
    before = now;
  }
  scrolled.scrollTop = scrolled.scrollHeight;
  return took.toSorted((a, b) => a - b)[Math.floor(frames * 0.95)] ?? 0;

  function nextFrame(): Promise<number> {
    return new Promise((resolve) => {
      requestAnimationFrame(resolve);
    });
  }
}
