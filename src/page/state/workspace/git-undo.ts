import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Reader } from '../reading/reading.ts';
import { showHidden } from '../text/hidden-characters.ts';
import type { FileBoard, Repository } from './file-board.ts';

type ChangedFile = Repository['files'][number];

/** What the person is asked before a file is put back. */
export interface AskedBack {
  path: string;
  /** What happens. */
  words: string;
  /** What the daemon compared; undefined: the file cannot be put back here. */
  seen: string | undefined;
}

/** A file that was put back, and can be brought back as it was. */
interface PutBack {
  path: string;
  runId: string;
}

/** Puts changed files back to the last commit. */
export class GitUndo {
  readonly #client: Reader;
  readonly #wsId: string;
  readonly #board: FileBoard;
  readonly #newKey: () => string;
  readonly #asked: Signal<AskedBack | undefined> = signal(undefined);
  readonly #done: Signal<string | undefined> = signal(undefined);
  readonly #putBack: Signal<PutBack | undefined> = signal(undefined);
  readonly #problem: Signal<string | undefined> = signal(undefined);

  constructor({
    client,
    wsId,
    board,
    newKey,
  }: { client: Reader; wsId: string; board: FileBoard; newKey: () => string }) {
    this.#client = client;
    this.#wsId = wsId;
    this.#board = board;
    this.#newKey = newKey;
  }

  get asked(): ReadonlySignal<AskedBack | undefined> {
    return this.#asked;
  }

  /** What the last change did, in words. */
  get done(): ReadonlySignal<string | undefined> {
    return this.#done;
  }

  /** The file that was put back last. */
  get putBack(): ReadonlySignal<PutBack | undefined> {
    return this.#putBack;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** Shows the diff of a file, and asks. */
  ask(file: ChangedFile): Promise<void> {
    return this.#attempt(async () => {
      const { path } = file;
      const change = await this.#board.showChange(path);
      this.#asked.value = { path, seen: change.seen, words: change.seen === undefined ? NOT_HERE : toQuestion(file) };
    });
  }

  keep(): void {
    this.#asked.value = undefined;
  }

  /** Does what was asked about. The daemon refuses if the file is not as it was shown. */
  async confirm(): Promise<void> {
    const asked = this.#asked.peek();
    if (asked?.seen === undefined) return;
    const { path, seen } = asked;
    this.#asked.value = undefined;
    await this.#attempt(async () => {
      const params = { wsId: this.#wsId, path, seen, idempotencyKey: this.#newKey() };
      const { changed, failed, runIds } = await this.#client.call('file.discard', params);
      const [why] = failed.map((each) => each.why);
      const [runId] = runIds;
      const name = showHidden(path);
      if (why !== undefined) throw new Error(`${name} was not changed: ${why}.`);
      this.#done.value =
        changed.length > 0 ? `${name} is as in the last commit.` : `${name} did not have to be changed.`;
      if (changed.length > 0 && runId !== undefined) this.#putBack.value = { path, runId };
    });
    await this.#board.readChanges();
  }

  /** Brings back what the last file was. */
  async bringBack(): Promise<void> {
    const last = this.#putBack.peek();
    if (!last) return;
    await this.#attempt(async () => {
      const params = { wsId: this.#wsId, ...last, idempotencyKey: this.#newKey() };
      const { failed } = await this.#client.call('checkpoint.undo', params);
      const [why] = failed.map((each) => each.why);
      const name = showHidden(last.path);
      if (why !== undefined) throw new Error(`${name} was not changed: ${why}.`);
      this.#done.value = `${name} is as it was.`;
      this.#putBack.value = undefined;
    });
    await this.#board.readChanges();
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#problem.value = undefined;
    this.#done.value = undefined;
    try {
      await work();
    } catch (error) {
      this.#problem.value = wordsOf(error);
    }
  }
}

const NOT_HERE =
  'This file cannot be put back here: it may hold secrets, is too large to be kept, or is not a file. Use git for it.';

function toQuestion({ path: raw, staged, unstaged }: ChangedFile): string {
  const path = showHidden(raw);
  const isNew = unstaged === 'untracked' || staged === 'added';
  const what = isNew
    ? `Remove ${path}? It is new: the last commit does not have it.`
    : unstaged === 'deleted' || staged === 'deleted'
      ? `Bring back ${path} as it is in the last commit?`
      : `Put ${path} back as it is in the last commit? Its changes since then are discarded.`;
  const index = staged === undefined ? '' : ' What is staged stays staged.';
  return `${what}${index} You can bring back what it is now.`;
}
