// Two runs side by side on the page: their calls beside each other, and what differs.

import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { faultsIn } from "./looks-stage.ts";
import { goTo, openPage, says, seen, showTimeline } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const read = (path: string) => ({ tool: "code.read_file", input: { path } });
const write = { tool: "code.write_file", input: { path: "b.txt", content: "b" } };

describe("two runs", () => {
  it("are compared from a run's details: prompt, model, calls, decisions and answers", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("a.txt", "a");
    const scripts = {
      "one.yaml": [{ calls: [read("a.txt"), write] }, { text: "The **first** answer." }],
      "two.yaml": [
        { calls: [read("a.txt"), read("c.txt")] },
        { calls: [write] },
        { text: "The second answer." },
      ],
    };
    for (const [name, turns] of Object.entries(scripts)) {
      await place.write(name, JSON.stringify({ turns }));
    }
    await place.run(["run", "--model", "script:one.yaml", "Do it once"]);
    const allow = ["--allow", "code.write_file"];
    await place.run(["run", "--model", "script:two.yaml", ...allow, "Do it twice"]);
    const page = await browser.tab({ viewport: { width: 1440, height: 900 } });
    await openPage(page, await startInspector(bundle, place));
    await page.getByRole("complementary", { name: "Sessions" }).getByText("Do it once").click();
    await showTimeline(page);
    await page.getByRole("row", { name: /Do it once/ }).click();
    await page.getByRole("link", { name: "Compare it with another run" }).click();
    await seen(page.getByText("Choose a session and a run on each side."));
    const session = page.getByRole("combobox", { name: "Session of the second run" });
    const option = session.locator("option", { hasText: "Do it twice" });
    await session.selectOption(await option.getAttribute("value"));
    const run = page.getByRole("combobox", { name: "Second run", exact: true });
    await run.locator("option", { hasText: "Do it twice" }).waitFor({ state: "attached" });
    await run.selectOption({ label: "Do it twice" });

    const runs = page.getByRole("region", { name: "The runs" });
    await says(runs.getByRole("row", { name: /^Prompt \(differs\)/ }), /Do it once\s+Do it twice/);
    await says(
      runs.getByRole("row", { name: /^Model \(differs\)/ }),
      /one\.yaml\s+script:two\.yaml/,
    );
    await says(runs.getByRole("row", { name: /^Calls \(differs\)/ }), /2\s+3/);
    const rows = page.getByRole("region", { name: "The calls" }).locator("tbody tr");
    const texts = await rows.allInnerTexts();
    expect(texts).toHaveLength(3);
    expect(texts[0]).toMatch(/^same/);
    expect(texts[1]).toMatch(/^only second[\s\S]*c\.txt/);
    expect(texts[2]).toMatch(/^other decision, outcome[\s\S]*rejected|denied[\s\S]*succeeded/);
    await seen(page.getByRole("region", { name: "First answer" }).locator("strong"));
    await says(page.getByRole("region", { name: "Second answer" }), /The second answer/);
    expect(await faultsIn(page, "compare")).toEqual([]);

    // The address says which, so a bookmark shows the same.
    const address = page.url();
    await goTo(page, "questions");
    await page.goto(address);
    await seen(rows);
    await page.getByRole("button", { name: "Swap the runs" }).click();
    await says(runs.getByRole("row", { name: /^Prompt/ }), /Do it twice\s+Do it once/);
  });

  it("that are not there are said to be missing", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("s.yaml", JSON.stringify({ turns: [{ text: "Yes." }] }));
    await place.run(["run", "--model", "script:s.yaml", "Once"]);
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await goTo(page, "compare?a=nothing/run_1&b=nothing/run_2");
    await says(page.getByRole("alert"), /nothing/);
    expect(await page.getByRole("heading", { name: "Answers" }).count()).toBe(0);
  });
});
