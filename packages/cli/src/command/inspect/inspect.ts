// `soong inspect`: a page on what is kept and what is live, for a browser on this machine (UI-1). It serves until it is
// told to end.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Inspector } from "@soong/inspector";
import type { Store } from "@soong/store";
import { CommandError, UsageError, visible, visibleLine } from "../../output/index.ts";
import { openHomeStore } from "../../runtime/index.ts";
import { createHomeRedactor, type CommandContext } from "../context.ts";
import { listenForEnd } from "../signals.ts";
import { openPage } from "../open-browser.ts";
import { openInspectedHome, type InspectedHome } from "./inspected-home.ts";
import { openPorts } from "./ports.ts";
import { hasStore } from "../stored.ts";
import { VERSION } from "../version.ts";
import { JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "inspect",
  summary: "serve a page for your browser: runs live, questions, tasks, tools to try",
  options: [
    option("--port <n>", "the port on 127.0.0.1; default: any free one"),
    option("--open", "open it in your browser"),
    JSON_OPTION,
  ],
  examples: ["soong inspect --open", "soong inspect --port 8721"],
  exitCodes: "1 it cannot be served there, 2 usage error, 130 or 143 ended by a signal",
  run: inspect,
};

interface InspectOptions {
  readonly port?: string;
  readonly open?: boolean;
  readonly json?: boolean;
}

const MAX_PORT = 65_535;

async function inspect(context: CommandContext, options: InspectOptions): Promise<number> {
  const { json = false, open = false } = options;
  const port = parsePort(options);
  const assets = pageFolder();
  const place = await openInspectedHome(context);
  const store = await openInspectedStore(place);
  const end = listenForEnd(context);
  const { ports, close } = await openPorts(place, store);
  try {
    const { serveInspector } = await import("@soong/inspector");
    const { home, cwd } = place;
    const redactor = await createHomeRedactor(home, place.env);
    const about = { version: VERSION, home, cwd };
    const served = await serveInspector({ store, ports, assets, port, redactor, ...about }).catch(
      refuse,
    );
    let closePage: (() => Promise<void>) | undefined;
    try {
      show(context, served, json);
      // Not needed: the address is on the screen.
      if (open) closePage = await openPage(served.url, context).catch(() => undefined);
      return await end.bySignal;
    } finally {
      await closePage?.();
      // A page that waits for a call hears how it ended, or that no one is there any more.
      await Promise.all([served.close(), close()]);
    }
  } finally {
    await close();
    await store.close();
    end.stopListening();
  }
}

function show({ output }: CommandContext, { url, port }: Inspector, json: boolean): void {
  if (json) output.record("soong.inspect/1", { url, port, pid: process.pid });
  else {
    output.line(url);
    output.note(
      output.noteColours.dim(
        "Anyone with this address can answer and call as you. Ctrl-C ends it.",
      ),
    );
  }
}

/** 0: any free one. */
function parsePort({ port = "0" }: InspectOptions): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= MAX_PORT) return Number(port);
  throw new UsageError(
    `--port takes a port from 0 (any free one) to ${MAX_PORT}, not ${visibleLine(port)}.`,
  );
}

/** Beside the program, whichever piece of it this is in. */
function pageFolder(): string {
  const folder = fileURLToPath(new URL("page/", import.meta.url));
  if (existsSync(join(folder, "index.html"))) return folder;
  throw new CommandError(`The page of the inspector is not in ${folder}. Install soong again.`);
}

/** Only read; where nothing was ever kept, an empty one is made, for what comes. */
async function openInspectedStore({ home }: InspectedHome): Promise<Store> {
  if (!hasStore(home)) {
    await (await openHomeStore(home)).close();
  }
  return openHomeStore(home, { readOnly: true });
}

function refuse(error: unknown): never {
  const isTold = error instanceof Error && error.cause !== undefined;
  throw isTold ? new CommandError(visible(error.message)) : error;
}
