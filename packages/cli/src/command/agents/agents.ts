// `soong agents`: the agents that can be started, what each may be started as, and files that cannot be used.

import { loadAgentCatalog, type AgentDefinition } from "@soong/agent";
import { fit, pad, visibleLine, type Output } from "../../output/index.ts";
import { agentsFolder } from "../../runtime/index.ts";
import { resolveHome, showProblems, type CommandContext } from "../context.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "agents",
  summary: "list the agents that can be started, and files that cannot be used",
  options: [JSON_OPTION],
  examples: ["soong agents", `soong run --agent reviewer "Look at the last commit"`],
  exitCodes: "0; 1 when a file cannot be used",
  run: listAgents,
};

async function listAgents(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  const { definitions, problems } = await loadAgentCatalog({
    folder: agentsFolder(await resolveHome(context)),
  });
  for (const definition of definitions.values()) {
    if (json) output.record("soong.agents/1", { agent: definition });
    else showDefinition(output, definition);
  }
  return showProblems(output, "soong.agents/1", problems, json);
}

function showDefinition(
  output: Output,
  { id, roles, origin, model, description }: AgentDefinition,
) {
  const { bold, dim } = output.colours;
  const from = origin.kind === "file" ? visibleLine(origin.file) : "built in";
  const asks = model === undefined ? "" : `  ${visibleLine(model)}`;
  output.line(`${bold(pad(visibleLine(id), 24))} ${roles.join(", ")}${asks}  ${dim(from)}`);
  output.line(dim(`    ${fit(visibleLine(description), output.width - 4)}`));
}
