import { expect, test } from "vitest";
import { verifies } from "#laws";
import { isHarmlessGitFormat } from "./harmless-programs.ts";

test("formats made of plain fields are harmless", () => {
  verifies("CMD-4");
  const harmless = [
    "oneline",
    "fuller",
    "%H %an <%ae> %ad%n%s%n%b",
    "format:%h%x09%cI",
    "tformat:%C(auto)%h %d%Creset",
    "%<(20)%an %gd: %gs",
    "100%%",
    "%(refname:short) %(upstream:track) %(committerdate:iso-8601)",
  ];
  for (const format of harmless) {
    expect([format, isHarmlessGitFormat(format)]).toEqual([format, true]);
  }
});

test("a field that asks another program, or an unknown one, is not", () => {
  verifies("CMD-4");
  const doubtful = [
    "%G?",
    "%GS",
    "%+GK",
    "%-G?",
    "% GF",
    "%h %G?",
    "%%%G?",
    "%(signature)",
    "%(signature:grade)",
    "%(describe)",
    "%(describe:tags)",
    "%(trailers)",
    "%(refname)%(signature)",
    "format:%GG",
    "mine",
    "format",
    "%Z",
    "%",
    "%(refname",
    "",
  ];
  for (const format of doubtful)
    expect([format, isHarmlessGitFormat(format)]).toEqual([format, false]);
});
