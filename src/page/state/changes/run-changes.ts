import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { ParamsInput, Result } from '../../../../protocol/index.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { Newest } from '../reading/newest.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { showHidden } from '../text/hidden-characters.ts';

/** A run that changed files. */
export type RunWithChanges = Result<'checkpoint.list'>['checkpoints'][number];
/** What it changed. */
export type Compared = Result<'checkpoint.diff'>;
/** What an undo or redo would do. */
export type Previewed = Result<'checkpoint.preview'>;
/** For each conflict, by its path. */
export type Choices = ReadonlyMap<string, 'keep' | 'overwrite'>;

interface Asked {
  direction: 'undo' | 'redo';
  preview: Previewed;
}

/** What the runs of one workstream changed on disk, as the dialog shows it. */
export class RunChanges {
  readonly #client: Reader;
  readonly #wsId: string;
  readonly #newKey: () => string;
  readonly reading: Reading;
  readonly #previews = new Newest();
  readonly #runs: Signal<Result<'checkpoint.list'> | undefined> = signal(undefined);
  readonly #compared: Signal<Compared | undefined> = signal(undefined);
  readonly #asked: Signal<Asked | undefined> = signal(undefined);
  readonly #problem: Signal<string | undefined> = signal(undefined);
  readonly #done: Signal<string | undefined> = signal(undefined);
  readonly #takenBack: Signal<ReadonlySet<string>> = signal(new Set());

  constructor({ client, wsId, newKey }: { client: Reader; wsId: string; newKey: () => string }) {
    this.#client = client;
    this.#wsId = wsId;
    this.#newKey = newKey;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get runs(): ReadonlySignal<Result<'checkpoint.list'> | undefined> {
    return this.#runs;
  }

  /** The run that is shown. */
  get compared(): ReadonlySignal<Compared | undefined> {
    return this.#compared;
  }

  /** What the person is asked before anything changes. */
  get asked(): ReadonlySignal<Asked | undefined> {
    return this.#asked;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** The files of the run that is shown which were taken back one by one, as far as is known. */
  get takenBack(): ReadonlySignal<ReadonlySet<string>> {
    return this.#takenBack;
  }

  /** What the last change did, in words. */
  get done(): ReadonlySignal<string | undefined> {
    return this.#done;
  }

  /** Reads the runs, and shows one; by default the last. */
  show(runId?: string): Promise<void> {
    const wsId = this.#wsId;
    return this.reading.read(
      async () => {
        const runs = await this.#client.call('checkpoint.list', { wsId });
        const shown = runId ?? runs.checkpoints.find(({ state }) => state !== 'open')?.runId;
        const compared = shown && (await this.#client.call('checkpoint.diff', { wsId, runId: shown }));
        return { runs, compared };
      },
      ({ runs, compared }) => {
        const before = this.#compared.peek()?.checkpoint.runId;
        if (!compared || before !== compared.checkpoint.runId) this.#takenBack.value = new Set();
        this.#runs.value = runs;
        this.#compared.value = compared || undefined;
      },
    );
  }

  /** Asks what an undo or redo would do. */
  ask(direction: Asked['direction']): Promise<void> {
    const isNewest = this.#previews.ask();
    return this.#attempt(async () => {
      const preview = await this.#client.call('checkpoint.preview', { wsId: this.#wsId, direction });
      if (isNewest()) this.#asked.value = { direction, preview };
    });
  }

  /** Takes back one file of the run that is shown, or brings it back. The daemon refuses if somebody has changed it since. */
  changeFile(direction: Asked['direction'], path: string): Promise<void> {
    return this.#attempt(async () => {
      const runId = this.#compared.peek()?.checkpoint.runId;
      const params = { wsId: this.#wsId, path, ...(runId !== undefined && { runId }), idempotencyKey: this.#newKey() };
      const done = await this.#client.call(`checkpoint.${direction}`, params);
      this.#done.value = done.missing.length > 0 ? `Not stored, so not restored: ${showHidden(path)}.` : toWords(done);
      if (done.failed.length > 0 || done.missing.length > 0) return;
      const others = [...this.#takenBack.peek()].filter((each) => each !== path);
      this.#takenBack.value = new Set(direction === 'undo' ? [...others, path] : others);
    });
  }

  keep(): void {
    this.#asked.value = undefined;
  }

  /** Does what was asked about. If files have changed meanwhile, it asks again. */
  async confirm(choices: Choices): Promise<void> {
    const asked = this.#asked.peek();
    if (!asked) return;
    const { direction, preview } = asked;
    const params: ParamsInput<'checkpoint.undo'> = {
      wsId: this.#wsId,
      ...(preview.runIds.length > 0 && { runId: preview.runIds.at(-1) }),
      choices: [...choices].map(([path, choice]) => ({ path, choice })),
      idempotencyKey: this.#newKey(),
    };
    await this.#attempt(async () => {
      const done = await this.#client.call(`checkpoint.${direction}`, params);
      this.#asked.value = undefined;
      this.#done.value = toWords(done);
    });
    if (this.#asked.peek() === undefined) await this.show();
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#problem.value = undefined;
    this.#done.value = undefined;
    try {
      await work();
    } catch (error) {
      this.#problem.value = wordsOf(error);
      const asked = this.#asked.peek();
      if (asked && error instanceof RequestError && error.code === 'CONFLICT') await this.#askAgain(asked.direction);
    }
  }

  async #askAgain(direction: Asked['direction']): Promise<void> {
    const params = { wsId: this.#wsId, direction };
    const preview = await this.#client.call('checkpoint.preview', params).catch(() => undefined);
    this.#asked.value = preview && { direction, preview };
  }
}

function toWords({ changed, kept, failed }: Result<'checkpoint.undo'>): string {
  const count = changed.length === 1 ? '1 file was changed.' : `${changed.length} files were changed.`;
  const done = changed.length === 0 ? 'No file had to be changed.' : count;
  const left = kept.length > 0 ? ` Left as they are: ${kept.map(showHidden).join(', ')}.` : '';
  const not = failed.map(({ path, why }) => `${showHidden(path)} (${why})`).join(', ');
  return `${done}${left}${not === '' ? '' : ` Not possible: ${not}.`}`;
}
