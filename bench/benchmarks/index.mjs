// What is measured, in the order it is printed. A benchmark turns one subject into rounds; the harness
// decides which process they run in and when.

import { bridgeAiSdk } from "./bridge-ai-sdk.mjs";
import { call } from "./call.mjs";
import { catalog } from "./catalog.mjs";
import { commandCalls } from "./command-calls.mjs";
import { commandProcesses } from "./command-processes.mjs";
import { commandSessions } from "./command-sessions.mjs";
import { coldStart } from "./cold-start.mjs";
import { editFile } from "./edit-file.mjs";
import { exportFacts } from "./export.mjs";
import { flat } from "./flat.mjs";
import { inspector } from "./inspector.mjs";
import { listDir } from "./list-dir.mjs";
import { loopMemory } from "./loop-memory.mjs";
import { loopStream } from "./loop-stream.mjs";
import { loopTurns } from "./loop-turns.mjs";
import { loopCall, loopRun, loopSession, loopTools } from "./loops.mjs";
import { mcpCall } from "./mcp-call.mjs";
import { mcpStart } from "./mcp-start.mjs";
import { parallel } from "./parallel.mjs";
import { readFile } from "./read-file.mjs";
import { runCommand } from "./run-command.mjs";
import { sandbox } from "./sandbox.mjs";
import { searchFiles } from "./search-files.mjs";
import { search } from "./search.mjs";
import { session } from "./session.mjs";
import { storeBytes } from "./store-bytes.mjs";
import { storeCall } from "./store-call.mjs";
import { storePaging } from "./store-paging.mjs";
import { storePgArtifacts } from "./store-pg-artifacts.mjs";
import { storePgClaims } from "./store-pg-claims.mjs";
import { storePgWorker } from "./store-pg-worker.mjs";
import { storePg } from "./store-pg.mjs";
import { storeSessions } from "./store-sessions.mjs";
import { stream } from "./stream.mjs";
import { tasks } from "./tasks.mjs";

/**
 * @import { Series } from "../statistics.mjs"
 * @import { Subject } from "../subjects/index.mjs"
 *
 * @typedef {object} Benchmark
 * @property {string} id
 * @property {string} title
 * @property {string[]} subjects  ids, in the order of their rows
 * @property {string[]} [slow]  the ones a quick run leaves out
 * @property {string} [ours]  the subject the others are compared with; left out: soong
 * @property {string} [floor]  the subject whose figure the others are divided by
 * @property {{ full: number, quick: number }} rounds
 * @property {Metric[]} metrics
 * @property {(subject: Subject, options: Options) => Promise<Prepared>} prepare  set up and warm up
 *
 * @typedef {object} Report  a benchmark that measures by itself and only reports rows
 * @property {string} id
 * @property {string} title
 * @property {string[]} [rows]  names of rows that aims.json compares; without one of them the report has failed
 * @property {(options: Options) => Promise<ReportRow[] | undefined>} report  undefined: not there yet
 *
 * @typedef {{ quick: boolean }} Options
 * @typedef {{ id: string, title: string, unit: "µs" | "ms" | "bytes" | "×" }} Metric
 * @typedef {object} ReportRow
 * @property {string} name
 * @property {number | string} value
 * @property {string} [unit]
 * @property {string} [note]
 * @property {Series} [series]  the figure of each round, where rows were measured in turns
 *
 * @typedef {Record<string, number>} Values  by metric id; a metric a subject does not have is left out
 * @typedef {object} Prepared
 * @property {string[]} remarks
 * @property {() => Promise<{ values: Values, remarks?: string[] }>} round
 * @property {() => unknown} [close]
 */

/** @type {(Benchmark | Report)[]} */
export const benchmarks = [
  call,
  parallel,
  session,
  loopCall,
  loopRun,
  loopSession,
  loopTools,
  loopMemory,
  catalog,
  flat,
  search,
  stream,
  readFile,
  editFile,
  listDir,
  searchFiles,
  runCommand,
  sandbox,
  storeCall,
  storeSessions,
  storePaging,
  storeBytes,
  storePg,
  storePgArtifacts,
  storePgClaims,
  storePgWorker,
  tasks,
  exportFacts,
  loopStream,
  loopTurns,
  bridgeAiSdk,
  mcpStart,
  mcpCall,
  inspector,
  coldStart,
  commandCalls,
  commandSessions,
  commandProcesses,
];
