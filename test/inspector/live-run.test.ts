// The page on a run that continues in another process, in a real browser: seen live, answered by keyboard, in two tabs, and
// while the runtime goes away and comes back.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import {
  gateIn,
  lanesOf,
  reach,
  seen,
  showTimeline,
  untilGone,
  WAIT,
  type Gate,
} from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const SCRIPT = `
turns:
  - text: First I wait.
    calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - text: Now the <b>letter</b>.
    calls: [ { tool: code.write_file, input: { path: letter.txt, content: "Dear Ada,\\n<script>alert(1)</script>\\n" } } ]
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - text: And a second one.
    calls: [ { tool: code.write_file, input: { path: second.txt, content: two } } ]
  - text: Both are written.
`;
const RUN = ["run", "--model", "script:s.yaml", "--allow", "code.run_command", "write a letter"];

describe("a run that is watched while it runs", () => {
  it("is watched, and a write of it allowed with nothing but the keyboard", async (context) => {
    verifies("UI-1", "UI-2", "UI-3", "PERM-6", "EVENT-4");
    needsBrowser(context);
    const { place, gate } = await gatedPlace();
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    const asked = recordRequests(page);
    await page.goto(String(inspector.record["url"]));
    await seen(page.getByRole("heading", { name: "Home" }));
    expect(page.url()).not.toContain("token");

    const run = place.start(RUN);
    const session = page.getByRole("complementary", { name: "Sessions" }).getByRole("link");
    await seen(session);
    await vi.waitFor(async () => expect(await session.innerText()).toContain("live"), WAIT);
    await reach(page, session);
    await page.keyboard.press("Enter");
    await seen(page.getByRole("tab", { name: "Conversation", selected: true }));
    await page.keyboard.press("v");
    const lanes = lanesOf(page);
    await seen(lanes.getByRole("row", { name: /code\.run_command, executing/ }));

    const other = await browser.tab();
    await other.goto(String(inspector.record["url"]));
    await seen(other.getByRole("navigation", { name: "Views" }));
    await gate.open();

    await seen(lanes.getByRole("row", { name: /code\.write_file, waiting/ }));
    expect(existsSync(join(place.project, "letter.txt"))).toBe(false);
    await page.keyboard.press("q");
    const question = page.getByRole("article", { name: "code.write_file asks" });
    await seen(question);
    const shown = await question.innerText();
    expect(shown).toContain("letter.txt");
    expect(shown).toContain("<script>alert(1)</script>");
    expect(shown).toContain(place.project);
    expect(shown).toContain("files directly in");
    await other.keyboard.press("q");
    await seen(other.getByRole("article", { name: "code.write_file asks" }));

    await reach(page, question);
    await untilGone(question, () => page.keyboard.press("y"));
    const letter = () => place.read("letter.txt").catch(() => "");
    await expect.poll(letter, WAIT).toContain("Dear Ada");
    await seen(other.getByRole("article", { name: "code.write_file, over" }));

    // The second write was not covered by "this once".
    await gate.open();
    const second = page.getByRole("article", { name: "code.write_file asks" });
    await seen(second);
    await expect.poll(() => second.innerText(), WAIT).toContain("second.txt");
    await reach(page, second);
    await untilGone(second, () => page.keyboard.press("n"));
    expect((await run.ended).code).toBe(0);
    expect(existsSync(join(place.project, "second.txt"))).toBe(false);

    await page.goBack();
    const written = lanes.getByRole("row", { name: /code\.write_file, succeeded/ });
    await seen(written);
    await seen(lanes.getByRole("row", { name: /code\.write_file, rejected/ }));
    await seen(page.getByText("Now the <b>letter</b>."));
    expect(await page.locator("b").count()).toBe(0);

    await reach(page, lanes);
    await page.keyboard.press("Home");
    const names = await lanes
      .locator("[role=row][aria-level]")
      .evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
    const index = names.findIndex((name) => name.startsWith("code.write_file, succeeded"));
    for (let i = 0; i < index; i += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const details = page.getByRole("region", { name: /details/i });
    await seen(details.getByText("control:inspector"));
    await seen(details.getByText("defaults.write_asks"));
    expect(new Set(asked.map((url) => new URL(url).origin)).size).toBe(1);
  });

  it("shows when its process is killed, and continues when it is resumed", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const { place, gate } = await gatedPlace();
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await page.goto(String(inspector.record["url"]));
    const doomed = place.start(RUN);
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();
    await showTimeline(page);
    const lanes = lanesOf(page);
    await seen(lanes.getByRole("row", { name: /code\.run_command, executing/ }));
    await gate.open();
    await seen(lanes.getByRole("row", { name: /code\.write_file, waiting/ }));
    doomed.child.kill("SIGKILL");
    const head = page.getByRole("region", { name: "Session" });
    await seen(head.getByText("not live"));
    await page.keyboard.press("q");
    await seen(page.getByText("No questions are waiting."));
    await page.goBack();

    await place.write("s.yaml", "turns: [ { text: Here I am again. } ]");
    const again = place.start(["resume", sessionIn(page), "--model", "script:s.yaml", "go"]);
    expect((await again.ended).code).toBe(0);
    await seen(page.getByText("Here I am again."));
    await seen(lanes.getByRole("row", { name: /code\.write_file, skipped/ }));
  });
});

async function gatedPlace(): Promise<{ place: Place; gate: Gate }> {
  const place = await bundle.place();
  await place.write("s.yaml", SCRIPT);
  return { place, gate: await gateIn(place) };
}

/** Of the address. */
function sessionIn(page: Page): string {
  return /\/session\/([^/]+)/.exec(page.url())?.[1] ?? "";
}

function recordRequests(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  return urls;
}
