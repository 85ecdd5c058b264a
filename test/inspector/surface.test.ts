// What a run sees, on the page: which tools and why not the others, what they cost, and the model's own search.

import { join } from "node:path";
import { verifies } from "#laws";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, recordsOf, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { openPage, reach, says } from "./page-stage.ts";

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
    const calls = [{ tool: "internal.search_tools", input: { query: QUERY, limit: 3 } }];
    await place.write("s.yaml", JSON.stringify({ turns: [{ calls }, { text: "Done." }] }));
    const ran = await place.run(["run", "--model", "script:s.yaml", "--json", "find the words"]);
    const told = recordsOf(await place.run(["tools", "--json", QUERY])) as unknown as Told[];
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await page.getByRole("link", { name: /find the words/ }).click();
    await page.getByRole("tab", { name: "Surface" }).click();
    const group = (name: string) => page.getByRole("region", { name: `${name} tools` });

    // As it became by the search, and as it was before.
    await says(group("Loaded"), /text\.count_words.*allowed.*\d+ tokens/);
    await says(group("Deferred"), /^Deferred 1\n/);
    await says(group("Excluded"), /code\.list_dir.*disabled: switched off by "code\.list_dir"/);
    await says(group("Excluded"), /code\.run_command.*denied.*policy blocked: no programs here/);
    await says(group("Excluded"), /agent\.task_create.*role not allowed/);
    const cost = page.getByRole("figure");
    await says(cost, /About [\d,]+ tokens with every request; all in full would be about/);
    const sent = await tokensIn(cost);
    await page.getByText(/^It changed/).click();
    await page.getByRole("button", { name: "Revision 1" }).click();
    await says(group("Deferred"), /^Deferred 4\n/);
    expect(await tokensIn(cost)).toBeLessThan(sent);

    await reach(page, page.getByRole("searchbox", { name: "Search as the model does" }));
    await page.keyboard.type(QUERY);
    const search = page.getByRole("region", { name: "The model's search" });
    await says(search, /found, best first/);
    // The command has the same search over the same tools, to the digit; the model had the deferred ones.
    const rows = search.getByRole("row").filter({ has: page.getByRole("cell") });
    const shown = await rows.evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("td")].slice(0, 2).map((cell) => cell.innerText)),
    );
    expect(shown).toEqual(told.map(({ tool, score }) => [tool.tool_name, score.toFixed(2)]));
    const found = recordsOf(ran).find(({ type }) => type === "tool.completed") as unknown as Found;
    const names = shown.map(([name]) => name);
    expect(found.data.result.data.matches.map(({ tool_name }) => tool_name)).toEqual(
      names.slice(0, 3),
    );
    await page.getByRole("searchbox", { name: "Search as the model does" }).fill("weekday");
    await says(search, /clock\.weekday.*name: weekday.*finds it here/s);
    await page.getByRole("searchbox", { name: "Only those with" }).fill("no programs");
    await says(group("Excluded"), /^Excluded 1\n/);
  });
});

interface Told {
  readonly tool: { readonly tool_name: string };
  readonly score: number;
}

interface Found {
  readonly data: {
    readonly result: { readonly data: { readonly matches: readonly { tool_name: string }[] } };
  };
}

async function tokensIn(cost: Locator): Promise<number> {
  const [, tokens = ""] = /About ([\d,]+) tokens/.exec(await cost.innerText()) ?? [];
  return Number(tokens.replaceAll(",", ""));
}

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
