// The document module: files of text that users write, and the YAML before a text.

export { splitFrontMatter } from "./front-matter.ts";
export { readTextFile } from "./text-file.ts";
