import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { isRecord } from '../../../../protocol/is-record.ts';
import { type Filter, toFilter } from './rail-filters.ts';

/** What a saved filter brings back. */
export interface Search {
  filter: Filter;
  /** Of the search field. */
  words: string;
}

export interface SavedFilter extends Search {
  name: string;
}

/** Unreadable: something else is stored there, which is kept until the person begins a new list. */
export type SavedFilterList = { kind: 'list'; filters: readonly SavedFilter[] } | { kind: 'unreadable' };

/** Entries as they are stored: what is not understood, such as of a later version, stays as it is. */
type Entries = readonly unknown[];

interface Port {
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  /** Whose they are; undefined until that is known. Empty: the operator. */
  userId: ReadonlySignal<string | undefined>;
}

const MEMORY_KEY = 'headgate.saved-filters';
const MAX_FILTERS = 30;
export const MAX_NAME_CHARS = 60;
const MAX_WORDS_CHARS = 500;

/** Filters with names, of one person in this browser. Each change begins with what is stored, because another tab may have changed it. */
export class SavedFilters {
  readonly #port: Port;
  readonly #changes = signal(0);
  readonly #current = computed(() => {
    this.#changes.value;
    return this.#port.userId.value === undefined ? { kind: 'list' as const, filters: [] } : this.#list();
  });

  constructor(port: Port) {
    this.#port = port;
  }

  get current(): ReadonlySignal<SavedFilterList> {
    return this.#current;
  }

  /** Reads what another tab stored. */
  follow(): void {
    this.#changes.value += 1;
  }

  /** Returns an error message, or undefined on success; so do the other changes. */
  save(name: string, { filter, words }: Search): string | undefined {
    return this.#change((entries) => {
      const problem = problemOf(name, entries);
      if (problem !== undefined) return problem;
      if (entries.length >= MAX_FILTERS) return `There are ${MAX_FILTERS} saved filters already. Remove one first.`;
      if (words.trim().length > MAX_WORDS_CHARS)
        return `A filter keeps at most ${MAX_WORDS_CHARS} characters of a search.`;
      return [...entries, { name: name.trim(), ...filter, ...(words.trim() !== '' && { words: words.trim() }) }];
    });
  }

  rename(from: string, name: string): string | undefined {
    return this.#change((entries) => {
      const others = entries.filter((entry) => toSaved(entry)?.name !== from);
      if (others.length === entries.length) return GONE;
      return problemOf(name, others) ?? entries.map((entry) => (others.includes(entry) ? entry : renamed(entry, name)));
    });
  }

  remove(name: string): string | undefined {
    return this.#change((entries) => entries.filter((entry) => toSaved(entry)?.name !== name));
  }

  /** Begins a new list. What could not be read is kept next to it, for those who know how to repair it. */
  startAnew(): string | undefined {
    const key = this.#key();
    const unreadable = this.#port.memory.getItem(key);
    return this.#store(`${key}.unreadable`, unreadable ?? '') ?? this.#store(key, '[]');
  }

  #change(toNext: (entries: Entries) => Entries | string): string | undefined {
    const entries = this.#read();
    if (this.#port.userId.peek() === undefined || entries === undefined) return UNREADABLE;
    const next = toNext(entries);
    return typeof next === 'string' ? next : this.#store(this.#key(), JSON.stringify(next));
  }

  #store(key: string, text: string): string | undefined {
    try {
      this.#port.memory.setItem(key, text);
    } catch {
      return 'The browser did not store it: its storage is full or switched off.';
    }
    this.follow();
    return undefined;
  }

  #key(): string {
    const userId = this.#port.userId.peek() ?? '';
    return userId === '' ? MEMORY_KEY : `${MEMORY_KEY}.${userId}`;
  }

  #list(): SavedFilterList {
    const filters = this.#read()?.map(toSaved);
    if (filters === undefined) return { kind: 'unreadable' };
    return { kind: 'list', filters: filters.filter((one) => one !== undefined) };
  }

  /** Undefined: unreadable. */
  #read(): Entries | undefined {
    try {
      const stored: unknown = JSON.parse(this.#port.memory.getItem(this.#key()) ?? '[]');
      return Array.isArray(stored) ? stored : undefined;
    } catch {
      return undefined;
    }
  }
}

const UNREADABLE = 'The saved filters of this browser cannot be read.';
const GONE = 'This filter was removed or renamed in another tab.';

function problemOf(name: string, entries: Entries): string | undefined {
  const trimmed = name.trim();
  if (trimmed === '') return 'Give it a name.';
  if (trimmed.length > MAX_NAME_CHARS) return `A name has at most ${MAX_NAME_CHARS} characters.`;
  const isTaken = entries.some((entry) => toSaved(entry)?.name.toLowerCase() === trimmed.toLowerCase());
  return isTaken ? `There is a filter “${trimmed}” already.` : undefined;
}

const renamed = (entry: unknown, name: string): unknown => (isRecord(entry) ? { ...entry, name: name.trim() } : entry);

function toSaved(entry: unknown): SavedFilter | undefined {
  if (!isRecord(entry) || typeof entry.name !== 'string' || entry.name === '') return undefined;
  return { name: entry.name, filter: toFilter(entry), words: typeof entry.words === 'string' ? entry.words : '' };
}

/** Whether both would show the same. */
export function isSameSearch(a: Search, b: Search): boolean {
  const keys = ['workdir', 'modelAlias', 'userId', 'used'] as const;
  return a.words.trim() === b.words.trim() && keys.every((key) => a.filter[key] === b.filter[key]);
}

/** Whether it narrows anything. */
export const isSearch = (search: Search): boolean => !isSameSearch(search, { filter: {}, words: '' });
