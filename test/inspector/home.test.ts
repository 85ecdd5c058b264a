// The home of the page, on a day's work of the real program: what runs, waits and failed, what it cost, every session by
// filters, and where a text is.

import { verifies } from "#laws";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { ANSWER, keepWorkday, MARKUP, READ, startWorkday } from "./home-stage.ts";
import { faultsIn } from "./looks-stage.ts";
import { detailsOf, goTo, openPage, reach, says, seen, sidebarOf, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;
let place: Place;
let shop: string;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  ({ shop } = await keepWorkday(place));
});

afterAll(() => bundle.remove());

async function homePage(): Promise<Page> {
  const page = await browser.tab();
  await openPage(page, await startInspector(bundle, place));
  await seen(tableOf(page, "Sessions"));
  return page;
}

function tableOf(page: Page, name: string): Locator {
  return page.getByRole("table", { name: new RegExp(`^${name}`) });
}

function sectionOf(page: Page, name: string): Locator {
  return page.getByRole("region", { name: new RegExp(`^${name}`) });
}

/** The titles in a table, as soon as they are these. */
async function lists(table: Locator, titles: readonly RegExp[]): Promise<void> {
  const shown = () => table.locator("tbody a").allInnerTexts();
  await expect
    .poll(shown, WAIT)
    .toEqual(titles.map((title) => expect.stringMatching(title) as string));
}

describe("the home", () => {
  it("says what is running and at what, what waits, what failed and why, and what today cost by project", async (context) => {
    verifies("UI-1", "EVENT-7");
    needsBrowser(context);
    const page = await homePage();
    const { gate, running, letterbox, asking } = await startWorkday(place);
    onTestFinished(() => void asking.child.kill("SIGKILL"));

    const now = sectionOf(page, "Running now");
    await says(
      now,
      /Run the slow tests\s+▶ code\.run_command cat gate · \d+ s\s+project · for \d+ s/,
    );
    await says(now, /Write a letter to Ada\s+▶ code\.run_command cat letterbox/);
    await letterbox.open();
    await says(now, /Write a letter to Ada\s+\? waiting for you: code\.write_file letter\.txt/);
    const asked = sectionOf(page, "Waiting for you");
    await says(
      asked,
      /Waiting for you ?1\s+.*letter\.txt.*\d+ s\s+project · Write a letter to Ada/s,
    );
    const failed = sectionOf(page, "Failed lately");
    await says(
      failed,
      /soong call code\.read_file\s+code\.read_file: There is no file "nowhere\.txt"/,
    );
    await says(failed, /Sort the invoices\s+.*script/s);

    const today = sectionOf(page, "Today");
    await says(today, /Tokens\s+≥ \d+\.\dk\s+Cost\s+≥ 0\.68 USD/);
    await says(today, /The price of \d+ of \d+ requests is unknown\./);
    await says(today.getByRole("row", { name: /^shop/ }), /^shop\s+[\d,]+\s+unknown$/);

    const table = tableOf(page, "Sessions");
    const row = (name: RegExp): Locator => table.getByRole("row", { name });
    await says(row(/Which birds/), /project\s+✓ done\s+script:.*\s2 ✕ 1 failed\s+unknown/s);
    await says(
      row(/yearly report/),
      /done\s+anthropic\/claude-sonnet-4-5\s.*191\.5k\s.*0\.68 USD/s,
    );
    await says(row(/Run the slow tests/), /▶ running/);
    await says(row(/letter to Ada/), /\? waiting for you/);
    await says(row(/invoices/), /✕ failed/);
    expect(await page.locator("img").count()).toBe(0);

    // What happens is seen without asking for it.
    await gate.open();
    expect((await running.ended).code).toBe(0);
    await says(row(/Run the slow tests/), /✓ done.*\s1\s+unknown/s);
    await expect.poll(() => now.innerText(), WAIT).not.toContain("Run the slow tests");

    await reach(page, asked.getByRole("link", { name: "Answer it" }));
    await page.keyboard.press("Enter");
    await seen(page.getByRole("article", { name: "code.write_file asks" }));
  });

  it("lists sessions by status, project, tool and words, as the address says; single calls are folded away", async (context) => {
    verifies("UI-1", "UI-3");
    needsBrowser(context);
    const page = await homePage();
    const table = tableOf(page, "Sessions");
    expect(await table.innerText()).not.toContain("soong call");
    await seen(sidebarOf(page).getByRole("link", { name: /failed soong call code\.read_file/ }));

    await page.getByLabel("Status").selectOption("failed");
    await lists(table, [/invoices/]);
    expect(page.url()).toContain("#/home?status=failed");
    await page.getByText("Single calls").click();
    await lists(tableOf(page, "Single calls"), [/soong call code\.read_file/]);
    await page.getByLabel("Status").selectOption("");
    await lists(tableOf(page, "Single calls"), [/read_file/, /list_dir/]);

    await page.getByLabel("Project", { exact: true }).selectOption(shop);
    await lists(table, [/apples/]);
    await page.goBack();
    await seen(table.getByRole("link", { name: /Which birds/ }));
    await page.getByLabel("Tool that was called").fill("read_file");
    await lists(table, [/Which birds/]);
    await page.getByLabel("Title, project, model or id").fill("no such words");
    await seen(page.getByText("No session matches."));
    await page.getByRole("button", { name: "Clear filters" }).click();
    await seen(table.getByRole("link", { name: /yearly report/ }));

    await goTo(page, "home?text=claude&status=done");
    await lists(table, [/yearly report/]);
    await reach(page, table.getByRole("link"));
    await page.keyboard.press("Enter");
    await seen(page.getByRole("heading", { name: "Draft the yearly report" }));
  });

  it("finds what was said in all conversations, and leads to the message or the call", async (context) => {
    verifies("UI-1", "RESULT-5");
    needsBrowser(context);
    const page = await homePage();
    await page.keyboard.press("/");
    await page.keyboard.type("HERON stands");
    await page.keyboard.press("Enter");
    const hits = page.getByRole("list", { name: "Matches" });
    await says(hits, /Model in Which birds are in the notes\?.*\s+The heron stands in the reeds/);
    expect(await hits.getByText(ANSWER).count()).toBe(1);
    expect(await hits.locator("mark").innerText()).toBe("heron stands");
    expect(await page.locator("img").count()).toBe(0);
    await seen(page.getByText("1 match. Every conversation was searched."));
    expect(page.url()).toContain("search=HERON%20stands");
    await hits.getByRole("link").click();
    const message = page.locator(".message.chosen");
    await says(
      message,
      new RegExp(`heron stands in the reeds ${MARKUP.replaceAll(/[()]/g, "\\$&")}`),
    );
    expect(await message.isVisible()).toBe(true);

    await page.goBack();
    await page.getByRole("searchbox", { name: "Search all conversations" }).fill("kingfisher");
    await page.keyboard.press("Enter");
    await says(hits, new RegExp(`Result code\\.read_file in .*\\s+.*${READ}`));
    await hits.getByRole("link").click();
    await says(detailsOf(page).getByRole("heading"), /code\.read_file/);

    await goTo(page, "home?search=no+one+said+this");
    await seen(page.getByText(/No conversation has/));
    await page.getByRole("link", { name: "Back to home" }).click();
    await seen(tableOf(page, "Sessions"));
  });

  it("can be read and used in light and dark, on a desk and on a phone, by everyone", async (context) => {
    verifies("UI-3", "UI-4");
    needsBrowser(context);
    const page = await homePage();
    await page.getByText("Single calls").click();
    await seen(tableOf(page, "Single calls"));
    expect(await faultsIn(page, "home at work")).toEqual([]);
    await goTo(page, "home?search=the");
    await seen(page.getByRole("list", { name: "Matches" }).getByRole("link"));
    expect(await faultsIn(page, "home search")).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await goTo(page, "home?project=" + encodeURIComponent(shop));
    await says(tableOf(page, "Sessions").getByRole("row", { name: /apples/ }), /shop\s+✓ done/);
  });

  it("teaches the first step where nothing is kept, and shows what comes", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const empty = await bundle.place();
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, empty));
    await seen(page.getByText('soong run "Explain this project"'));
    await seen(page.getByRole("link", { name: "The playground", exact: true }));
    await empty.run(["call", "code.list_dir"]);
    await seen(page.getByText("No conversations yet."));
    expect(await sectionOf(page, "Failed lately").innerText()).toContain("Nothing failed");
    expect(await sectionOf(page, "Today").innerText()).toContain("No model was asked today.");
    await seen(sidebarOf(page).getByRole("link", { name: /done soong call code\.list_dir/ }));
  });
});
