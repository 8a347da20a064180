import { GatewayError } from '../../../protocol/errors.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import { MAX_ABOVE, MAX_OPEN_CHILDREN, type Outcomes } from '../../agent/coordinator/coordination.ts';
import type { Accounts } from '../../agent/mcp/accounts/accounts.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Messages } from '../history/messages.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { Runs } from '../runs/runs.ts';
import { DAEMON, mayPerceive, type Viewer } from '../sharing/perception.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Templates } from '../templates/templates.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { AlwaysRules } from '../workstreams/always.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { ChildNews } from './child-news.ts';
import {
  countOpen,
  ownedOf,
  readAbove,
  readChildren,
  readCoordinator,
  readOpenCoordinators,
  type StoredCoordinator,
  storeRevoked,
  storeTrust,
  type TreeRow,
} from './coordinator-rows.ts';
import type { CoordinatorRun } from './coordinator-run.ts';
import { cancelAll, closeAll } from './end-workstreams.ts';

/** What it takes to trust the messages of a coordinator. */
export const TRUSTING = ['coordinator.trust.send'] as const satisfies readonly Permission[];

export interface CoordinatorsDeps {
  store: Store;
  always: Pick<AlwaysRules, 'grant' | 'covers' | 'isInForce'>;
  authenticator: Pick<Authenticator, 'endOf' | 'viewerOf'>;
  /** Whose accounts a run may use. */
  accounts: Pick<Accounts, 'userIn'>;
  messages: Pick<Messages, 'context'>;
  templates: Pick<Templates, 'begin'>;
  budgets: Pick<Budgets, 'ownOf' | 'apply'>;
  live: Pick<LiveSettings, 'maxWorkstreams'>;
  nodeId: string;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** What exists only after the workstreams, which work with coordinators. */
export interface CoordinatedParts {
  workstreams: Pick<Workstreams, 'get' | 'find' | 'list' | 'create' | 'close' | 'remove'>;
  runs: Pick<Runs, 'accept' | 'track'>;
}

/** The most tools that are taken away from one coordinator. */
const MAX_REVOKED = 2_048;

/** Coordinators and the workstreams below them: who works for whom, and what a person said about that. */
export class Coordinators {
  readonly deps: CoordinatorsDeps;
  /** What they are told of their children. */
  readonly news: ChildNews;
  readonly #serial = createSerialKeys();
  #parts: CoordinatedParts | undefined;

  constructor(deps: CoordinatorsDeps) {
    this.deps = deps;
    this.news = new ChildNews(deps);
    deps.store.onCommit((unit) => this.news.of(unit));
  }

  /** Call it once, before the first run. */
  connect(parts: CoordinatedParts): void {
    this.#parts = parts;
  }

  /** Call it before workstreams are loaded. */
  async recover(): Promise<void> {
    for (const row of await readOpenCoordinators(this.deps.store, DAEMON, undefined))
      this.news.noteCoordinator(row.ws_id, ownedOf(row));
  }

  get parts(): CoordinatedParts {
    if (!this.#parts) throw new Error('coordinators are used before their workstreams');
    return this.#parts;
  }

  /** One that is not closed. To everybody else it does not exist. */
  async get(wsId: string, viewer: Viewer): Promise<Workstream> {
    const found = await this.parts.workstreams.get(wsId, viewer).catch((error: unknown) => {
      if (error instanceof GatewayError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    });
    if (found?.data.kind === 'coordinator') return found;
    throw unknownCoordinator();
  }

  read(wsId: string): Promise<StoredCoordinator> {
    return readCoordinator(this.deps.store, wsId);
  }

  /** The tools that were taken away from a workstream, or from a coordinator above it. */
  async revokedIn(wsId: string): Promise<string[]> {
    const above = await readAbove(this.deps.store, wsId);
    const stored = await Promise.all([wsId, ...above].map((one) => this.read(one)));
    return [...new Set(stored.flatMap(({ revoked }) => revoked))];
  }

  /** Whether messages of the coordinator to those below it need no approval in a run. */
  async trusts({ wsId }: Pick<WorkstreamData, 'wsId'>, live: CoordinatorRun): Promise<boolean> {
    const { trust } = await this.read(wsId);
    return trust !== undefined && this.deps.always.covers(trust, live, TRUSTING);
  }

  /**
   * Runs the creation of a child, one after the other, if there is room for it. Throws CONFLICT otherwise. `wsId`: the id that
   * the child will have, if its creator chose it.
   */
  underParent<T>(
    { wsId: parent }: Pick<WorkstreamData, 'wsId'>,
    { kind, wsId }: { kind: WorkstreamKind; wsId?: string | undefined },
    create: () => Promise<T>,
  ): Promise<T> {
    return this.#serial.run(`spawn ${parent}`, async () => {
      const { store } = this.deps;
      const above = await readAbove(store, parent);
      // A deleted workstream leaves its id free, and its children may still name it.
      if (wsId !== undefined && [parent, ...above].includes(wsId))
        throw new GatewayError('CONFLICT', 'Workstream already exists');
      if (kind === 'coordinator' && above.length + 1 >= MAX_ABOVE)
        throw new GatewayError(
          'CONFLICT',
          `Coordinators can be nested ${MAX_ABOVE} deep, and this one is at that depth.`,
        );
      if ((await countOpen(store, parent)) >= MAX_OPEN_CHILDREN) throw tooMany();
      return create();
    });
  }

  /** Waits for creations of children that are under way. */
  async settled(wsId: string): Promise<void> {
    await this.#serial.run(`spawn ${wsId}`, () => undefined);
  }

  /** Runs changes of what is stored of a coordinator one after the other. */
  changing<T>(wsId: string, work: () => Promise<T>): Promise<T> {
    return this.#serial.run(`change ${wsId}`, work);
  }

  /** `by`: who takes the responsibility; undefined: nobody does any more. `also` is committed with it. */
  async trust(wsId: string, by: string | undefined, also: readonly Statement[]): Promise<{ untilMs: number | null }> {
    const { store, always, clock } = this.deps;
    const trust = by === undefined ? undefined : always.grant(by);
    await store.commit({ statements: [storeTrust(wsId, trust, clock.now()), ...also], durable: true });
    return { untilMs: trust?.untilMs ?? null };
  }

  /** Adds to the tools that were taken away. `also` is committed with it. */
  restrict(wsId: string, tools: readonly string[], also: readonly Statement[]): Promise<readonly string[]> {
    return this.changing(wsId, async () => {
      const { store, clock } = this.deps;
      const { revoked } = await this.read(wsId);
      const all = [...new Set([...revoked, ...tools])];
      if (all.length > MAX_REVOKED)
        throw new GatewayError('CONFLICT', `At most ${MAX_REVOKED} tools can be revoked for one coordinator`);
      const change = all.length === revoked.length ? [] : [storeRevoked(wsId, all, clock.now())];
      await store.commit({ statements: [...change, ...also], durable: true });
      return all;
    });
  }

  /** Cancels a coordinator, so that it makes no more children, and then its own children. */
  async stop(coordinator: Workstream, viewer: Viewer): Promise<Outcomes> {
    const { wsId } = coordinator.data;
    await coordinator.cancel({ force: false });
    await this.settled(wsId);
    const children = await this.childrenOf(wsId, viewer);
    return cancelAll(
      children.map(({ ws_id }) => ws_id),
      { workstreams: this.parts.workstreams, log: this.deps.log },
    );
  }

  /** Closes the own children of a coordinator. */
  async closeChildren(wsId: string, viewer: Viewer): Promise<Outcomes> {
    await this.settled(wsId);
    const { workstreams } = this.parts;
    return closeAll(await this.childrenOf(wsId, viewer), viewer, { workstreams, log: this.deps.log });
  }

  /** The own children that the viewer perceives. */
  async childrenOf(wsId: string, viewer: Viewer): Promise<TreeRow[]> {
    return (await readChildren(this.deps.store, wsId)).filter((row) => mayPerceive(viewer, ownedOf(row)));
  }
}

const unknownCoordinator = (): GatewayError => new GatewayError('NOT_FOUND', 'coordinator not found');

const tooMany = () =>
  new GatewayError(
    'CONFLICT',
    `This coordinator has ${MAX_OPEN_CHILDREN} open children. Close some of them first, for example with close_workstream.`,
  );
