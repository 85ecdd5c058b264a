// What a user does first with the installed package: a run as records of other standards, and the log checked.

import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import {
  createAgentRuntimeProjection,
  createAgentRuntimeSnapshot,
  createAgentToolProjection,
  createCloudEventsProjection,
  createOtlpProjection,
  findAgentRuntimeProblems,
  findAgentToolProblems,
  findOtlpProblems,
  type Projection,
} from "@soong/export";

const journal = createMemoryJournal();
const greet = defineTool({
  name: "demo.greet",
  description: "Greet",
  input_schema: { type: "object", properties: {} },
  permission: "readonly",
  handler: () => "hello",
});
const run = await createKernel({ tools: [greet] }).startRun({ journal });
await run.call("demo.greet", {});
run.end("completed");

function project<Out>(projection: Projection<Out>): Out[] {
  const records = journal.facts.flatMap((fact) => projection.push(fact));
  return [...records, ...projection.end()];
}

const problems = [
  ...findAgentToolProblems(project(createAgentToolProjection())),
  ...findAgentRuntimeProblems(project(createAgentRuntimeProjection())),
  ...findOtlpProblems(project(createOtlpProjection())),
];
if (problems.length > 0) throw new Error(JSON.stringify(problems));
if (project(createCloudEventsProjection()).length !== journal.facts.length) {
  throw new Error("a fact is no event");
}
const model = createAgentRuntimeSnapshot();
for (const fact of journal.facts) model.push(fact);
if (model.snapshot().threads.length !== 1) throw new Error("there is no thread");
