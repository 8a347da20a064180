import { GatewayError } from '../../../../protocol/errors.ts';
import type { Log } from '../../../log.ts';
import { createSerialKeys } from '../../../timing/serial-keys.ts';
import { mayShare, type Viewer } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import { unknownWorkstream } from '../../workstreams/session-keys.ts';
import { readAnywhere } from '../../workstreams/workstream-rows.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import type { Far } from '../calls/forwarding.ts';
import { lackedBy, type Obstacle, type Placed } from '../can-own.ts';
import { unreachable } from '../elsewhere.ts';
import type { Link } from '../links/link.ts';
import type { Given, MovingHere } from './moving-here.ts';

/** The moves of workstreams between machines, which the active daemon makes. */
export interface Moves {
  /** For a person who may change the workstream. False: the machine has it already. */
  move(wsId: string, nodeId: string, viewer: Viewer): Promise<boolean>;
  /** Moves those that are at rest; `from` and `to` are workers, or null for the active daemon. */
  transfer(wsIds: readonly string[], route: Route): Promise<Given>;
  /** Takes what a worker has and nothing runs in, because the worker stops. Returns what has come. */
  takeAll(worker: string): Promise<string[]>;
  /** Why a machine cannot have these workstreams; null for one that it can. */
  obstacles(machine: string | null, placed: readonly Placed[]): Promise<(Obstacle | null)[]>;
}

interface Route {
  from: string | null;
  to: string | null;
}

export interface MovesDeps {
  /** Of the active daemon. */
  nodeId: string;
  store: Pick<Store, 'db'>;
  far: Pick<Far, 'linkTo' | 'openLogs'>;
  here: MovingHere;
  workstreams: Pick<Workstreams, 'whileArriving'>;
  log: Log;
}

const PAGE = 200;
/** Those of a group wait for each other, so it is small. */
const AT_ONCE = 16;

const notAllowed = () =>
  new GatewayError('FORBIDDEN', 'Only its owner and holders of workstreams.all may move a workstream');

const notJoined = (machine: string) => new GatewayError('NOT_FOUND', `${machine} is not a worker that has joined`);

const cannotHave = (machine: string, obstacle: Obstacle) =>
  new GatewayError('CONFLICT', `${machine} does not have ${lackedBy(obstacle)}`);

export function createMoves({ nodeId, store, far, here, workstreams, log }: MovesDeps): Moves {
  const turns = createSerialKeys();
  const requireLink = (machine: string): Link => {
    const link = far.linkTo(machine);
    if (link === undefined) throw unreachable(machine);
    return link;
  };
  const obstacles: Moves['obstacles'] = (machine, placed) =>
    machine === null ? here.obstacles(placed) : requireLink(machine).ask('obstacles', placed); // by `createWorker`

  const transfer: Moves['transfer'] = async (wsIds, { from, to }) => {
    if (to !== null) await far.openLogs(to, wsIds); // its readers here go on
    const give = (): Promise<Given> =>
      from === null ? here.give(wsIds, to) : requireLink(from).ask('give', { wsIds, to });
    const given = await (to === null ? workstreams.whileArriving(wsIds, give) : give());
    if (given.moved.length > 0) await take(given.moved, to);
    return given;
  };
  /** If it fails, they are loaded when somebody asks for them. */
  const take = async (moved: Given['moved'], to: string | null): Promise<void> => {
    try {
      await (to === null ? here.take(moved) : requireLink(to).ask('take', moved));
    } catch (err) {
      log.warn({ err, machine: to }, 'workstreams have moved, but are not loaded yet');
    }
  };

  async function moveOne(wsId: string, to: string | null, viewer: Viewer): Promise<boolean> {
    const { machine: from, ...placed } = await findMovable(wsId, viewer, store);
    if (from === to) return false;
    const name = to ?? nodeId;
    if (to !== null && far.linkTo(to) === undefined) throw notJoined(to);
    const [obstacle] = await obstacles(to, [placed]);
    if (obstacle) throw cannotHave(name, obstacle);
    const [kept] = (await transfer([wsId], { from, to })).stay;
    if (kept) throw new GatewayError(kept.code, kept.why);
    log.info({ wsId, from: from ?? nodeId, to: name }, 'a workstream has moved');
    return true;
  }
  return {
    async takeAll(worker) {
      const taken: string[] = [];
      for await (const page of pagesOf(worker, store)) {
        const obstacles = await here.obstacles(page);
        const wsIds = page.flatMap(({ ws_id }, index) => (obstacles[index] === null ? [ws_id] : []));
        for (let from = 0; from < wsIds.length; from += AT_ONCE) {
          const { moved } = await transfer(wsIds.slice(from, from + AT_ONCE), { from: worker, to: null });
          taken.push(...moved.map(({ wsId }) => wsId));
        }
      }
      return taken;
    },
    move: (wsId, asked, viewer) => turns.run(wsId, () => moveOne(wsId, asked === nodeId ? null : asked, viewer)),
    transfer,
    obstacles,
  };
}

/** What a machine has: first what is loaded, because clients use it. */
async function* pagesOf(machine: string, { db }: MovesDeps['store']) {
  const columns = ['ws_id', 'machine_labels', 'workdir', 'workdir_ino'] as const;
  const all = db.selectFrom('workstreams').select(columns).where('machine', '=', machine).orderBy('ws_id').limit(PAGE);
  for (const is of ['=', '!='] as const)
    for (let last: string | undefined = ''; last !== undefined; ) {
      const page: Found[] = await all.where('loaded', is, 1).where('ws_id', '>', last).execute();
      if (page.length > 0) yield page;
      last = page.at(-1)?.ws_id;
    }
}

type Found = Placed & { ws_id: string };

/** Where a workstream is that the viewer may move. */
async function findMovable(
  wsId: string,
  viewer: Viewer,
  store: MovesDeps['store'],
): Promise<Placed & { machine: string | null }> {
  const row = await readAnywhere(store, wsId, viewer);
  if (row === undefined) throw unknownWorkstream();
  if (!mayShare(viewer, { ownerId: row.owner_id, visibility: row.visibility })) throw notAllowed();
  const { machine, machine_labels, workdir, workdir_ino } = row;
  return { machine, machine_labels, workdir, workdir_ino };
}
