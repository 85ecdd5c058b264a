// Puts the page into the document.

import { render } from "preact";

export function start(body: HTMLElement): void {
  render(<main>Soong inspector</main>, body);
}
