// Who answers a run: the model that was asked for, the config's, or one the environment has a key for, with those that
// replace it (MODEL-4); and the definition of the agent it is started as (CLI-2).

import type { AgentDefinition, Model } from "@soong/agent";
import type { Mode } from "@soong/core";
import { nearestName, omitUndefined } from "@soong/schema";
import type { LoadedConfig, SoongConfig } from "../config/index.ts";
import { homePaths, SetupError } from "./home.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `given`: a profile's name, `provider:model` or `script:FILE`. */
export async function openModels(
  values: SoongConfig,
  env: Environment,
  given?: string,
): Promise<[Model, ...Model[]]> {
  const { modelFromEnvironment } = await import("@soong/agent");
  const first = given ?? values.model.default ?? modelFromEnvironment(env);
  if (first === undefined) {
    throw new SetupError(
      ["There is no model to ask."],
      "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL or OLLAMA_HOST for a server of your own, name one with --model provider:model, or play a script with --model script:FILE; `soong demo` shows Soong at work without any.",
    );
  }
  const fallback = values.models.fallback.filter((reference) => reference !== first);
  const main = await open(values, env, first);
  const others = await Promise.all(fallback.map((reference) => open(values, env, reference)));
  return [main, ...others];
}

async function open(values: SoongConfig, env: Environment, reference: string): Promise<Model> {
  // On use: most commands ask no model.
  const { loadScript, openModel, scriptedModel } = await import("@soong/agent");
  try {
    const script = /^script:(.+)$/s.exec(reference)?.[1];
    if (script !== undefined) return scriptedModel(await loadScript(script), { id: reference });
    const profile = values.models.profiles[reference];
    if (profile === undefined) return await openModel(reference, { env });
    const { provider, model, base_url, api_key_env, context_window, max_output_tokens } = profile;
    const { input, output, ...prices } = profile.prices;
    return await openModel(`${provider}:${model}`, {
      env,
      limits: omitUndefined({ context_window, max_output_tokens }),
      prices:
        input === undefined || output === undefined ? undefined : { ...prices, input, output },
      baseURL: base_url,
      apiKeyEnv: api_key_env,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SetupError([message], "`soong doctor` checks what a run needs.");
  }
}

/** What was asked for, or what the definition says of itself: that may take rights away, and grants none (PERM-9). */
export function chooseMode(
  given: Mode | undefined,
  definition: Pick<AgentDefinition, "id" | "mode"> | undefined,
  note: (text: string) => void,
): Mode | undefined {
  if (given !== undefined || definition?.mode !== "accept_edits") return given ?? definition?.mode;
  note(
    `The file of the agent ${definition.id} asks for the mode accept_edits: add --mode accept_edits to accept its edits.`,
  );
  return undefined;
}

/** An agent of the home that may be the main one. */
export async function loadMainAgent(
  { home, values }: LoadedConfig,
  id: string,
): Promise<AgentDefinition> {
  const { describeProblem, loadAgentCatalog } = await import("@soong/agent");
  const folder = homePaths(home).agents;
  const profiles = Object.keys(values.models.profiles);
  const catalog = await loadAgentCatalog({ folder, profiles });
  const { definitions, problems } = catalog;
  const found = definitions.get(id);
  if (found?.roles.includes("main") === true) return found;
  const names = catalog.startableAs("main").map((definition) => definition.id);
  const known =
    names.length === 0
      ? `No agent in ${folder} has the role main.`
      : `Agents with the role main: ${names.join(", ")}.`;
  if (found !== undefined) {
    throw new SetupError(
      [`The agent ${id} is for the roles ${found.roles.join(", ")}, and a run begins with main.`],
      `Add main to the roles in its file, or choose another. ${known}`,
    );
  }
  const near = nearestName(id, names);
  throw new SetupError(
    [`There is no agent ${id}.`, ...problems.map(describeProblem)],
    near === undefined ? known : `Did you mean ${near}?`,
  );
}
