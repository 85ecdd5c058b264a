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
  const order = turnOrder(script);
  const { hooks, ended, sent } = scriptGuards(script, clock);

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void> {
    if (signal.aborted) {
      yield { type: "failed", error: ABORTED };
      return;
    }
    const next = order.next(request);
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

// Which turn answers a request: the main agent goes through `turns`, every start of a child through a list
// of its own.

type NextTurn =
  | { ok: true; turn: ScriptTurn; /** Such as `turns[2]`. */ place: string }
  /** As a clause about the script. */
  | { ok: false; reason: string };

interface TurnOrder {
  next(request: ModelRequest): NextTurn;
}

/** One list on its way. */
interface Track {
  readonly place: string;
  readonly turns: readonly ScriptTurn[];
  played: number;
}

function turnOrder(script: Script): TurnOrder {
  const main: Track = { place: "turns", turns: script.turns, played: 0 };
  const agents = new Map(Object.entries(script.agents ?? {}));
  const starts = new Map<string, Starts>();
  let mainDefinition: { readonly id: string | undefined } | undefined;

  return {
    next(request) {
      const { agent_definition_id: id } = request;
      const lists = id === undefined ? undefined : agents.get(id);
      if (id !== undefined && lists !== undefined) {
        const known = starts.get(id) ?? { lists, byRun: new Map(), latest: undefined, count: 0 };
        starts.set(id, known);
        return takeNextChildTurn(id, known, request);
      }
      // The main agent may have a definition too: the first to request a turn is the main agent.
      mainDefinition ??= { id };
      if (mainDefinition.id !== id)
        return { ok: false, reason: describeUnknownAgent(id, [...agents.keys()]) };
      return takeNextTurn(main, "the main agent");
    },
  };
}

interface Starts {
  readonly lists: readonly (readonly ScriptTurn[])[];
  readonly byRun: Map<string, Track>;
  latest: Track | undefined;
  count: number;
}

function takeNextChildTurn(id: string, starts: Starts, request: ModelRequest): NextTurn {
  const track = findTrack(id, starts, request);
  if (track !== undefined) return takeNextTurn(track, `the agent "${id}" in this start`);
  const { count, lists } = starts;
  const has = `has turns for ${describeCount(lists.length, "start")} of the agent "${id}"`;
  return { ok: false, reason: `${has}, and this is start ${count}` };
}

/**
 * Children of one definition may run at the same time: a run keeps the list it began with. Where the run is
 * not told, request 1 is a start and the others go on with the latest.
 */
function findTrack(id: string, starts: Starts, request: ModelRequest): Track | undefined {
  const { run_id: run, index } = request;
  const running =
    run === undefined ? (index === 1 ? undefined : starts.latest) : starts.byRun.get(run);
  if (running !== undefined) return running;
  const turns = starts.lists[starts.count];
  const place = `agents.${id}[${starts.count}]`;
  starts.count += 1;
  if (turns === undefined) return undefined;
  const track: Track = { place, turns, played: 0 };
  starts.latest = track;
  if (run !== undefined) starts.byRun.set(run, track);
  return track;
}

function takeNextTurn(track: Track, who: string): NextTurn {
  const turn = track.turns[track.played];
  if (turn === undefined) {
    const all = track.turns.length === 1 ? "it is played" : "all are played";
    const count = describeCount(track.turns.length, "turn");
    return { ok: false, reason: `has ${count} for ${who} (${track.place}), and ${all}` };
  }
  const place = `${track.place}[${track.played}]`;
  track.played += 1;
  return { ok: true, turn, place };
}

function describeUnknownAgent(id: string | undefined, known: readonly string[]): string {
  if (id === undefined) return "has played for another main agent";
  const has =
    known.length === 0 ? "it has none for children" : `it has them for ${known.join(", ")}`;
  return `has no turns for the agent "${id}" under agents; ${has}`;
}

function describeCount(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count === 0 ? "no" : count} ${what}s`;
}
