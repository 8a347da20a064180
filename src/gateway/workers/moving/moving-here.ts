import { GatewayError } from '../../../../protocol/errors.ts';
import type { Log } from '../../../log.ts';
import { DAEMON } from '../../sharing/perception.ts';
import { type Store, UnitRefused } from '../../store/store.ts';
import { unknownWorkstream } from '../../workstreams/session-keys.ts';
import { readById } from '../../workstreams/workstream-rows.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { findObstacle, type Obstacle, type Owner, type Placed } from '../can-own.ts';
import { Elsewhere } from '../elsewhere.ts';
import type { Json } from '../links/link.ts';
import { inChat, inUse, isInChat, isWatched, moveStatement, watching, whyFixed } from './movable.ts';

/** The workstreams that a machine was asked to give. */
export interface Given {
  moved: MovedOne[];
  /** Those that stay, with the reasons. */
  stay: { wsId: string; code: 'NOT_FOUND' | 'CONFLICT' | 'UNAVAILABLE'; why: string }[];
}

/** A workstream that another machine has now. */
interface MovedOne {
  wsId: string;
  wasLoaded: boolean;
}

/** What a machine does with its own workstreams when they move. */
export interface MovingHere {
  /** Gives workstreams that are at rest to another machine. */
  give(wsIds: readonly string[], to: string | null): Promise<Given>;
  /** Goes on with workstreams that this machine has got. */
  take(moved: readonly MovedOne[]): Promise<void>;
  /** Why this machine cannot have these workstreams; null for one that it can. */
  obstacles(placed: readonly Placed[]): Promise<(Obstacle | null)[]>;
}

const QUESTIONS = ['give', 'take', 'obstacles'] as const;
type Question = (typeof QUESTIONS)[number];

/** Whether the active daemon asks this of a worker, in `createMoves`. */
export const isOfMoves = (what: string): what is Question => QUESTIONS.some((one) => one === what);

export async function answerMove(what: Question, body: Json, { give, take, obstacles }: MovingHere): Promise<unknown> {
  if (what === 'give') return give(body.wsIds, body.to);
  if (what === 'obstacles') return obstacles(body);
  await take(body);
  return null;
}

interface MovingDeps {
  store: Store;
  workstreams: Pick<Workstreams, 'handOver' | 'get'>;
  /** This machine. */
  owner: Owner;
  /** Results of watches may wait in them. */
  onArrived(wsIds: readonly string[]): void;
  log: Log;
}

export function createMovingHere({ store, workstreams, owner, onArrived, log }: MovingDeps): MovingHere {
  /** Throws the reason why it stays. */
  async function findMovable(wsId: string, to: string | null): Promise<MovedOne> {
    const row = await readById(store, wsId, DAEMON);
    if (row === undefined) throw unknownWorkstream();
    const why = whyFixed(row);
    if (why !== undefined) throw new GatewayError('CONFLICT', why);
    if (to !== null && (await isInChat(store, wsId))) throw inChat();
    if (await isWatched(store, wsId)) throw watching();
    return { wsId, wasLoaded: row.loaded === 1 };
  }
  /** After a failure, of which nobody knows whether the workstream is still here. */
  const lookAgain = async ({ wsId, wasLoaded }: MovedOne, error: unknown): Promise<never> => {
    if (error instanceof UnitRefused) await store.takeLogs?.([wsId]); // it is
    if (wasLoaded) await workstreams.get(wsId, DAEMON).catch(() => undefined); // it is loaded when somebody asks for it
    throw error instanceof UnitRefused ? inUse() : error;
  };
  async function giveOne(wsId: string, to: string | null): Promise<MovedOne> {
    const found = await findMovable(wsId, to);
    const giving = { to, marks: [moveStatement(wsId, { to, from: store })] };
    const isGiven = await workstreams.handOver(wsId, giving).catch((error: unknown) => lookAgain(found, error));
    if (!isGiven) throw inUse();
    return found;
  }

  const toStay = (wsId: string, error: unknown): Given['stay'][number] => {
    if (error instanceof Elsewhere) return { wsId, code: 'CONFLICT', why: 'It has just moved' };
    if (error instanceof GatewayError && (error.code === 'NOT_FOUND' || error.code === 'CONFLICT'))
      return { wsId, code: error.code, why: error.message };
    log.warn({ err: error, wsId }, 'a workstream could not be given to another machine');
    return { wsId, code: 'UNAVAILABLE', why: 'It could not be stored' };
  };

  return {
    async give(wsIds, to) {
      const given: Given = { moved: [], stay: [] };
      const each = async (wsId: string): Promise<void> => {
        try {
          given.moved.push(await giveOne(wsId, to));
        } catch (error) {
          given.stay.push(toStay(wsId, error));
        }
      };
      await Promise.all(wsIds.map(each));
      return given;
    },
    async take(moved) {
      const all = moved.map(({ wsId }) => wsId);
      await store.takeLogs?.(all);
      const load = ({ wsId, wasLoaded }: MovedOne) => (wasLoaded ? workstreams.get(wsId, DAEMON) : undefined);
      const loaded = await Promise.allSettled(moved.map(load));
      for (const one of loaded)
        if (one.status === 'rejected')
          log.warn(
            { err: one.reason },
            'a workstream that has come to this machine is loaded when somebody asks for it',
          );
      onArrived(all);
    },
    obstacles: (placed) => Promise.all(placed.map(async (one) => (await findObstacle(one, owner)) ?? null)),
  };
}
