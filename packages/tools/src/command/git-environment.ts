// What a proven git command is handed (CMD-7): the repository that was checked, by path, and settings that
// keep it from writing, from starting programs and from reading any other config.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Roots } from "@soong/core";
import { parseSettings } from "./git-config.ts";
import type { CheckedRepository } from "./harmless-repository.ts";
import { canonicalPath, isWithinRoots } from "./places-of-command.ts";

type Environment = Readonly<Record<string, string>>;

export function gitEnvironment(
  repository: Exclude<CheckedRepository, { kind: "doubtful" }>,
  env: Environment,
  roots: Roots,
): Record<string, string> {
  const settings = [...SETTINGS, ...settingsOfUser(env, roots)];
  return {
    ...PLAIN,
    ...(repository.kind === "none"
      ? {}
      : {
          GIT_DIR: repository.git_dir,
          GIT_COMMON_DIR: repository.common_dir,
          GIT_WORK_TREE: repository.work_tree,
        }),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

const PLAIN = {
  // Otherwise `status` and `diff` write the index.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
};

/** They count more than any file of the repository, should one be written meanwhile. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["diff.autoRefreshIndex", "false"],
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.pager", "cat"],
  ["credential.helper", ""],
  ["log.showSignature", "false"],
  ["submodule.recurse", "false"],
  ["maintenance.auto", "false"],
];

/** What of the user's own config changes what is shown, and can do nothing else. */
const OF_USER =
  /^(?:core\.(?:excludesfile|autocrlf|eol|safecrlf|quotepath|ignorecase|precomposeunicode)|status\.[a-z]+|log\.date)$/;

function settingsOfUser(env: Environment, roots: Roots): (readonly [string, string])[] {
  const {
    HOME: home,
    XDG_CONFIG_HOME: xdg = home === undefined ? undefined : join(home, ".config"),
  } = env;
  const files = [
    ...(xdg === undefined ? [] : [join(xdg, "git/config")]),
    ...(home === undefined ? [] : [join(home, ".gitconfig")]),
  ];
  return files.flatMap((file) => {
    const path = canonicalPath("/", file);
    // Where the agent may write it is not the user's own.
    if (path === undefined || isWithinRoots(roots, path)) return [];
    try {
      return parseSettings(readFileSync(path, "utf8")).flatMap((setting) =>
        setting?.value !== undefined && OF_USER.test(setting.key)
          ? [[setting.key, setting.value] as const]
          : [],
      );
    } catch {
      return [];
    }
  });
}
