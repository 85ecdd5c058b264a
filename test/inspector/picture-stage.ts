// The scene of the picture in the README: somebody's shop, with a run at work on it. Its tests wait for the one who takes
// the picture, so the scene stands still.

import { openStore } from "@soong/store";
import type { Place } from "../cli/cli-bundle.ts";
import { gateIn, type Gate } from "./page-stage.ts";

export const PROMPT = "Prices are rounded down: fix it, and look whether the cart does the same";

const PRICE = `// Prices are whole cents.

const RATE = 0.19;

export function withTax(cents) {
  const tax = cents * RATE;
  return cents + Math.floor(tax);
}

export function format(cents) {
  return (cents / 100).toFixed(2);
}
`;

const CART = `import { withTax } from "./price.js";

export function total(items) {
  const sum = items.reduce((sum, item) => sum + item.cents, 0);
  return withTax(sum);
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
argv = ["node", "--test", "**"]
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
      - { tool: code.search, input: { query: Math.floor }, after_ms: 120 }
      - { tool: code.read_file, input: { path: src/price.js }, after_ms: 120 }
      - { tool: code.read_file, input: { path: src/round.js }, after_ms: 60 }
  - text: The tests should say what is wrong.
    calls:
      - { tool: code.run_command, input: { argv: [node, --test, test/price.test.js] } }
      - { tool: code.read_file, input: { path: src/cart.js }, after_ms: 80 }
      - { tool: code.run_command, input: { argv: [git, push] }, after_ms: 80 }
  - text: The tax is cut off instead of rounded. While I mend it, somebody else may look at the cart.
    calls:
      - { tool: agent.create_sub_agent, input: { task: Does the cart round as well? } }
      - { tool: agent.create_sub_agent, input: { task: Round the tax to the nearest cent }, after_ms: 80 }
      - { tool: code.write_file, input: { path: CHANGELOG.md, content: "- Tax is rounded to the nearest cent.\\n" }, after_ms: 80 }
  - text: Done.
agents:
  default_sub_agent:
    - - text: I read it, and run its tests.
        calls:
          - { tool: code.read_file, input: { path: src/cart.js } }
          - { tool: code.run_command, input: { argv: [node, --test, test/cart.test.js] }, after_ms: 150 }
      - text: It uses withTax, so it is right when that is.
    - - text: One line has to change.
        calls:
          - { tool: code.read_file, input: { path: src/price.js }, after_ms: 100 }
          - tool: code.edit_file
            after_ms: 100
            input:
              path: src/price.js
              edits:
                - { old: "  const tax = cents * RATE;\\n  return cents + Math.floor(tax);", new: "  return cents + Math.round(cents * RATE);" }
      - text: The tax is rounded now.
`;

export interface Shop {
  readonly project: string;
  /** Of the tests that are run first, and of those that run while the picture is taken. */
  readonly gates: { readonly price: Gate; readonly cart: Gate };
}

/** What was done before. */
const BEFORE = ["Why does the checkout take two seconds?", "Add a field for coupons"];

export async function openShop(place: Place): Promise<Shop> {
  const store = await openStore({ directory: place.home });
  for (const title of BEFORE) {
    const kept = await store.createSession({ title, project: place.project });
    await kept.close();
  }
  await store.close();
  await place.write(`${place.home}/config.toml`, CONFIG);
  await place.write("s.yaml", SCRIPT);
  await place.write("src/price.js", PRICE);
  await place.write("src/cart.js", CART);
  await place.write("test/price.test.js", TEST(".price"));
  await place.write("test/cart.test.js", TEST(".cart"));
  const price = await gateIn(place, ".price");
  const cart = await gateIn(place, ".cart");
  return { project: place.project, gates: { price, cart } };
}
