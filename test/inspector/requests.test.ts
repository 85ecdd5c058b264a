// Model requests on the page: rows among the calls, exactly what was sent and received, and what is new in each.

import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { IMAGE, keepRun } from "./kept-run-stage.ts";
import { faultsIn } from "./looks-stage.ts";
import {
  detailsOf,
  lanesOf,
  openPage,
  partOf,
  says,
  seen,
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

async function openRun(): Promise<Page> {
  const inspector = await startInspector(bundle, place);
  const page = await browser.tab();
  await openPage(page, inspector);
  await sidebarOf(page)
    .getByRole("link", { name: /Tidy up/ })
    .click();
  await showTimeline(page);
  await seen(lanesOf(page).getByRole("row", { name: /^Request 1 · .*completed/ }));
  return page;
}

test("a request is a row above its calls, and shows what was sent and received, word for word", async (context) => {
  verifies("MODEL-7");
  needsBrowser(context);
  const page = await openRun();
  const names = await lanesOf(page).getByRole("row").allInnerTexts();
  const first = names.findIndex((name) => name.includes("Request 1 ·"));
  expect(names[first + 1]).toContain("write_file");

  const second = lanesOf(page)
    .getByRole("row", { name: /^Request 2 · / })
    .first();
  await second.click();
  expect(page.url()).toContain("request=2");
  await says(detailsOf(page).getByRole("heading", { level: 2 }), /Request 2/);
  await says(partOf(page, "Sent"), /Exactly as it was sent: the digest on record is the same\./);
  await says(partOf(page, "Changes since the request before"), /New\s+2 messages/);
  await says(partOf(page, "Changes since the request before"), /No longer sent\s+nothing/);
  await says(
    partOf(page, "Changes since the request before"),
    /about [\d,]+ of [\d,]+ tokens \(\d\d %\)/,
  );
  await says(partOf(page, "Received"), /run_command.*"argv"/s);

  // Text of the model stays text.
  await partOf(page, "Sent")
    .getByRole("button", { name: /assistant/ })
    .first()
    .click();
  await says(
    partOf(page, "Sent").getByLabel("assistant", { exact: true }),
    new RegExp(IMAGE.slice(0, 10)),
  );
  expect(await page.title()).not.toBe("1");
  await detailsOf(page)
    .getByRole("checkbox", { name: /spaces/ })
    .check();
  await says(
    partOf(page, "Sent").getByLabel("assistant", { exact: true }),
    /"role":·"assistant",¶/,
  );
  await partOf(page, "Sent")
    .getByRole("button", { name: /system text 1/ })
    .click();
  await seen(partOf(page, "Sent").getByLabel("system text 1", { exact: true }));

  // By keyboard, as with calls; a bookmark leads back.
  await page.reload();
  await says(detailsOf(page).getByRole("heading", { level: 2 }), /Request 2/);
  await lanesOf(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await says(detailsOf(page).getByRole("heading", { level: 2 }), /run_command/);
});

test("a request has no fault of its looks, at any size, in light and dark", async (context) => {
  needsBrowser(context);
  const page = await openRun();
  await lanesOf(page)
    .getByRole("row", { name: /^Request 2 · / })
    .first()
    .click();
  await says(partOf(page, "Sent"), /Exactly as it was sent/);
  expect(await faultsIn(page, "a model request")).toEqual([]);
});
