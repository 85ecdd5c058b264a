// The page around the views: on a phone one thing at a time, at a desk columns of any width.

import { verifies } from "#laws";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { keepRun } from "./kept-run-stage.ts";
import { faultsIn } from "./looks-stage.ts";
import {
  lanesOf,
  openPage,
  reach,
  says,
  seen,
  showTimeline,
  sidebarOf,
  WAIT,
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

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe("on a phone", () => {
  it("views and sessions are in a menu, and details cover the page; Escape and the way back close them, and the focus returns", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const page = await browser.tab(PHONE);
    await openPage(page, await startInspector(bundle, place));
    const menuButton = page.getByRole("button", { name: "Menu" });
    const menu = page.getByRole("dialog", { name: "Menu" });
    await seen(page.getByRole("heading", { level: 1 }));
    expect(await page.getByRole("navigation").count()).toBe(0);

    await menuButton.tap();
    await seen(menu.getByRole("navigation", { name: "Views" }));
    await seen(menu.getByRole("complementary", { name: "Sessions" }).getByText(/Tidy up/));
    expect(await faultsIn(page, "menu", "phone")).toEqual([]);
    // Nothing behind it can be reached.
    for (let i = 0; i < 15; i += 1) {
      await page.keyboard.press("Tab");
      expect(await isOutside(menu)).toBe(false);
    }
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    await expect.poll(() => hasFocus(menuButton), WAIT).toBe(true);
    await menuButton.tap();
    await seen(menu);
    const before = page.url();
    await page.goBack();
    await menu.waitFor({ state: "hidden" });
    expect(page.url()).toBe(before);

    await menuButton.tap();
    await menu.getByRole("link", { name: /Tidy up/ }).tap();
    await menu.waitFor({ state: "hidden" });
    await showTimeline(page);
    const lanes = lanesOf(page);
    const row = lanes.getByRole("row", { name: /code\.write_file/ });
    await row.tap();
    const details = page.getByRole("dialog", { name: "Details" });
    await says(details, /Wrote notes\/a\.txt/);
    expect(await faultsIn(page, "sheet", "phone")).toEqual([]);
    await details.getByRole("button", { name: "Back" }).tap();
    await details.waitFor({ state: "hidden" });
    await expect.poll(() => hasFocus(lanes), WAIT).toBe(true);
    expect(await faultsIn(page, "rows", "phone")).toEqual([]);
    await row.tap();
    await seen(details);
    await page.goBack();
    await details.waitFor({ state: "hidden" });

    await page.getByRole("button", { name: "Conversation" }).tap();
    const conversation = page.getByRole("dialog", { name: "Conversation" });
    await seen(conversation.getByText(/Done\./));
    await page.goBack();
    await conversation.waitFor({ state: "hidden" });
    await seen(lanes);

    await page.getByRole("tab", { name: "Facts", exact: true }).tap();
    await page
      .getByRole("grid", { name: "Facts" })
      .getByRole("row", { name: /run\.started/ })
      .first()
      .tap();
    const fact = page.getByRole("dialog", { name: /^Fact \d+$/ });
    await seen(fact.getByRole("tree"));
    await page.goBack();
    await fact.waitFor({ state: "hidden" });
    expect(await faultsIn(page, "list of facts", "phone")).toEqual([]);

    // A tool is chosen, tried, and left again.
    await menuButton.tap();
    await menu.getByRole("link", { name: "Playground" }).tap();
    const tools = page.getByRole("list", { name: "Tools" });
    await tools.getByRole("link", { name: "code.list_dir" }).last().tap();
    await page.getByRole("button", { name: "Run" }).tap();
    await says(page.getByRole("region", { name: "Outcome" }), /succeeded|entries/);
    expect(await tools.isVisible()).toBe(false);
    expect(await faultsIn(page, "trial", "phone")).toEqual([]);
    await page.getByRole("link", { name: "All tools" }).tap();
    await seen(tools);
  });
});

describe("a column", () => {
  it("is made wider with the mouse and the arrow keys, and is as wide after a reload", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await sidebarOf(page)
      .getByRole("link", { name: /Tidy up/ })
      .click();
    await showTimeline(page);
    await seen(lanesOf(page).getByRole("row", { name: /code\.search/ }));
    const widths = async () => ({
      sessions: await widthOf(page.getByRole("complementary", { name: "Sessions" })),
      names: await widthOf(page.getByRole("columnheader", { name: /Run and call/ })),
      side: await widthOf(page.getByRole("region", { name: "Conversation" })),
    });
    const first = await widths();
    await drag(page, page.getByRole("separator", { name: "Width of the sessions" }), 100);
    await drag(page, page.getByRole("separator", { name: "Width of the details" }), -90);
    const dragged = await widths();
    expect(dragged.sessions).toBe(first.sessions + 100);
    expect(dragged.side).toBeGreaterThan(first.side);

    const names = page.getByRole("separator", { name: "Width of the names" });
    await reach(page, names);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await names.getAttribute("aria-valuenow")).toBe("48");
    const set = await widths();
    expect(set.names).toBeGreaterThan(dragged.names);
    await page.reload();
    await seen(lanesOf(page).getByRole("row", { name: /code\.search/ }));
    expect(await widths()).toEqual(set);

    const sessions = page.getByRole("separator", { name: "Width of the sessions" });
    await sessions.dblclick();
    expect((await widths()).sessions).toBe(first.sessions);
    await sessions.press("Home");
    expect((await widths()).sessions).toBe(150);
    expect(await faultsIn(page, "narrow columns")).toEqual([]);
  });
});

function hasFocus(what: Locator): Promise<boolean> {
  return what.evaluate((element) => element === document.activeElement);
}

/** With the focus on something of the page, and not of the browser around it. */
function isOutside(menu: Locator): Promise<boolean> {
  return menu.evaluate(
    (element) =>
      document.activeElement !== document.body && !element.contains(document.activeElement),
  );
}

async function widthOf(what: Locator): Promise<number> {
  return Math.round((await what.boundingBox())?.width ?? 0);
}

async function drag(page: Page, what: Locator, by: number): Promise<void> {
  const box = await what.boundingBox();
  if (box === null) throw new Error("there is no such separator");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + by, y, { steps: 4 });
  await page.mouse.up();
}
