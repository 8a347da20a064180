import { GatewayError } from '../../../protocol/errors.ts';
import type { Params, Result } from '../../../protocol/index.ts';
import { wrongField } from '../../../protocol/parse.ts';
import type { Clock } from '../../clock.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { Call } from '../call.ts';
import { endWaitingForGivenAway } from '../channels/delivery-rows.ts';
import type { Broadcast } from '../connections/broadcast.ts';
import type { ChildNews } from '../coordinators/child-news.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Push } from '../push/push-noun.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { type Store, UnitRefused } from '../store/store.ts';
import type { WorkstreamStreams } from '../streams/workstream-streams.ts';
import type { Users } from '../users/users.ts';
import { kindOfKey, nameTaken, unknownWorkstream } from '../workstreams/session-keys.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { isNameTaken, readById, writesAlias } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { gaining } from './audience.ts';
import { DAEMON, mayPerceive, mayShare, type Owned, viewerOf } from './perception.ts';

interface SharingDeps {
  workstreams: Pick<Workstreams, 'find' | 'whileStill'>;
  childNews: Pick<ChildNews, 'knows' | 'noteCoordinator' | 'ofShared'>;
  users: Pick<Users, 'find'>;
  store: Store;
  clock: Pick<Clock, 'now'>;
  events: Pick<EventLog, 'endFor'>;
  streams: Pick<WorkstreamStreams, 'announce' | 'hide'>;
  broadcast: Pick<Broadcast, 'publishOf'>;
  push: Pick<Push, 'shared'>;
}

type Change = Omit<Params<'workstream.share'>, 'wsId'>;

interface Changed {
  wsId: string;
  before: Owned;
  now: Owned;
  /** Without the names that led to it, if another one has them. */
  unnamed: Partial<WorkstreamData>;
}

/**
 * Changes who perceives a workstream. It takes effect at once: those who lose sight of it see it closed, and those who
 * gain sight see it opened.
 */
export class Sharing {
  readonly #deps: SharingDeps;
  readonly #serial = createSerialKeys();

  readonly #listeners: ((wsId: string) => void)[] = [];

  constructor(deps: SharingDeps) {
    this.#deps = deps;
  }

  /** Calls the listener when others perceive a loaded workstream than before. */
  onChanged(listener: (wsId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Throws NOT_FOUND, also to those who do not perceive it; FORBIDDEN to those who may only use it. */
  async change(wsId: string, change: Change, call: Call): Promise<Result<'workstream.share'>> {
    const work = () => this.#deps.workstreams.whileStill(wsId, () => this.#share(wsId, change, call));
    const now = await this.#serial.run(wsId, work);
    return { wsId, userId: now.ownerId, visibility: now.visibility, perceived: mayPerceive(viewerOf(call), now) };
  }

  async #share(wsId: string, { visibility, userId }: Change, call: Call): Promise<Owned> {
    const { store, clock } = this.#deps;
    const viewer = viewerOf(call);
    const row = await readById(store, wsId, viewer);
    if (!row) throw unknownWorkstream();
    const before: Owned = { ownerId: row.owner_id, visibility: row.visibility };
    if (!mayShare(viewer, before)) throw notYours();
    if (row.session_key !== null && kindOfKey(row.session_key) === 'fixed') throw ofEveryone();
    if (userId && !this.#deps.users.find(userId)) throw noSuchUser();
    const now: Owned = { ownerId: userId ?? before.ownerId, visibility: visibility ?? before.visibility };
    const commit = (named: Parameters<typeof setWorkstream>[1]) => {
      const values = { owner_id: now.ownerId, visibility: now.visibility, ...named };
      const recorded = call.audited({ id: wsId, userId: now.ownerId, ...now });
      const unsent = endWaitingForGivenAway(wsId, clock.now());
      return store.commit({ statements: [writesAlias(setWorkstream(wsId, values)), unsent, ...recorded] });
    };
    const isSeen = mayPerceive(viewer, now);
    const unnamed = await commit({})
      .then(() => ({}))
      .catch((error: unknown) => (isNameTaken(error) && !isSeen ? giveUnnamed(row, commit) : Promise.reject(error)))
      .catch((error: unknown) => Promise.reject(toRefusal(error)));
    await this.#apply({ wsId, before, now, unnamed });
    return now;
  }

  async #apply({ wsId, before, now, unnamed }: Changed): Promise<void> {
    const { workstreams, childNews, store, events, streams, broadcast, push } = this.#deps;
    if (childNews.knows(wsId)) childNews.noteCoordinator(wsId, now);
    const data = workstreams.find(wsId, DAEMON)?.data;
    if (data) Object.assign(data, now, unnamed);
    const losing = gaining(now, before);
    events.endFor(wsId, losing);
    streams.hide(wsId, losing);
    push.shared(wsId);
    if (!data) return;
    const winning = gaining(before, now);
    broadcast.publishOf(losing, 'workstream.closed', { wsId });
    broadcast.publishOf(winning, 'workstream.opened', { wsId });
    streams.announce(data, winning);
    for (const listener of this.#listeners) listener(wsId);
    // For the clients that still show it; after the others have gone.
    await store.commit({
      events: { wsId, events: [{ ...data.settingsEvent(), visibility: now.visibility }] },
      elsewhere: childNews.ofShared(data, before),
    });
  }
}

/**
 * Commits the change so that the name no longer leads to the workstream. A private one of its new owner has the name, which
 * a refusal would tell the giver.
 */
async function giveUnnamed(
  { ws_id: wsId, alias, generated_name }: WorkstreamTable,
  commit: (values: Parameters<typeof setWorkstream>[1]) => Promise<unknown>,
): Promise<Partial<WorkstreamData>> {
  const name = alias ?? generated_name;
  await commit({ alias: null, session_key: null, generated_name: name });
  return { alias: null, sessionKey: wsId, generatedName: name };
}

function toRefusal(error: unknown): unknown {
  if (isNameTaken(error)) return nameTaken(error);
  return error instanceof UnitRefused ? unknownWorkstream(error) : error;
}

const notYours = () =>
  new GatewayError(
    'FORBIDDEN',
    'Only the owner of this workstream, and holders of workstreams.all, may change who sees it',
  );

const ofEveryone = () =>
  new GatewayError('INVALID_REQUEST', 'The main session and the sessions of jobs stay shared, and the operator’s');

const noSuchUser = () => wrongField('userId', 'no user has this id');
