import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { ConfigError, parseConfig } from "../packages/cli/src/config/index.ts";
import { configPage, HAND_WRITTEN_ABOVE } from "../scripts/config-page.ts";

/** Tables and lines as the formatter may lay them out. */
function words(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ").trim();
}

test("the page of all settings is as their definition is (scripts/write-config-page.ts makes it anew)", () => {
  verifies("CONF-3");
  const page = readFileSync("docs/config.md", "utf8");
  expect(words(page)).toBe(words(configPage(page)));
  expect(page.split(HAND_WRITTEN_ABOVE)).toHaveLength(2);
});

test("the mistakes it shows are reported in exactly these words", () => {
  verifies("CONF-2");
  const [, shown = ""] = /```text\n(.*?)\n```/s.exec(readFileSync("docs/config.md", "utf8")) ?? [];
  const text =
    "\n\n[tools]\ndefault_timeout = 1\n\n\n[[permissions.rules]]\ntool = '*'\ndecision = 'alow'";
  const parsing = () => parseConfig(text, "/home/me/.soong-agent/config.toml");
  expect(parsing).toThrow(ConfigError);
  expect(parsing).toThrow(shown);
});
