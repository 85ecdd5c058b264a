// The server module: the page and its records over HTTP on loopback.

export { InspectorError } from "./ports.ts";
export type {
  InspectorPorts,
  LivePort,
  LiveState,
  PlaygroundPort,
  PolicyPort,
  RunsPort,
  ServersPort,
  SummaryPort,
  TasksPort,
  WhatIfPort,
} from "./ports.ts";
export { serveInspector, type Inspector, type InspectorOptions } from "./serve-inspector.ts";
export type { OpenStore } from "./home-store.ts";
