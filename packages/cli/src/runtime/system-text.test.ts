import { verifies } from "#laws";
import { expect, test } from "vitest";
import { renderSystemText } from "./user-tools.ts";

test("the system text has the project, the day, the platform, and no branch where there is none", () => {
  verifies("CTX-4");
  const [where = ""] = renderSystemText("/", new Date(2026, 0, 5, 23, 59));
  expect(where).toContain("The project is /;");
  expect(where).toContain("Today is 2026-01-05.");
  expect(where).toContain(`The platform is ${process.platform} (${process.arch}).\n`);
});
