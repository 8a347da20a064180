import type { Attachment } from '../../../protocol/stream-events.ts';

type Memory = Pick<Storage, 'getItem' | 'setItem'>;

const MEMORY_KEY = 'headgate.drafts';
/** At most MOST drafts are stored, with MOST_CHARS together; the oldest are dropped first. */
const MOST = 30;
const MOST_CHARS = 1_000_000;

type Kept = readonly [text: string, files: readonly Attachment[]];
const NOTHING: Kept = ['', []];

/** Unsent messages by workstream, with the files that the daemon has. They survive a reload. */
export class Drafts {
  readonly #memory: Memory;
  /** Ordered by last change. */
  readonly #kept: Map<string, Kept>;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#kept = new Map(read(memory).map(([wsId, ...kept]) => [wsId, kept]));
  }

  find(wsId: string): string {
    return this.#of(wsId)[0];
  }

  findFiles(wsId: string): readonly Attachment[] {
    return this.#of(wsId)[1];
  }

  keep(wsId: string, text: string, files: readonly Attachment[] = []): void {
    const [before, filesBefore] = this.#of(wsId);
    // Of a draft that is too long, the last version that was not stays.
    const kept = text.length <= MOST_CHARS ? text : before;
    if (kept === before && JSON.stringify(files) === JSON.stringify(filesBefore)) return;
    this.#kept.delete(wsId);
    if (kept !== '' || files.length > 0) this.#kept.set(wsId, [kept, files]);
    this.#dropOldest();
    this.#write();
  }

  #dropOldest(): void {
    let [count, chars] = [0, 0];
    for (const [wsId, [text]] of [...this.#kept].reverse()) {
      count += 1;
      chars += text.length;
      if (count > MOST || chars > MOST_CHARS) this.#kept.delete(wsId);
    }
  }

  /** Called at logout, so that no drafts remain in the browser. */
  clear(): void {
    if (this.#kept.size === 0) return;
    this.#kept.clear();
    this.#write();
  }

  #of(wsId: string): Kept {
    return this.#kept.get(wsId) ?? NOTHING;
  }

  #write(): void {
    try {
      const entries = [...this.#kept].map(([wsId, kept]) => [wsId, ...kept]);
      this.#memory.setItem(MEMORY_KEY, JSON.stringify(entries));
    } catch {
      // The browser's storage is full or switched off: drafts are lost at a reload.
    }
  }
}

type Entry = [wsId: string, text: string, files: Attachment[]];

function read(memory: Memory): Entry[] {
  try {
    const stored: unknown = JSON.parse(memory.getItem(MEMORY_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.flatMap(toEntry) : [];
  } catch {
    return []; // not ours, or damaged
  }
}

/** Pages of earlier versions stored no files. */
function toEntry(stored: unknown): Entry[] {
  if (!Array.isArray(stored)) return [];
  const [wsId, text, files = []] = stored;
  if (typeof wsId !== 'string' || typeof text !== 'string' || !Array.isArray(files)) return [];
  return [[wsId, text, files.filter(isAttachment)]];
}

const isAttachment = (file: unknown): file is Attachment =>
  typeof file === 'object' &&
  file !== null &&
  'attachment_id' in file &&
  typeof file.attachment_id === 'string' &&
  'filename' in file &&
  typeof file.filename === 'string';
