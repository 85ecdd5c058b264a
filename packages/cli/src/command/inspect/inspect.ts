// `soong inspect`: a page on what is stored and what is live, for a browser on this machine (UI-1). It serves until a
// signal ends it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@soong/store";
import { CommandError, UsageError, visible, visibleLine } from "../../output/index.ts";
import { openHomeStore } from "../../runtime/home.ts";
import { createHomeRedactor } from "../context.ts";
import { loadFactTexts } from "../facts.ts";
import type { Handler } from "../handler.ts";
import { openPage } from "../open-browser.ts";
import { untilSignal } from "../signals.ts";
import { openForReading } from "../stored.ts";
import { VERSION } from "../version.ts";
import { openInspectedHome, type InspectedHome } from "./inspected-home.ts";
import { openLivePort } from "./live.ts";
import { openPlayground } from "./playground.ts";
import { createPolicyPort } from "./policy.ts";
import { withRemoteSessions } from "./remote-sessions.ts";
import { openRunsPort } from "./runs.ts";
import { openServersPort } from "./servers.ts";
import { createSummaryPort } from "./summaries.ts";
import { createTasksPort } from "./tasks.ts";
import { createWhatIfPort } from "./what-if.ts";

const MAX_PORT = 65_535;

export const serveInspectorPage: Handler<"inspect"> = async (
  context,
  _given,
  { open = false, port: given = "0" },
) => {
  const port = parsePort(given);
  const assets = findPageFolder();
  const place = openInspectedHome(context);
  const { home, cwd, env } = place;
  // Where nothing was ever stored, an empty store is made for what comes.
  const store = (await openForReading(place)) ?? (await makeStore(place));
  return untilSignal(context, async (ended) => {
    const live = withRemoteSessions(openLivePort(home), store, place);
    const playground = openPlayground(place, store, (session_id) => live.attended(session_id));
    const servers = openServersPort(place);
    const runs = openRunsPort(place, store, (session_id) => live.attended(session_id));
    try {
      const { serveInspector } = await import("@soong/inspector");
      const { readSentRequest } = await import("@soong/agent");
      const served = await serveInspector({
        store,
        ports: {
          factTexts: await loadFactTexts(),
          readRequest: readSentRequest,
          live,
          summaries: createSummaryPort(store),
          tasks: createTasksPort(store, home),
          playground,
          servers,
          runs,
          whatIf: createWhatIfPort(store, place),
          policy: createPolicyPort(store, place),
        },
        assets,
        port,
        redactor: await createHomeRedactor(home, env),
        version: VERSION,
        home,
        cwd,
      }).catch(refuse);
      let closePage: (() => Promise<void>) | undefined;
      try {
        const { url, port: servedAt } = served;
        const { output } = context;
        context.print({ url, port: servedAt, pid: process.pid }, () => {
          output.line(url);
          output.note(
            "Anyone with this address can answer and call as you. Ctrl-C ends it.",
            "dim",
          );
        });
        // Not needed: the address is on the screen.
        if (open) closePage = await openPage(url, context).catch(() => undefined);
        return await ended;
      } finally {
        await closePage?.();
        // A page that waits for a call gets how it ended, or that no one is there any more.
        await Promise.all([served.close(), closePorts()]);
      }
    } finally {
      await closePorts();
      await store.close();
    }

    /** Calls and runs under way are ended and on record; no one is attended any more. */
    async function closePorts(): Promise<void> {
      servers.close();
      await Promise.all([playground.close(), runs.close()]);
      live.close();
    }
  });
};

async function makeStore(place: InspectedHome): Promise<Store> {
  await (await openHomeStore(place)).close();
  return openHomeStore(place, { readOnly: true });
}

/** 0: any free one. */
function parsePort(port: string): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= MAX_PORT) return Number(port);
  throw new UsageError(
    `--port takes a port from 0 (any free one) to ${MAX_PORT}, not ${visibleLine(port)}.`,
  );
}

/** Beside the program, in any piece of the bundle. */
function findPageFolder(): string {
  const folder = join(import.meta.dirname, "page");
  if (existsSync(join(folder, "index.html"))) return folder;
  throw new CommandError(`The page of the inspector is not in ${folder}. Install soong again.`);
}

function refuse(error: unknown): never {
  const isTold = error instanceof Error && error.cause !== undefined;
  throw isTold ? new CommandError(visible(error.message)) : error;
}
