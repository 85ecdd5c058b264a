// The page module: what the browser runs. Imports types of `wire` and nothing else of ours.

import { start } from "./start.tsx";

start(document.body);
