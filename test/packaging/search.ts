// What a user does first with the installed package: find a tool by words, one of them misspelt.

import { createSearchIndex } from "@soong/search";

const index = createSearchIndex([
  { name: "code.read_file", description: "Read a text file" },
  { name: "web.fetch", description: "Download a page" },
]);
const [best] = index.search("raed file", { limit: 1 });
if (best?.tool_name !== "code.read_file") throw new Error(`found ${best?.tool_name}`);
