import { PassThrough } from "node:stream";
import { SoongError } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { createOutput, describeFailure, fit, pad, UsageError, wrap } from "./index.ts";

function streamOf(about: { isTTY?: boolean; columns?: number } = {}) {
  return Object.assign(new PassThrough(), about);
}

describe("colours", () => {
  it.each([
    ["on a terminal", true, {}, true],
    ["in a pipe", false, {}, false],
    ["on a terminal with NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["on a terminal with an empty NO_COLOR", true, { NO_COLOR: "" }, true],
    ["on a terminal that cannot", true, { TERM: "dumb" }, false],
    ["in a pipe with FORCE_COLOR", false, { FORCE_COLOR: "1" }, true],
    ["on a terminal with FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
  ])("%s", (_, isTTY, env, coloured) => {
    verifies("CLI-6");
    const { colours } = createOutput(streamOf({ isTTY }), streamOf(), env);
    expect(colours.red("x")).toBe(coloured ? "\u001b[31mx\u001b[39m" : "x");
  });
});

describe("the width", () => {
  it("is that of the terminal, or 80", () => {
    verifies("CLI-6");
    expect(createOutput(streamOf({ isTTY: true, columns: 132 }), streamOf(), {}).width).toBe(132);
    expect(createOutput(streamOf({ columns: 132 }), streamOf(), {}).width).toBe(80);
  });

  it("bounds lines", () => {
    expect(fit("😀😀😀😀", 5)).toBe("😀😀…");
    expect(fit("项目说明", 8)).toBe("项目说明");
    expect(fit("项目说明", 7)).toBe("项目说…");
    expect(pad("项目", 6)).toBe("项目  ");
    expect(fit("abc", 3)).toBe("abc");
    expect(wrap("one two three", 9, "  ")).toEqual(["  one two", "  three"]);
    expect(wrap("请先读文件。 then 再改", 10)).toEqual(["请先读文", "件。 then", "再改"]);
  });
});

describe("a reader that goes away", () => {
  it("ends the output, and those waiting for it", async () => {
    verifies("CLI-6");
    const stdout = new PassThrough({ highWaterMark: 1 });
    const output = createOutput(stdout, streamOf(), {});
    output.line("more than it holds");
    const waiting = output.drained();
    stdout.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await waiting;
    expect(output.isClosed).toBe(true);
    expect(() => output.line("dropped")).not.toThrow();
  });
});

describe("a failure", () => {
  it.each([
    ["of the system", Object.assign(new Error("EACCES: …"), { code: "EACCES", path: "/h" }), 1],
    ["of the user", new UsageError("/h is wrong"), 2],
    ["of the set-up", new SoongError("invalid_setup", "/h is wrong", { exitCode: 2 }), 2],
  ])("%s names the place and has an exit code", (_, error, exitCode) => {
    verifies("CLI-6");
    const failure = describeFailure(error);
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.message).toMatch(/^\/h (cannot be used|is wrong)/);
  });

  it("to make a directory is not reported as one that is missing", () => {
    const missing = { code: "ENOENT", path: "/h" };
    const messageOf = (more: object): string =>
      describeFailure(Object.assign(new Error("ENOENT: …"), missing, more)).message;
    expect(messageOf({ syscall: "open" })).toContain("not there");
    expect(messageOf({ syscall: "mkdir" })).toContain("cannot be made");
  });

  it("that a runtime answered with is passed on as it is", () => {
    verifies("CLI-6");
    const failure = describeFailure(new SoongError("refused", "Answer from another terminal."));
    expect(failure).toEqual({ message: "Answer from another terminal.", exitCode: 1 });
  });

  it("of our own is reported in one line, without a stack", () => {
    verifies("CLI-6");
    const { message, exitCode } = describeFailure(new TypeError("x is\nundefined"));
    expect(exitCode).toBe(1);
    expect(message).toMatch(/^Soong itself failed: x is\\nundefined\./);
  });
});
