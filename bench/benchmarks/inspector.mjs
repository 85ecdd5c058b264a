// What it costs to look at a run of 100 000 facts: until all its lanes are with the page, against reading those facts from
// the store; asking again when nothing is new, against a bare server; and the frames of a real browser while it scrolls,
// against a page with nothing on it.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { paired } from "../paired.mjs";
import { median } from "../statistics.mjs";
import { withHome } from "../store.mjs";
import { build } from "./store-paging.mjs";

/**
 * @import { AddressInfo } from "node:net"
 * @import { Changes } from "@soong/inspector"
 * @import { Store } from "@soong/store"
 * @import { Page } from "playwright-core"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const FACTS = 100_000;
const session_id = "big";
const ASKED = 50;
const FRAMES = 120;
const CHROMIUM = "/usr/bin/chromium";

/** @type {Report} */
export const inspector = {
  id: "inspector",
  title: "Looking at a session of 100 000 facts",
  report: ({ quick }) =>
    withHome(async (home) => {
      await build(home, FACTS);
      const { openStore } = await import("@soong/store");
      const store = await openStore({ directory: home, readOnly: true });
      const rounds = quick ? 3 : 9;
      const first = await paired(
        [
          { name: "reading the facts", run: () => readAll(store) },
          { name: "first look, all lanes sent", run: () => lookOnce(home, store) },
        ],
        { rounds, unit: "ms" },
      );
      const again = await askingAgain(home, store, rounds * 3);
      const frames = existsSync(CHROMIUM) ? await framesOf(home, store, quick ? 2 : 5) : [];
      await store.close();
      return [...first, ...again, ...frames];
    }),
};

/** @param {Store} store */
async function readAll(store) {
  const reader = await store.readSession(session_id);
  for (let after = 0; ;) {
    const page = await reader.facts({ after, limit: 1000 });
    if (page.length === 0) return;
    after = page.at(-1)?.seq ?? Number.NaN;
  }
}

/** A server that has read nothing yet. @param {string} home @param {Store} store */
async function lookOnce(home, store) {
  const server = await served(home, store);
  let lanes = 0;
  for (let cursor = ""; ;) {
    const changes = await server.ask(cursor);
    lanes += changes.session?.lanes.length ?? 0;
    ({ cursor } = changes);
    if (changes.session?.more === false) break;
  }
  await server.close();
  if (lanes < FACTS / 10) throw new Error(`only ${lanes} lanes came`);
}

/** @param {string} home @param {Store} store @param {number} rounds @returns {Promise<ReportRow[]>} */
async function askingAgain(home, store, rounds) {
  const bare = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end('{"cursor":"1"}');
  });
  await new Promise((resolve) => {
    bare.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const { port } = /** @type {AddressInfo} */ (bare.address());
  const server = await served(home, store);
  let cursor = "";
  for (let more = true; more;) {
    const changes = await server.ask(cursor);
    ({ cursor } = changes);
    more = changes.session?.more ?? false;
  }
  const rows = await paired(
    [
      {
        name: "a bare answer over HTTP",
        run: () => times(async () => (await fetch(`http://127.0.0.1:${port}/`)).json()),
      },
      { name: "asking when nothing is new", run: () => times(() => server.ask(cursor)) },
    ],
    { rounds, unit: "µs", per: ASKED },
  );
  await server.close();
  bare.close();
  return rows;
}

/** @param {() => Promise<unknown>} ask */
async function times(ask) {
  for (let i = 0; i < ASKED; i += 1) await ask();
}

/** @param {string} home @param {Store} store */
async function served(home, store) {
  const { serveInspector } = await import("@soong/inspector");
  const token = "bench-bench-bench-bench-bench-bench";
  const about = { home, cwd: home, version: "bench", token };
  const server = await serveInspector({ store, ...about });
  const headers = { authorization: `Bearer ${token}` };
  return {
    url: server.url,
    close: () => server.close(),
    /** @param {string} cursor @returns {Promise<Changes>} */
    async ask(cursor) {
      const query = new URLSearchParams({ session_id, ...(cursor === "" ? {} : { cursor }) });
      const address = `http://127.0.0.1:${server.port}/api/changes?${query.toString()}`;
      return /** @type {Changes} */ (await (await fetch(address, { headers })).json());
    },
  };
}

/** @param {string} home @param {Store} store @param {number} passes @returns {Promise<ReportRow[]>} */
async function framesOf(home, store, passes) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const { url, ...server } = await served(home, store);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const empty = await median95(page, "body", passes);
  await page.goto(url);
  await page.goto(`${new URL(url).origin}/#/session/${session_id}/timeline`);
  await page.waitForFunction(() => /1[0-9][,.  ]?[0-9]{3} calls/.test(document.body.innerText));
  const lanes = await median95(page, '[role="treegrid"]', passes);
  await page.goto(`${new URL(url).origin}/#/session/${session_id}/facts`);
  await page.getByText("run.started").first().waitFor();
  const facts = await median95(page, '[role="grid"]', passes);
  await browser.close();
  await server.close();
  return [
    { name: "p95 frame, an empty page", value: empty, unit: "ms", note: "the floor" },
    frameRow("p95 frame, scrolling all lanes", lanes, empty),
    frameRow("p95 frame, scrolling all facts", facts, empty),
  ];
}

/** @param {string} name @param {number} value @param {number} floor @returns {ReportRow} */
function frameRow(name, value, floor) {
  return { name, value, unit: "ms", note: `${(value / floor).toFixed(2)} × floor, aim 50 ms` };
}

/** @param {Page} page @param {string} selector @param {number} passes */
async function median95(page, selector, passes) {
  const found = [];
  for (let pass = 0; pass < passes; pass += 1) {
    found.push(await page.evaluate(p95WhileScrolling, { selector, frames: FRAMES }));
  }
  return median(found);
}

/** Runs in the page. @param {{ selector: string, frames: number }} options */
async function p95WhileScrolling({ selector, frames }) {
  const list = document.querySelector(selector);
  const boxes = [list, ...(list?.querySelectorAll("*") ?? [])];
  const box = boxes.find((one) => one !== null && one.scrollHeight > one.clientHeight * 10);
  const stretch = box === undefined || box === null ? 0 : box.scrollHeight / frames;
  const took = [];
  let before = await nextFrame();
  for (let i = 1; i <= frames; i += 1) {
    box?.scrollTo({ top: i * stretch });
    const now = await nextFrame();
    took.push(now - before);
    before = now;
  }
  return took.toSorted((a, b) => a - b)[Math.floor(frames * 0.95)] ?? 0;

  /** @returns {Promise<number>} */
  function nextFrame() {
    return new Promise((resolve) => {
      requestAnimationFrame(resolve);
    });
  }
}
