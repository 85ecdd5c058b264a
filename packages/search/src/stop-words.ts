// Words that say nothing about which tool is meant: the small words of English, and the politeness
// and framing of a request ("can you please help me find a specific"). Verbs that name an operation
// and things a tool could be about are never here.

/** Indexed in names only; in a query they count little, and in a long one not at all. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

const SMALL_WORDS = `
a about above after again all also am an and any anybody anyone anything are aren as at be because
been before being below between both but by can cannot could couldn d did didn do does doesn doing
don during e each either else etc ever every everyone everything few for from further g had hadn has
hasn have haven having he her here hers herself him himself his how however i if in into is isn it
its itself just ll m many may maybe me might more most much must my myself neither no nor not now of
off on once only or other others otherwise our ours ourselves out over own per quite rather re s
same shall she should so some somebody someone something still such t than that the their theirs
them themselves then there these they this those through to too under until up upon us ve very via
was wasn we were weren what whatever when where whether which while who whom whose why will with
within without won would wouldn yes yet you your yours yourself`;

const FRAMING = `
able actually another anymore around assist assistance available based basically bit certain
comprehensive currently different eg example following give given gives giving go going good got
great hello help helped helpful helping hey hi ill im include included includes including ive kindly
know let lets like look looking lot love need needed needs okay one particular please possible
provide provided provides providing really regarding related relevant require required say seem
several specific specifically specified sure tell thank thanks thing things think try trying use
used useful uses using various wanna want wanted wants way well wish wonder wondering`;

const STOP_WORDS: ReadonlySet<string> = new Set(`${SMALL_WORDS} ${FRAMING}`.trim().split(/\s+/));
