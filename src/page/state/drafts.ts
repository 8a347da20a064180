type Memory = Pick<Storage, 'getItem' | 'setItem'>;

const MEMORY_KEY = 'headgate.drafts';
/** At most MOST drafts are stored; the oldest are dropped first. A longer draft than MOST_CHARS is not stored. */
const MOST = 30;
const MOST_CHARS = 32_768;

/** Unsent messages by workstream. They survive a reload. */
export class Drafts {
  readonly #memory: Memory;
  /** Ordered by last change. */
  readonly #texts: Map<string, string>;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#texts = new Map(read(memory));
  }

  find(wsId: string): string {
    return this.#texts.get(wsId) ?? '';
  }

  keep(wsId: string, text: string): void {
    if (text === this.find(wsId)) return;
    this.#texts.delete(wsId);
    if (text !== '' && text.length <= MOST_CHARS) this.#texts.set(wsId, text);
    for (const oldest of [...this.#texts.keys()].slice(0, -MOST)) this.#texts.delete(oldest);
    this.#write();
  }

  /** Called at logout, so that no drafts remain in the browser. */
  clear(): void {
    if (this.#texts.size === 0) return;
    this.#texts.clear();
    this.#write();
  }

  #write(): void {
    try {
      this.#memory.setItem(MEMORY_KEY, JSON.stringify([...this.#texts]));
    } catch {
      // The browser's storage is full or switched off: drafts are lost at a reload.
    }
  }
}

function read(memory: Memory): [string, string][] {
  try {
    const stored: unknown = JSON.parse(memory.getItem(MEMORY_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isPair) : [];
  } catch {
    return []; // not ours, or damaged
  }
}

const isPair = (entry: unknown): entry is [string, string] =>
  Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');
