import { readdirSync, readFileSync } from "node:fs";
import { openSandbox } from "@soong/platform";
import { codeTools, readArtifactTool, webFetchTool } from "@soong/tools";
import { describe, expect, test } from "vitest";
import { HAND_WRITTEN, toolPage } from "../scripts/tool-page.ts";

const tools = [...codeTools({ sandbox: openSandbox() }), webFetchTool(), readArtifactTool()];

/** Tables and lines as the formatter may lay them out. */
function words(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ");
}

describe("the pages of the built-in tools", () => {
  test("there is one for each, and none for a tool that is gone", () => {
    const pages = readdirSync("docs/tools").filter((name) => name !== "README.md");
    expect(pages.toSorted()).toEqual(tools.map(({ name }) => `${name}.md`).toSorted());
  });

  for (const tool of tools) {
    test(`${tool.name} is described as its definition is (scripts/tool-pages.ts makes it anew)`, () => {
      const page = readFileSync(`docs/tools/${tool.name}.md`, "utf8");
      expect(words(page)).toBe(words(toolPage(tool, page)));
      expect((page.split(HAND_WRITTEN)[1] ?? "").trim(), "a part written by hand").not.toBe("");
    });
  }
});
