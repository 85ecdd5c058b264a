// A conversation as it is read on the page: rendered, never as markup, of any length, and word by word while it is written.

import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { openStore } from "@soong/store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { faultsIn } from "./looks-stage.ts";
import { goTo, openPage, says, seen, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const ANSWER = `# What was done

The file says **three** now, see [the page](https://example.org/a) and \`a.txt\`.

| file | lines |
| ---- | ----: |
| a.txt | 1 |

- [x] done

\`\`\`ts
const answer = 42;
\`\`\`
`;

const HOSTILE = `<img src=x onerror="document.title='hit'"><script>document.title='hit'</script>

[click me](javascript:document.title='hit') [relative](/api/runs) [data](data:text/html,x)

![spy](https://spy.example/pixel.png) <https://example.org/safe>

good\u202Egpj.exe &lt;b&gt;entity&lt;/b&gt;

| <b>cell</b> |
| --- |
| <iframe src="https://spy.example"></iframe> |
`;

const SCRIPT = {
  turns: [
    {
      text: "I look, then I **change** it.",
      calls: [
        { tool: "code.read_file", input: { path: "a.txt" } },
        { tool: "code.edit_file", input: { path: "a.txt", edits: [{ old: "two", new: "three" }] } },
      ],
    },
    { text: ANSWER },
  ],
};

describe("the conversation of a session", () => {
  it("is what one sees first: rendered, with calls as rows, their differences, and the timeline a key away", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("a.txt", "one\ntwo\n");
    await place.write("s.yaml", JSON.stringify(SCRIPT));
    await place.run(["run", "--model", "script:s.yaml", "--mode", "accept_edits", "Change it"]);
    const page = await browser.tab({ viewport: { width: 1440, height: 900 } });
    await openPage(page, await startInspector(bundle, place));
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();

    const log = page.getByRole("log", { name: "Conversation" });
    await seen(log.getByRole("heading", { name: "What was done" }));
    await seen(log.locator("strong", { hasText: "three" }));
    await seen(log.getByRole("cell", { name: "a.txt" }));
    await seen(log.getByText("const answer = 42;"));
    await seen(log.getByRole("button", { name: "Copy the code" }));
    const link = log.getByRole("link", { name: "the page" });
    expect(await link.getAttribute("rel")).toContain("noopener");
    await seen(log.getByText("(https://example.org/a)"));

    const edit = log.getByRole("listitem").filter({ hasText: "code.edit_file" });
    await says(edit, /a\.txt[\s\S]*succeeded/);
    await edit.getByRole("button", { name: "Show what code.edit_file did" }).click();
    await seen(edit.locator(".diff-removed").getByText("two"));
    await seen(edit.locator(".diff-added").getByText("three"));
    await edit.getByRole("link", { name: "code.edit_file" }).click();
    await seen(page.getByRole("region", { name: "Details" }).getByText("code.edit_file"));
    await page.goBack();
    await seen(log);
    await page.keyboard.press("v");
    await seen(page.getByRole("tab", { name: "Timeline", selected: true }));
    await page.keyboard.press("v");
    await seen(page.getByRole("tab", { name: "Conversation", selected: true }));
    expect(await faultsIn(page, "conversation")).toEqual([]);
  });

  it("shows hostile text as text, and asks no one else for anything", async (context) => {
    verifies("UI-4", "UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("s.yaml", JSON.stringify({ turns: [{ text: HOSTILE }] }));
    await place.run(["run", "--model", "script:s.yaml", "<b>Hello</b> \u202Edrow"]);
    const page = await browser.tab();
    const asked = new Set<string>();
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    await openPage(page, await startInspector(bundle, place));
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();
    const log = page.getByRole("log", { name: "Conversation" });
    await seen(log.getByText("<script>document.title='hit'</script>"));
    const shown = await log.innerText();
    expect(shown).toContain("[click me](javascript:document.title='hit')");
    expect(shown).toContain("[image: spy] (https://spy.example/pixel.png)");
    expect(shown).toContain("good\\u202egpj.exe <b>entity</b>");
    expect(shown).toContain("<b>Hello</b>");
    expect(await log.locator("img, script, iframe, b").count()).toBe(0);
    const links = await log
      .getByRole("link")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links).toEqual(["https://spy.example/pixel.png", "https://example.org/safe"]);
    expect(await page.title()).not.toContain("hit");
    expect(asked.size).toBe(1);
  });

  it("comes word by word from another process, and the stored answer takes its place", async (context) => {
    verifies("UI-4", "EVENT-4");
    needsBrowser(context);
    const place = await bundle.place();
    const parts = [
      { text: "The first **words** come " },
      { text: "and some more of them ", after_ms: 300 },
      { text: "until the end.", after_ms: 1500 },
    ];
    await place.write("s.yaml", JSON.stringify({ turns: [{ parts }] }));
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    const run = place.start(["run", "--model", "script:s.yaml", "Write"]);
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();
    const written = page.locator(".message[aria-busy]");
    await says(written, /is writing[\s\S]*The first words come/);
    await says(written, /and some more of them/);
    expect((await run.ended).code).toBe(0);
    await seen(page.getByText("until the end."));
    await written.waitFor({ state: "detached" });
    expect(await page.getByText("The first words come").count()).toBe(1);
  });

  it("with an answer of a megabyte shows its beginning, and more of it on demand", async (context) => {
    verifies("UI-4");
    needsBrowser(context);
    const place = await bundle.place();
    const text = Array.from(
      { length: 20_000 },
      (_, at) => `Line **${at}** of a long answer, padded on.\n`,
    );
    await place.write("s.yaml", JSON.stringify({ turns: [{ text: text.join("\n") }] }));
    await place.run(["run", "--model", "script:s.yaml", "Write much"]);
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await page.getByRole("complementary", { name: "Sessions" }).getByRole("link").click();
    const log = page.getByRole("log", { name: "Conversation" });
    await says(log, /Line 100 of/);
    expect((await log.innerText()).length).toBeLessThan(20_000);
    await log.getByRole("button", { name: "Show more" }).click();
    await says(log, /Line 2000 of/);
    await log.getByRole("button", { name: "Show more" }).click();
    await says(log, /Line 4000 of/);
    await page.getByRole("tab", { name: "Facts", exact: true }).click();
    await seen(page.getByRole("tab", { name: "Facts", exact: true, selected: true }));
  });

  it("of 5 000 messages keeps few of them in the document, and leads back to the first", async (context) => {
    verifies("UI-4", "UI-3");
    needsBrowser(context);
    const place = await bundle.place();
    const session_id = await keepManyMessages(place.home, 5000);
    const page = await browser.tab();
    await openPage(page, await startInspector(bundle, place));
    await goTo(page, `session/${session_id}/conversation`);
    const log = page.getByRole("log", { name: "Conversation" });
    await seen(log.getByText("Message 4999", { exact: false }));
    const scroller = page.locator(".conversation-scroll");
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
    const toTop = () => scroller.evaluate((element) => void (element.scrollTop = 0));
    const older = log.getByRole("button", { name: /Show older messages/ });
    const isMore = async () => {
      await toTop();
      return (await older.count()) > 0;
    };
    await expect.poll(isMore, { timeout: 50_000 }).toBe(false);
    await toTop();
    await seen(log.getByText("Message 0 "));
    await expect.poll(() => log.locator(".message").count(), WAIT).toBeLessThan(1000);
    await scroller.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 2;
    });
    await expect.poll(() => log.locator(".message").count(), WAIT).toBeGreaterThan(5);
    await seen(log.getByText(/Message 2[0-9]{3} /));
  });
});

function isAtEnd(page: Page): Promise<boolean> {
  return page
    .locator(".conversation-scroll")
    .evaluate((all) => all.scrollTop + all.clientHeight >= all.scrollHeight - 100);
}

async function keepManyMessages(home: string, count: number): Promise<string> {
  const store = await openStore({ directory: home });
  const kept = await store.createSession({ title: "very many messages", project: home });
  const writer = createFactWriter(kept);
  const run = { run_id: "run_1", agent_id: "agent_1" };
  writer.add({ type: "session.created" });
  writer.add({ type: "run.started", ...run, data: { role: "main", mode: "normal" } });
  for (let at = 0; at < count; at += 1) {
    const parent_id = at === 0 ? undefined : `node_${at - 1}`;
    const data = { role: at % 2 === 0 ? "user" : "assistant", model: "m", calls: [] };
    const text = `Message ${at} says **something** of some length, as messages do.`;
    const node = writer.node({ node_id: `node_${at}`, parent_id, data }, text);
    writer.add({ type: "task.noted", ...run }, [node]);
    if (at % 200 === 0) await kept.journal.flush();
  }
  writer.add({ type: "run.completed", ...run, data: { reason: "completed" } });
  await kept.journal.flush();
  await kept.close();
  await store.close();
  return kept.session_id;
}
