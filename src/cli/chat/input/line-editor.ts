import { createInterface, type Key } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';

/** The text being typed, of one or more lines. */
export interface LineEditor {
  readonly text: string;
  /** Code units before the cursor. */
  readonly cursor: number;
  /** Newest first. */
  readonly history: readonly string[];
  /** Handles one key with all commands of readline: words, kill and yank, undo, history. */
  press(text: string | undefined, key: Key): void;
  insert(text: string): void;
  /** Empties the line and returns its text, which becomes the newest entry of the history. */
  take(): string;
  replace(text: string): void;
  close(): void;
}

interface LineEditorOptions {
  /** Newest first. */
  history: readonly string[];
  /** Completions of the line. */
  complete(line: string): string[];
  onHistory(history: readonly string[]): void;
}

/** Stands for a line end inside readline, which handles only single lines. A private-use character is never typed. */
const LINE_END = '\ue00a';
const HISTORY = 500;

/** Readline without a terminal: it edits the text, and the caller draws it. */
export function createLineEditor({ history, complete, onHistory }: LineEditorOptions): LineEditor {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({
    input: new PassThrough(),
    output: nowhere,
    terminal: true,
    history: history.map(toOneLine),
    historySize: HISTORY,
    removeHistoryDuplicates: true,
    completer: (line: string): [string[], string] => [complete(line), line],
  });
  let known = history;
  reader.on('history', (entries: string[]) => {
    known = entries.map(toLines);
    onHistory(known);
  });
  const clear = () => {
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
  };
  const insert = (text: string) => {
    if (text !== '') reader.write(toOneLine(text.replaceAll(LINE_END, '')));
  };
  return {
    get text() {
      return toLines(reader.line);
    },
    get cursor() {
      return reader.cursor;
    },
    get history() {
      return known;
    },
    press: (text, key) => reader.write(text ?? null, key),
    insert,
    take() {
      const text = toLines(reader.line);
      reader.write(null, { name: 'return' });
      return text;
    },
    replace(text) {
      clear();
      insert(text);
    },
    close: () => reader.close(),
  };
}

const toOneLine = (text: string) => text.replaceAll(/\r\n|[\r\n\u2028\u2029]/g, LINE_END);
const toLines = (line: string) => line.replaceAll(LINE_END, '\n');
