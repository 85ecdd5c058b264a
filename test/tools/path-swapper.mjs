// The adversary of the path tests: `node path-swapper.mjs WHAT PLACE OUTSIDE PAUSE` swaps, at any moment and
// until it is killed, the file, the directory or the missing directory at PLACE for a link to OUTSIDE, and back.

import { renameSync, symlinkSync, unlinkSync, writeFileSync, writeSync } from "node:fs";

const [what, place = "", outside = "", pauseMs = "0"] = process.argv.slice(2);
const bell = new Int32Array(new SharedArrayBuffer(4));
writeSync(1, '{"swapping":true}\n');
for (let count = 0; ; count += 1) {
  if (what === "file") {
    symlinkSync(outside, `${place}.spare`);
    renameSync(`${place}.spare`, place);
    pause();
    writeFileSync(`${place}.spare`, "inside");
    renameSync(`${place}.spare`, place);
  } else if (what === "missing") {
    try {
      symlinkSync(outside, place);
      pause();
      unlinkSync(place);
    } catch {
      // Someone made the directory: out of the way with it.
      renameSync(place, `${place}.made-${count}`);
    }
  } else {
    renameSync(place, `${place}.real`);
    symlinkSync(outside, place);
    pause();
    unlinkSync(place);
    renameSync(`${place}.real`, place);
  }
  pause();
}

/** Mostly short, sometimes long enough for a whole write to fit in. */
function pause() {
  const milliseconds = Number(pauseMs) * Math.random() ** 4;
  if (milliseconds > 0) {
    Atomics.wait(bell, 0, 0, milliseconds);
  }
}
