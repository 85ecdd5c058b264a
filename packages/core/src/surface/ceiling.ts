// What a role may ever have (SURF-5) and what it has when nothing is requested (SURF-6). Hard-wired:
// no config, skill or agent definition reaches these tables.

import type { Mode } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";

export type Role = "main" | "sub" | "fork" | "worker";

/** Who a table row is about: the orchestrator is main in that mode. */
type Seat = "main" | "orchestrator" | "child" | "worker";

const EVERYONE: readonly Seat[] = ["main", "orchestrator", "child", "worker"];
const MAIN: readonly Seat[] = ["main", "orchestrator"];
const ORCHESTRATOR: readonly Seat[] = ["orchestrator"];

const OWN_TOOLS: ReadonlyMap<string, readonly Seat[]> = new Map([
  ...row(
    EVERYONE,
    `internal.search_tools internal.read_artifact internal.list_skills internal.load_skill`,
  ),
  ...row(
    MAIN,
    `internal.recall_memory internal.write_memory agent.plan_template
    agent.list_agent_definitions agent.inspect_agent agent.create_sub_agent agent.fork_agent`,
  ),
  ...row(
    ORCHESTRATOR,
    `agent.list_workers agent.dispatch_worker agent.task_template agent.task_create agent.task_list
    agent.task_update agent.task_complete agent.task_fail agent.task_cancel`,
  ),
  ...row(
    ["orchestrator", "worker"],
    `agent.task_get agent.task_query_steps agent.task_update_step`,
  ),
  ...row(["worker"], `agent.task_claim_step`),
]);

/** Of ours, what a worker has only when its pool or its dispatch asks for it. */
const ASKED_FOR: ReadonlySet<string> = new Set(["internal.list_skills", "internal.load_skill"]);

/** `on_request`: within the ceiling, but only when asked for by name. */
export type Standing = "default" | "on_request" | "never";

export function findStanding(tool: RegisteredTool, role: Role, mode: Mode): Standing {
  const seat = findSeat(role, mode);
  const { kind } = tool.source;
  if (kind === "agent" || kind === "internal") {
    // A tool of ours that no row names is the main agent's alone.
    if (!(OWN_TOOLS.get(tool.name) ?? MAIN).includes(seat)) return "never";
    return seat === "worker" && ASKED_FOR.has(tool.name) ? "on_request" : "default";
  }
  if (seat !== "worker") return "default";
  return isFileReader(tool) ? "default" : "on_request";
}

/** What a worker has beside its task where no one asks for anything. */
export function listWorkerDefaults(tools: Iterable<RegisteredTool>): string[] {
  return Array.from(tools)
    .filter(isFileReader)
    .map(({ name }) => name);
}

function isFileReader({ source, name, effects }: RegisteredTool): boolean {
  return source.kind === "code" && name.startsWith("code.") && effects.read_only;
}

export function describeSeat(role: Role, mode: Mode): string {
  const seat = findSeat(role, mode);
  return seat === "child" ? role : seat;
}

function findSeat(role: Role, mode: Mode): Seat {
  if (role === "main") return mode === "orchestrator" ? "orchestrator" : "main";
  return role === "worker" ? "worker" : "child";
}

function row(seats: readonly Seat[], names: string): [string, readonly Seat[]][] {
  return names.split(/\s+/).map((name) => [name, seats]);
}
