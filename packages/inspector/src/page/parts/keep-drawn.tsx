// A component that is drawn again only when one of its props is another one.

import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";

/** `Props` have the same names each time. */
export function keepDrawn<Props extends object>(Draw: ComponentType<Props>) {
  return (props: Props) => useMemo(() => <Draw {...props} />, Object.values(props));
}
