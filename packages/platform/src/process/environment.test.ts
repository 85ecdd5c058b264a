import { verifies } from "#laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandEnvironment, DEFAULT_ENV_ALLOWLIST } from "./program.ts";

describe("the environment of a command", () => {
  test("is what the allowlist names and nothing else", () => {
    verifies("CMD-1");
    const from = {
      PATH: "/usr/bin",
      HOME: "/home/me",
      LANG: "C.UTF-8",
      LC_TIME: "de_DE",
      TZ: "UTC",
      TERM: "xterm",
      LD_PRELOAD: "/evil.so",
      LD_LIBRARY_PATH: "/evil",
      DYLD_INSERT_LIBRARIES: "/evil",
      NODE_OPTIONS: "--require /evil",
      GITHUB_TOKEN: "ghp_secret",
      AWS_SECRET_ACCESS_KEY: "secret",
      SSH_AUTH_SOCK: "/agent",
      BASH_ENV: "/evil",
      ENV: "/evil",
      SOONG_PROCESS: "outer.1;",
      ABSENT: undefined,
    };
    expect(commandEnvironment({ from })).toEqual({
      PATH: "/usr/bin",
      HOME: "/home/me",
      LANG: "C.UTF-8",
      LC_TIME: "de_DE",
      TZ: "UTC",
      TERM: "xterm",
    });
  });

  test("comes from this process unless another one is given", () => {
    expect(commandEnvironment({ allowlist: ["HOME"] })).toEqual({ HOME: process.env.HOME });
  });

  test("takes another list and explicit extras", () => {
    const from = { PATH: "/bin", MY_ONE: "1", MY_TWO: "2", MYSELF: "3", HOME: "/h" };
    const environment = commandEnvironment({
      from,
      allowlist: ["MY_*", "HOME"],
      extra: { HOME: "/elsewhere", API_TOKEN: "by name" },
    });
    expect(environment).toEqual({
      MY_ONE: "1",
      MY_TWO: "2",
      HOME: "/elsewhere",
      API_TOKEN: "by name",
    });
  });

  test.each([
    ["/usr/bin:.:/bin", "/usr/bin:/bin"],
    [":/usr/bin::/bin:", "/usr/bin:/bin"],
    ["node_modules/.bin:/bin:~/bin", "/bin"],
    ["", undefined],
    [".:", undefined],
  ])("makes of the PATH %j only the absolute entries", (given, kept) => {
    verifies("CMD-1");
    expect(commandEnvironment({ from: { PATH: given } }).PATH).toBe(kept);
    expect(commandEnvironment({ from: {}, extra: { PATH: given } }).PATH).toBe(kept);
  });

  test("never holds a name that neither list has", () => {
    verifies("CMD-1");
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom("PATH", "PATHS", "LC_ALL", "LC", "HOME", "HOMER"),
    );
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.string()),
        fc.dictionary(names, fc.string()),
        (from, extra) => {
          for (const name of Object.keys(commandEnvironment({ from, extra }))) {
            const isAllowed = DEFAULT_ENV_ALLOWLIST.includes(name) || name.startsWith("LC_");
            expect(isAllowed || Object.hasOwn(extra, name)).toBe(true);
          }
        },
      ),
    );
  });
});
