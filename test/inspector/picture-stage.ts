// The scene of the picture in the README: someone's shop, with a run at work on it. Its tests wait for the one who takes
// the picture, so the scene stands still.

import { dirname, join } from "node:path";
import { openStore } from "@soong/store";
import type { Place } from "../cli/cli-bundle.ts";
import { gateIn, type Gate } from "./page-stage.ts";

export const PROMPT = "Fix the rounding of prices";

const PRICE = `// Prices are whole cents.

const { floor, round } = Math;
const RATE = 0.19;

export function taxed(cents) {
  const tax = cents * RATE;
  return cents + floor(tax);
}

export function shown(cents) {
  return (cents / 100).toFixed(2);
}
`;

const CART = `import { taxed } from "./price.js";

export function total(items) {
  const sum = items.reduce((sum, item) => sum + item.cents, 0);
  return taxed(sum);
}
`;

const TEST = (gate: string): string => `import { readFileSync } from "node:fs";
import { test } from "node:test";

test("a price with tax", () => {
  readFileSync("${gate}");
});
`;

const CONFIG = `[[permissions.rules]]
tool = "code.run_command"
argv = ["node", "--test", "test/price.test.js"]
decision = "allow"
reason = "the model may run the tests"

[[permissions.rules]]
tool = "code.run_command"
argv = ["node", "--test", "test/cart.test.js"]
decision = "allow"
reason = "the model may run the tests"

[[permissions.rules]]
tool = "code.run_command"
argv = ["git", "push", "**"]
decision = "deny"
reason = "pushing is for people"
`;

const SCRIPT = `
turns:
  - text: I look at the source first.
    calls:
      - { tool: code.list_dir, input: { path: src } }
      - { tool: code.search, input: { query: floor }, after_ms: 120 }
      - { tool: code.read_file, input: { path: src/price.js }, after_ms: 120 }
      - { tool: code.read_file, input: { path: src/round.js }, after_ms: 60 }
  - text: The tests should say what is wrong.
    calls:
      - { tool: code.run_command, input: { argv: [node, --test, test/price.test.js] } }
      - { tool: code.read_file, input: { path: src/cart.js }, after_ms: 80 }
      - { tool: code.run_command, input: { argv: [git, push] }, after_ms: 80 }
  - text: The tax is cut off instead of rounded. While it is mended, others may look around.
    calls:
      - { tool: agent.create_sub_agent, input: { task: Test the cart, agent_definition_id: tester } }
      - { tool: agent.create_sub_agent, input: { task: Round the tax, agent_definition_id: mender }, after_ms: 80 }
      - { tool: agent.create_sub_agent, input: { task: Who else cuts off?, agent_definition_id: reader }, after_ms: 80 }
      - { tool: code.write_file, input: { path: CHANGELOG.md, content: "- Tax is rounded.\\n" }, after_ms: 80 }
  - text: Done.
agents:
  tester:
    - - calls:
          - { tool: code.read_file, input: { path: src/cart.js } }
          - { tool: code.run_command, input: { argv: [node, --test, test/cart.test.js] }, after_ms: 150 }
      - text: The cart is right.
  mender:
    - - calls:
          - { tool: code.read_file, input: { path: src/price.js }, after_ms: 100 }
          - { tool: code.edit_file, input: { path: src/price.js, edits: [ { old: floor(tax), new: round(tax) } ] }, after_ms: 100 }
      - text: The tax is rounded now.
  reader:
    - - calls: [ { tool: code.search, input: { query: floor }, after_ms: 100 } ]
      - text: Nobody else does.
`;

/** What was done before. */
const BEFORE = ["Why is the checkout slow?", "Add a field for coupons"];

interface Shop {
  /** As `--model` takes it. */
  readonly model: string;
  /** Of the tests that are run first. Those of the cart run as long as the picture is taken. */
  readonly gate: Gate;
}

export async function openShop(place: Place): Promise<Shop> {
  const store = await openStore({ directory: place.home });
  for (const title of BEFORE) {
    const kept = await store.createSession({ title, project: place.project });
    await kept.close();
  }
  await store.close();
  await place.write(join(place.home, "config.toml"), CONFIG);
  for (const agent of ["tester", "mender", "reader"]) {
    const definition = `---\ndescription: The ${agent}.\n---\nYou are the ${agent}.\n`;
    await place.write(join(place.home, "agents", `${agent}.md`), definition);
  }
  const script = join(dirname(place.home), "script.yaml");
  await place.write(script, SCRIPT);
  await place.write("src/price.js", PRICE);
  await place.write("src/cart.js", CART);
  await place.write("test/price.test.js", TEST(".price"));
  await place.write("test/cart.test.js", TEST(".cart"));
  await gateIn(place, ".cart");
  return { model: `script:${script}`, gate: await gateIn(place, ".price") };
}
