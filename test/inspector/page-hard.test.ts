// The page when it is made hard for it: keys and clicks that meant something else, a layout that moves, records of
// megabytes, an inspector that was started anew.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import {
  attended,
  gateIn,
  goTo,
  lanesOf,
  openPage,
  reach,
  says,
  seen,
  showTimeline,
  untilGone,
  WAIT,
} from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WRITE = `
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: one } } ]
  - text: Done.
`;
const WAIT_AND_WRITE = `
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]${WRITE}`;
const run = (allowed: string) => ["run", "--model", "script:s.yaml", "--allow", allowed, "write"];

describe("a question that is looked at", () => {
  it("is not answered by the way elsewhere, nor by a click where it was not a moment ago", async (context) => {
    verifies("UI-2", "PERM-6");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("s.yaml", `turns:${WAIT_AND_WRITE}`);
    const gate = await gateIn(place);
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    const violations: string[] = [];
    page.on("console", (said) => {
      if (said.text().includes("Content Security Policy")) violations.push(said.text());
    });
    await openPage(page, inspector);
    await goTo(page, "questions");
    const running = place.start(run("code.run_command"));
    await attended(place);
    await gate.open();
    const question = page.getByRole("article", { name: "code.write_file asks" });
    await seen(question);
    await expect.poll(() => page.title(), WAIT).toBe("(1) Questions · Soong inspector");

    // The key of the sessions ends with the one that would allow it for the session.
    await heard(question);
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest("aside")?.id), WAIT)
      .toBe("sessions");

    // A line that comes above it moves the button under the pointer.
    const allow = question.getByRole("button", { name: /Allow once/ });
    await allow.scrollIntoViewIfNeeded();
    await heard(question);
    await page.evaluate(clickAsItMoves);
    // It shows that it does not count yet, and says nothing about it.
    await expect
      .poll(() => page.evaluate(() => document.body.dataset["waited"]), WAIT)
      .toBe("true");
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);

    // Gone while it has the focus: the place in the page stays.
    await question.focus();
    running.child.kill("SIGKILL");
    const over = page.getByRole("article", { name: "code.write_file, over" });
    await seen(over);
    const isHeld = () => over.evaluate((element) => element === document.activeElement);
    await expect.poll(isHeld, WAIT).toBe(true);

    // What the dead process left waits for no one.
    await over.getByRole("link", { name: "See the call" }).click();
    const details = page.getByRole("region", { name: "Details", exact: true });
    await says(details, /left open.*until the last fact on record/s);
    expect(await details.getByRole("link", { name: "Answer its question" }).count()).toBe(0);
    await page.getByRole("combobox", { name: "Which calls" }).selectOption("waiting");
    await seen(page.getByText("No call matches."));
    await page.getByRole("combobox", { name: "Which calls" }).selectOption("left_open");
    await seen(lanesOf(page).getByRole("row", { name: /code\.write_file, left open/ }));
    expect(violations).toEqual([]);
  });
});

describe("a record of megabytes", () => {
  it("is shown by its beginning, and its tree is gone through by the arrow keys", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("s.yaml", `turns:${WRITE}`);
    const inspector = await startInspector(bundle, place);
    expect((await place.start(run("code.write_file")).ended).code).toBe(0);
    const page = await browser.tab();
    await openPage(page, inspector);
    const words = "\u202E<b>x</b> \u001B[2J ".repeat(150_000);
    await page.route(/\/calls\//, async (route) => {
      const story = (await (await route.fetch()).json()) as { lane: object; result: object };
      const data = { list: [1, { deep: words }], text: words };
      await route.fulfill({
        json: {
          ...story,
          lane: { ...story.lane, summary: words },
          result: { ...story.result, summary: words, data },
        },
      });
    });
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();
    await showTimeline(page);
    await lanesOf(page)
      .getByRole("row", { name: /code\.write_file/ })
      .click();
    const tree = page.getByRole("tree", { name: "Data of the result" });
    await seen(tree);
    expect((await page.locator("body").innerText()).length).toBeLessThan(60_000);
    expect(await page.locator("b").count()).toBe(0);

    await reach(page, tree);
    const held = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await expect.poll(held, WAIT).toBe("object of 2");
    await page.keyboard.press("ArrowDown");
    await expect.poll(held, WAIT).toBe("list: list of 2");
    await page.keyboard.press("ArrowLeft");
    await seen(tree.locator('[aria-label="list: list of 2"][aria-expanded="false"]'));
    await page.keyboard.press("ArrowRight");
    await seen(tree.locator('[aria-label="list: list of 2"][aria-expanded="true"]'));
    await page.keyboard.press("End");
    const before = (await tree.innerText()).length;
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await tree.innerText()).length, WAIT).toBeGreaterThan(before);
    await page.keyboard.press("Home");
    await expect.poll(held, WAIT).toBe("object of 2");
    await page.keyboard.press("Tab");
    const isInside = () => tree.evaluate((element) => element.contains(document.activeElement));
    await expect.poll(isInside, WAIT).toBe(false);
  });
});

describe("an inspector that was started anew", () => {
  it("under the same address has another token: the page says so and takes the new one", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await goTo(page, "tasks");
    const url = String(inspector.record["url"]);
    await page.route(/\/api\//, (route) => {
      const headers = { ...route.request().headers(), authorization: "Bearer of-another-one" };
      return route.continue({ headers });
    });
    const field = page.getByRole("textbox", { name: "Address or token" });
    await says(page.getByRole("alert"), /token is wrong/);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await untilGone(field, async () => {
      await field.fill(url);
      await page.keyboard.press("Enter");
    });
    // Where one was, not at the beginning.
    await seen(page.getByRole("heading", { name: "Tasks" }));
    expect(page.url()).not.toContain("token");
  });
});

/** It has been there, unmoved and with the focus, for so long that its keys count. */
async function heard(question: Locator): Promise<void> {
  const reason = question.getByRole("textbox", { name: /Reason/ });
  await expect
    .poll(async () => {
      await question.press("r");
      return reason.evaluate((element) => element === document.activeElement);
    }, WAIT)
    .toBe(true);
  await reason.press("Escape");
}

/** Runs in the page: something comes above the question, and the press that was on its way ends on its button. */
function clickAsItMoves(): void {
  const line = document.createElement("p");
  line.textContent = "A line that was not there.";
  document.querySelector("main h1")?.before(line);
  const button = document.querySelector<HTMLElement>("article.question .answers button");
  button?.click();
  requestAnimationFrame(() => {
    document.body.dataset["waited"] = String(button?.hasAttribute("data-wait"));
  });
}
