// Stands for the step that nobody can take back. It would leave a file.

import { writeFileSync } from "node:fs";

writeFileSync("published.txt", "out in the world\n");
