// Takes hold of what stands at a judged path, and makes sure that it stands there. Errors of the
// operating system go through as they are: only the caller knows what it was looking for.

import { pathChanged } from "./path-failure.ts";
import type { Opening, PinnedNode } from "./pinned-node.ts";

/** `name` is another way to the same place, through the handle of its directory. */
export async function pinJudged(
  judged: string,
  opening: Opening,
  name: string = judged,
): Promise<PinnedNode> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const node = await opening.pin(name, judged);
    try {
      if (await node.isAtJudgedPath()) {
        return node;
      }
    } catch (error) {
      await node.close();
      throw error;
    }
    await node.close();
  }
  throw pathChanged(judged);
}

/** A file replaced by a whole new one between two looks is everyday work: then look again. */
const MOST_ATTEMPTS = 5;
