// `soong agents` and `soong skills`: documents of the home as a run finds them, and files that cannot be used (SKILL-1).

import { loadAgentCatalog, loadSkills } from "@soong/agent";
import { fit, pad, visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { printProblems, resolveHome } from "../context.ts";
import type { Handler } from "../handler.ts";

/** The agents that can be started, and what each may be started as. */
export const listAgents: Handler<"agents"> = async (context) => {
  const { output, print } = context;
  const { bold, dim } = output.colours;
  const folder = homePaths(resolveHome(context)).agents;
  const { definitions, problems } = await loadAgentCatalog({ folder });
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
  return printProblems(context, problems);
};

export const listSkills: Handler<"skills"> = async (context) => {
  const { output, json, print } = context;
  const { bold, dim } = output.colours;
  const folder = homePaths(resolveHome(context)).skills;
  const { skills, problems } = await loadSkills(folder);
  for (const { body: _body, ...skill } of skills) {
    print({ skill }, () => {
      const { name, description, allowed_tools } = skill;
      const tools = allowed_tools.length === 0 ? "" : `  asks for ${allowed_tools.join(", ")}`;
      return [
        `${bold(visibleLine(name))}${dim(visibleLine(tools))}`,
        dim(`    ${fit(visibleLine(description), output.width - 4)}`),
      ];
    });
  }
  if (skills.length + problems.length === 0 && !json) {
    output.note(`There are no skills; each is a folder with a SKILL.md in ${visibleLine(folder)}.`);
  }
  return printProblems(context, problems);
};
