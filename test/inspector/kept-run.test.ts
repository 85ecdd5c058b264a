// A run that is over, on the page: its calls as a tree, one call in every detail, the words of others in it, and how every
// view of it looks.

import { join } from "node:path";
import { verifies } from "#laws";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { IMAGE, keepRun, LINES } from "./kept-run-stage.ts";
import { faultsIn } from "./looks-stage.ts";
import { planTask, viewsOf } from "./every-view.ts";
import {
  detailsOf,
  lanesOf,
  openPage,
  partOf,
  reach,
  says,
  seen,
  WAIT,
  showTimeline,
  sidebarOf,
} from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;
let place: Place;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  await keepRun(place);
});

afterAll(() => bundle.remove());

async function pageOfTheRun(options: BrowserContextOptions = {}): Promise<Page> {
  const inspector = await startInspector(bundle, place);
  const page = await browser.tab(options);
  await openPage(page, inspector);
  await sidebarOf(page)
    .getByRole("link", { name: /Tidy up/ })
    .click();
  await showTimeline(page);
  await seen(lanesOf(page).getByRole("row", { name: /code\.search, succeeded/ }));
  return page;
}

describe("a call", () => {
  it("shows its inputs and who changed them, who decided by which line, its result, and its artifacts to page and search", async (context) => {
    verifies("UI-1", "SCHEMA-6");
    needsBrowser(context);
    const page = await pageOfTheRun();
    const lanes = lanesOf(page);
    await lanes.getByRole("row", { name: /code\.write_file, succeeded/ }).click();

    const inputs = partOf(page, "Inputs").getByRole("listitem");
    await says(inputs, /Written by the model.*"\.\/notes\/a\.txt","content":"as it comes"/s);
    const stages = await partOf(page, "Inputs").innerText();
    expect(stages).toMatch(
      /Checked and normalised\s+As the model wrote it\..*Evaluated\s+changed.*Given to the tool\s+As evaluated\./s,
    );
    expect(stages).toMatch(/\/content: "as it comes" → "in house style" by house-style/);
    await says(page.getByLabel("Evaluated: before"), /−\s+"content": "as it comes"/);
    await says(page.getByLabel("Evaluated: after"), /\+\s+"content": "in house style"/);

    const decisive = partOf(page, "Decision").getByRole("row", { name: /decides/ });
    await says(decisive, /rules\[0\].*allow.*notes are harmless/s);
    await says(decisive, new RegExp(`${join(place.home, "config.toml")}:3`));
    await says(partOf(page, "Decision"), /defaults\.write_asks\s+\? ask/);
    const hook = partOf(page, "Hooks").getByRole("row", { name: /house-style/ });
    await says(hook, /PreToolUse.*completed.*input.*\d m?s/s);
    const added = partOf(page, "Preview").getByRole("row", { name: /added/ });
    await says(added, /^\s*1\s+\+.*in house style/s);
    expect(await place.read("notes/a.txt")).toBe("in house style");

    const result = partOf(page, "Result");
    await says(result.getByRole("tabpanel"), /Wrote notes\/a\.txt.*sha256/s);
    await result.getByRole("tab", { name: "For the user" }).focus();
    await page.keyboard.press("ArrowRight");
    await says(result.getByRole("tabpanel", { name: "As the model read it" }), /notes\/a\.txt/);
    expect(await result.getByRole("tabpanel").innerText()).not.toContain("sha256");

    // To a fact of it, and back.
    await partOf(page, "Facts").getByRole("link").first().click();
    const fact = page.getByRole("region", { name: /^Fact \d+$/ });
    await says(fact, /tool\.requested/);
    await says(page.getByRole("grid"), /tool\.requested/);
    await fact.getByRole("link", { name: "Its call in the timeline" }).click();
    await says(detailsOf(page).getByRole("heading"), /code\.write_file/);

    // An output that was too long to be told.
    await lanes
      .getByRole("row", { name: /code\.run_command, succeeded/ })
      .first()
      .click();
    const left = partOf(page, "Artifacts");
    await left.getByRole("button", { expanded: false }).first().click();
    const text = left.getByLabel("A page of the artifact");
    await says(text, /^line 1\nline 2\n/);
    await left.getByRole("button", { name: "Next" }).click();
    await says(left, /from line 1\d\d\d, bytes 163\d\d–327\d\d of /);
    await says(text, /line 2000\n/);
    await left.getByRole("button", { name: "Previous" }).click();
    await says(text, /^line 1\n/);

    const query = left.getByRole("searchbox");
    await query.fill(`line ${LINES - 1}`);
    await page.keyboard.press("Enter");
    await says(left.getByRole("list", { name: "Matches" }), new RegExp(`${LINES - 1}: line`));
    await left.getByRole("button", { name: "Next match" }).click();
    await says(text, new RegExp(`line ${LINES - 1}\nline ${LINES}`));
    const isLast = () => left.getByRole("button", { name: "Next →" }).isDisabled();
    await expect.poll(isLast, WAIT).toBe(true);
    await left.getByRole("checkbox", { name: "regular expression" }).check();
    await query.fill("^line [12]0*$");
    await page.keyboard.press("Enter");
    await says(left.getByRole("status"), /^10 found/);
    await query.fill("line (");
    await page.keyboard.press("Enter");
    await says(left.getByRole("alert"), /missing closing/);
    await query.fill("no such line");
    await page.keyboard.press("Enter");
    await says(left.getByRole("status"), /Nothing found/);

    // The same from the list of all that the session left.
    await page.getByRole("tab", { name: "Artifacts" }).click();
    await page
      .getByRole("button", { name: /output|stdout|result/i })
      .first()
      .click();
    await says(page.getByLabel("A page of the artifact"), /^line 1\n/);
  });
});

describe("the calls of a run", () => {
  it("are below what began them, are collapsed and filtered by keyboard; text from outside stays text", async (context) => {
    verifies("UI-1", "UI-3");
    needsBrowser(context);
    const page = await pageOfTheRun();
    const lanes = lanesOf(page);
    const rows = lanes.locator("[role=row][aria-level]");
    const levels = () =>
      rows.evaluateAll((all) =>
        all.map((row) => `${row.getAttribute("aria-level")} ${row.getAttribute("aria-label")}`),
      );
    await expect.poll(levels, WAIT).toHaveLength(20);
    const whole = await levels();
    const under = (parent: RegExp): (string | undefined)[] =>
      whole.slice(whole.findIndex((row) => parent.test(row)) + 1).slice(0, 3);
    expect(under(/^2 agent\.create_sub_agent/)).toEqual([
      expect.stringMatching(/^3 Run .*Look around <img.*, completed$/),
      expect.stringMatching(/^4 Request 1 · script:.*, completed$/),
      "4 code.list_dir, succeeded",
    ]);

    await reach(page, lanes);
    await page.keyboard.press("Home");
    const first = whole.findIndex((row) => /agent\.create_sub_agent/.test(row));
    for (let i = 0; i < first; i += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(levels, WAIT).toHaveLength(16);
    await page.keyboard.press("ArrowRight");
    await expect.poll(levels, WAIT).toEqual(whole);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(levels, WAIT).toHaveLength(1);
    await page.keyboard.press("ArrowRight");
    await expect.poll(levels, WAIT).toEqual(whole);

    await page.keyboard.press("/");
    await page.keyboard.type("list_dir");
    // What they are in stays, so that one knows where they belong.
    await expect
      .poll(async () => (await levels()).filter((row) => row.includes("code.")), WAIT)
      .toEqual(["4 code.list_dir, succeeded", "4 code.list_dir, succeeded"]);
    await seen(page.getByText("4 of 9 calls"));
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: /Filter calls/ }).fill("");
    await page.getByLabel("Which calls").selectOption({ label: "Not succeeded" });
    await expect
      .poll(async () => (await levels()).filter((row) => row.includes("code.")), WAIT)
      .toEqual([expect.stringMatching(/^2 code\.read_file, failed, <img src=x/)]);
    await page.getByLabel("Which calls").selectOption({ label: "All calls" });

    await says(page.getByRole("heading", { level: 1 }), /<img src=x/);
    await seen(page.getByRole("region", { name: "Conversation" }).getByText(/I write <img/));
    for (const [row, part] of [
      [lanes.getByRole("row", { name: /code\.read_file, failed/ }), "Inputs"],
      [lanes.getByRole("row", { name: /code\.run_command, succeeded/ }).last(), "Preview"],
      [lanes.getByRole("row", { name: /create_sub_agent/ }).first(), "Inputs"],
    ] as const) {
      await row.click();
      await says(partOf(page, part), /<img src=x onerror=/);
    }
    await lanes
      .getByRole("row", { name: /code\.run_command, succeeded/ })
      .last()
      .click();
    await partOf(page, "Result").getByRole("tab", { name: "As the model read it" }).click();
    await says(partOf(page, "Result"), IMAGE.slice(0, 10));
    await partOf(page, "Facts").getByRole("link").last().click();
    await seen(page.getByRole("grid").getByText(/<img src=x/));

    await page.goBack();
    await seen(lanes);
    // The details come back with the row that was chosen.
    const body = () => page.evaluate(() => document.body.innerText);
    await expect.poll(body, WAIT).toContain("\\u202etxt.exe\\u001b[2J");
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).not.toBe("1");
    const all = await page.evaluate(() => document.body.innerText + document.title);
    expect(["\u202E", "\u001B"].filter((unseen) => all.includes(unseen))).toEqual([]);
  });
});

describe("every view", () => {
  it("is as dark or light as the system, or as was chosen, also after a reload", async (context) => {
    verifies("UI-3");
    needsBrowser(context);
    const page = await pageOfTheRun({ colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.emulateMedia({ colorScheme: "light" });
    const light = await paper();
    expect(light).not.toBe(dark);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.keyboard.press("t");
    await expect.poll(paper, WAIT).toBe(light);
    await page.reload();
    await seen(page.getByRole("navigation", { name: "Views" }));
    await expect.poll(paper, WAIT).toBe(light);
    await page.getByRole("button", { name: /light theme/ }).click();
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(paper, WAIT).toBe(dark);
    await page.getByRole("button", { name: /dark theme/ }).click();
    await expect.poll(paper, WAIT).toBe(light);
  });

  // Each size on its own: together they take longer than a test may.
  for (const size of ["desk", "narrow", "phone"] as const) {
    it(`has contrast and space enough, and axe-core finds nothing, at the size of a ${size}`, async (context) => {
      verifies("UI-3", "UI-4");
      needsBrowser(context);
      const { session_id, task_id } = await planTask(place);
      const server = { command: join(place.home, "there-is-none") };
      await place.write(join(place.home, "mcp.json"), JSON.stringify({ mcpServers: { server } }));
      const page = await pageOfTheRun({ colorScheme: "dark" });
      const faults: string[] = [];
      for (const { name, open } of viewsOf(page, { session_id, task_id })) {
        await open();
        faults.push(...(await faultsIn(page, name, size)));
      }
      expect(faults).toEqual([]);
    });
  }
});
