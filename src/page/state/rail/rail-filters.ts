import { type ReadonlySignal, signal } from '@preact/signals';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import type { Tab } from '../tab.ts';

/** When a workstream was last used. The days are those of the browser’s calendar, and today is one of them. */
export const USED_WORDS = {
  today: 'Today',
  week: 'Last 7 days',
  month: 'Last 30 days',
  older: 'More than 30 days ago',
} as const;

type Used = keyof typeof USED_WORDS;

/** What a person has chosen; all workstreams without it. */
export interface Filter {
  workdir?: string | undefined;
  modelAlias?: string | undefined;
  /** The owner; empty: the operator. */
  userId?: string | undefined;
  used?: Used | undefined;
}

/** The same for the daemon. */
export type Narrowing = Pick<
  ParamsInput<'workstream.find'>,
  'workdir' | 'modelAlias' | 'userId' | 'updatedSinceMs' | 'updatedBeforeMs'
>;

const MEMORY_KEY = 'headgate.filters';

/** Which workstreams the list shows, in this tab of the browser until the person logs out. */
export class RailFilters {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #chosen = signal<Filter>({});

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#memory = memory;
    this.#chosen.value = read(memory);
  }

  get chosen(): ReadonlySignal<Filter> {
    return this.#chosen;
  }

  choose(change: Filter): void {
    this.#keep({ ...this.#chosen.peek(), ...change });
  }

  /** In place of all that was chosen. */
  replace(filter: Filter): void {
    this.#keep(filter);
  }

  clear(): void {
    this.#keep({});
  }

  #keep(filter: Filter): void {
    this.#chosen.value = filter;
    try {
      this.#memory.setItem(MEMORY_KEY, JSON.stringify(filter));
    } catch {
      // The browser's storage is full or switched off: filters are lost at a reload.
    }
  }
}

/** The beginning of the day, some days before it. */
export function toDay(nowMs: number, daysBefore = 0): number {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore).getTime();
}

export function toNarrowing({ workdir, modelAlias, userId, used }: Filter, nowMs: number): Narrowing {
  return {
    ...(workdir !== undefined && { workdir }),
    ...(modelAlias !== undefined && { modelAlias }),
    ...(userId !== undefined && { userId }),
    ...(used === 'today' && { updatedSinceMs: toDay(nowMs) }),
    ...(used === 'week' && { updatedSinceMs: toDay(nowMs, 6) }),
    ...(used === 'month' && { updatedSinceMs: toDay(nowMs, 29) }),
    ...(used === 'older' && { updatedBeforeMs: toDay(nowMs, 29) }),
  };
}

/** Whether an open workstream is one of these, as the daemon decides it for saved ones. */
export function fits(tab: Tab, { workdir, modelAlias, userId, updatedSinceMs, updatedBeforeMs }: Narrowing): boolean {
  const row = tab.row.value;
  return (
    (workdir === undefined || workdir === tab.conversation.value?.workdir) &&
    (modelAlias === undefined || modelAlias === modelOf(tab)) &&
    (userId === undefined || userId === row.userId) &&
    (updatedSinceMs === undefined || row.updatedMs >= updatedSinceMs) &&
    (updatedBeforeMs === undefined || row.updatedMs < updatedBeforeMs)
  );
}

interface Choices {
  folders: readonly string[];
  models: readonly string[];
  /** User ids. */
  owners: readonly string[];
}

interface Saved {
  workdir?: string | undefined;
  modelAlias: string;
  userId: string;
}

/** What there is to choose from, among the open workstreams and the saved ones. What is chosen stays there. */
export function toChoices(tabs: readonly Tab[], saved: readonly Saved[], chosen: Filter): Choices {
  const rows: Filter[] = [
    ...tabs.map((tab) => ({
      workdir: tab.conversation.value?.workdir,
      modelAlias: modelOf(tab),
      userId: tab.row.value.userId,
    })),
    ...saved,
    chosen,
  ];
  return {
    folders: distinct(rows.map(({ workdir }) => workdir)),
    models: distinct(rows.map(({ modelAlias }) => modelAlias)),
    owners: distinct(rows.map(({ userId }) => userId)),
  };
}

const distinct = (values: readonly (string | undefined)[]): string[] =>
  [...new Set(values)].filter((value) => value !== undefined).toSorted((a, b) => a.localeCompare(b));

/** From the event log, or from the list until the log is read. */
const modelOf = (tab: Tab): string => tab.conversation.value?.modelAlias ?? tab.row.value.modelAlias;

function read(memory: Pick<Storage, 'getItem'>): Filter {
  try {
    const stored: unknown = JSON.parse(memory.getItem(MEMORY_KEY) ?? '{}');
    return isRecord(stored) ? toFilter(stored) : {};
  } catch {
    return {}; // not ours, damaged, or the storage is switched off
  }
}

/** What is one, of what is stored. */
export const toFilter = ({ workdir, modelAlias, userId, used }: Record<string, unknown>): Filter => ({
  ...(typeof workdir === 'string' && { workdir }),
  ...(typeof modelAlias === 'string' && { modelAlias }),
  ...(typeof userId === 'string' && { userId }),
  ...(isUsed(used) && { used }),
});

const isUsed = (name: unknown): name is Used => typeof name === 'string' && Object.hasOwn(USED_WORDS, name);
