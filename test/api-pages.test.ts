import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { verifies } from "#laws";
import { beforeAll, expect, test } from "vitest";
import { apiPage } from "../scripts/api-page.ts";
import { packageFolders } from "../scripts/layout.ts";

const folders = packageFolders();

beforeAll(() => {
  const compiler = resolve("node_modules", "typescript", "bin", "tsc");
  const projects = folders.map((folder) => join("packages", folder));
  execFileSync(process.execPath, [compiler, "--build", ...projects], { stdio: "inherit" });
});

test.each(folders)(
  "the API page of %s is as its types say (scripts/write-api-pages.ts makes it anew)",
  (folder) => {
    verifies("DOC-1");
    const page = readFileSync(join("docs", "api", `${folder}.md`), "utf8");
    const written = sections(page);
    const made = sections(apiPage(folder));
    const stale = [...new Set([...written.keys(), ...made.keys()])].filter(
      (heading) => written.get(heading) !== made.get(heading),
    );
    expect(stale).toEqual([]);
  },
);

/** By heading, whatever the formatter did with the spaces. */
function sections(markdown: string): Map<string, string> {
  return new Map(
    markdown.split(/^(?=#{1,3} )/m).map((section) => {
      const [heading = ""] = section.split("\n", 1);
      return [heading, section.replaceAll(/\s+/g, " ").trim()];
    }),
  );
}
