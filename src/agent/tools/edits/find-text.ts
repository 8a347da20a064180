/**
 * Where a text is in another one, without overlaps, at most so often. In linear time (Knuth, Morris and Pratt), because both
 * come from a model or a file: for some long texts `indexOf` takes hours.
 */
export function findText(text: string, wanted: string, most: number): number[] {
  const back = toFallbacks(wanted);
  const starts: number[] = [];
  let matched = 0;
  for (let at = 0; at < text.length && starts.length < most; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = back[matched - 1] ?? 0;
    if (unit === wanted.charCodeAt(matched)) matched += 1;
    if (matched < wanted.length) continue;
    starts.push(at - matched + 1);
    matched = 0;
  }
  return starts;
}

/** For each beginning of the text: the length of the longest shorter one that it ends with. */
function toFallbacks(wanted: string): Uint32Array {
  const back = new Uint32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const unit = wanted.charCodeAt(at);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = back[matched - 1] ?? 0;
    if (unit === wanted.charCodeAt(matched)) matched += 1;
    back[at] = matched;
  }
  return back;
}
