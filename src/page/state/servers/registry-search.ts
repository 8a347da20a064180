import { type ReadonlySignal, signal } from '@preact/signals';
import type { ParamsInput } from '../../../../protocol/index.ts';
import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** A way to run a server of the registry, and what it asks for. */
export type RegistryChoice = McpRegistryServer['choices'][number];

/** What is searched; an empty text or type finds all. */
interface RegistryQuery {
  search: string;
  type: string;
}

interface Found {
  servers: readonly McpRegistryServer[];
  /** For the next page; undefined on the last one. */
  next: string | undefined;
}

/** A search of the registry of tool servers. Nothing is asked before somebody searches: the registry is elsewhere. */
export class RegistrySearch {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #found = signal<Found | undefined>(undefined);
  #query: RegistryQuery = { search: '', type: '' };

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get found(): ReadonlySignal<Found | undefined> {
    return this.#found;
  }

  search(query: RegistryQuery): Promise<void> {
    this.#query = query;
    return this.#read(undefined, []);
  }

  more(): Promise<void> {
    const { servers = [], next } = this.#found.peek() ?? {};
    return this.#read(next, servers);
  }

  /** Returns an error message, or undefined on success. */
  install(params: ParamsInput<'mcp.registry.install'>): Promise<string | undefined> {
    return attempt(() => this.#client.call('mcp.registry.install', params));
  }

  #read(cursor: string | undefined, before: readonly McpRegistryServer[]): Promise<void> {
    const { search, type } = this.#query;
    const words = search.trim();
    const params = { ...(words !== '' && { search: words }), ...(type !== '' && { type }), ...(cursor && { cursor }) };
    return this.reading.read(
      () => this.#client.call('mcp.registry.search', params),
      ({ servers, nextCursor }) => {
        this.#found.value = { servers: [...before, ...servers], next: nextCursor };
      },
    );
  }
}

/** The values of a form for what a choice asks for: its fields are called `env:NAME` and the like. Empty ones are left out. */
export function valuesOf(fields: Partial<Record<string, string>>, { inputs }: RegistryChoice) {
  const within = (place: RegistryChoice['inputs'][number]['in']) =>
    Object.fromEntries(
      inputs
        .filter((input) => input.in === place)
        .map(({ name }): [string, string] => [name, fields[`${place}:${name}`] ?? ''])
        .filter(([, value]) => value !== ''),
    );
  return { variables: within('variables'), env: within('env'), headers: within('headers') };
}
