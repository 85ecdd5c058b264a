// A task drawn on the page while others work on it.

import { verifies } from "#laws";
import { openStore } from "@soong/store";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTasks } from "../../packages/agent/src/task/index.ts";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { openPage, reach, says, seen, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const STEPS = [
  { step_id: "plan", title: "Plan the house" },
  { step_id: "walls", title: "Build the walls", depends_on: ["plan"] },
  { step_id: "pipes", title: "Lay <i>pipes</i>", depends_on: ["plan"] },
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
    await says(listed, /1 ready.*3 pending|3 pending.*1 ready/s);
    await reach(page, listed.getByRole("link"));
    await page.keyboard.press("Enter");

    const drawing = page.getByRole("listbox", { name: /Steps/ });
    await expect.poll(() => drawing.getByRole("option").count(), WAIT).toBe(4);
    expect(await drawing.locator("path[marker-end]").count()).toBe(4);
    await seen(drawing.getByRole("option", { name: "Plan the house: ready" }));
    // What one waits for stands before it, and nothing upon another.
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
      new Set(["Build the walls: pending", "Lay <i>pipes</i>: pending"]),
    );
    expect([walked[0], walked[4]]).toEqual(["Plan the house: ready", "Put up the roof: pending"]);
    expect(walked[3]).toBe(walked[1]);

    // Somebody works on it.
    const worker = { kind: "worker", ...ids, run_id: "run_w", task_id, worker: "mason" } as const;
    const claimed = await tasks.claim({ actor: worker }, { task_id, start: true });
    await seen(drawing.getByRole("option", { name: "Plan the house: running" }));
    expect(await chosen.count()).toBe(1);
    if (claimed.kind !== "claimed") throw new Error(claimed.kind);
    const { token } = claimed.held;
    const done = { status: "completed", summary: "Drawn on a napkin." } as const;
    await tasks.updateStep({ actor: worker }, { task_id, step_id: "plan", token, ...done });
    await seen(drawing.getByRole("option", { name: "Plan the house: completed" }));
    await seen(drawing.getByRole("option", { name: "Lay <i>pipes</i>: ready" }));
    await drawing.getByRole("option", { name: /Plan the house/ }).click();
    await seen(page.getByText("Drawn on a napkin."));

    await page.getByRole("button", { name: "Table" }).click();
    await says(page.getByRole("row", { name: /Put up the roof/ }), /pending.*walls, pipes/s);
    expect(await page.locator("i").count()).toBe(0);
  });
});
