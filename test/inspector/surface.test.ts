// What a run sees, on the page: which tools and why not the others, what they cost, and the model's own search.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, recordsOf, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { openPage, reach, says, seen } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const QUERY = "count words of a text";
const CONFIG = `[tools]
defer_budget_tokens = 0
disabled = ["code.list_dir"]

[[permissions.rules]]
tool = "code.run_command"
decision = "deny"
reason = "no programs here"
`;
/** Of the home, so that there are some that can wait to be found. */
const TOOLS = {
  "text.count_words": "Counts the words of a text file",
  "text.count_lines": "Counts the lines of a text file",
  "text.longest_word": "Finds the longest word of a text file",
  "clock.weekday": "Says which day of the week a date is",
};

describe("the surface of a run", () => {
  it("is told with reasons and costs; its search finds what the model's own search found, in the same order", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write(join(place.home, "config.toml"), CONFIG);
    for (const [name, description] of Object.entries(TOOLS)) {
      await place.write(join(place.home, "tools", `${name}.json`), declared(name, description));
    }
    const search = { tool: "internal.search_tools", input: { query: QUERY, limit: 3 } };
    await place.write("s.yaml", JSON.stringify({ turns: [{ calls: [search] }, { text: "Done." }] }));
    const ran = await place.run(["run", "--model", "script:s.yaml", "--json", "find the words"]);
    const found = recordsOf(ran).find((fact) => fact["type"] === "tool.completed");
    console.log(JSON.stringify(found));
    const told = await place.run(["tools", "--json", QUERY]);
    console.log(recordsOf(told).map((r) => [(r as any).tool.tool_name, (r as any).score]));
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await page.getByRole("link", { name: /find the words/ }).click();
    await page.getByRole("tab", { name: "Surface" }).click();
    await seen(page.getByRole("region", { name: /Deferred/ }));
    console.log(await page.locator(".surface").innerText());
    const field = page.getByRole("searchbox", { name: "Search as the model does" });
    await reach(page, field);
    await page.keyboard.type(QUERY);
    await says(page.getByRole("region", { name: "The model's search" }), /best first/);
    console.log(await page.getByRole("region", { name: "The model's search" }).innerText());
    expect(1).toBe(1);
  });
});

function declared(name: string, description: string): string {
  return JSON.stringify({
    name,
    description,
    input_schema: { type: "object", properties: { file: { type: "string" } } },
    permission: "readonly",
    command_type: "exec",
    command: "/bin/true",
    args: [],
  });
}
