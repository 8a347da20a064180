interface FoundRuns {
  /** The indexes at which all of `wanted` is found. */
  starts: number[];
  /** The longest beginning of `wanted` that is found, the first one of several. */
  longest: { start: number; length: number };
}

/** Finds a run of lines in linear time (Knuth, Morris and Pratt), because both come from a model or a file. */
export function findRuns(lines: readonly string[], wanted: readonly string[], from: number): FoundRuns {
  const back = toFallbacks(wanted);
  const found: FoundRuns = { starts: [], longest: { start: from, length: 0 } };
  let matched = 0;
  for (let at = from; at < lines.length; at++) {
    while (matched > 0 && lines[at] !== wanted[matched]) matched = back[matched - 1] ?? 0;
    if (lines[at] === wanted[matched]) matched += 1;
    if (matched > found.longest.length) found.longest = { start: at - matched + 1, length: matched };
    if (matched === wanted.length) {
      found.starts.push(at - matched + 1);
      matched = back[matched - 1] ?? 0;
    }
  }
  return found;
}

/** For each beginning of the run: the length of the longest shorter one that it ends with. */
function toFallbacks(wanted: readonly string[]): number[] {
  const back = [0];
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = back[matched - 1] ?? 0;
    if (wanted[at] === wanted[matched]) matched += 1;
    back.push(matched);
  }
  return back;
}
