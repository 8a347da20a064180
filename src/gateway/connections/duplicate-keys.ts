/** All white space characters of JSON have codes up to this. */
const SPACE = 0x20;

/**
 * The name of a property that occurs twice in one object of a JSON text. Parsers differ in which one they use (RFC
 * 8259, section 4). `properties` is the number in the parsed value: a text that cannot contain more names is not
 * searched.
 */
export function findDuplicateKey(text: string, properties: number): string | undefined {
  return mayHoldMore(text, properties) ? search(text) : undefined;
}

/** Counts what looks like the end of a name. Strings may contain more of these. */
function mayHoldMore(text: string, properties: number): boolean {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1;
    while (text.charCodeAt(before) <= SPACE) before -= 1;
    if (text[before] === '"') count += 1;
    if (count > properties) return true;
  }
  return false;
}

function search(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const mark of marksOf(text)) {
    const names = open.at(-1);
    if (mark === 'open') open.push(new Set());
    else if (mark === 'close') open.pop();
    else if (names?.has(mark.name)) return mark.name;
    else names?.add(mark.name);
  }
  return undefined;
}

/** The beginnings and ends of objects and lists, and the names between them. */
function* marksOf(text: string): Generator<'open' | 'close' | { name: string }> {
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if ('{['.includes(sign)) yield 'open';
    if ('}]'.includes(sign)) yield 'close';
    if (sign !== '"') continue;
    const end = endOfString(text, at);
    if (isName(text, end)) yield { name: JSON.parse(text.slice(at, end + 1)) };
    at = end;
  }
}

/** The position of the closing quotation mark. */
function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (isEscaped(text, end));
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= SPACE) next += 1;
  return text[next] === ':';
}
