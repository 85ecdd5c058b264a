// A real browser for tests of the page: Debian's chromium, without a window, driven from outside. Where there is none
// such tests are skipped with a line that says so; a build server has to have one.

import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished, type TestContext } from "vitest";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const { SOONG_CHROMIUM: chosen, CI: onServer } = process.env;
const program = [...(chosen === undefined ? [] : [chosen]), ...PLACES].find((path) =>
  existsSync(path),
);

/** It asks no one on the network for anything on its own. */
const QUIET = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
];

export interface TestBrowser {
  /** A tab with cookies and storage of its own; closed with the test. What goes wrong in its scripts fails the test. */
  tab(options?: BrowserContextOptions): Promise<Page>;
}

/** One browser for the tests of a file. Each begins with `needsBrowser`. */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;

  beforeAll(async () => {
    if (program === undefined) return;
    browser = await chromium.launch({
      executablePath: program,
      // Its sandbox refuses to work for root, and build servers are root.
      args: process.getuid?.() === 0 ? ["--no-sandbox", ...QUIET] : QUIET,
    });
  });

  afterAll(() => browser?.close());

  return {
    async tab(options) {
      if (browser === undefined) throw new Error("there is no browser");
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const broken: Error[] = [];
      page.on("pageerror", (error) => broken.push(error));
      onTestFinished(() => {
        if (broken.length > 0) throw new Error(`the page broke: ${broken[0]?.stack}`);
      });
      return page;
    },
  };
}

/** After `verifies`, so that the ledger of laws knows what could not be shown here. */
export function needsBrowser({ skip, task }: TestContext): void {
  if (program !== undefined) return;
  const wanted = "a browser: install chromium, or name one in SOONG_CHROMIUM";
  if (onServer !== undefined && onServer !== "") throw new Error(`This test needs ${wanted}.`);
  task.meta.lacks = wanted;
  skip(`needs ${wanted}`);
}
