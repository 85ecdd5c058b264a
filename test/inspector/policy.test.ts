// The policy at the page, of real runs in a real home: what holds and where it is written, what a typed rule would have decided on all
// that is recorded, and that rule in the user's own config, as it was shown or not at all.

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import type { WhatIfAll } from "@soong/inspector";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector, type RunningInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { faultsIn } from "./looks-stage.ts";
import { detailsOf, goTo, openPage, says, seen, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const CONFIG = `# Mine, and it stays.
[permissions]
network = { mode = "off" }

[[permissions.rules]]
tool = "code.write_file"
path = "docs/**"
decision = "allow"

[[permissions.rules]]
tool = "code.run_command"
argv = ["git", "push", "**"]
decision = "deny"
reason = "<b>people</b> push \u202E"
`;

const SCRIPT = {
  turns: [
    { calls: [write("docs/a.md"), write("docs/b.md")] },
    { calls: [write("src/a.ts")] },
    { text: "Done." },
  ],
};

function write(path: string) {
  return { tool: "code.write_file", input: { path, content: path } };
}

describe("the policy", () => {
  it("is a page: layers, rules with file and line, what each matched, and the calls", async (context) => {
    verifies("UI-4", "PERM-9", "PERM-11");
    needsBrowser(context);
    const { place, page } = await recorded();
    await page.keyboard.press("g");
    await page.keyboard.press("y");
    const view = page.locator("section.policy");
    await says(view, /Runtime.*Rules.*Mode.*normal.*Defaults.*network\s+off/s);
    const [docs, push] = [0, 1].map((n) => view.locator(".rules > li").nth(n));
    await says(docs!, /Allows calls of code\.write_file, on docs\/\*\*\./);
    await says(docs!, new RegExp(`rules\\[0\\] ${join(place.home, "config.toml")}:5`));
    await says(docs!, /matched 2 calls, decided 2; latest:/);
    await says(push!, /running `git push` with any further arguments.*never matched/s);
    await says(push!, /<b>people<\/b> push \\u202e/);
    await says(view, /Matches are of the one session \(3 calls, since /);
    await docs!.getByText("As it is written").click();
    await says(docs!.locator("pre"), /\[\[permissions\.rules\]\]\ntool = "code\.write_file"\npath/);
    expect(await page.locator("main b").count()).toBe(0);
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      await look(page, `policy-${size.width}`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await faultsIn(page, "policy")).toEqual([]);
    await docs!.getByRole("link").first().click();
    await says(detailsOf(page), /docs\/b\.md/);
  });

  it("says what is wrong with a config that cannot be used, and writes nothing to it", async (context) => {
    verifies("UI-4", "CONF-2");
    needsBrowser(context);
    const { place, page, inspector } = await recorded();
    const file = join(place.home, "config.toml");
    await place.write(file, "[[permissions.rules]\ntool = 1\n");
    await goTo(page, "policy");
    await says(page.getByRole("alert"), /cannot be used.*config\.toml:1/s);
    const rule = { toml: 'tool = "code.*"\ndecision = "deny"\n' };
    const answer = await inspector.ask("POST", "/api/policy/rule/change", rule);
    expect(JSON.stringify(answer)).toContain("config.toml:1");
    const written = await inspector.ask("POST", "/api/policy/rule/write", { rule, shown: "x" });
    expect(written).toMatchObject({ error: { code: "bad_request" } });
    expect(await place.read(file)).toBe("[[permissions.rules]\ntool = 1\n");
    const other = await inspector.ask("GET", "/api/policy?project=%2Fetc");
    expect(other).toMatchObject({ error: { code: "bad_request" } });
  });
});

describe("a rule that is typed", () => {
  it("is checked at its fields, tried on all recorded runs, and leads to the calls", async (context) => {
    verifies("UI-4", "REPLAY-2", "CONF-4");
    needsBrowser(context);
    const { page } = await recorded(3);
    await goTo(page, "policy");
    const form = page.locator(".what-if-form");
    const field = (name: string) => form.getByRole("textbox", { name, exact: true });
    await field("Tool").fill("no dot");
    await form.getByRole("button", { name: /Try on all/ }).click();
    await says(form.getByRole("alert"), /\w/);
    expect(await field("Tool").getAttribute("aria-invalid")).toBe("true");
    await field("Tool").fill("code.write_file");
    await field("Path").fill("docs/a*");
    await form.getByRole("combobox").selectOption("deny");
    await form.getByRole("button", { name: /Try on all/ }).click();
    const result = page.getByRole("region", { name: "All recorded runs" });
    await says(
      result,
      /3 runs since .*: 3 calls decided differently \(0 now allowed, 0 now asked, 3 now denied\), \d+ as they were/,
    );
    const row = result.getByRole("row", { name: /code\.write_file/ });
    await says(row, /allow.*deny.*3/s);
    await look(page, "policy-what-if");
    await page.setViewportSize({ width: 390, height: 844 });
    await look(page, "policy-what-if-390");
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await faultsIn(page, "what if on all runs")).toEqual([]);

    // More than anyone waits for: it shows how far it is, and can be stopped.
    await page.route(/what-if\/all/, async (route) => {
      const answer = (await (await route.fetch()).json()) as WhatIfAll;
      const next = JSON.stringify(["2020-01-01T00:00:00.000Z", "session"]);
      await route.fulfill({ json: { ...answer, next } });
    });
    await form.getByRole("button", { name: /Try on all/ }).click();
    await says(result, /3 runs since .* so far/);
    await form.getByRole("button", { name: "Stop" }).click();
    await says(result, /3 now denied.*Older runs were not looked at/s);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await result.getByRole("button", { name: "Continue with older runs" }).click();
    await expect.poll(() => result.innerText(), WAIT).not.toMatch(/so far|Older runs/);

    await form.getByRole("button", { name: "TOML" }).click();
    const lines = form.getByRole("textbox", { name: /lines of a config/ });
    await lines.fill('tool = "code.write_file"\npath = "src/**"\ndecison = "allow"\n');
    await form.getByRole("button", { name: /Try on all/ }).click();
    await says(form.getByRole("alert"), /line 3: decison .*decision/);
    await lines.fill(
      '[[permissions.rules]]\ntool = "code.*"\ndecision = "deny"\n[sandbox]\nmode = "off"\n',
    );
    await form.getByRole("button", { name: /Try on all/ }).click();
    await says(form.getByRole("alert"), /one rule, and nothing else/);

    await lines.fill('tool = "code.write_file"\npath = "src/**"\ndecision = "allow"\n');
    await form.getByRole("button", { name: /Try on all/ }).click();
    await says(result, /3 now allowed/);
    await result.getByRole("link").first().click();
    await says(detailsOf(page), /src\/a\.ts/);
  });

  it("is written as it was shown: the change first, a warning for what it allows, and not if the file changed", async (context) => {
    verifies("UI-4", "PERM-18");
    needsBrowser(context);
    const { place, page, inspector } = await recorded();
    const file = join(place.home, "config.toml");
    await goTo(page, "policy");
    const form = page.locator(".what-if-form");
    await form.getByRole("button", { name: "TOML" }).click();
    const rule =
      '[[permissions.rules]]\ntool = "code.write_file"\npath = "src/**"\ndecision = "allow"\n';
    await form.getByRole("textbox", { name: /lines of a config/ }).fill(rule);
    await form.getByRole("button", { name: /Try on all/ }).click();
    const writing = page.getByRole("region", { name: "Write this rule" });
    await writing.getByRole("button", { name: /Write this rule to my config/ }).click();
    await says(
      writing,
      /allows calls without asking you.*would have allowed 1 recorded call of code\.write_file in one project/s,
    );
    await says(writing, new RegExp(`added to ${file}:16, your own config`));
    await seen(writing.getByRole("row", { name: /added.*path = "src\/\*\*"/ }));
    await look(page, "policy-write");
    expect(await faultsIn(page, "a rule to write")).toEqual([]);
    expect(await place.read(file)).toBe(CONFIG);

    // Someone else writes it meanwhile.
    const changed = `# Another line.\n${CONFIG}`;
    await place.write(file, changed);
    const confirm = writing.getByRole("button", { name: "Write it as shown" });
    await page.evaluate(noteFirstLook, `${file}:17`);
    await clickOnceItCounts(confirm);
    await says(writing.getByRole("alert"), /Nothing was written: the file has changed/);
    expect(await place.read(file)).toBe(changed);
    await says(writing, new RegExp(`added to ${file}:17`));
    // From its first picture on, the new change shows that it does not count yet.
    expect(await page.evaluate(() => document.body.dataset["firstLook"])).toBe("true");

    // Read-only means it.
    await chmod(file, 0o400);
    await clickOnceItCounts(confirm);
    await seen(writing.getByText(/is read-only; run chmod u\+w on it/));
    expect(await place.read(file)).toBe(changed);
    await chmod(file, 0o600);

    await clickOnceItCounts(confirm);
    await says(writing, new RegExp(`added at ${file}:17\\. It holds from the next run on`));
    expect(await place.read(file)).toBe(`${changed}\n${rule}`);
    await says(
      page.locator(".rules > li").nth(2),
      /Allows calls of code\.write_file, on src\/\*\*/,
    );
    expect(
      (await inspector.call("code.write_file", { path: "src/z.ts", content: "" })).result.status,
    ).toBe("succeeded");
  });
});

/** Runs in the page: whether the button rests in the first picture that has this text. */
function noteFirstLook(text: string): void {
  const watch = new MutationObserver(() => {
    const region = document.querySelector("[aria-label='Write this rule']");
    if (region?.textContent.includes(text) !== true) return;
    watch.disconnect();
    requestAnimationFrame(() => {
      const button = [...region.querySelectorAll("button")].find(
        ({ textContent }) => textContent === "Write it as shown",
      );
      document.body.dataset["firstLook"] = button?.getAttribute("aria-disabled") ?? "none";
    });
  });
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
}

/** Where it stands now: scrolling moves it, and then its time begins anew. */
async function clickOnceItCounts(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  await expect.poll(() => button.getAttribute("aria-disabled"), WAIT).toBe("false");
  await button.click();
}

/** A home with so many recorded runs, two calls of each allowed by a rule and one denied, and its page. */
async function recorded(
  runs = 1,
): Promise<{ place: Place; page: Page; inspector: RunningInspector }> {
  const place = await bundle.place();
  await place.write("s.yaml", JSON.stringify(SCRIPT));
  await place.write(join(place.home, "config.toml"), CONFIG);
  for (let n = 0; n < runs; n += 1) {
    expect((await place.run(["run", "--model", "script:s.yaml", `go ${n}`])).code).toBe(0);
  }
  const inspector = await startInspector(bundle, place);
  const page = await browser.tab();
  await openPage(page, inspector);
  return { place, page, inspector };
}

/** With SOONG_LOOK a folder: how it looks, for the eye. */
async function look(page: Page, name: string): Promise<void> {
  const { SOONG_LOOK: folder } = process.env;
  if (folder === undefined) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}
