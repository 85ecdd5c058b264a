import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { isHarmlessGitConfig } from "./git-config.ts";

const USUAL = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
# a comment
; another

[remote "origin"]
	url = git@example.org:me/project.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "feature/a.b"]
	remote = origin
	merge = refs/heads/feature/a.b
[user]
	name = Some "One"
	email = some@one.org
[pull]
	rebase
`;

test("what git itself writes into a new clone is harmless", () => {
  verifies("CMD-4");
  expect(isHarmlessGitConfig(USUAL)).toBe(true);
  expect(isHarmlessGitConfig(USUAL.replaceAll("\n", "\r\n"))).toBe(true);
  expect(isHarmlessGitConfig(USUAL.toUpperCase())).toBe(true);
  expect(isHarmlessGitConfig("")).toBe(true);
});

test("a key that may start a program, read a file or reach a remote is not", () => {
  verifies("CMD-4");
  const hostile = [
    "[core]\n\tfsmonitor = ./evil",
    "[core]\n\thooksPath = evil",
    "[core]\n\tpager = evil",
    "[core]\n\teditor = evil",
    "[core]\n\tsshCommand = evil",
    "[core]\n\tworktree = /",
    "[core]\n\tattributesFile = x",
    "[core]\n\tsplitIndex = true",
    "[CORE]\n\tFSMONITOR = x",
    '[filter "x"]\n\tclean = evil',
    '[diff "x"]\n\ttextconv = evil',
    "[diff]\n\texternal = evil",
    "[gpg]\n\tprogram = evil",
    "[log]\n\tshowSignature = true",
    "[include]\n\tpath = evil",
    '[includeIf "gitdir:/"]\n\tpath = evil',
    "[alias]\n\tst = !evil",
    '[remote "origin"]\n\tpromisor = true',
    '[remote "origin"]\n\tuploadpack = evil',
    "[extensions]\n\tpartialClone = origin",
    "[credential]\n\thelper = !evil",
    '[submodule "x"]\n\tupdate = !evil',
    '[core "x"]\n\tfilemode = true',
    "[diff]\n\tsubmodule = diff",
    '[pretty]\n\tmine = "%G?"',
  ];
  for (const text of hostile) expect(isHarmlessGitConfig(text)).toBe(false);
});

test("a line that is not fully understood is not harmless", () => {
  verifies("CMD-4");
  const odd = [
    "[core] fsmonitor = x",
    "[core]filemode = true",
    "[core.x]\n\tfilemode = true",
    "filemode = true",
    "[core]\n\tfilemode = true \\\n\tfsmonitor = x",
    "[core]\n\teol = lf \\\n[user]\n\tname = x",
    '[branch "a\\"b"]\n\tremote = x',
    '[branch "a]\n\tremote = x',
    "[core\n]\n\tfilemode = true",
    "[]\n\tfilemode = true",
    "[core]\n\tfile mode = true",
    "[core]\n\tfilemode: true",
    "\ufeff[core]\n\tfilemode = true",
    "[core]\n\tfilemode = true\rfsmonitor = x",
    "[core]\n\tfilemode\u2028= x",
    "[core]\n\tfilemode\0",
    "[core]\n\tfilemode\u000b= x",
    "[core]\n\t[core]\n= x",
  ];
  for (const text of odd) expect(isHarmlessGitConfig(text)).toBe(false);
});

test("no text makes a dangerous key harmless", () => {
  verifies("CMD-4");
  const dangerous = fc.constantFrom("fsmonitor = x", "  FSMonitor=x", "hooksPath", "pager = ; #");
  const line = fc.constantFrom(...USUAL.split("\n"), "", "[core]", "[core]\r", "# \\x");
  fc.assert(
    fc.property(fc.array(line), dangerous, fc.array(line), (before, key, after) => {
      const text = [...before, "[core]", key, ...after].join("\n");
      expect(isHarmlessGitConfig(text)).toBe(false);
    }),
  );
});
