// The skill module: texts of the user that say how work of one kind is done, read from their folder and loaded on request.

export { loadSkills, type LoadedSkills, type Skill } from "./skill.ts";
export { skillTools, type SkillToolParts } from "./skill-tools.ts";
