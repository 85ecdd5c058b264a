// Says that the server does not answer, for as long as it does not.

import { visibleLine } from "@soong/core";
import type { Connection } from "../state/changes-loop.ts";
import { type Store, useStore } from "../state/store.ts";

export function ConnectionBanner(props: { connection: Store<Connection> }) {
  const words = useStore(props.connection, wordsFor);
  return (
    <div role="status" class="banner-place">
      {words !== undefined && (
        <p class="banner">
          <span aria-hidden="true">⚠ </span>
          {words}
        </p>
      )}
    </div>
  );
}

function wordsFor(connection: Connection): string | undefined {
  if (connection.state !== "lost") return undefined;
  return connection.why === undefined
    ? "The inspector is not reachable; trying again. What is shown may be old."
    : `The inspector could not report what is new; trying again. ${visibleLine(connection.why)}`;
}
