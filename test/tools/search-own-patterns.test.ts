import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, dataOf } from "./workbench.ts";

test("files that the user's own patterns name are omitted from a search and counted, for any query", async () => {
  verifies("PATH-3", "CODE-3");
  const bench = await createWorkbench({ policy: { sensitive_paths: ["secrets/**", "*.vault"] } });
  try {
    await bench.write("secrets/deep/a.txt", "needle in secret\n");
    await bench.write("b.vault", "needle in vault\n");
    await bench.write("c.txt", "needle in plain\n");
    for (const query of ["needle", "nothing like it", "in (secret|vault)"]) {
      const result = await bench.call("code.search", { query });
      expect(result.status).toBe("succeeded");
      expect(dataOf(result)["sensitive_files_left_out"], query).toBe(2);
      expect(JSON.stringify(dataOf(result)["matches"])).not.toMatch(/secret|vault/);
    }
    const found = await bench.call("code.search", { query: "needle" });
    expect(dataOf(found)["matches"]).toMatchObject([{ path: "c.txt", line: 1 }]);
  } finally {
    await bench.close();
  }
});
