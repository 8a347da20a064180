/** A script that the page loads when it needs it. The build lists them in the page (scripts/page/inline-page.js). */
export interface PartRow {
  /** Its name below /static. It contains its hash, so that a file never changes. */
  file: string;
  /** Its hash, which the policy of the page lists, too. */
  integrity: string;
  /** The parts that have to be loaded before. */
  needs: readonly string[];
}

/** A part could not be loaded. */
export class PartError extends Error {
  /** The daemon has another build now, so only a reload of the page helps. */
  readonly isGone: boolean;

  constructor(isGone: boolean) {
    super(isGone ? 'This part of the page is gone' : 'This part of the page could not be loaded');
    this.isGone = isGone;
  }
}

interface Port {
  /** What the scripts within the page have exported. */
  parts: Record<string, object>;
  rows: Readonly<Record<string, PartRow>>;
  /** Runs a script. Rejects if it could not be loaded. */
  run(address: string, integrity: string): Promise<void>;
  /** The status that a file is answered with; undefined without an answer. */
  statusOf(address: string): Promise<number | undefined>;
}

/** What the scripts of the build call `headgate`. */
export interface PartLoader {
  /** What each loaded script exports. */
  parts: Record<string, object>;
  /** Loads a part once; a failed load is tried again. */
  load(name: string): Promise<object>;
}

export function createPartLoader({ parts, rows, run, statusOf }: Port): PartLoader {
  const begun = new Map<string, Promise<object>>();
  const fetchPart = async (name: string): Promise<object> => {
    const row = rows[name];
    if (row === undefined) throw new Error(`The page has no part ${name}`);
    await Promise.all(row.needs.map(load));
    const address = `/static/${row.file}`;
    try {
      await run(address, row.integrity);
    } catch {
      // Nothing, another file of this name, or a page in place of the file, such as that of a proxy: this build is not served any more.
      const status = await statusOf(address);
      throw new PartError(status !== undefined && status < 500);
    }
    const loaded = parts[name];
    if (loaded === undefined) throw new Error(`The part ${name} could not start`);
    return loaded;
  };
  const load = (name: string): Promise<object> => {
    const loading = begun.get(name) ?? fetchPart(name);
    begun.set(name, loading);
    loading.catch(() => begun.delete(name));
    return loading;
  };
  return { parts, load };
}
