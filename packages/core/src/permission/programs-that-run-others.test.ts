import { expect, test } from "vitest";
import { verifies } from "#laws";
import { runsOtherPrograms } from "./programs-that-run-others.ts";

test.each([
  "/bin/sh",
  "/usr/bin/python3.11",
  "/usr/bin/python3.13t",
  "/usr/local/bin/node",
  "/usr/bin/env",
  "/usr/bin/sudo",
  "/usr/bin/xargs",
  "/usr/bin/git",
  "/usr/bin/find",
  "C:\\Windows\\System32\\CMD.EXE",
  "/usr/bin/gcc-12",
  "/usr/bin/clang++-15",
  "/lib64/ld-linux-x86-64.so.2",
  "/bin/busybox",
])("%s runs whatever its arguments say", (executable) => {
  verifies("PERM-5");
  expect(runsOtherPrograms(executable)).toBe(true);
});

test.each([
  "/bin/ls",
  "/bin/cat",
  "/usr/bin/wc",
  "/usr/bin/sha256sum",
  "/opt/x/shred",
  "/usr/bin/gitk-viewer",
])("%s does only what it does", (executable) => {
  verifies("PERM-5");
  expect(runsOtherPrograms(executable)).toBe(false);
});
