import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentHome } from "../config/index.ts";
import { homeIn } from "./compiled-code.ts";

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
      const home = homeIn(env);
      if (home === undefined) expect(() => agentHome(env)).toThrow("absolute");
      else expect(join(home, "cache")).toBe(join(agentHome(env), "cache"));
    }),
  );
});
