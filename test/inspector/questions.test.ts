// Questions at the page, of real runs: each on one screen, answered as at the terminal, several at once, by the one who is first.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import type { Changes } from "@soong/inspector";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place, type Started } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { faultsIn } from "./looks-stage.ts";
import { attended, gateIn, goTo, openPage, says, seen, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

interface Call {
  readonly tool: string;
  readonly input: object;
}

const write = (path: string, content = "text"): Call => ({
  tool: "code.write_file",
  input: { path, content },
});

/** Of what the run waits for. */
const CONFIG = `[[permissions.rules]]
tool = "code.run_command"
argv = ["cat", "gate"]
decision = "allow"
`;

const read = (path: string): Call => ({ tool: "code.read_file", input: { path } });

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

describe("a question", () => {
  it("fits on one screen, wide and narrow, with its answers in sight and the rest folded", async (context) => {
    verifies("UI-4", "PERM-6");
    needsBrowser(context);
    const place = await bundle.place();
    const before = lines(60, (n) => `const value${n} = ${n};`);
    await place.write("src/a.ts", before);
    const edit: Call = {
      tool: "code.edit_file",
      input: {
        path: "src/a.ts",
        edits: Array.from({ length: 12 }, (_, n) => ({
          old: `const value${n * 4} = ${n * 4};`,
          new: `const value${n * 4} = "<b>changed</b> \u202E${n}";`,
        })),
      },
    };
    const command: Call = {
      tool: "code.run_command",
      input: { argv: ["npm", "test", "--", "--reporter=dot"], description: "Runs the tests." },
    };
    const { page, run } = await ask(place, [[edit], [command]]);
    const question = page.locator("article.question.card");
    for (const name of ["edit", "command"]) {
      await seen(question);
      await says(question, name === "edit" ? /Edit src\/a\.ts \(\+12 −12\)/ : /Run `npm test -- /);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await expect.poll(() => question.evaluate(findOutside, undefined), WAIT).toEqual([]);
        await look(page, `question-${name}-${size.width}`);
      }
      expect(await question.locator("b").count()).toBe(0);
      expect(await question.locator("details[open]").count()).toBe(0);
      await question.getByText("Details").click();
      await says(question, /defaults\.\w+_asks.*Bound to/s);
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(await faultsIn(page, name)).toEqual([]);
      await answerBy(question, () => question.getByRole("button", { name: "Deny" }));
    }
    expect((await run.ended).code).toBe(0);
    expect(await place.read("src/a.ts")).toBe(before);
  });

  it("shows on its buttons how long it still takes until they count, and takes no click before", async (context) => {
    verifies("UI-4", "PERM-6");
    needsBrowser(context);
    const place = await bundle.place();
    const { page, run } = await ask(place, [[write("a.txt")]], async (tab) => {
      await tab.evaluate(clickAtOnce);
    });
    const question = page.locator("article.question.card");
    await seen(question);
    await expect.poll(() => page.evaluate(() => document.body.dataset["clicked"]), WAIT).toBe("1");
    const clicked = await page.evaluate(() =>
      Object.fromEntries(Object.entries(document.body.dataset)),
    );
    expect(clicked).toMatchObject({ disabled: "true", counted: "true", animation: "fill-a" });
    const allow = question.getByRole("button", { name: "Allow once" });
    await expect.poll(() => allow.getAttribute("data-wait"), WAIT).toBeNull();
    expect(await allow.getAttribute("aria-disabled")).toBe("false");
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    expect(await question.innerText()).not.toMatch(/too soon/i);

    // Without motion it is said instead.
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await page.evaluate(clickAsItMoves)).toEqual({ animation: "none", says: '"wait"' });
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    await readable(question);
    await allow.click();
    expect((await run.ended).code).toBe(0);
    expect(existsSync(join(place.project, "a.txt"))).toBe(true);
  });

  it("is answered as at the terminal: for the session with what that covers, always with the very rule", async (context) => {
    verifies("UI-4", "PERM-18");
    needsBrowser(context);
    const place = await bundle.place();
    const npm: Call = { tool: "code.run_command", input: { argv: ["npm", "test", "--", "x"] } };
    const { page, run } = await ask(place, [[npm], [write("a.txt")]]);
    const question = page.locator("article.question.card");
    await says(question, /Run `npm test -- x`/);
    await readable(question);
    await question.focus();
    await readable(question);
    await page.keyboard.press("s");
    await says(question, /Allow for this session:.*Exactly this command.*All that start so/s);
    await look(page, "question-session");
    await readable(question);
    await page.keyboard.press("b");
    await readable(question);
    await page.keyboard.press("w");
    const rule = question.getByLabel("The rule");
    await says(rule, /\[\[permissions\.rules\]\]\ntool = "code\.run_command"\nargv = /);
    await question.getByLabel("all that start so").check();
    await says(rule, /argv = \["npm", "test", .*"\*\*"\]/);
    await says(question, /covers any further arguments, also options/);
    await look(page, "question-always");
    expect(await faultsIn(page, "always")).toEqual([]);
    await question.getByRole("button", { name: "Back" }).click();
    await answerBy(question, () => question.getByRole("button", { name: "Deny" }));

    await says(question, /Write new file a\.txt/);
    await question.getByRole("button", { name: "Always" }).click();
    await says(rule, new RegExp(`project = "${place.project}"`));
    await question.getByLabel("every project").check();
    const shown = await rule.innerText();
    expect(shown).not.toContain("project =");
    await answerBy(question, () => question.getByRole("button", { name: "Add this rule" }));
    expect((await run.ended).code).toBe(0);
    expect(await place.read(join(place.home, "config.toml"))).toBe(`${CONFIG}\n${shown}\n`);
  });

  it("with a diff of thousands of lines and hostile text scrolls inside, and is text", async (context) => {
    verifies("UI-4", "UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    const hostile = lines(4000, (n) => `<img src=x onerror=alert(${n})> \u202E\u001B[2J ${n}`);
    const path = `${"deep/".repeat(20)}<b>a</b>.txt`;
    const { page, run } = await ask(place, [[write(path, hostile)]]);
    const question = page.locator("article.question.card");
    await seen(question);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await expect.poll(() => question.evaluate(findOutside, ".answers button"), WAIT).toEqual([]);
      await look(page, `question-huge-${size.width}`);
    }
    expect(await page.locator("img, main b").count()).toBe(0);
    const area = question.getByRole("region", { name: "What it would do" });
    await area.focus();
    await page.keyboard.press("End");
    expect(await area.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(
      true,
    );
    await answerBy(question, () => question.getByRole("button", { name: "Deny" }));
    expect((await run.ended).code).toBe(0);
  });
});

describe("several questions", () => {
  it("are gone through by keys, answered one after the other, and denied together", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    // Files that hold secrets: reading them asks, and reads need not wait for each other.
    const names = ["a", "b", "c", "d"];
    for (const name of names) await place.write(`${name}/.env`, `OF=${name}`);
    const { page, run } = await ask(place, [names.map((name) => read(`${name}/.env`))]);
    const question = page.locator("article.question.card");
    const pager = page.getByRole("navigation", { name: "Questions" });
    await says(pager, /1 of 4/);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await expect.poll(() => question.evaluate(findOutside, undefined), WAIT).toEqual([]);
      await look(page, `questions-${size.width}`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await faultsIn(page, "several questions")).toEqual([]);
    await page.locator("#main").focus();
    await page.keyboard.press("j");
    await says(pager, /2 of 4/);
    await says(question, /Read b\/\.env/);
    await page.keyboard.press("k");
    await says(question, /Read a\/\.env/);
    await readable(question);
    await page.keyboard.press("y");
    // The next one is there, with the focus, and its time begins.
    await says(pager, /1 of 3/);
    await says(question, /Read b\/\.env/);
    const isHeld = () => question.evaluate((element) => element === document.activeElement);
    await expect.poll(isHeld, WAIT).toBe(true);
    await pager.getByRole("button", { name: /3\. Read d\/\.env/ }).click();
    await says(question, /Read d\/\.env/);
    await pager.getByRole("button", { name: "Deny all 3 of this run" }).click();
    await pager.getByRole("button", { name: "Deny them" }).click();
    await seen(page.getByText("No questions are waiting."));
    expect((await run.ended).code).toBe(0);
    const settled = page.locator("article.settled");
    expect(
      (await settled.allInnerTexts()).map((text) => /allowed once|denied/.exec(text)?.[0]),
    ).toEqual(["denied", "denied", "denied", "allowed once"]);
  });

  it("are answered by the first of two tabs; the other says who was, and a process that is gone asks no more", async (context) => {
    verifies("UI-4", "PERM-4");
    needsBrowser(context);
    const place = await bundle.place();
    const { page, run, url } = await ask(place, [[write("a.txt")], [write("b.txt")]]);
    const other = await browser.tab();
    await other.goto(url);
    await goTo(other, "questions");
    const [mine, theirs] = [page, other].map((tab) => tab.locator("article.question.card"));
    await says(mine!, /a\.txt/);
    await says(theirs!, /a\.txt/);
    await answerBy(mine!, () => mine!.getByRole("button", { name: "Allow once" }));
    await says(other.getByRole("article", { name: "code.write_file, over" }), /answered first/);
    await says(theirs!, /b\.txt/);
    run.child.kill("SIGKILL");
    await seen(other.getByText(/has ended|answered elsewhere/));
    await expect.poll(() => theirs!.count(), WAIT).toBe(0);
    expect(existsSync(join(place.project, "b.txt"))).toBe(false);
  });

  it("may be two hundred: the page shows one, and names the others", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    const { page, run } = await ask(place, [[write("a.txt")]], async (tab) => {
      await tab.route(/\/api\/changes/, async (route) => {
        const changes = (await (await route.fetch()).json()) as Changes;
        const { home } = changes;
        const questions = home?.questions.flatMap((question) =>
          Array.from({ length: 200 }, (_, n) => ({ ...question, question_id: `question ${n}` })),
        );
        await route.fulfill({
          json: { ...changes, ...(home && { home: { ...home, questions } }) },
        });
      });
    });
    const pager = page.getByRole("navigation", { name: "Questions" });
    await says(pager, /1 of 200/);
    expect(await page.locator("article.question.card").count()).toBe(1);
    expect(await page.locator("article.question.card").evaluate(findOutside, undefined)).toEqual(
      [],
    );
    await pager.getByRole("button", { name: "Previous question" }).click();
    await says(pager, /200 of 200/);
    const last = pager.getByRole("button", { name: /^200\. / });
    await expect.poll(() => last.getAttribute("aria-current"), WAIT).toBe("true");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    run.child.kill("SIGKILL");
    await run.ended;
  });
});

describe("a notification", () => {
  it("comes only after the user allowed it, for a hidden tab, and names the tool and the project alone", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    const secret = "the-secret-content";
    const { page, run } = await ask(
      place,
      [[write("a.txt", secret)]],
      async (tab) => {
        const toggle = tab.getByRole("button", { name: "Notify me" });
        expect(await tab.evaluate(() => window.notified)).toEqual(["created 0"]);
        await toggle.click();
        await expect.poll(() => toggle.getAttribute("aria-pressed"), WAIT).toBe("true");
        await tab.evaluate(() => {
          Object.defineProperty(document, "hidden", { value: true, configurable: true });
        });
        await goTo(tab, "sessions");
      },
      standInNotifications,
    );
    await expect
      .poll(() => page.evaluate(() => window.notified), WAIT)
      .toEqual(["created 0", "asked", "code.write_file asks: project"]);
    await page.evaluate(() => window.clickNotification());
    await says(page.locator("article.question.card"), /a\.txt/);
    expect(page.url()).toContain("#/questions?question=");
    run.child.kill("SIGKILL");
    await run.ended;
  });
});

declare global {
  interface Window {
    notified: string[];
    clickNotification: () => void;
  }
}

/** A run whose questions come at the page. `before`: with the page open, before the first of them. */
async function ask(
  place: Place,
  turns: readonly (readonly Call[])[],
  before: (page: Page) => Promise<void> = async () => {},
  init?: () => void,
): Promise<{ page: Page; run: Started; url: string }> {
  const gate = await gateIn(place);
  const first = [{ tool: "code.run_command", input: { argv: ["cat", "gate"] } }];
  const script = { turns: [...[first, ...turns].map((calls) => ({ calls })), { text: "Done." }] };
  await place.write("s.yaml", JSON.stringify(script));
  await place.write(join(place.home, "config.toml"), CONFIG);
  const inspector = await startInspector(bundle, place);
  const page = await browser.tab();
  if (init !== undefined) await page.addInitScript(init);
  await openPage(page, inspector);
  await goTo(page, "questions");
  await seen(page.getByText("Nothing is granted for a session."));
  const run = place.start(["run", "--model", "script:s.yaml", "go"]);
  await attended(place);
  await before(page);
  await gate.open();
  return { page, run, url: String(inspector.record["url"]) };
}

/** Its buttons and keys count by now. */
async function readable(question: Locator): Promise<void> {
  await question
    .locator("[data-wait]")
    .first()
    .waitFor({ state: "detached", ...WAIT });
}

/** Clicks it once it counts, and waits until that question is over. */
async function answerBy(question: Locator, button: () => Locator): Promise<void> {
  const name = await question.getByRole("heading").innerText();
  await readable(question);
  await button().click();
  await expect
    .poll(async () => {
      const shown = await question.getByRole("heading").allInnerTexts();
      return shown.includes(name);
    }, WAIT)
    .toBe(false);
}

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");
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

/** Runs in the page: what of the question cannot be seen without scrolling the page. */
function findOutside(
  question: Element,
  needed = "h2, .where, .preview-area, .because, .answers button",
): string[] {
  const { innerHeight, innerWidth } = window;
  const view = document.querySelector(".view")?.getBoundingClientRect();
  const parts = question.querySelectorAll(needed);
  return [question, ...parts].flatMap((part) => {
    const { top, bottom, left, right } = part.getBoundingClientRect();
    const isIn =
      top >= (view?.top ?? 0) - 1 &&
      bottom <= innerHeight + 1 &&
      left >= 0 &&
      right <= innerWidth + 1;
    return isIn
      ? []
      : [`${part.className || part.tagName}: ${Math.round(top)} to ${Math.round(bottom)}`];
  });
}

/** Runs in the page: a click at the very moment a question is there. */
function clickAtOnce(): void {
  const watch = new MutationObserver(() => {
    const button = document.querySelector<HTMLElement>("article.question .answers button");
    if (button === null) return;
    watch.disconnect();
    button.click();
    requestAnimationFrame(() => {
      document.body.dataset["disabled"] = String(button.getAttribute("aria-disabled"));
      document.body.dataset["counted"] = String(button.hasAttribute("data-wait"));
      document.body.dataset["animation"] = getComputedStyle(button).animationName.replace(
        "-b",
        "-a",
      );
      document.body.dataset["clicked"] = "1";
    });
  });
  watch.observe(document.body, { childList: true, subtree: true });
}

/** Runs in the page: the button is elsewhere at the moment it is clicked. */
function clickAsItMoves(): Promise<{ animation: string; says: string }> {
  const line = document.createElement("p");
  line.textContent = "A line that was not there.";
  document.querySelector("main h1")?.before(line);
  const button = document.querySelector<HTMLElement>("article.question .answers button");
  button?.click();
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      if (button === null) return;
      const { animationName: animation } = getComputedStyle(button);
      resolve({ animation, says: getComputedStyle(button, "::after").content });
    });
  });
}

/** Runs in the page before it: what would be shown, and a click on it. */
function standInNotifications(): void {
  window.notified = ["created 0"];
  class StandIn extends EventTarget {
    static permission = "default";
    static async requestPermission(): Promise<string> {
      window.notified.push("asked");
      StandIn.permission = "granted";
      return "granted";
    }

    constructor(title: string, { body }: { body: string }) {
      super();
      window.notified.push(`${title}: ${body}`);
      window.clickNotification = () => this.dispatchEvent(new Event("click"));
    }

    close(): void {}
  }
  Object.defineProperty(window, "Notification", { value: StandIn });
}
