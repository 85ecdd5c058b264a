import type { Fact, ToolGrant } from "@soong/core";
import { StoreError } from "@soong/store";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { findRemoteHolders, listRemoteGrants, revokeRemoteGrant } from "./remote-grants.ts";

const HOLDER = {
  session_id: "s1",
  pid: 17,
  host: "host-a",
  since: "2026-01-01T00:00:10.000Z",
  project: "/p",
  runs: [],
};

test("grants are those of the process that holds the session now, and were not revoked", async () => {
  verifies("CLI-7");
  const facts = [
    created("g1", "2026-01-01T00:00:05.000Z"),
    created("g2", "2026-01-01T00:00:11.000Z"),
    created("g3", "2026-01-01T00:00:12.000Z"),
    writtenFact({ type: "grant.revoked", session_id: "s1", data: { grant_id: "g2" } }),
    created("g4", "2026-01-01T00:00:13.000Z", "s2"),
    // Changed by hand.
    writtenFact({ type: "grant.created", session_id: "s1", data: {} }),
    writtenFact({ type: "grant.created", session_id: "s1", data: { grant: { grant_id: "g5" } } }),
  ];
  const granted = await listRemoteGrants({ factsOfTypes: async () => facts }, [HOLDER]);
  expect(granted).toMatchObject([
    { host: "host-a", pid: 17, project: "/p", grant: { grant_id: "g3" } },
  ]);
});

test("a damaged session takes the grants of no other one from the list", async () => {
  verifies("CLI-7", "EVENT-6");
  const damaged = { ...HOLDER, session_id: "s2" };
  const granted = await listRemoteGrants(
    {
      async factsOfTypes(session_ids) {
        if (session_ids.includes("s2")) {
          throw new StoreError("store_corrupted", "A fact is not what was written.");
        }
        return [created("g1", "2026-01-01T00:00:11.000Z")];
      },
    },
    [damaged, HOLDER],
  );
  expect(granted.map(({ grant }) => grant.grant_id)).toEqual(["g1"]);
  const away = new StoreError("store_unavailable", "It does not answer.");
  const listed = listRemoteGrants({ factsOfTypes: () => Promise.reject(away) }, [HOLDER]);
  await expect(listed).rejects.toBe(away);
});

test("a session whose socket is here is not remote, and a store of one machine has none", async () => {
  const cluster = { holders: async () => [HOLDER, { ...HOLDER, session_id: "s2" }] } as never;
  expect(await findRemoteHolders({ cluster }, new Set(["s2"]))).toEqual([HOLDER]);
  expect(await findRemoteHolders({}, new Set())).toEqual([]);
  const grant = { session_id: "s1", grant_id: "g1" };
  expect(await revokeRemoteGrant({} as never, grant, { env: {} })).toBe("gone");
});

function created(grant_id: string, granted_at: string, session_id = "s1"): Fact {
  const grant: Partial<ToolGrant> = {
    grant_id,
    session_id,
    granted_at,
    tool_name: "t",
    scopes: [],
  };
  return writtenFact({ type: "grant.created", session_id, data: { grant } });
}
