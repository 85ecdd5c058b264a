// Servers and the playground on the page: what a server offers and wrote, connected again on demand, and calls that were made
// before.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { node, placeWithServers, SHIFTING } from "../cli/mcp-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";
import { faultsIn } from "./looks-stage.ts";
import { detailsOf, goTo, openPage, says, seen, WAIT } from "./page-stage.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("a server on the page", () => {
  it("shows its tools with schema and pin, its log without secrets, and is connected again when it was repaired", async (context) => {
    verifies("UI-4", "MCP-7", "REDACT-3");
    needsBrowser(context);
    const place = await placeWithServers(bundle, (project) => ({
      shifting: node([SHIFTING, join(project, "words")], {
        network: false,
        readonly: ["add"],
        env: { API_TOKEN: "sk-not-to-be-seen-0123456789" },
      }),
      broken: node([join(project, "..", "late.mjs"), join(project, "words")], {}),
    }));
    await place.write("words", "Adds two numbers. <b>Bold</b>");
    const inspector = await startInspector(bundle, place);
    const page = await browser.tab();
    await openPage(page, inspector);
    await goTo(page, "servers");
    const server = page.getByRole("article", { name: "Server shifting" });
    await says(
      server,
      /connected\s+1 tool.*shifting 1 · MCP .*a program on this machine.*mcp\.json:\d+/s,
    );

    await server.getByText("Tools", { exact: true }).click();
    const tool = server.getByRole("listitem").filter({ hasText: "mcp.shifting.add" });
    await says(tool, /mcp\.shifting\.add\s+○ not called yet\s+Adds two numbers\. <b>Bold<\/b>/);
    await tool.getByText("mcp.shifting.add").click();
    await says(tool.getByRole("group", { name: "Input schema of mcp.shifting.add" }), /"object"/);
    await says(tool, /Definition sha256:[0-9a-f]{64}/);
    expect(await page.locator("article b").count()).toBe(0);
    expect(await faultsIn(page, "servers")).toEqual([]);

    // Another process writes to the same log, carelessly.
    await server.getByText("Log", { exact: true }).click();
    const log = server.getByLabel("Log of shifting");
    await says(log, /the server has begun/);
    const file = join(place.home, "mcp-logs", "shifting.log");
    await place.write(file, `${"x".repeat(70_000)}\nthe key is sk-not-to-be-seen-0123456789\n`);
    await server.getByRole("button", { name: "Read again" }).click();
    await says(server, /its end; 70\.0 kB before that are not shown/);
    await says(log, /^the key is (?!sk-)/);

    const broken = page.getByRole("article", { name: "Server broken" });
    await says(broken, /✕ failed.*Not offered \(1\)/s);
    await place.write(join(place.project, "..", "late.mjs"), `import ${JSON.stringify(SHIFTING)};`);
    await broken.getByRole("button", { name: "Reconnect broken" }).click();
    await says(broken, /✓ connected\s+1 tool\b/);

    // The first call that is allowed pins the definition.
    await tool.getByRole("link", { name: "Try it" }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await says(page.getByRole("region", { name: "Outcome" }), /The result/);
    await goTo(page, "servers");
    await page
      .getByRole("article", { name: "Server shifting" })
      .getByText("Tools", { exact: true })
      .click();
    await says(tool, /✓ as allowed/);
  });
});

describe("the playground", () => {
  it("offers what people try first, and lists earlier calls whose input can be used again", async (context) => {
    verifies("UI-4", "UI-2");
    needsBrowser(context);
    const place = await bundle.place();
    await place.write("a.txt", "hello from a file\n");
    const inspector = await startInspector(bundle, place);
    await inspector.call("code.read_file", { path: "a.txt" });
    await inspector.call("code.read_file", { path: "not <i>there</i>.txt" });
    await place.run(["run", "--model", "script:none.yaml", "playground"]);
    const page = await browser.tab();
    await openPage(page, inspector);
    await goTo(page, "playground");
    const first = page.getByRole("list", { name: "Tools to try first" });
    await says(first, /^code\.read_file/);
    await says(first, /code\.search.*code\.run_command/s);
    const earlier = page.getByRole("region", { name: "Earlier calls" });
    await expect.poll(() => earlier.getByRole("row").count(), WAIT).toBe(3);
    const failed = earlier.getByRole("row", { name: /not <i>there/ });
    await says(failed, /✕ failed/);
    expect(await faultsIn(page, "earlier calls")).toEqual([]);

    const worked = earlier.getByRole("row", { name: /a\.txt/ });
    await worked.getByRole("button", { name: /Use again/ }).click();
    await expect
      .poll(() => page.getByRole("textbox", { name: "path" }).inputValue(), WAIT)
      .toBe("a.txt");
    await page.getByRole("button", { name: "Run" }).click();
    await says(page.getByRole("region", { name: "Outcome" }), /Read line 1 of a\.txt/);
    await expect.poll(() => earlier.getByRole("row").count(), WAIT).toBe(4);
    await earlier.getByRole("link").last().click();
    await says(detailsOf(page), /Read line 1 of a\.txt/);
    await seen(page.getByRole("tab", { name: "Timeline" }));
  });
});
