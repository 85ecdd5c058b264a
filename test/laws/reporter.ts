// The glue between vitest and the ledger of laws: collects what tests verify, prints the table, and
// fails a full run when a law marked done has no passing test. A filtered run proves nothing either way.

import type { Reporter, TestModule, Vitest } from "vitest/node";
import {
  brokenPromises,
  buildLedger,
  renderBrokenPromises,
  renderLacking,
  renderLedger,
} from "./ledger.ts";
import type { TestOutcome } from "./ledger.ts";
import { laws } from "./manifest.ts";

export function lawsReporter(): Reporter {
  let vitest: Vitest;
  return {
    onInit(instance) {
      vitest = instance;
    },
    async onTestRunEnd(modules) {
      const all = modules.flatMap(outcomes);
      for (const line of renderLacking(all)) vitest.logger.log(line);
      if (!(await isFullRun(vitest, modules))) return;
      const ledger = buildLedger(laws, all);
      vitest.logger.log(`\n${renderLedger(ledger)}\n`);
      const broken = brokenPromises(ledger);
      if (broken.length === 0) return;
      vitest.logger.error(`${renderBrokenPromises(broken)}\n`);
      process.exitCode = 1;
    },
  };
}

async function isFullRun(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  if (vitest.config.testNamePattern !== undefined) return false;
  const all = await vitest.globTestSpecifications();
  const ran = new Set(modules.map((module) => module.moduleId));
  return all.every((specification) => ran.has(specification.moduleId));
}

function outcomes(module: TestModule): TestOutcome[] {
  return [...module.children.allTests()].map((test) => ({
    laws: test.meta().laws ?? [],
    passed: test.result().state === "passed",
    lacks: test.result().state === "skipped" ? test.meta().lacks : undefined,
  }));
}
