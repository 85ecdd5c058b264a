// The views of the page, one after the other, each with something in it.

import type { Locator, Page } from "playwright-core";
import { openStore } from "@soong/store";
import { createTasks } from "../../packages/tasks/src/index.ts";
import type { Place } from "../cli/cli-bundle.ts";
import { detailsOf, goTo, lanesOf, says, seen } from "./page-stage.ts";

interface ShownView {
  readonly name: string;
  /** Until there is something to look at. */
  readonly open: () => Promise<void>;
}

/** Of a home with the kept run, a task, and a server that does not start. */
export function viewsOf(
  page: Page,
  { session_id, task_id }: { session_id: string; task_id: string },
): readonly ShownView[] {
  const at = (name: string, route: string, shown: () => Locator): ShownView => ({
    name,
    async open() {
      await goTo(page, route);
      await seen(shown());
    },
  });
  const session = `session/${session_id}`;
  return [
    at("home", "home", () => page.getByRole("table", { name: /Sessions/ })),
    at("conversation", `${session}/conversation`, () => page.locator(".call-rows")),
    at("timeline", `${session}/timeline`, () => lanesOf(page).getByRole("row", { name: /failed/ })),
    {
      name: "call",
      async open() {
        await lanesOf(page)
          .getByRole("row", { name: /write_file/ })
          .click();
        await says(detailsOf(page), /house-style/);
      },
    },
    {
      name: "failed call",
      async open() {
        await lanesOf(page)
          .getByRole("row", { name: /failed/ })
          .click();
        await says(detailsOf(page), /There is no file|not found|no such/i);
      },
    },
    at("facts", `${session}/facts?fact=10`, () => page.getByRole("region", { name: "Fact 10" })),
    at("surface", `${session}/surface`, () => page.getByRole("region", { name: "Loaded tools" })),
    at("artifacts", `${session}/artifacts`, () => page.getByRole("table")),
    at("new run", "new-run", () => page.getByRole("textbox", { name: "Prompt" })),
    {
      name: "compare",
      async open() {
        await goTo(page, `compare?a=${session_id}&b=${session_id}`);
        for (const name of ["First run", "Second run"]) {
          const chooser = page.getByRole("combobox", { name, exact: true });
          await chooser.locator("option").nth(1).waitFor({ state: "attached" });
          await chooser.selectOption({ index: 1 });
        }
        await seen(page.getByRole("heading", { name: "Answers" }));
      },
    },
    at("questions", "questions", () => page.getByText("No questions are waiting.")),
    at("tasks", "tasks", () => page.getByRole("row", { name: /A house/ })),
    at("task", `tasks/${task_id}`, () => page.getByRole("option").first()),
    at("playground", "playground?tool=code.edit_file", () =>
      page.getByRole("button", { name: "Run" }),
    ),
    {
      name: "explained",
      async open() {
        await page.getByRole("button", { name: "Explain" }).click();
        await says(page.getByRole("region", { name: "Outcome" }), /refused/);
      },
    },
    at("policy", "policy", () => page.getByRole("heading", { name: /^Rules/ })),
    at("servers", "servers", () => page.getByRole("article", { name: "Server server" })),
    {
      name: "help",
      async open() {
        await page.keyboard.press("?");
        await seen(page.getByRole("dialog"));
      },
    },
  ];
}

export async function planTask({ home, project }: Place) {
  const store = await openStore({ directory: home });
  try {
    const [kept] = await store.sessions();
    const session_id = kept?.session_id ?? project;
    const tasks = createTasks({ storage: store.tasks() });
    const actor = { kind: "orchestrator", session_id, run_id: "run_o", agent_id: "a" } as const;
    const steps = [
      { step_id: "walls", title: "Build the walls", instructions: "Build." },
      { step_id: "roof", title: "Put up the roof", instructions: "Up.", depends_on: ["walls"] },
    ];
    const { task } = await tasks.create({ actor }, { title: "A house", goal: "Dry.", steps });
    return { session_id, task_id: task.task_id };
  } finally {
    await store.close();
  }
}
