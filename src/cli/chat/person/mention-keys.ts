import fuzzysort, { type Snapshot } from 'fuzzysort';
import { mentionBefore, toMentioned } from '../../../../protocol/mentions/mentions.ts';
import type { LineEditor } from '../input/line-editor.ts';

interface MentionKeysDeps {
  editor: Pick<LineEditor, 'text' | 'cursor' | 'press' | 'insert'>;
  /** The files that can be mentioned. */
  list(): Promise<readonly string[]>;
  /** They are known now. */
  onChange(): void;
}

const OFFERED = 8;

/** Completes the names of files after an `@`. The folder is read when a mention begins. */
export class MentionKeys {
  readonly #deps: MentionKeysDeps;
  #files: { names: readonly string[]; snapshot: Snapshot } | undefined;
  #isRead = false;

  constructor(deps: MentionKeysDeps) {
    this.#deps = deps;
  }

  /** The best matches for the mention that is being typed. */
  find(): readonly string[] {
    const { editor } = this.#deps;
    const query = mentionBefore(editor.text, editor.cursor);
    if (query === undefined) {
      this.#isRead = false;
      return [];
    }
    this.#read();
    if (this.#files === undefined) return [];
    const { names, snapshot } = this.#files;
    if (query === '') return names.slice(0, OFFERED);
    const found = fuzzysort.go(query, snapshot, { limit: OFFERED, threshold: 0.2 }).map(({ target }) => target);
    return found[0] === query ? [] : found;
  }

  /** Replaces what was typed by the best match. False if there is none. */
  complete(): boolean {
    const { editor } = this.#deps;
    const [best] = this.find();
    const query = mentionBefore(editor.text, editor.cursor);
    if (best === undefined || query === undefined) return false;
    for (const _ of query) editor.press(undefined, { name: 'backspace' });
    editor.insert(toMentioned(best));
    return true;
  }

  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#deps.list().then(
      (names) => {
        this.#files = { names, snapshot: fuzzysort.snapshot(names) };
        this.#deps.onChange();
      },
      () => undefined, // without the list there is nothing to offer
    );
  }
}
