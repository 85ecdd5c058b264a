// An example of a step that cannot be undone. It would leave a file.

import { writeFileSync } from "node:fs";

writeFileSync("published.txt", "out in the world\n");
