// The official conformance suite against the real program: a handful of scenarios of both sides and both revisions,
// or, with SOONG_TEST_CONFORMANCE=all, every one that is scored (`npm run test:conformance`).

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { bundleCli, type CliBundle } from "../../cli/cli-bundle.ts";
import { serveFixture, type ServedFixture } from "./served-fixture.ts";
import { REVISIONS, runScenario, scoredScenarios, type Scenario } from "./suite.ts";

const CLIENT = "node scripts/run.mjs test/mcp/conformance/client.ts";
const SCENARIO_MS = 120_000;

/** One or two of each kind: what passes through the whole of the program on its way. */
const HANDFUL: readonly Scenario[] = [
  { side: "server", revision: "2025-11-25", name: "tools-call-sampling" },
  { side: "server", revision: "2025-11-25", name: "prompts-get-embedded-resource" },
  { side: "server", revision: "2026-07-28", name: "caching" },
  { side: "server", revision: "2026-07-28", name: "input-required-result-non-tool-request" },
  { side: "client", revision: "2025-11-25", name: "tools_call" },
  { side: "client", revision: "2026-07-28", name: "request-metadata" },
];

const isAll = process.env.SOONG_TEST_CONFORMANCE === "all";
const scenarios = isAll ? (await Promise.all(REVISIONS.map(scoredScenarios))).flat() : HANDFUL;

let bundle: CliBundle;
let served: ServedFixture;

beforeAll(async () => {
  bundle = await bundleCli();
  served = await serveFixture(bundle);
}, SCENARIO_MS);

afterAll(async () => {
  await served.close();
  await bundle.remove();
});

describe("as a server, in front of another", () => {
  it.each(scenarios.filter(({ side }) => side === "server"))(
    "the gateway passes $name of $revision",
    async (scenario) => {
      verifies("GATE-6");
      expect(await failuresOf(scenario, served.url)).toEqual([]);
    },
    SCENARIO_MS,
  );
});

describe("as a client", () => {
  it.each(scenarios.filter(({ side }) => side === "client"))(
    "the program passes $name of $revision",
    async (scenario) => {
      verifies("MCP-9");
      expect(await failuresOf(scenario, CLIENT)).toEqual([]);
    },
    SCENARIO_MS,
  );
});

/** One that checked nothing has not passed. */
async function failuresOf(scenario: Scenario, target: string): Promise<readonly string[]> {
  const { failures, checks } = await runScenario(scenario, target);
  return checks === 0 && failures.length === 0 ? ["nothing was checked"] : failures;
}
