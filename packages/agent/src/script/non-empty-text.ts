// Text of a script that something has to be in. It may be any: what hostile models and tools send is tried with scripts.

import { shape } from "@soong/platform";

export const nonEmptyText = shape.refine(shape.anyText, (text, place) => {
  if (text === "") place.report("is empty");
});
