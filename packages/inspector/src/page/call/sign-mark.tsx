// A state as a sign, a word and a colour.

import { visibleLine } from "@soong/core";
import { signOf } from "./words.ts";

export function SignMark(props: { state: string }) {
  const { icon, word, tone } = signOf(props.state);
  return (
    <span class={`sign-mark tone-${tone}`}>
      <span aria-hidden="true">{icon}</span> {visibleLine(word)}
    </span>
  );
}
