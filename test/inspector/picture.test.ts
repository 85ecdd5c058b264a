// The pictures of the README and of docs/inspector.md, taken of a real run in both themes. With SOONG_WRITE_PICTURES=1 they are
// kept in docs; they are taken, and looked at, either way.

import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { attended, goTo, lanesOf, openPage, seen, showTimeline, WAIT } from "./page-stage.ts";
import { openShop, PROMPT } from "./picture-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const MOST_BYTES = 250_000;

/** Each in light and dark, at a desk and on a phone. */
const VIEWS = [
  { name: "home", route: "", shown: (page: Page) => page.getByText("Running now") },
  {
    name: "question",
    route: "questions",
    shown: (page: Page) => page.getByRole("article", { name: "code.edit_file asks" }),
  },
  {
    name: "conversation",
    route: "conversation",
    shown: (page: Page) => page.getByText("I look at the source first."),
  },
  {
    name: "policy",
    route: "policy",
    shown: (page: Page) => page.getByText("pushing is for people"),
  },
] as const;

describe("the pictures of the docs", () => {
  it("show a run at work, with a change that waits for the user, in light and dark, at a desk and on a phone", async (context) => {
    verifies("UI-3", "UI-4");
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

    await takePictures(page, "inspector", { width: 1280, height: 800 });

    const session = /session\/([^/?]+)/.exec(page.url())?.[1];
    // The other views of the docs, while that run is there to be seen.
    for (const { name, route, shown } of VIEWS) {
      await goTo(page, route === "conversation" ? `session/${session}/conversation` : route);
      await seen(shown(page));
      await takePictures(page, `pictures/${name}-desk`, { width: 1440, height: 900 });
      await takePictures(page, `pictures/${name}-phone`, { width: 390, height: 844 });
    }
  });
});

/** In both themes. With SOONG_WRITE_PICTURES=1 they are kept in docs, as NAME.png and NAME-dark.png. */
async function takePictures(
  page: Page,
  name: string,
  size: { readonly width: number; readonly height: number },
): Promise<void> {
  await page.setViewportSize(size);
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
    expect(picture.length).toBeLessThan(MOST_BYTES);
    const seen = await page.evaluate(lookAt, picture.toString("base64"));
    expect([seen.width, seen.height]).toEqual([size.width, size.height]);
    expect(seen.colours).toBeGreaterThan(100);
    if (theme === "light") expect(seen.brightness).toBeGreaterThan(200);
    else expect(seen.brightness).toBeLessThan(70);
    if (process.env["SOONG_WRITE_PICTURES"] !== "1") continue;
    const file = `../../docs/${name}${theme === "dark" ? "-dark" : ""}.png`;
    await writeFile(fileURLToPath(new URL(file, import.meta.url)), picture);
  }
}

/** The folders of a test have names that say nothing to a reader. */
async function nameAsAtHome(page: Page, project: string, home: string): Promise<void> {
  onTestFinished(() => page.unrouteAll({ behavior: "ignoreErrors" }));
  await page.route("**/api/**", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text
      .replaceAll(project, "/home/ada/shop")
      .replaceAll(home, "/home/ada/.soong-agent")
      .replaceAll(`script:${dirname(home)}/`, "script:")
      .replaceAll(homedir(), "/home/ada");
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
