import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** Lines that differ: two very different texts are not compared to the end, which would take longer than anybody waits. */
const MOST_CHANGES = 400;
const MAX_CHARS = 100_000;

/**
 * What a stored call was about to do, out of its arguments: the history has no preview. An edit is the difference of its
 * two pieces, a written file its content; '' where there is nothing to show beyond the header.
 */
export function recallPreview({ name, arguments: text }: { name: string; arguments: string }): string {
  const { path, old_string, new_string, content, command } = readTexts(text);
  if (name === 'edit_file' && path !== undefined && old_string !== undefined && new_string !== undefined) {
    return toDiff(path, old_string, new_string);
  }
  if (name === 'write_file' && path !== undefined && content !== undefined) return toDiff(path, undefined, content);
  return name === 'bash' && command?.includes('\n') ? command : '';
}

function toDiff(path: string, before: string | undefined, after: string): string {
  if ((before?.length ?? 0) + after.length > MAX_CHARS) return after;
  const from = before === undefined ? '/dev/null' : path;
  // A new file is compared with nothing, which is quick at any length.
  const limit = before === undefined ? {} : { maxEditLength: MOST_CHANGES };
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, ...limit };
  return createTwoFilesPatch(from, path, withLineEnd(before ?? ''), withLineEnd(after), '', '', options) ?? after;
}

/** A piece of a file seldom ends with a line: that is no difference worth telling. */
const withLineEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function readTexts(text: string): Record<string, string | undefined> {
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return {}; // malformed arguments: the result says so
  }
}
