/** Longer texts are not looked for with `indexOf`: for some that were made for it, each character takes as long as the text. */
const LONG = 400;

/** Where a text is in another one, without overlaps, at most so often. Both come from a model or a file. */
export const findText = (text: string, wanted: string, most: number): number[] =>
  wanted.length < LONG ? findShort(text, wanted, most) : findLong(text, wanted, most);

function findShort(text: string, wanted: string, most: number): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && starts.length < most; at = text.indexOf(wanted, at + wanted.length))
    starts.push(at);
  return starts;
}

/** In linear time (Knuth, Morris and Pratt). */
function findLong(text: string, wanted: string, most: number): number[] {
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
