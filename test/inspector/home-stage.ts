// A home in the middle of a day's work, made by the real program: conversations in two projects, one that failed, single
// calls, a run at work and one that waits for an answer; and one from before that had a price.

import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openStore } from "@soong/store";
import type { Place, Started } from "../cli/cli-bundle.ts";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { gateIn, type Gate } from "./page-stage.ts";

/** Nothing of it may become part of the page. */
export const MARKUP = "<img src=x onerror=alert(1)>";
/** Said once, by one model. */
export const ANSWER = `The heron stands in the reeds ${MARKUP} at dawn.`;
/** In a file that one tool read. */
export const READ = "a kingfisher was seen near the mill";

interface Workday {
  readonly gate: Gate;
  readonly running: Started;
  /** It asks once this is open. */
  readonly letterbox: Gate;
  readonly asking: Started;
}

const SCRIPTS = {
  birds: {
    turns: [
      {
        text: "I read the notes first.",
        calls: [
          { tool: "code.read_file", input: { path: "notes.txt" } },
          { tool: "code.read_file", input: { path: "missing.txt" } },
        ],
      },
      { text: ANSWER },
    ],
  },
  shop: { turns: [{ text: "Forty-two apples." }] },
  /** Asked once more than it has answers for. */
  broken: { turns: [{ calls: [{ tool: "code.list_dir", input: {} }] }] },
  gated: {
    turns: [
      { calls: [{ tool: "code.run_command", input: { argv: ["cat", "gate"] } }] },
      { text: "The gate was open." },
    ],
  },
  asking: {
    turns: [
      { calls: [{ tool: "code.run_command", input: { argv: ["cat", "letterbox"] } }] },
      { calls: [{ tool: "code.write_file", input: { path: "letter.txt", content: "Dear Ada" } }] },
      { text: "It is written." },
    ],
  },
};

/** What is over by now. */
export async function keepWorkday(place: Place): Promise<{ readonly shop: string }> {
  const shop = join(dirname(place.project), "shop");
  await mkdir(shop);
  await place.write("notes.txt", `On Monday ${READ}.\n`);
  for (const [name, script] of Object.entries(SCRIPTS)) {
    await place.write(join(dirname(place.home), `${name}.yaml`), JSON.stringify(script));
  }
  await keepPricedSession(place);
  await place.run(run(place, "birds", `Which birds are in the notes? ${MARKUP}`));
  await place.run(run(place, "broken", "Sort the invoices"));
  await place.run(run(place, "shop", "How many apples are left?"), { cwd: shop });
  await place.run(["call", "code.list_dir"]);
  await place.run(["call", "code.read_file", "--path", "nowhere.txt"]);
  return { shop };
}

/** And what is under way. */
export async function startWorkday(place: Place): Promise<Workday> {
  const [gate, letterbox] = [await gateIn(place), await gateIn(place, "letterbox")];
  const start = (script: string, prompt: string): Started =>
    place.start(run(place, script, prompt, "--allow", "code.run_command"));
  return {
    gate,
    running: start("gated", "Run the slow tests"),
    letterbox,
    asking: start("asking", "Write a letter to Ada"),
  };
}

function run({ home }: Place, script: string, prompt: string, ...more: string[]): string[] {
  return ["run", "--model", `script:${join(dirname(home), `${script}.yaml`)}`, ...more, prompt];
}

/** Scripted models have no price, so this one is written as a run with one leaves it. */
async function keepPricedSession({ home, project }: Place): Promise<void> {
  const store = await openStore({ directory: home });
  const session = await store.createSession({ title: "Draft the yearly report", project });
  const writer = createFactWriter(session, new Date().toISOString());
  const ids = { run_id: "run_priced", agent_id: "agent_priced" };
  const usage = { input_tokens: 182_400, output_tokens: 9120 };
  const cost = { currency: "USD", micros: 684_000 };
  const asked = { request: 1, attempt: 1, model: "anthropic/claude-sonnet-4-5" };
  writer.add({ ...ids, type: "run.started", data: { role: "main", mode: "normal" } });
  writer.add({ ...ids, type: "model.started", data: asked });
  writer.add({ ...ids, type: "model.completed", data: { ...asked, usage, cost } });
  const total = { requests: 1, untold: 0, unpriced: 0, cost: [cost], ...usage };
  writer.add({ ...ids, type: "run.completed", data: { reason: "completed", usage: total } });
  await session.close();
  await store.close();
}
