// The process itself: from its arguments to its exit code.

import { main } from "./index.ts";

process.exitCode = await main(process.argv.slice(2));
