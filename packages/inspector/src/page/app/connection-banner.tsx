// Says that the server does not answer, for as long as it does not.

import type { Connection } from "../state/connection.ts";
import type { Store } from "../state/store.ts";
import { useStore } from "../state/use-store.ts";

export function ConnectionBanner(props: { connection: Store<Connection> }) {
  const isLost = useStore(props.connection, ({ state }) => state === "lost");
  return (
    <div role="status" class="banner-place">
      {isLost && (
        <p class="banner">
          <span aria-hidden="true">⚠ </span>
          The inspector is not reachable; trying again. What is shown may be old.
        </p>
      )}
    </div>
  );
}
