// Whether the repository that a git command would use may run another program (PERM-16). An allow on `git **` was written with git in
// mind, and with the repository of the project. In any other one, which the agent may have made, every setting has to be known to
// be harmless, as for a proven command (CMD-7); in the project's own, only settings that name a program count.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Resource, Roots } from "@soong/core";
import { directoryOfGit } from "./git-arguments.ts";
import { settingThatRuns } from "./git-config.ts";
import { allCommands, type Command } from "./spelled-commands.ts";
import { checkRepository, locateRepository, readText } from "./harmless-repository.ts";

type ConfigRuns = NonNullable<Extract<Resource, { kind: "command" }>["config_runs"]>;

export function configThatRuns(command: Command, roots: Roots): ConfigRuns | undefined {
  for (const words of allCommands(command)) {
    const directory = directoryOfGit(words, command.cwd);
    const found = directory === undefined ? undefined : repositoryThatRuns(directory, roots);
    if (found !== undefined) return found;
  }
  return undefined;
}

function repositoryThatRuns(directory: string, { project }: Roots): ConfigRuns | undefined {
  const used = locateRepository(directory);
  if (used === undefined) return undefined;
  if (typeof used === "string") return { why: used, foreign: true };
  const own = locateRepository(project);
  if (typeof own === "object" && own.git_dir === used.git_dir) {
    const why = used.configs.map(whyItRuns).find((one) => one !== undefined);
    return why === undefined ? undefined : { why, foreign: false };
  }
  const checked = checkRepository(directory);
  if (checked.kind === "none") return undefined;
  if (checked.kind === "doubtful") return { why: checked.why, foreign: true };
  const hook = findHook(checked.common_dir);
  if (hook === undefined) return undefined;
  return { why: `${JSON.stringify(hook)} is a hook`, foreign: true };
}

function whyItRuns(path: string): string | undefined {
  try {
    const why = settingThatRuns(readText(path));
    return why === undefined ? undefined : `${JSON.stringify(path)} ${why}`;
  } catch {
    return `${JSON.stringify(path)} cannot be read`;
  }
}

function findHook(gitDirectory: string): string | undefined {
  const directory = join(gitDirectory, "hooks");
  try {
    return readdirSync(directory)
      .filter((name) => !name.endsWith(".sample"))
      .map((name) => join(directory, name))
      .find((path) => (lstatSync(path).mode & 0o111) !== 0);
  } catch {
    return undefined;
  }
}
