import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { commentedConfig } from "./commented-config.ts";
import { parseWithWarnings } from "./parse-config.ts";
import { SECTIONS } from "./sections.ts";

const text = commentedConfig();
const lines = text.split("\n");
const defaults = parseWithWarnings("", "config.toml");
const isDefault = (line: string): boolean => /^#[a-z_]+ = /.test(line);
const isExample = (line: string): boolean => line.startsWith("#   ");

describe("the config that soong init writes", () => {
  test("holds nothing but defaults", () => {
    verifies("CONF-2");
    expect(parseWithWarnings(text, "config.toml")).toEqual(defaults);
  });

  test("still does with any one of its lines taken into use, and with all of them", () => {
    verifies("CONF-2");
    const commented = lines.flatMap((line, index) => (isDefault(line) ? [index] : []));
    expect(commented.length).toBeGreaterThan(25);
    for (const taken of commented) {
      const with1 = lines.map((line, index) => (index === taken ? line.slice(1) : line));
      expect(parseWithWarnings(with1.join("\n"), "config.toml")).toEqual(defaults);
    }
    const all = lines.map((line) => (isDefault(line) ? line.slice(1) : line));
    expect(parseWithWarnings(all.join("\n"), "config.toml")).toEqual(defaults);
  });

  test("has examples that can be taken into use all at once, beside every default", () => {
    verifies("CONF-2");
    const used = lines.map((line) => (isDefault(line) || isExample(line) ? line.slice(1) : line));
    const { values } = parseWithWarnings(used.join("\n"), "config.toml");
    expect(values.model.default).toBe("local");
    expect(values.permissions.rules).toHaveLength(2);
    expect(values.permissions.destructive).toBe("ask");
    expect(values.tools.overrides).toEqual({
      "code.run_command": { timeout_ms: 300_000, readonly: undefined },
    });
    expect(values.store.retention).toEqual({ max_age_days: 90, max_bytes: 10_000_000_000 });
  });

  test("has every section and every setting", () => {
    verifies("CONF-3");
    for (const [name, section] of Object.entries(SECTIONS.keys)) {
      expect(text).toMatch(new RegExp(`^(\\[${name}\\]|#${name} = )`, "m"));
      if (!("keys" in section)) continue;
      for (const key of Object.keys(section.keys)) expect(text).toContain(key);
    }
  });

  test("fits a terminal", () => {
    const prose = lines.filter((line) => !isExample(line));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(text.endsWith("\n")).toBe(true);
    expect(text.endsWith("\n\n")).toBe(false);
  });
});
