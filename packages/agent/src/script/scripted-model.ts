// A script behind the model port (SCRIPT-1): a model like any other. One model
// is one script being played; what it answers next depends on who asks and on nothing else.

import { PORTABLE_NAMES, systemClock, type Clock, type ModelProfile } from "@soong/core";
import { wireNameOf } from "@soong/core/internal";
import type { Model, ModelEvent, ModelRequest } from "../model/index.ts";
import { describeLastMessage, findUnmetExpectations } from "./find-unmet-expectations.ts";
import { ABORTED, playTurn } from "./play-turn.ts";
import type { Script, ScriptTurn } from "./script.ts";
import { scriptGuards } from "./script-guards.ts";

export interface ScriptedModelOptions {
  /** For every `after_ms`. */
  readonly clock?: Clock;
  /** Such as `script:demo.yaml`. */
  readonly id?: string;
  /** For the play of a provider with limits of its own. */
  readonly profile?: ModelProfile;
}

/** A script can call any tool of a runtime. */
const SCRIPT_PROFILE: ModelProfile = {
  id: "script",
  names: PORTABLE_NAMES,
  extended_schemas: true,
};

export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): Model {
  const { clock = systemClock(), id = "script", profile = SCRIPT_PROFILE } = options;
  const nextTurn = turnOrder(script);
  const { hooks, ended, sent } = scriptGuards(script, clock);

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void> {
    if (signal.aborted) {
      yield { type: "failed", error: ABORTED };
      return;
    }
    const next = nextTurn(request);
    if (!next.ok) {
      const came = `request ${request.index} came, and ${describeLastMessage(request)}`;
      yield toScriptFailure(
        `${id} ${next.reason}; ${came}. Add what is to be answered, or end the run before.`,
      );
      return;
    }
    const { turn, place } = next;
    const toWire = (tool: string): string => wireName(tool, request, profile);
    const unmet = findUnmetExpectations(turn.expect ?? [], request, toWire);
    if (unmet.length > 0) {
      const shown = unmet.slice(0, MAX_UNMET).join("; ");
      const more = unmet.length > MAX_UNMET ? `; and ${unmet.length - MAX_UNMET} more` : "";
      yield toScriptFailure(
        `${id}: request ${request.index} is not what ${place} expects. ${shown}${more}`,
      );
      return;
    }
    yield* playTurn(turn, request, toWire, clock, signal, { ended, sent });
  }

  return { id, profile, stream, ...(hooks.length === 0 ? {} : { hooks }) };
}

const MAX_UNMET = 10;

function toScriptFailure(message: string): ModelEvent {
  return { type: "failed", error: { kind: "script", message } };
}

/** What a model offered this tool would call it. A name without a dot is none of ours and stays as it is. */
function wireName(tool: string, { tools }: ModelRequest, { names }: ModelProfile): string {
  if (!tool.includes(".") || tools.some(({ name }) => name === tool)) return tool;
  return wireNameOf(tool, names);
}

// Which turn answers a request: the main agent goes through `turns`, every start of a child through a list of its own.

type NextTurn =
  | { ok: true; turn: ScriptTurn; /** Such as `turns[2]`. */ place: string }
  /** As a clause about the script. */
  | { ok: false; reason: string };

/** One list on its way. */
interface Track {
  readonly who: string;
  readonly place: string;
  readonly turns: readonly ScriptTurn[];
  played: number;
}

function turnOrder(script: Script): (request: ModelRequest) => NextTurn {
  const main: Track = { who: "the main agent", place: "turns", turns: script.turns, played: 0 };
  const agents = new Map(Object.entries(script.agents ?? {}));
  const starts = new Map<string, { count: number; latest?: Track; byRun: Map<string, Track> }>();
  let mainDefinition: { readonly id: string | undefined } | undefined;

  return (request) => {
    const { agent_definition_id: id } = request;
    const lists = id === undefined ? undefined : agents.get(id);
    if (id === undefined || lists === undefined) {
      // The main agent may have a definition too: the first to request a turn is the main agent.
      mainDefinition ??= { id };
      return mainDefinition.id === id ? takeNextTurn(main) : refuseAgent(id);
    }
    const track = findTrack(id, lists, request);
    if (track !== undefined) return takeNextTurn(track);
    const has = `has turns for ${describeCount(lists.length, "start")} of the agent "${id}"`;
    return { ok: false, reason: `${has}, and this is start ${starts.get(id)?.count}` };
  };

  /**
   * Children of one definition may run at the same time: a run keeps the list it began with. Where the run is unknown, request 1
   * is a start and the others continue with the latest.
   */
  function findTrack(
    id: string,
    lists: readonly (readonly ScriptTurn[])[],
    { run_id: run, index }: ModelRequest,
  ): Track | undefined {
    const known = starts.get(id) ?? { count: 0, byRun: new Map<string, Track>() };
    starts.set(id, known);
    const unnamed = index === 1 ? undefined : known.latest;
    const running = run === undefined ? unnamed : known.byRun.get(run);
    if (running !== undefined) return running;
    const turns = lists[known.count];
    const place = `agents.${id}[${known.count}]`;
    known.count += 1;
    if (turns === undefined) return undefined;
    const track = { who: `the agent "${id}" in this start`, place, turns, played: 0 };
    known.latest = track;
    if (run !== undefined) known.byRun.set(run, track);
    return track;
  }

  function refuseAgent(id: string | undefined): NextTurn {
    if (id === undefined) return { ok: false, reason: "has played for another main agent" };
    const known = [...agents.keys()].join(", ");
    const has = known === "" ? "it has none for children" : `it has them for ${known}`;
    return { ok: false, reason: `has no turns for the agent "${id}" under agents; ${has}` };
  }
}

function takeNextTurn(track: Track): NextTurn {
  const { who, turns, place, played } = track;
  const turn = turns[played];
  if (turn === undefined) {
    const all = turns.length === 1 ? "it is played" : "all are played";
    const count = describeCount(turns.length, "turn");
    return { ok: false, reason: `has ${count} for ${who} (${place}), and ${all}` };
  }
  track.played += 1;
  return { ok: true, turn, place: `${place}[${played}]` };
}

function describeCount(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count === 0 ? "no" : count} ${what}s`;
}
