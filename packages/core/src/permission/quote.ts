// Text from outside inside our own sentences. A path or a host may hold line breaks, terminal escapes
// or direction marks; in a question to a person none of them may take effect.

import { visibleJson } from "../result/index.ts";

export function quote(text: string): string {
  return visibleJson(text);
}
