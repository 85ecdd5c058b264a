// The definition a run is started with (CLI-2): an agent of the home that may be the main one.

import type { AgentDefinition } from "@soong/agent";
import { nearestName } from "@soong/schema";
import { agentsFolder, SetupError } from "./home.ts";

export async function loadMainAgent(home: string, id: string): Promise<AgentDefinition> {
  const { describeProblem, loadAgentCatalog } = await import("@soong/agent");
  const folder = agentsFolder(home);
  const catalog = await loadAgentCatalog({ folder });
  const { definitions, problems } = catalog;
  const found = definitions.get(id);
  if (found?.roles.includes("main") === true) return found;
  const names = catalog.startableAs("main").map((definition) => definition.id);
  const known =
    names.length === 0
      ? `No agent in ${folder} has the role main.`
      : `There are ${names.join(", ")}.`;
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
