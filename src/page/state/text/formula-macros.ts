/** A longer formula was not written for reading. */
const MAX_CHARS = 4_000;
/** What TeX allows here. */
const USUAL = 1_000;
const DEFINES = /\\(?:[egx]?def|newcommand|renewcommand|providecommand)(?![A-Za-z])/;
/** So long may a formula become that defines macros. */
const MOST_CHARS = 40_000;

/**
 * How often macros may be used in a formula; undefined if it is too long. Each use of a macro that the formula defines may be
 * nearly as long as the formula, so that 4 kB could become megabytes.
 */
export function macrosFor(tex: string): number | undefined {
  if (tex.length > MAX_CHARS) return undefined;
  return DEFINES.test(tex) ? Math.min(USUAL, Math.floor(MOST_CHARS / tex.length)) : USUAL;
}
