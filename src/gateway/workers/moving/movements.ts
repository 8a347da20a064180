import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { Store } from '../../store/store.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import type { Far } from '../calls/forwarding.ts';
import type { Crew } from '../crew.ts';
import type { Link } from '../links/link.ts';
import { createHurry, formerOf, type TakeOverDeps } from '../take-over.ts';
import type { Candidate } from '../team.ts';
import { createBalance } from './balance.ts';
import { createMoves } from './moves.ts';
import type { MovingHere } from './moving-here.ts';

export interface MovementDeps {
  /** The active daemon. */
  here: Candidate;
  store: Pick<Store, 'db'>;
  /** How many workstreams are loaded here. */
  loaded(): number;
  moving: { here: MovingHere; workstreams: Pick<Workstreams, 'whileArriving'> };
  /** Whether workstreams move by themselves, so that the machines have about as many. */
  isBalancing: boolean;
  takingOver: TakeOverDeps;
  clock: Clock;
  log: Log;
}

/** What moves between the machines of the active daemon: by hand, when a worker stops or is lost, and by itself. */
export function createMovements(crew: Crew, far: Far, deps: MovementDeps) {
  const { here, store, loaded, moving, isBalancing, takingOver, clock, log } = deps;
  const moves = createMoves({
    nodeId: here.nodeId,
    store,
    far,
    here: moving.here,
    workstreams: moving.workstreams,
    log,
  });
  const loads = () => new Map([[null, loaded()], ...crew.loadedCounts()]);
  const balance = createBalance({ store, moves, loads, clock, log });
  const hurry = createHurry(clock);
  const { shared, owner, waiting, takeJobs } = takingOver;
  const adopt: TakeOverDeps['adopt'] = async (moved) => {
    await takingOver.adopt(moved);
    balance.cameFrom(formerOf(moved), moved.wsIds);
  };
  return {
    moves,
    /** A worker that stops gives what nothing runs in. */
    async leave(link: Link): Promise<null> {
      const worker = crew.nameOf(link);
      if (worker === undefined) return null;
      hurry.begin();
      const taken = await moves.takeAll(worker);
      balance.cameFrom(worker, taken);
      log.info({ worker, workstreams: taken.length }, 'a worker that stops has given its workstreams');
      hurry.begin(); // the rest is taken over when it has ended
      return null;
    },
    /** For `watchMachines`. */
    watched: {
      takingOver: { store: takingOver.store, shared, owner, waiting, adopt, takeJobs, log },
      clock,
      lookMs: hurry.lookMs,
    },
    /** Evens out the loads until aborted, unless that is switched off. */
    run: async (signal: AbortSignal): Promise<void> => (isBalancing ? balance.run(signal) : undefined),
  };
}
