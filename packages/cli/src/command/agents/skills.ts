// `soong skills`: the skills of the home as an agent finds them, and those that cannot be used (SKILL-1).

import { loadSkills } from "@soong/agent";
import { fit, visibleLine } from "../../output/index.ts";
import { skillsFolder } from "../../runtime/index.ts";
import { resolveHome, showProblems, type CommandContext } from "../context.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "skills",
  summary: "list the skills agents can load, and those that cannot be used",
  options: [JSON_OPTION],
  examples: ["soong skills"],
  exitCodes: "0; 1 when a skill cannot be used",
  run: listSkills,
};

async function listSkills(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  const { bold, dim } = output.colours;
  const folder = skillsFolder(await resolveHome(context));
  const { skills, problems } = await loadSkills(folder);
  for (const { body: _body, ...skill } of skills) {
    if (json) {
      output.record("soong.skills/1", { skill });
      continue;
    }
    const tools =
      skill.allowed_tools.length === 0 ? "" : `  asks for ${skill.allowed_tools.join(", ")}`;
    output.line(`${bold(visibleLine(skill.name))}${dim(visibleLine(tools))}`);
    output.line(dim(`    ${fit(visibleLine(skill.description), output.width - 4)}`));
  }
  if (skills.length + problems.length === 0 && !json) {
    output.note(`There are no skills; each is a folder with a SKILL.md in ${visibleLine(folder)}.`);
  }
  return showProblems(output, "soong.skills/1", problems, json);
}
