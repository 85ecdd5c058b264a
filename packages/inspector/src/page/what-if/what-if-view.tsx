// A stored run with another rule, or under another config.

import { useInspector } from "../app/inspector.ts";
import { Mono } from "../parts/text.tsx";
import { linkToTimeline, writeHash } from "../route/hash-route.ts";
import { WhatIfPanel } from "./what-if-panel.tsx";

export function WhatIfView({ session_id, run_id }: { session_id: string; run_id: string }) {
  const { about } = useInspector();
  return (
    <section class="view what-if">
      <p>
        <a href={linkToTimeline({ session_id, run_id })}>← The run</a>
      </p>
      <h1>What if</h1>
      <p class="quiet">
        How the calls of <Mono text={run_id} /> would have been decided. Nothing is run or changed.
        {about.can.policy && (
          <>
            {" "}
            <a href={writeHash({ view: "policy" })}>All recorded runs at once</a>
          </>
        )}
      </p>
      {about.can.what_if ? (
        <WhatIfPanel run_id={run_id} begin="config" />
      ) : (
        <p>This inspector cannot compare configs.</p>
      )}
    </section>
  );
}
