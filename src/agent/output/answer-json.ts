/** The JSON of an answer: the whole answer, or its last fenced block that is JSON. Undefined if there is none. */
export function toJsonText(answer: string): string | undefined {
  const whole = answer.trim();
  return isJson(whole) ? whole : blocksOf(whole).findLast(isJson);
}

/** The fenced blocks, read line by line: a pattern over a whole answer could take quadratic time. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] | undefined;
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```');
    if (!isFence) open?.push(line);
    else if (open) {
      blocks.push(open.join('\n'));
      open = undefined;
    } else open = [];
  }
  return blocks;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // not JSON
  }
}
