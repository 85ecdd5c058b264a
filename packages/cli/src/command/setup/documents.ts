// `soong agents` and `soong skills`: documents of the home as a run finds them, and files that cannot be used (SKILL-1).

import { loadAgentCatalog, loadSkills, mapForeignTool } from "@soong/agent";
import { describeProblem, type Problem } from "@soong/platform";
import { loadConfig } from "../../config/index.ts";
import { fit, pad, visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { printProblems, resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";

/** The agents that can be started, and what each may be started as. */
export const listAgents: Handler<"agents"> = async (context) => {
  const { output, print } = context;
  const { bold, dim } = output.colours;
  const home = resolveHome(context);
  const config = await loadConfig({ home }).catch(() => undefined);
  const { definitions, problems, warnings } = await loadAgentCatalog({
    folder: homePaths(home).agents,
    profiles: Object.keys(config?.values.models.profiles ?? {}),
  });
  for (const agent of definitions.values()) {
    print({ agent }, () => {
      const { id, roles, origin, model, description } = agent;
      const from = origin.kind === "file" ? visibleLine(origin.file) : "built in";
      const asks = model === undefined ? "" : `  ${visibleLine(model)}`;
      return [
        `${bold(pad(visibleLine(id), 24))} ${roles.join(", ")}${asks}  ${dim(from)}`,
        dim(`    ${fit(visibleLine(description), output.width - 4)}`),
      ];
    });
  }
  printWarnings(context, warnings);
  return printProblems(context, problems);
};

export const listSkills: Handler<"skills"> = async (context) => {
  const { output, json, print } = context;
  const { bold, dim } = output.colours;
  const folder = homePaths(resolveHome(context)).skills;
  const { skills, problems, warnings } = await loadSkills(folder);
  for (const { body: _body, ...skill } of skills) {
    print({ skill }, () => {
      const { name, description, allowed_tools, disable_model_invocation: isForUsers } = skill;
      const asked = new Set(allowed_tools.flatMap((one) => mapForeignTool(one).tools));
      const asks = asked.size === 0 ? "" : `  asks for ${[...asked].join(", ")}`;
      const tools = isForUsers === true ? `${asks}  not for models` : asks;
      return [
        `${bold(visibleLine(name))}${dim(visibleLine(tools))}`,
        dim(`    ${fit(visibleLine(description), output.width - 4)}`),
      ];
    });
  }
  if (skills.length + problems.length === 0 && !json) {
    output.note(`There are no skills; each is a folder with a SKILL.md in ${visibleLine(folder)}.`);
  }
  printWarnings(context, warnings);
  return printProblems(context, problems);
};

/** What has no meaning here, of files that can be used. */
function printWarnings({ output, print }: CommandContext, warnings: readonly Problem[]): void {
  for (const warning of warnings) {
    const line = `warning: ${visibleLine(describeProblem(warning))}`;
    print({ warning }, () => output.note(line, "dim"));
  }
}
