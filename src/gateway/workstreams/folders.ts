import { GatewayError } from '../../../protocol/errors.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Workdirs } from './workdirs.ts';
import type { Workstream } from './workstream.ts';

export interface FoldersChange {
  /** The folder now at the path of the working directory is accepted, although it is not the one that was held. */
  isConfirmed: boolean;
  /** All additional folders that may be read without approval; undefined leaves them unchanged. */
  readable?: readonly string[] | undefined;
}

/** Changes the folders of a workstream, for a caller with the approve scope. */
export class Folders {
  readonly #store: Store;
  readonly #workdirs: Workdirs;

  constructor({ store, workdirs }: { store: Store; workdirs: Workdirs }) {
    this.#store = store;
    this.#workdirs = workdirs;
  }

  /** Throws UNAVAILABLE while a run is in progress, because it holds the folders that it was started with. */
  async change(
    workstream: Workstream,
    { isConfirmed, readable }: FoldersChange,
    also: (readable: readonly string[]) => readonly Statement[] = () => [],
  ): Promise<void> {
    if (!isConfirmed && readable === undefined) return;
    const { data } = workstream;
    const isDone = await workstream.whileIdle('folders', async () => {
      const workdir = isConfirmed ? await this.#workdirs.identify(data.workdir) : current(data);
      const folders = readable
        ? await Promise.all(readable.map((path) => this.#workdirs.identify(path)))
        : data.readable;
      const columns = { workdir: workdir.path, workdir_ino: workdir.ino, readable_json: JSON.stringify(folders) };
      const statements = [setWorkstream(data.wsId, columns), ...also(folders.map(({ path }) => path))];
      await this.#store.commit({ statements });
      Object.assign(data, { workdir: workdir.path, workdirIno: workdir.ino, readable: folders });
      await this.#workdirs.release(data.wsId);
      this.#workdirs.hold(data);
    });
    if (!isDone) throw stillRuns();
  }
}

const current = ({ workdir, workdirIno }: { workdir: string; workdirIno: string | null }) => ({
  path: workdir,
  ino: workdirIno,
});

const stillRuns = () =>
  new GatewayError(
    'UNAVAILABLE',
    'A run is in progress in this workstream. Wait for its end, or cancel it, then change its folders.',
    {
      retryAfterMs: 2_000,
    },
  );
