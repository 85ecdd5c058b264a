// The picture of the README, taken of a real run in both themes. With SOONG_WRITE_PICTURES=1 it is kept as
// docs/inspector.png and docs/inspector-dark.png; it is taken, and looked at, either way.

import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { attended, lanesOf, openPage, seen, showTimeline, WAIT } from "./page-stage.ts";
import { openShop, PROMPT } from "./picture-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const MOST_BYTES = 250_000;

describe("the picture of the README", () => {
  it("shows a run at work, with a change that waits for the user, in light and dark", async (context) => {
    verifies("UI-3");
    needsBrowser(context);
    const place = await bundle.place();
    const shop = await openShop(place);
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab({ colorScheme: "light" });
    await nameAsAtHome(page, place.project, place.home);
    await openPage(page, inspector);
    place.start(["run", "--model", shop.model, PROMPT]);
    await page.getByRole("complementary", { name: "Sessions" }).getByText(PROMPT).click();
    await showTimeline(page);
    const lanes = lanesOf(page);
    await attended(place);
    await shop.gate.open();
    const edit = lanes.getByRole("row", { name: /code\.edit_file, waiting/ });
    await seen(edit);
    await seen(lanes.getByRole("row", { name: /code\.run_command, executing/ }));
    await seen(lanes.getByRole("row", { name: /create_sub_agent, succeeded/ }));
    await seen(lanes.getByRole("row", { name: /code\.write_file, queued/ }));
    await edit.click();
    await seen(page.getByRole("region", { name: "Preview" }).getByText("round(tax)"));
    await page.mouse.move(0, 0);
    for (const kind of ["queued", "waiting", "executing", "holding"]) {
      const bars = lanes.locator(`.bar.${kind}`);
      const widths = () => bars.evaluateAll((all) => all.map((one) => one.clientWidth));
      await expect.poll(async () => Math.max(...(await widths())), WAIT).toBeGreaterThan(20);
    }

    for (const [theme, file] of [
      ["light", "inspector.png"],
      ["dark", "inspector-dark.png"],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme });
      const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
      expect(picture.length).toBeLessThan(MOST_BYTES);
      const { width, height, colours, brightness } = await page.evaluate(
        lookAt,
        picture.toString("base64"),
      );
      expect([width, height]).toEqual([1280, 800]);
      expect(colours).toBeGreaterThan(100);
      if (theme === "light") expect(brightness).toBeGreaterThan(200);
      else expect(brightness).toBeLessThan(70);
      if (process.env["SOONG_WRITE_PICTURES"] === "1") {
        await writeFile(fileURLToPath(new URL(`../../docs/${file}`, import.meta.url)), picture);
      }
    }
  });
});

/** The folders of a test have names that say nothing to a reader. */
async function nameAsAtHome(page: Page, project: string, home: string): Promise<void> {
  onTestFinished(() => page.unrouteAll({ behavior: "ignoreErrors" }));
  await page.route("**/api/**", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text
      .replaceAll(project, "/home/ada/shop")
      .replaceAll(home, "/home/ada/.soong-agent");
    await route.fulfill({ response, body });
  });
}

/** Runs in the page: what an eye would see first of a picture. */
async function lookAt(base64: string) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const { width, height } = image;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("there is no canvas");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const colours = new Set<number>();
  let light = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [red = 0, green = 0, blue = 0] = data.slice(i, i + 3);
    colours.add((red << 16) | (green << 8) | blue);
    light += (red + green + blue) / 3;
  }
  return { width, height, colours: colours.size, brightness: light / (data.length / 4) };
}
