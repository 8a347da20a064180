import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { readTodo, TODO_TOOL, toTodoLines } from '../../../../protocol/text/todo-words.ts';

/** Maximum number of differing lines: comparing very different texts in full would take too long. */
const MOST_CHANGES = 400;
const MAX_CHARS = 100_000;

export interface RecalledPreview {
  text: string;
  isDiff: boolean;
  /** Whether the line numbers of the diff are those of the file: an edit does not say where its texts are. */
  isNumbered: boolean;
}

/**
 * Rebuilds the preview of a stored call from its arguments, as the history has none. An edit becomes a diff of its two
 * texts, several edits as many diffs, a written file its content, and a patch stays as the model wrote it. The text is empty if the subject already shows all of it.
 */
export function recallPreview({ name, arguments: text }: { name: string; arguments: string }): RecalledPreview {
  const args = readArguments(text);
  const { path, content, command, patch } = textsIn(args);
  if (name === 'edit_file' && path !== undefined) return toEditDiff(path, args);
  if (name === TODO_TOOL) return toText(toTodoLines(readTodo(text) ?? []).join('\n'));
  if (name === 'apply_patch' && patch !== undefined) return toText(patch);
  if (name === 'write_file' && path !== undefined && content !== undefined) return toWritten(path, content);
  return toText(name === 'bash' && command?.includes('\n') ? command : '');
}

const toText = (text: string): RecalledPreview => ({ text, isDiff: false, isNumbered: false });

function toDiff(path: string, before: string | undefined, after: string): RecalledPreview {
  if ((before?.length ?? 0) + after.length > MAX_CHARS) return toText(after);
  const from = before === undefined ? '/dev/null' : path;
  // A new file is compared with an empty text, which is fast at any length.
  const limit = before === undefined ? {} : { maxEditLength: MOST_CHANGES };
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, ...limit };
  const diff = createTwoFilesPatch(from, path, withLineEnd(before ?? ''), withLineEnd(after), '', '', options);
  return diff === undefined ? toText(after) : { text: diff, isDiff: true, isNumbered: false };
}

function toWritten(path: string, content: string): RecalledPreview {
  const written = toDiff(path, undefined, content);
  return { ...written, isNumbered: written.isDiff };
}

/** Part of a file rarely ends with a line end, so a missing one is not shown as a change. */
const withLineEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function toEditDiff(path: string, { edits, ...single }: Record<string, unknown>): RecalledPreview {
  const all = (Array.isArray(edits) ? edits : [single]).map((edit) => textsIn(toRecord(edit)));
  const diffs = all.flatMap(({ old_string, new_string }) =>
    old_string === undefined || new_string === undefined ? [] : [toDiff(path, old_string, new_string)],
  );
  return {
    text: diffs.map(({ text }) => text).join(''),
    isDiff: diffs.length > 0 && diffs.every(({ isDiff }) => isDiff),
    isNumbered: false,
  };
}

function readArguments(text: string): Record<string, unknown> {
  try {
    return toRecord(JSON.parse(text));
  } catch {
    return {}; // malformed arguments; the result reports them
  }
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const textsIn = (record: Record<string, unknown>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
