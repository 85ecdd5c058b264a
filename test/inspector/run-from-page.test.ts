// Runs that are started, continued, stopped, answered and edited on the page, by the real program.

import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import type { Locator, Page } from "playwright-core";
import type { Conversation, RunBegun } from "@soong/inspector";
import { openStore } from "@soong/store";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleCli, type CliBundle, type Place } from "../cli/cli-bundle.ts";
import { startInspector, type RunningInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { gateIn, goTo, openPage, reach, says, seen, untilGone, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

/** It would take an hour to the end. */
const ENDLESS = {
  turns: [
    { parts: [{ text: "It begins **here** and " }, { text: "never ends", after_ms: 3_600_000 }] },
  ],
};

describe("a run from the page", () => {
  it("is started by keyboard, asks on the page, is continued, and runs again from an edited prompt", async (context) => {
    verifies("UI-4", "UI-2", "STORE-2");
    needsBrowser(context);
    const place = await bundle.place();
    await writeScript(place, "first.yaml", {
      turns: [
        {
          calls: [{ tool: "code.write_file", input: { path: "letter.txt", content: "Dear Ada" } }],
        },
        { text: "The letter is **written**." },
      ],
    });
    await writeScript(place, "second.yaml", { turns: [{ text: "Second answer." }] });
    await writeScript(place, "other.yaml", { turns: [{ text: "Another answer." }] });
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await page.keyboard.press("n");
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await seen(prompt);
    await page.keyboard.type("Write a letter");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("to Ada");
    const model = page.getByRole("combobox", { name: "Model", exact: true });
    await model.fill("script:first.yaml");
    await prompt.press("Enter");

    const log = page.getByRole("log", { name: "Conversation" });
    await says(log, /Write a letter\nto Ada/);
    const question = page.getByRole("article", { name: "code.write_file asks" });
    await seen(question);
    expect(existsSync(join(place.project, "letter.txt"))).toBe(false);
    await reach(page, question);
    await untilGone(question, () => page.keyboard.press("y"));
    await seen(log.locator("strong", { hasText: "written" }));
    expect(await place.read("letter.txt")).toBe("Dear Ada");

    await notLive(page);
    await send(page, "And now?", "second.yaml");
    await seen(log.getByText("Second answer."));
    await notLive(page);

    await log
      .getByRole("button", { name: /^Edit this prompt/ })
      .last()
      .click();
    const edited = page.getByRole("textbox", { name: "Edited prompt" });
    await expect.poll(() => edited.inputValue(), WAIT).toBe("And now?");
    await seen(page.getByText("stays on record as another branch"));
    await edited.fill("And instead?");
    await model.fill("script:other.yaml");
    await edited.press("Enter");
    await seen(log.getByText("Another answer."));
    await seen(log.getByText("And instead?"));
    expect(await log.getByText("Second answer.").count()).toBe(0);
    await says(log, /The letter is written/);
    // Of the old branch nothing is lost.
    const session_id = sessionIn(page);
    await notLive(page);
    const store = await openStore({ directory: place.home, readOnly: true });
    const facts = await (await store.readSession(session_id)).facts({ after: 0, limit: 1000 });
    await store.close();
    expect(JSON.stringify(facts)).toContain("Second answer.");
    expect(facts.filter(({ type }) => type === "context.rewound")).toHaveLength(1);
  });

  it("is stopped with Esc in the middle of its text, which stays as far as it came", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await writeScript(place, "endless.yaml", ENDLESS);
    await writeScript(place, "then.yaml", { turns: [{ text: "Gladly." }] });
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await start(page, "Go on for ever", "endless.yaml");
    await says(page.locator(".message[aria-busy]"), /It begins here and/);
    await page.keyboard.press("Escape");
    const log = page.getByRole("log", { name: "Conversation" });
    await says(log, /It begins here and[\s\S]*It was cut off here/);
    await notLive(page);
    await send(page, "Once more", "then.yaml");
    await seen(log.getByText("Gladly."));
    expect(await lastFacts(place, sessionIn(page))).toContain("run.aborted");
  });

  it("that is under way reads what is sent meanwhile with its next request", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await writeScript(place, "s.yaml", {
      turns: [
        { calls: [{ tool: "code.run_command", input: { argv: ["cat", "gate"] } }] },
        { expect: [{ last_user: { contains: "by the way" } }], text: "I heard that." },
      ],
    });
    await place.write(
      join(place.home, "config.toml"),
      '[[permissions.rules]]\ntool = "code.run_command"\ndecision = "allow"\n',
    );
    const gate = await gateIn(place);
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await start(page, "Wait", "s.yaml");
    const log = page.getByRole("log", { name: "Conversation" });
    await says(log, /code\.run_command[\s\S]*executing/);
    await seen(page.getByText("The active run reads it with its next request."));
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill("Oh, by the way");
    await prompt.press("Enter");
    await expect.poll(() => prompt.inputValue(), WAIT).toBe("");
    await gate.open();
    await says(log, /Oh, by the way/);
    await seen(log.getByText("I heard that."));
  });

  it("says what is wrong: no such model, a project that is gone, a session that another process holds", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await writeScript(place, "endless.yaml", ENDLESS);
    const gone = join(place.project, "gone");
    await mkdir(gone);
    const script = join(place.project, "endless.yaml");
    await writeScript(place, "short.yaml", { turns: [{ text: "Short." }] });
    const short = join(place.project, "short.yaml");
    await place.run(["run", "--model", `script:${short}`, "there"], { cwd: gone });
    await rm(gone, { recursive: true });
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await goTo(page, "new-run");
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill("Hello");
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("nonsense");
    await prompt.press("Enter");
    await says(page.getByRole("alert"), /No provider of that name: "nonsense"/);
    await page.getByRole("combobox", { name: "Project directory" }).selectOption(gone);
    await page.getByRole("combobox", { name: "Model", exact: true }).fill(`script:${short}`);
    await prompt.press("Enter");
    await says(page.getByRole("alert"), /gone is not there; it was removed or moved/);

    const other = place.start(["run", "--model", `script:${script}`, "elsewhere"]);
    await page.getByRole("complementary", { name: "Sessions" }).getByText("elsewhere").click();
    await says(page.locator(".message[aria-busy]"), /It begins here/);
    await says(
      page.locator(".composer"),
      new RegExp(`Process ${other.child.pid} holds this session`),
    );
    expect(await prompt.isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: /^Edit this prompt/ }).count()).toBe(0);
    await page.getByRole("button", { name: /Stop/ }).click();
    expect((await other.ended).code).toBe(130);
    await notLive(page);
    expect(await prompt.isDisabled()).toBe(false);
  });

  it("is ended and on record when the inspector is, and continues where its process was killed", async () => {
    verifies("UI-4", "STORE-5");
    const place = await bundle.place();
    await writeScript(place, "endless.yaml", ENDLESS);
    await writeScript(place, "then.yaml", { turns: [{ text: "Back again." }] });
    const first = await startInspector(bundle, place);
    const ended = await begin(first, { prompt: "one", model: "script:endless.yaml" });
    await textOf(first, ended.session_id);
    first.child.kill("SIGTERM");
    expect(await first.exitCode).toBe(143);
    expect(await lastFacts(place, ended.session_id)).toContain("run.aborted");

    const second = await startInspector(bundle, place);
    const killed = await begin(second, { prompt: "two", model: "script:endless.yaml" });
    await textOf(second, killed.session_id);
    second.child.kill("SIGKILL");
    await second.exitCode;
    const third = await startInspector(bundle, place);
    const { session_id } = killed;
    const again = await begin(third, { prompt: "go on", session_id, model: "script:then.yaml" });
    expect(again.session_id).toBe(session_id);
    await vi.waitFor(async () => {
      expect(await lastFacts(place, session_id)).toContain("run.completed");
    }, WAIT);
    expect(await lastFacts(place, session_id)).toContain("run.failed");
  });

  it("takes no rule, no other directory and no mode that there is not, and needs the token", async () => {
    verifies("UI-4", "UI-1");
    const place = await bundle.place();
    await writeScript(place, "s.yaml", { turns: [{ text: "Yes." }] });
    const inspector = await startInspector(bundle, place);
    const body = { prompt: "Hello", model: "script:s.yaml" };
    const refused = async (more: object, token?: string) => {
      const answer = await inspector.ask("POST", "/api/runs", { ...body, ...more }, token);
      return (answer as { error?: { code: string; message: string } }).error;
    };
    expect(await refused({}, "wrong")).toMatchObject({ code: "unauthorized" });
    for (const [more, message] of [
      [{ allow: ["*"] }, /it may have prompt, session_id/],
      [{ flags: { allow: ["*"] } }, /it may have/],
      [{ project: "/" }, /is not a project of a stored session/],
      [{ mode: "yolo" }, /There is no mode yolo/],
      [{ mode: 3 }, /mode must be a text/],
      [{ prompt: "  \n" }, /The prompt is empty/],
      [{ instead_of: "node_1" }, /instead_of needs session_id/],
      [{ session_id: "s", project: "/" }, /in its own project/],
      [{ agent: "nobody" }, /There is no agent nobody/],
    ] as const) {
      expect(await refused(more)).toMatchObject({
        code: "bad_request",
        message: expect.stringMatching(message) as unknown,
      });
    }
    expect(await refused({ session_id: "session_none" })).toMatchObject({
      message: expect.stringMatching(/session_none/) as unknown,
    });
    expect((await begin(inspector, body)).run_id).toMatch(/^run_/);
  });
});

async function writeScript(place: Place, name: string, script: object): Promise<void> {
  await place.write(name, JSON.stringify(script));
}

/** A new run, from the page. */
async function start(page: Page, words: string, script: string): Promise<void> {
  await goTo(page, "new-run");
  await send(page, words, script);
}

async function send(page: Page, words: string, script: string): Promise<void> {
  const prompt: Locator = page.getByRole("textbox", { name: "Prompt" });
  const model = page.getByRole("combobox", { name: "Model", exact: true });
  await seen(model);
  await model.fill(`script:${script}`);
  await prompt.fill(words);
  await prompt.press("Enter");
}

async function notLive(page: Page): Promise<void> {
  await seen(page.getByRole("region", { name: "Session" }).getByText("not live"));
}

function sessionIn(page: Page): string {
  return /\/session\/([^/]+)/.exec(page.url())?.[1] ?? "";
}

async function begin(inspector: RunningInspector, body: object): Promise<RunBegun> {
  const begun = (await inspector.ask("POST", "/api/runs", body)) as RunBegun;
  expect(begun).toMatchObject({ run_id: expect.any(String) as unknown });
  return begun;
}

/** Once the model has begun to write. */
async function textOf(inspector: RunningInspector, session_id: string): Promise<void> {
  await vi.waitFor(async () => {
    const news = await inspector.ask("GET", `/api/changes?session_id=${session_id}`);
    expect(JSON.stringify((news as { texts?: Conversation }).texts)).toContain("It begins");
  }, WAIT);
}

async function lastFacts(place: Place, session_id: string): Promise<string[]> {
  const store = await openStore({ directory: place.home, readOnly: true });
  try {
    const facts = await (await store.readSession(session_id)).facts({ after: 0, limit: 1000 });
    return facts.map(({ type }) => type);
  } finally {
    await store.close();
  }
}
