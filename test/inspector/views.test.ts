// Two views of what is kept, on the page: the surface of a run, with the model's own search, and a task as it is drawn
// while others work on it.

import { join } from "node:path";
import { verifies } from "#laws";
import type { Locator } from "playwright-core";
import { openStore } from "@soong/store";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTasks } from "../../packages/tasks/src/index.ts";
import { bundleCli, recordsOf, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { openPage, reach, says, seen, WAIT, sidebarOf } from "./page-stage.ts";

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
  it("is shown with reasons and costs; its search finds what the model's own search found, in the same order", async (context) => {
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
    await sidebarOf(page)
      .getByRole("link", { name: /find the words/ })
      .click();
    await page.getByRole("tab", { name: "Surface" }).click();
    const group = (name: string) => page.getByRole("region", { name: `${name} tools` });

    // As it became by the search, and as it was before.
    await says(group("Loaded"), /text\.count_words.*allowed.*\d+ tokens/);
    await says(group("Deferred"), /^Deferred 2\n/);
    await says(group("Excluded"), /code\.list_dir.*disabled: switched off by "code\.list_dir"/);
    await says(group("Excluded"), /code\.run_command.*denied.*policy blocked: no programs here/);
    await says(group("Excluded"), /agent\.task_create.*role not allowed/);
    const cost = page.getByRole("figure");
    await says(cost, /About [\d,]+ tokens with every request; all in full would be about/);
    const sent = await tokensIn(cost);
    await page.getByText(/^It changed/).click();
    await page.getByRole("button", { name: "Revision 1" }).click();
    await says(group("Deferred"), /^Deferred 5\n/);
    expect(await tokensIn(cost)).toBeLessThan(sent);

    await reach(page, page.getByRole("searchbox", { name: "Search as the model does" }));
    await page.keyboard.type(QUERY);
    const search = page.getByRole("region", { name: "The model's search" });
    await says(search, /found, best first/);
    // The command finds the same tools, all in one index; the model searched those it had only the names of, in its order.
    const shown = await search.getByRole("row").locator("td:first-child").allInnerTexts();
    expect(shown.toSorted()).toEqual(told.map(({ tool }) => tool.tool_name).toSorted());
    const found = recordsOf(ran).find(({ type }) => type === "tool.completed") as unknown as Found;
    const { matches } = found.data.result.data;
    expect(matches.map(({ tool_name }) => tool_name)).toEqual(shown.slice(0, 3));
    await page.getByRole("searchbox", { name: "Search as the model does" }).fill("weekday");
    await says(search, /clock\.weekday.*name: weekday.*finds it here/s);
    await page.getByRole("searchbox", { name: "Filter tools" }).fill("no programs");
    await says(group("Excluded"), /^Excluded 1\n/);
  });
});

const STEPS = [
  { step_id: "plan", title: "Plan the house" },
  { step_id: "walls", title: "Build the walls", depends_on: ["plan"] },
  { step_id: "pipes", title: "Lay <i>pipes</i> \u202Eenod", depends_on: ["plan"] },
  { step_id: "roof", title: "Put up the roof", depends_on: ["walls", "pipes"] },
].map((step) => ({ instructions: `Do it: ${step.title}.`, ...step }));

describe("a task", () => {
  it("is drawn with its steps and what they wait for, walked along by arrow keys, and changes while it is looked at", async (context) => {
    verifies("UI-1", "UI-3");
    needsBrowser(context);
    const place = await bundle.place();
    const store = await openStore({ directory: place.home });
    onTestFinished(() => store.close());
    const { session_id } = await store.createSession({ title: "a house", project: place.project });
    const tasks = createTasks({ storage: store.tasks() });
    const ids = { session_id, run_id: "run_o", agent_id: "agent_o" };
    const actor = { kind: "orchestrator", ...ids } as const;
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await page.getByRole("link", { name: "Tasks" }).click();
    await seen(page.getByText("There are no tasks."));

    const { task } = await tasks.create(
      { actor },
      { title: "A house", goal: "Dry.", steps: STEPS },
    );
    const { task_id } = task;
    const listed = page.getByRole("row", { name: /A house/ });
    await says(listed, /3 ○ pending\s+1 ◎ ready/);
    await reach(page, listed.getByRole("link"));
    await page.keyboard.press("Enter");

    const drawing = page.getByRole("listbox", { name: /Steps/ });
    await expect.poll(() => drawing.getByRole("option").count(), WAIT).toBe(4);
    expect(await drawing.locator("path[marker-end]").count()).toBe(4);
    await seen(drawing.getByRole("option", { name: "Plan the house: ready" }));
    // What one waits for is before it, and nothing upon another.
    const boxes = await drawing
      .getByRole("option")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    const [plan, walls, pipes, roof] = boxes;
    expect(plan!.right).toBeLessThan(Math.min(walls!.left, pipes!.left));
    expect(Math.max(walls!.right, pipes!.right)).toBeLessThan(roof!.left);
    expect(walls!.bottom < pipes!.top || pipes!.bottom < walls!.top).toBe(true);

    await reach(page, drawing);
    const chosen = drawing.getByRole("option", { selected: true });
    const walked: string[] = [];
    for (const key of ["Home", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"]) {
      await page.keyboard.press(key);
      walked.push((await chosen.getAttribute("aria-label")) ?? "");
    }
    expect(new Set(walked.slice(1, 3))).toEqual(
      new Set(["Build the walls: pending", "Lay <i>pipes</i> \\u202eenod: pending"]),
    );
    expect([walked[0], walked[4]]).toEqual(["Plan the house: ready", "Put up the roof: pending"]);
    expect(walked[3]).toBe(walked[1]);

    // Someone works on it.
    const worker = { kind: "worker", ...ids, run_id: "run_w", task_id, worker: "mason" } as const;
    const claimed = await tasks.claim({ actor: worker }, { task_id, start: true });
    await seen(drawing.getByRole("option", { name: "Plan the house: running" }));
    expect(await chosen.count()).toBe(1);
    if (claimed.kind !== "claimed") throw new Error(claimed.kind);
    const { token } = claimed.claim;
    const done = { status: "completed", summary: "Drawn on a napkin." } as const;
    await tasks.updateStep({ actor: worker }, { task_id, step_id: "plan", token, ...done });
    await seen(drawing.getByRole("option", { name: "Plan the house: completed" }));
    await seen(drawing.getByRole("option", { name: "Lay <i>pipes</i> \\u202eenod: ready" }));
    await drawing.getByRole("option", { name: /Plan the house/ }).click();
    await seen(page.getByText("Drawn on a napkin."));

    // The same steps as rows; the drawing fits beside them, however small the window.
    const row = page.getByRole("row", { name: /Put up the roof/ });
    await says(row, /pending.*Build the walls, Lay <i>pipes<\/i>/s);
    await says(page.getByRole("row", { name: /Plan the house/ }), /completed.*1 of/s);
    await page.setViewportSize({ width: 390, height: 844 });
    const room = page.locator(".plan-room");
    await expect
      .poll(() => room.evaluate((box) => box.scrollWidth <= box.clientWidth), WAIT)
      .toBe(true);
    await page.getByRole("button", { name: "Larger" }).click();
    expect(await room.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
    await page.getByRole("button", { name: "Fit" }).click();
    expect(await room.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(false);
    expect(await page.locator("i").count()).toBe(0);
  });
});

interface Told {
  readonly tool: { readonly tool_name: string };
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
