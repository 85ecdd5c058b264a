// Trying tools on the page, and trying another config on a kept run: real calls through the whole pipeline, by keyboard.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { detailsOf, lanesOf, openPage, reach, says, seen, untilGone } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const DENY = `# Nobody writes.
[[permissions.rules]]
tool = "code.write_file"
path = "letters/**"
decision = "deny"
reason = "letters are for people"
`;

describe("the playground", () => {
  it("makes a form of a schema, refuses as the pipeline does, explains, asks and calls; then another config would not", async (context) => {
    verifies("UI-2", "UI-3", "PERM-11", "REPLAY-2");
    needsBrowser(context);
    const place = await bundle.place();
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await press(page, "g", "p");
    await reach(page, page.getByRole("searchbox", { name: "Find a tool" }));
    await page.keyboard.type("write_file");
    const tool = page.getByRole("list", { name: "Tools" }).getByRole("link");
    await expect.poll(() => tool.allInnerTexts()).toEqual([expect.stringContaining("write_file")]);
    await reach(page, tool);
    await page.keyboard.press("Enter");

    const came = page.getByRole("region", { name: "What came of it" });
    const path = page.getByRole("textbox", { name: "path" });
    const content = page.getByRole("textbox", { name: "content" });
    await reach(page, path);
    await page.keyboard.type("letters/ada.txt");
    // What is left out is sent as it is, and the pipeline says what it thinks of it.
    await reach(page, page.getByRole("button", { name: "Run" }));
    await page.keyboard.press("Enter");
    await says(came, /content/);
    await says(came, /The same call with other arguments may work/);
    expect(existsSync(join(place.project, "letters"))).toBe(false);

    await content.focus();
    await page.keyboard.type("Dear Ada,");
    await page.keyboard.press("Enter");
    await page.keyboard.type("hello.");
    await reach(page, page.getByRole("button", { name: "Explain" }));
    await page.keyboard.press("Enter");
    await says(came, /A person would be asked.*files directly in.*defaults\.write_asks/s);
    await seen(came.getByRole("row", { name: /added.*Dear Ada,/ }));

    const look = page.getByRole("group", { name: "How the input is edited" });
    await look.getByRole("button", { name: "JSON" }).click();
    const json = page.getByRole("textbox", { name: "The input as JSON" });
    expect(JSON.parse(await json.inputValue())).toEqual({
      path: "letters/ada.txt",
      content: "Dear Ada,\nhello.",
    });
    await json.fill('{"path": "letters/ada.txt", "content": "Dear Ada,\\nhello again.", "colour"');
    await says(page.locator("form"), /It would be sent as a text/);
    await json.fill('{"path": "letters/ada.txt", "content": "Dear Ada,\\nhello again."}');
    await look.getByRole("button", { name: "Form" }).click();
    expect(await content.inputValue()).toBe("Dear Ada,\nhello again.");

    await reach(page, page.getByRole("button", { name: "Run" }));
    await page.keyboard.press("Enter");
    const question = came.getByRole("article", { name: "code.write_file asks" });
    await says(question, /letters\/ada\.txt.*hello again\./s);
    expect(existsSync(join(place.project, "letters"))).toBe(false);
    await reach(page, question);
    await untilGone(question, () => page.keyboard.press("y"));
    await says(came, /The result.*succeeded.*Wrote letters\/ada\.txt/s);
    expect(await place.read("letters/ada.txt")).toBe("Dear Ada,\nhello again.");

    await came.getByRole("link", { name: "See it in its session" }).click();
    await says(detailsOf(page), /answered by control:inspector/);

    // The same call under another config.
    await lanesOf(page)
      .getByRole("row", { name: /, completed$/ })
      .click();
    await detailsOf(page)
      .getByRole("link", { name: /What if/ })
      .click();
    const file = page.getByRole("textbox", { name: /Config file/ });
    await ask("missing.toml");
    await says(page.getByRole("alert"), /missing\.toml.*is not there/);
    await place.write("broken.toml", "[[permissions.rules]]\ntol = 1\n");
    await ask("broken.toml");
    await says(page.getByRole("alert"), /broken\.toml:2.*tool/s);
    await place.write("strict.toml", DENY);
    await ask("strict.toml");
    await says(page.getByText("decided otherwise"), /1 calls? decided otherwise/);
    const row = page.getByRole("row", { name: /code\.write_file/ }).first();
    await says(row, /ask.*defaults\.write_asks.*deny.*letters are for people/s);
    await says(row, new RegExp(`${join(place.project, "strict.toml")}:2`));
    await row.getByRole("link").click();
    await says(detailsOf(page), /code\.write_file/);

    async function ask(name: string): Promise<void> {
      await file.fill(name);
      await page.keyboard.press("Enter");
    }
  });
});

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}
