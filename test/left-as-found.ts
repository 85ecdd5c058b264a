// Test files share the process and the modules of their worker. What one leaves behind there would be found by
// whichever comes next, so the file that left it fails, and says what it is.

import { afterAll, vi } from "vitest";

/** By Node itself, once threads are asked for. Where the process is, is part of its state. */
const WRAPPED = "process.chdir";

const state = stateOfProcess();
const functions = sharedFunctions();

// Registered before any hook of the file, and so run after all of them.
afterAll(() => {
  const left = [
    ...differences(state, stateOfProcess()),
    // Those that were there: some of Node's own come with their first use.
    ...differences(functions, sharedFunctions()).filter((name) => functions.has(name)),
  ];
  if (left.length > 0) throw new Error(`The tests of this file leave changed: ${left.join(", ")}`);
});

function stateOfProcess(): Map<string, unknown> {
  return new Map<string, unknown>([
    ["the working directory", process.cwd()],
    ["whether timers are fake", vi.isFakeTimers()],
    ...Object.entries(process.env).map(([name, value]) => [`$${name}`, value] as const),
    ...["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "unhandledRejection"].map(
      (event) => [`the listeners for ${event}`, process.listenerCount(event)] as const,
    ),
  ]);
}

function sharedFunctions(): Map<string, unknown> {
  const holders = { globalThis, process, performance, console, Math, JSON, Date };
  return new Map(
    Object.entries(holders).flatMap(([name, holder]) =>
      Object.entries(Object.getOwnPropertyDescriptors(holder))
        .filter(([key, { value }]) => typeof value === "function" && `${name}.${key}` !== WRAPPED)
        .map(([key, { value }]) => [`${name}.${key}`, value as unknown] as const),
    ),
  );
}

function differences(one: Map<string, unknown>, other: Map<string, unknown>): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name));
}
