// A script behind the model port (SCRIPT-1): a model like any other. One model
// is one script being played; what it answers next depends on who asks and on nothing else.

import { PORTABLE_NAMES, systemClock, type Clock, type ModelProfile } from "@soong/core";
import { wireNameOf } from "@soong/core/internal";
import type { Model, ModelEvent, ModelRequest } from "../model/index.ts";
import { describeLastMessage } from "./describe-request.ts";
import { ABORTED, playTurn } from "./play-turn.ts";
import type { Script } from "./script.ts";
import { scriptGuards } from "./script-guards.ts";
import { turnOrder } from "./turn-order.ts";
import { findUnmetExpectations } from "./find-unmet-expectations.ts";

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
