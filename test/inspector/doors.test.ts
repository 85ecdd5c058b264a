// Who gets in: with the whole address, and no one else. In a real browser, because what keeps other pages out is half
// the browser's work.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { verifies } from "#laws";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { startInspector } from "../cli/inspect-stage.ts";
import { needsBrowser, useBrowser } from "./browser.ts";

const browser = useBrowser();
let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WAIT = { timeout: 30_000 };

describe("the address of the page", () => {
  it("opens it with its token only, which stays out of the address bar and survives a reload", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    const inspector = await startInspector(bundle, place);
    const { origin, hash } = new URL(String(inspector.record["url"]));
    const token = hash.replace("#token=", "");

    const page = await browser.tab();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    await page.goto(`${origin}/#token=wrong`);
    await page.getByText(/token is wrong|wrong token/i).waitFor(WAIT);
    await page.goto("about:blank");
    await page.goto(origin);
    const field = page.getByRole("textbox").first();
    await field.waitFor(WAIT);
    await field.fill(`  ${origin}/#token=${token}  `);
    await page.keyboard.press("Enter");
    await viewsOf(page).waitFor(WAIT);
    await page.reload();
    await viewsOf(page).waitFor(WAIT);
    expect(page.url()).not.toContain(token);
    expect(sent.filter((url) => url.includes(token) || !url.startsWith(origin))).toEqual([]);

    // The tab waits while the inspector is away, and takes no token of another one for its own.
    inspector.child.kill("SIGINT");
    await inspector.exitCode;
    await page
      .getByText(/not reachable/)
      .first()
      .waitFor(WAIT);
  });

  it("lets no other page in: not by reading, not by sending, not in a frame", async (context) => {
    verifies("UI-1");
    needsBrowser(context);
    const place = await bundle.place();
    const inspector = await startInspector(bundle, place);
    const { origin, hash } = new URL(String(inspector.record["url"]));
    const page = await browser.tab();
    await page.goto(String(inspector.record["url"]));
    await viewsOf(page).waitFor(WAIT);

    const elsewhere = createServer((_, response) => {
      response.setHeader("content-type", "text/html").end("<title>elsewhere</title>");
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void elsewhere.close());
    await once(elsewhere, "listening");
    const { port } = elsewhere.address() as AddressInfo;
    const stranger = await page.context().newPage();
    await stranger.goto(`http://127.0.0.1:${port}/`);
    const token = hash.replace("#token=", "");
    const tries = await stranger.evaluate(tryEverything, { origin, token });
    expect(tries).toEqual({
      read: "TypeError",
      readWithToken: "TypeError",
      sentBlindly: "TypeError",
      script: "error",
      frame: "nothing",
    });
    const popup = stranger.waitForEvent("popup");
    await stranger.evaluate((address) => void window.open(address), origin);
    const opened = await popup;
    await opened.getByRole("textbox").first().waitFor(WAIT);
    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
    // What was sent blindly has not begun a call.
    expect(await inspector.ask("GET", "/api/sessions")).toEqual({ sessions: [] });
    // Nor by a name that means this machine.
    const renamed = await browser.tab();
    const answer = await renamed.goto(`http://renamed.localhost:${new URL(origin).port}/`);
    expect(answer?.status()).toBe(403);
  });
});

function viewsOf(page: Page) {
  return page.getByRole("navigation", { name: "Views" });
}

/** Runs in the strange page. */
async function tryEverything({ origin, token }: { origin: string; token: string }) {
  const failure = (error: unknown): string => (error as Error).name;
  const call = JSON.stringify({ tool_name: "code.list_dir", input: {} });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = { method: "POST", body: call } as const;
  const about = `${origin}/api/about`;
  const playground = `${origin}/api/playground/call`;
  const read = await fetch(about).then((response) => response.text(), failure);
  const readWithToken = await fetch(playground, { ...post, headers }).then(
    (response) => response.text(),
    failure,
  );
  const sentBlindly = await fetch(playground, { ...post, mode: "no-cors" }).then(
    (response) => response.type,
    failure,
  );
  const script = await new Promise<string>((resolve) => {
    const element = document.createElement("script");
    element.addEventListener("load", () => resolve("load"));
    element.addEventListener("error", () => resolve("error"));
    element.src = `${origin}/page.js`;
    document.body.append(element);
  });
  const frame = await new Promise<string>((resolve) => {
    const element = document.createElement("iframe");
    element.addEventListener("load", () => {
      // A page that would not be framed is an error page of the browser's own: nothing of it can be read.
      resolve(element.contentDocument?.title ?? "nothing");
    });
    element.src = origin;
    document.body.append(element);
  });
  return { read, readWithToken, sentBlindly, script, frame };
}
