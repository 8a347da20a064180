import type { Log } from '../../log.ts';
import type { Served } from '../health.ts';
import type { Link } from './links/link.ts';
import { type Candidate, lacks } from './team.ts';
import type { Joining } from './worker.ts';

interface JoinedWorker extends Joining {
  link: Link;
  /** How many workstreams it has loaded, with those that it will get. */
  loaded: number;
  /** By its own words. */
  load: Served | undefined;
  isLeaving: boolean;
}

/** The workers that have joined. */
export class Crew {
  readonly #workers = new Map<string, JoinedWorker>();
  readonly #log: Log;

  constructor({ log }: { log: Log }) {
    this.#log = log;
  }

  join(link: Link, joining: Joining): void {
    const { nodeId } = joining;
    this.linkTo(nodeId)?.end('it has joined again');
    const worker: JoinedWorker = { ...joining, link, loaded: 0, load: undefined, isLeaving: false };
    this.#workers.set(nodeId, worker);
    link.ended.addEventListener('abort', () => this.#leave(worker));
    this.#log.info({ worker: nodeId }, 'a worker has joined');
  }

  #leave(worker: JoinedWorker): void {
    if (this.#workers.get(worker.nodeId) !== worker) return;
    this.#workers.delete(worker.nodeId);
    this.#log.warn({ worker: worker.nodeId }, 'a worker has gone');
  }

  /** Undefined while it has not joined. */
  linkTo = (machine: string): Link | undefined => this.#workers.get(machine)?.link;

  machines(): string[] {
    return [...this.#workers.keys()];
  }

  /** Tells all of them. */
  tell(what: string, body: unknown): void {
    for (const link of this.links()) link.tell(what, body);
  }

  links(): Link[] {
    return [...this.#workers.values()].map(({ link }) => link);
  }

  urls(): ReadonlyMap<string, string> {
    return new Map([...this.#workers.values()].map(({ nodeId, serverUrl }) => [nodeId, serverUrl]));
  }

  noteLoad(link: Link, load: Served): void {
    for (const worker of this.#workers.values())
      if (worker.link === link) Object.assign(worker, { load, loaded: load.workstreams.total });
  }

  /** What workers have to do. */
  loads(): Served[] {
    return [...this.#workers.values()].flatMap(({ load }) => load ?? []);
  }

  candidates(): Candidate[] {
    return [...this.#workers.values()];
  }

  /** How many workstreams each has loaded, except those that stop. */
  loadedCounts(): Map<string, number> {
    return new Map(this.#staying().map(({ nodeId, loaded }) => [nodeId, loaded]));
  }

  /** The worker at the other end stops: it gets no more workstreams. */
  noteLeaving(link: Link): void {
    for (const worker of this.#workers.values()) if (worker.link === link) worker.isLeaving = true;
  }

  /** The id of the worker at the other end. */
  nameOf(link: Link): string | undefined {
    return [...this.#workers.values()].find((worker) => worker.link === link)?.nodeId;
  }

  #staying(): JoinedWorker[] {
    return [...this.#workers.values()].filter(({ isLeaving }) => !isLeaving);
  }

  /** The one with the fewest workstreams of those with all these labels, if it has fewer than this. */
  least(than: number, labels: readonly string[]): string | undefined {
    const able = this.#staying().filter((worker) => !lacks(worker, labels));
    const [first] = able.sort((a, b) => a.loaded - b.loaded);
    if (first === undefined || first.loaded >= than) return undefined;
    first.loaded += 1; // until it says how many it has
    return first.nodeId;
  }
}
