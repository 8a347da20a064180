import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { Newest } from '../reading/newest.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** A folder that is shown, as far as it was read. */
export type Listing = Pick<Result<'file.list'>, 'entries' | 'total'>;
/** Lines of a file. */
export type ShownFile = Result<'file.read'>;
/** A repository and its changed files. */
export type Repository = Result<'file.changes'>['repositories'][number];
/** How a file has changed. */
export type FileChange = Result<'file.diff'>;

/** So many lines are shown at once. */
export const PAGE_LINES = 1_000;
/** The line that a person wants to see is not the first one on its page. */
const LINES_ABOVE = 200;

/** The files of one workstream, as the page shows them. */
export class FileBoard {
  readonly #client: Reader;
  readonly #wsId: string;
  readonly reading: Reading;
  readonly #folders: Signal<readonly string[]> = signal([]);
  readonly #listings: Signal<ReadonlyMap<string, Listing>> = signal(new Map());
  readonly #file: Signal<ShownFile | undefined> = signal(undefined);
  readonly #found: Signal<readonly string[] | undefined> = signal(undefined);
  readonly #repositories: Signal<readonly Repository[] | undefined> = signal(undefined);
  readonly #changes: Signal<ReadonlyMap<string, FileChange>> = signal(new Map());
  readonly #problem: Signal<string | undefined> = signal(undefined);
  readonly #changeReads = new Newest();
  /** By the paths of the files. */
  readonly #comparisons = new Map<string, Newest>();
  #searches = 0;
  #shown = 0;

  constructor({ client, wsId }: { client: Reader; wsId: string }) {
    this.#client = client;
    this.#wsId = wsId;
    this.reading = new Reading(client);
  }

  /** Folders of the workstream besides the working directory. */
  get added(): readonly string[] {
    return this.#folders.value.slice(1);
  }

  /** The open folders, by their paths. */
  get listings(): ReadonlySignal<ReadonlyMap<string, Listing>> {
    return this.#listings;
  }

  get file(): ReadonlySignal<ShownFile | undefined> {
    return this.#file;
  }

  /** Files that match the search; undefined without one. */
  get found(): ReadonlySignal<readonly string[] | undefined> {
    return this.#found;
  }

  /** Undefined until they are read. */
  get repositories(): ReadonlySignal<readonly Repository[] | undefined> {
    return this.#repositories;
  }

  /** The open diffs, by the paths of their files. */
  get changes(): ReadonlySignal<ReadonlyMap<string, FileChange>> {
    return this.#changes;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** Opens a folder, or closes it. */
  async toggle(path: string): Promise<void> {
    if (this.#listings.peek().has(path)) this.#listings.value = without(this.#listings.peek(), path);
    else await this.#attempt(() => this.#list(path, []));
  }

  /** Reads the working directory. */
  openRoot(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('file.list', { wsId: this.#wsId }),
      ({ folders, entries, total }) => {
        this.#folders.value = folders;
        this.#listings.value = new Map([...this.#listings.peek(), ['.', { entries, total }]]);
      },
    );
  }

  /** Reads further entries of an open folder. */
  async more(path: string): Promise<void> {
    const known = this.#listings.peek().get(path);
    if (known) await this.#attempt(() => this.#list(path, known.entries));
  }

  /** Shows a file from a line on, or around it. */
  async open(path: string, line = 1): Promise<void> {
    const offset = Math.max(1, line - LINES_ABOVE);
    await this.#show({ path, offset, limit: PAGE_LINES });
  }

  /** Shows the lines before or after those that are shown. */
  async turn(by: -1 | 1): Promise<void> {
    const file = this.#file.peek();
    if (!file) return;
    const offset = by === 1 ? file.last + 1 : Math.max(1, file.first - PAGE_LINES);
    const limit = by === 1 ? PAGE_LINES : Math.max(1, file.first - offset);
    await this.#show({ path: file.path, offset, limit });
  }

  closeFile(): void {
    this.#shown += 1;
    this.#file.value = undefined;
    this.#problem.value = undefined;
  }

  /** Finds files; only the answer to the latest search counts. */
  async search(query: string): Promise<void> {
    this.#searches += 1;
    const search = this.#searches;
    if (query.trim() === '') {
      this.#found.value = undefined;
      return;
    }
    await this.#attempt(async () => {
      const { paths } = await this.#client.call('file.find', { wsId: this.#wsId, query, limit: 50 });
      if (search === this.#searches) this.#found.value = paths;
    });
  }

  /** Reads what git reports. Open diffs are read again. */
  async readChanges(): Promise<void> {
    const isNewest = this.#changeReads.ask();
    await this.#attempt(async () => {
      const { repositories } = await this.#client.call('file.changes', { wsId: this.#wsId });
      if (!isNewest()) return;
      this.#repositories.value = repositories;
      const open = [...this.#changes.peek().keys()];
      this.#changes.value = new Map();
      const changed = new Set(repositories.flatMap(({ files }) => files.map(({ path }) => path)));
      for (const path of open) if (changed.has(path)) await this.#compare(path);
    }, isNewest);
  }

  /** Opens the diff of a file, or closes it. */
  async toggleChange(path: string): Promise<void> {
    if (this.#changes.peek().has(path)) this.#changes.value = without(this.#changes.peek(), path);
    else await this.#attempt(async () => void (await this.#compare(path)));
  }

  /** Opens the diff of a file as it is now. Throws if there is none. */
  showChange(path: string): Promise<FileChange> {
    return this.#compare(path);
  }

  /** Only what the person asked for last is shown, and only its failure. */
  async #show(lines: { path: string; offset: number; limit: number }): Promise<void> {
    this.#shown += 1;
    const shown = this.#shown;
    this.#problem.value = undefined;
    try {
      const file = await this.#client.call('file.read', { wsId: this.#wsId, ...lines });
      if (shown === this.#shown) this.#file.value = file;
    } catch (error) {
      if (shown === this.#shown) this.#problem.value = wordsOf(error);
    }
  }

  async #compare(path: string): Promise<FileChange> {
    const comparison = this.#comparisons.get(path) ?? new Newest();
    this.#comparisons.set(path, comparison);
    const isNewest = comparison.ask();
    const change = await this.#client.call('file.diff', { wsId: this.#wsId, path });
    if (isNewest()) this.#changes.value = new Map([...this.#changes.peek(), [path, change]]);
    return change;
  }

  async #list(path: string, known: Listing['entries']): Promise<void> {
    const asked = { wsId: this.#wsId, path, offset: known.length };
    const { entries, total } = await this.#client.call('file.list', asked);
    this.#listings.value = new Map([...this.#listings.peek(), [path, { entries: [...known, ...entries], total }]]);
  }

  /** The failure of a read that has been replaced by a newer one does not matter. */
  async #attempt(work: () => Promise<void>, isNewest = () => true): Promise<void> {
    this.#problem.value = undefined;
    try {
      await work();
    } catch (error) {
      if (isNewest()) this.#problem.value = wordsOf(error);
    }
  }
}

const without = <T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> =>
  new Map([...map].filter(([each]) => each !== key));
