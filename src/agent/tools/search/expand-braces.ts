/**
 * The patterns without braces that a pattern stands for: `a.{js,ts}` is `a.js` and `a.ts`. Undefined for more than
 * MAX_PATTERNS. Braces without a comma or an end are ordinary characters.
 */
export function expandBraces(pattern: string): string[] | undefined {
  const found = findBraces(pattern);
  if (!found) return [pattern];
  const { before, alternatives, after } = found;
  const expanded: string[] = [];
  for (const alternative of alternatives) {
    const patterns = expandBraces(`${before}${alternative}${after}`);
    if (!patterns || expanded.length + patterns.length > MAX_PATTERNS) return undefined;
    expanded.push(...patterns);
  }
  return expanded;
}

const MAX_PATTERNS = 100;

interface Braces {
  before: string;
  alternatives: string[];
  after: string;
}

/** The first braces with a comma between them at their own level. */
function findBraces(pattern: string): Braces | undefined {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    const found = alternativesAt(pattern, start);
    if (found && found.alternatives.length > 1) return { before: pattern.slice(0, start), ...found };
  }
  return undefined;
}

function alternativesAt(pattern: string, start: number): Omit<Braces, 'before'> | undefined {
  const alternatives: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at++) {
    if (pattern[at] === '{') depth += 1;
    if (pattern[at] === '}') depth -= 1;
    if (depth === 0 || (depth === 1 && pattern[at] === ',')) {
      alternatives.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { alternatives, after: pattern.slice(from) };
  }
  return undefined;
}
