import { isAbsolute, join } from "node:path";
import fc from "fast-check";
import { expect, test, vi, onTestFinished } from "vitest";
import { verifies } from "#laws";
import { agentHome } from "../config/index.ts";
import { findHome } from "./compile-cache.ts";

const path = fc.constantFrom(
  "",
  "/",
  "/srv/soong",
  "/srv//soong/",
  "/srv/../soong",
  "soong",
  "./x",
);

test("compiled code is kept in the very home the config finds, and nowhere when there is none", () => {
  fc.assert(
    fc.property(fc.record({ SOONG_AGENT_HOME: path, HOME: path }, { requiredKeys: [] }), (env) => {
      const home = findHome(env);
      if (home === undefined) expect(() => agentHome(env)).toThrow("absolute");
      else expect(join(home, "cache")).toBe(join(agentHome(env), "cache"));
    }),
  );
});

test("a home is never one that a project could bring along, also where HOME says nothing or something odd", () => {
  verifies("CONF-1");
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const odd of ["", "somewhere", "."]) {
    vi.stubEnv("HOME", odd);
    expect(agentHome(process.env)).toSatisfy(isAbsolute);
    expect(findHome(process.env)).toBe(agentHome(process.env));
  }
});
