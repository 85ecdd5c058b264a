// Agent Runtime events and snapshots of recorded runs of every kind (EXPORT-1, EXPORT-2).

import {
  AGENT_RUNTIME_EVENT_TYPES,
  AGENT_RUNTIME_UNMAPPED,
  createAgentRuntimeProjection,
  createAgentRuntimeSnapshot,
  findAgentRuntimeProblems,
  type AgentRuntimeEvent,
  type AgentRuntimeOptions,
} from "@soong/export";
import type { Fact } from "@soong/core";
import fc from "fast-check";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import "../property-seed.ts";
import { damagedFacts } from "./damaged-facts.ts";
import { FACT_TYPES, recordRuns } from "./recorded-runs.ts";
import {
  readFixture,
  validateAgentRuntimeEvent,
  validateAgentRuntimeSnapshot,
  type RuntimeProfile,
} from "./schemas.ts";

const runs = await recordRuns();

const PROFILES = [
  { profile: "core", schema: "public" },
  { profile: "lime", schema: "lime" },
] as const satisfies readonly (AgentRuntimeOptions & { schema: RuntimeProfile })[];

function project(facts: readonly Fact[], options?: AgentRuntimeOptions): AgentRuntimeEvent[] {
  const projection = createAgentRuntimeProjection(options);
  return [...facts.flatMap((fact) => projection.push(fact)), ...projection.end()];
}

function takeSnapshot(facts: readonly Fact[], options?: AgentRuntimeOptions) {
  const model = createAgentRuntimeSnapshot(options);
  for (const fact of facts) model.push(fact);
  return model.snapshot();
}

describe.each(PROFILES)("in the $profile profile", ({ profile, schema }) => {
  test.each(runs)("$name gives valid events that keep the rules of a log", ({ facts }) => {
    verifies("EXPORT-1", "EXPORT-2");
    const events = project(facts, { profile });
    for (const event of events) {
      expect(validateAgentRuntimeEvent(event, { profile: schema })).toEqual([]);
    }
    expect(findAgentRuntimeProblems(events)).toEqual([]);
    // As they are written: what is undefined is absent.
    const written = JSON.parse(JSON.stringify(events)) as unknown[];
    expect(findAgentRuntimeProblems(written)).toEqual([]);
  });

  test.each(runs)("$name gives a valid snapshot after each fact", ({ facts }) => {
    verifies("EXPORT-1");
    const model = createAgentRuntimeSnapshot({ profile });
    expect(validateAgentRuntimeSnapshot(model.snapshot(), { profile: schema })).toEqual([]);
    for (const fact of facts) {
      model.push(fact);
      expect(validateAgentRuntimeSnapshot(model.snapshot(), { profile: schema })).toEqual([]);
    }
  });

  test("damaged facts and any part of a journal give valid events and snapshots", () => {
    verifies("EXPORT-1");
    const recorded = runs.map(({ facts }) => facts);
    fc.assert(
      fc.property(damagedFacts(recorded), (facts) => {
        for (const event of project(facts, { profile })) {
          expect(validateAgentRuntimeEvent(event, { profile: schema })).toEqual([]);
        }
        const snapshot = takeSnapshot(facts, { profile });
        expect(validateAgentRuntimeSnapshot(snapshot, { profile: schema })).toEqual([]);
      }),
    );
  });
});

test("the same facts give the same events", () => {
  for (const { facts } of runs) expect(project(facts)).toEqual(project(facts));
});

test("the projection changes no fact", () => {
  for (const { facts } of runs) {
    const before = JSON.stringify(facts);
    project(facts, { profile: "lime" });
    takeSnapshot(facts);
    expect(JSON.stringify(facts)).toBe(before);
  }
});

test("every type of fact has an event, or a reason why it has none", () => {
  verifies("EXPORT-1");
  const seen = new Set<string>();
  for (const { facts } of runs) {
    const projection = createAgentRuntimeProjection();
    for (const fact of facts) if (projection.push(fact).length > 0) seen.add(fact.type);
  }
  const without = FACT_TYPES.filter((type) => !seen.has(type)).toSorted();
  expect(without).toEqual(Object.keys(AGENT_RUNTIME_UNMAPPED).toSorted());
});

test("no event is of a type that the standard does not have", () => {
  expect(AGENT_RUNTIME_EVENT_TYPES).toHaveLength(120);
  expect(new Set(AGENT_RUNTIME_EVENT_TYPES).size).toBe(120);
  for (const type of AGENT_RUNTIME_EVENT_TYPES) {
    const event = { type, eventId: "1", timestamp: "2026-01-01T00:00:00Z" };
    expect(validateAgentRuntimeEvent(event)).toEqual([]);
  }
});

test("a snapshot has what the events of the same facts have", () => {
  for (const { facts } of runs) {
    const events = project(facts);
    const { threads, tasks } = takeSnapshot(facts);
    const ids = (pick: (event: AgentRuntimeEvent) => string | undefined): Set<string> =>
      new Set(events.flatMap((event) => pick(event) ?? []));
    expect(new Set(threads.map(({ threadId }) => threadId))).toEqual(
      ids((event) => event.threadId),
    );
    expect(new Set(tasks.map(({ taskId }) => taskId))).toEqual(
      ids(({ type, taskId }) => (type.startsWith("task.") ? taskId : undefined)),
    );
    const calls = threads.flatMap(({ toolCalls }) => toolCalls);
    const started = events.filter(({ type }) => type === "tool.started");
    expect(calls).toHaveLength(started.length);
  }
});

test("a later fact does not change a snapshot that was taken", () => {
  for (const { facts } of runs) {
    const model = createAgentRuntimeSnapshot();
    const [half, rest] = [facts.slice(0, facts.length / 2), facts.slice(facts.length / 2)];
    for (const fact of half) model.push(fact);
    const taken = model.snapshot();
    const before = JSON.stringify(taken);
    for (const fact of rest) model.push(fact);
    expect(JSON.stringify(taken)).toBe(before);
  }
});

const FIXTURES = [
  "evidence-export-event.json",
  "routing-single-candidate-event.json",
  "submit-turn-event.json",
  "task-retry-attempt-failed-event.json",
  "tool-approval-action-required-event.json",
];

test.each(FIXTURES)("the standard's %s is valid, and has fields that ours have", (name) => {
  const fixture = readFixture(name) as Record<string, unknown>;
  expect(validateAgentRuntimeEvent(fixture, { profile: "lime" })).toEqual([]);
  const events = runs.flatMap(({ facts }) => project(facts, { profile: "lime" }));
  const own = events.find(({ type }) => type === fixture["type"]);
  // Soong exports no evidence.
  if (fixture["type"] === "evidence.changed") expect(own).toBeUndefined();
  else {
    const { traceId: _trace, taskId: _task, attemptId: _attempt, ...fields } = fixture;
    const written = JSON.parse(JSON.stringify(own)) as object;
    expect(Object.keys(written)).toEqual(expect.arrayContaining(Object.keys(fields)));
  }
});

test("the standard's snapshot is valid, and has fields that ours have", () => {
  const fixture = readFixture("thread-read-snapshot.json") as object;
  expect(validateAgentRuntimeSnapshot(fixture, { profile: "lime" })).toEqual([]);
  const { workspaceId: _workspace, ...fields } = fixture as Record<string, unknown>;
  const snapshot = takeSnapshot(runs[0]?.facts ?? [], { profile: "lime" });
  expect(Object.keys(snapshot)).toEqual(expect.arrayContaining(Object.keys(fields)));
});

test("the standard's benchmark pack is about trials, of which Soong has none", () => {
  const fixture = readFixture("benchmark-trial-pack.json") as Record<string, unknown>;
  expect(fixture["schemaVersion"]).toBe("lime-profile-0.4.0");
  const events = runs.flatMap(({ facts }) => project(facts));
  expect(events.filter(({ type }) => type.startsWith("benchmark."))).toEqual([]);
});
